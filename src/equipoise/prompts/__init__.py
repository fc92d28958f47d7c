"""Prompts are data: one TOML file per prompt and version, with `system` and `user` templates."""

import tomllib
from functools import cache
from importlib.resources import files
from string import Template

from equipoise.core.types import Message


def load(name: str, package: str = __package__, /, **variables: str) -> tuple[Message, ...]:
    """The messages of prompt `name` (for example "summarize-v3") of `package` with every `$variable` filled in.

    Raises KeyError for a variable the template wants and was not given, TypeError for one it does not
    have, FileNotFoundError for an unknown prompt. Values are inserted as they are: a `$` in them is text.
    """
    templates = _templates(name, package)
    wanted = {v for t in templates.values() for v in t.get_identifiers()}
    if extra := set(variables) - wanted:
        raise TypeError(f"prompt {name} has no variable {', '.join(sorted(extra))}")
    return tuple(Message(role, t.substitute(variables).strip()) for role, t in templates.items())


@cache
def _templates(name: str, package: str) -> dict[str, Template]:
    parts = tomllib.loads(files(package).joinpath(f"{name}.toml").read_text("utf-8"))
    return {role: Template(parts[role]) for role in ("system", "user") if role in parts}
