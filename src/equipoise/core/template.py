"""A settings file to begin with: every key with its default, commented out."""

import inspect
import json
from textwrap import wrap

from equipoise.core.sections import Settings

WIDTH = 100
HEAD = """Settings of equipoise for this folder and the folders below it. A line counts without its mark.
`equipoise config show` lists what is set and where; docs/settings.md says what each key does."""


def commented() -> str:
    """The text of the file. Without the marks it sets every default; keys that are not set by default have no value."""
    lines = [f"# {line}" for line in HEAD.splitlines()]
    for name, info in Settings.model_fields.items():
        section = info.default
        lines += ["", f"[{name}]", *_about(type(section).__doc__ or "")]
        lines += [_line(key, getattr(section, key)) for key in type(section).model_fields]
    return "\n".join(lines) + "\n"


def _about(doc: str) -> list[str]:
    text = " ".join(inspect.cleandoc(doc).split())
    return [f"## {line}" for line in wrap(text, WIDTH)]


def _line(key: str, value: object) -> str:
    if value is None:
        return f"## {key} is not set"
    plain = value if isinstance(value, bool | int | float | tuple) else str(value)
    return f"# {key} = {json.dumps(plain)}"
