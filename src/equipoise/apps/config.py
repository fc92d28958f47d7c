"""`equipoise config`: what is set and where, and the user's consent to a folder's settings file."""

import inspect
import json
import os
from pathlib import Path
from textwrap import wrap
from typing import Annotated

from equipoise.apps.options import PathArgument, group
from equipoise.apps.terminal import Terminal, one_line, styled
from equipoise.core import consent, settings
from equipoise.core.errors import SettingsError
from equipoise.core.guarded import without_password
from equipoise.core.settings import Layered, ProjectFile, Settings

app = group("Show the settings, and consent to a folder's settings file: show, trust, untrust.")

VARIABLES = {
    "OPENAI_BASE_URL": "the endpoint where model.base_url is not set",
    "OPENAI_API_KEY": "the key for OPENAI_BASE_URL, or OpenAI",
    "AZURE_OPENAI_ENDPOINT": "the endpoint of azure/... where model.base_url is not set",
    "AZURE_OPENAI_API_KEY": "the key for AZURE_OPENAI_ENDPOINT",
    "OPENAI_API_VERSION": "the version where model.api_version is not set",
}
NAMES = {
    "user": "your file ",
    "project": "this folder's file ",
    "environment": "environment: ",
    "flag": "option",
}
WIDTH = 100
HEAD = """Settings of equipoise for this folder and the folders below it. A line counts without its mark.
`equipoise config show` lists what is set and where; docs/settings.md says what each key does."""

WhichFile = Annotated[
    Path, PathArgument(help="A folder, or the equipoise.toml in it. Default: the current folder.")
]


@app.command("show")
def show() -> None:
    """Every setting, its value and where it came from, and what waits for your consent."""
    layered = settings.survey()
    console = Terminal()
    console.table(("setting", "value", "from"), [*_settings(layered), *_variables()])
    if layered.waiting:
        console.print(styled(("Not used: waits for your consent ", "yellow"), "(equipoise config trust)"))
        console.table(("setting", "value"), layered.waiting.items())


@app.command("trust")
def trust(path: WhichFile = Path()) -> None:
    """Allow this folder's settings file, until it changes, to set endpoints, keys, models and paths outside it."""
    project = _file(path)
    console = Terminal()
    if project.needed is None:
        console.print(f"{one_line(str(project.path))} sets nothing that needs consent")
        return
    settings.check(project)
    console.table(("setting", "value"), project.needed.shown.items())
    consent.give(project.needed)
    console.print(
        f"{one_line(str(project.path))} is trusted until it changes; equipoise config untrust takes it back"
    )


@app.command("untrust")
def untrust(path: WhichFile = Path()) -> None:
    """Take back your consent to a folder's settings file."""
    place = _place(path)
    said = "is not trusted any more" if consent.withdraw(place) else "was not trusted"
    Terminal().print(f"{one_line(str(place))} {said}")


def init() -> None:
    """Write a commented settings file into the current folder."""
    path = Path(settings.FILE_NAME)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(commented())
    except FileExistsError:
        raise SettingsError(f"there is an {path} here already: edit it, or move it away first") from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be written ({error.strerror})") from error
    Terminal().print(f"{path} is written: every setting with its default, commented out")


def _file(path: Path) -> ProjectFile:
    place = _place(path)
    project = settings.project_file(place.parent)
    if project is None:
        raise SettingsError(f"there is no {place}: give the folder that holds the settings file")
    return project


def _place(path: Path) -> Path:
    """The path of the settings file, given its folder or the file itself."""
    folder = path.parent if path.name == settings.FILE_NAME and not path.is_dir() else path
    return settings.resolved(folder) / settings.FILE_NAME


def _settings(layered: Layered) -> list[tuple[str, str, str]]:
    rows = []
    for key, value, origin in layered.rows():
        section, name = key.split(".", 1)
        written = _toml(getattr(getattr(layered.settings, section), name), value)
        used = "(not used: for another endpoint)" if key in layered.left_behind else written
        rows.append((key, used, f"{NAMES.get(origin.layer, 'default')}{origin.place}"))
    return rows


def _toml(value: object, shown: str) -> str:
    """A value as a settings file has it; `shown` is how people are shown what is no list, number, true or false."""
    if value is None:
        return "not set"
    plain = value if isinstance(value, bool | int | float | tuple) else None
    quoted = shown.replace("\\", "\\\\").replace('"', '\\"')  # what acts on a terminal is escaped there
    return f'"{quoted}"' if plain is None else json.dumps(plain, ensure_ascii=False)


def _variables() -> list[tuple[str, str, str]]:
    """Environment variables of other programs that affect where requests go."""
    rows = [(name, os.environ.get(name, "").strip(), about) for name, about in VARIABLES.items()]
    return [
        (name, "**********" if "KEY" in name else without_password(value), f"environment: {about}")
        for name, value, about in rows
        if value
    ]


def commented() -> str:
    """A settings file to begin with: every key with its default, commented out. Without the marks it sets every
    default; keys that are not set by default have no value."""
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
