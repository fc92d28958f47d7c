"""Lays out the pages of the site in build/docs: docs/, pages made from the code, and what these link to.

    python scripts/docs_site.py && zensical build --strict

A Markdown page of the repository that a page links to comes along, below `repository/`; any other file is named by its
path instead of linked. README.md is for the repository: links to it lead to docs/index.md.
"""

import inspect
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import typer

import equipoise
from equipoise.apps import cli, config

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "build" / "docs"
HOME = "docs/index.md"
LISTED = ("CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/LOG.md")
"""Pages from outside docs/ that stand in the navigation."""
LINK = re.compile(r"(?ms)^```.*?^```|`[^`\n]+`|\[(?P<said>[^\[\]]*)\]\((?P<to>[^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-z]+:|#")
SETTINGS = """# Settings file

Every key with its default, as `equipoise init` writes it. What they mean and where they may stand:
[Settings](../settings.md).
"""
LIBRARY = """# Library

What `equipoise.__all__` names: the public interface.
"""
FIRST = ("Library", "ask", "Answer", "Refusal")
ERRORS = """## Errors

::: equipoise.core.errors
    options:
      show_root_heading: false
      show_root_toc_entry: false
      heading_level: 3
      filters: ["!^_", "!^EquipoiseError$"]
"""
COMMANDS = """# Command line

Made from the commands themselves. Exit codes: 0 answered or refused, 2 your input cannot be used, 3 something failed.
"""


def main(folder: Path = PLACE) -> None:
    """Write every page anew into `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    for name, text in {**pages(), **made()}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def pages() -> dict[str, str]:
    """The text of each page of the repository by its place on the site."""
    waiting = [*(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))), *LISTED]
    site: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        if place(name) not in site:
            text = (ROOT / name).read_text("utf-8")
            site[place(name)] = moved(text, name)
            waiting += [to for to in linked(text, name) if to.endswith(".md")]
    return site


def made() -> dict[str, str]:
    """The pages that are made from the code."""
    file = f"{SETTINGS}\n```toml\n{config.commented()}```\n"
    commands = "\n".join([COMMANDS, *_commands(typer.main.get_command(cli.app), "equipoise")])
    names = [*FIRST, *(name for name in equipoise.__all__ if name not in FIRST)]
    library = "\n".join([LIBRARY, *(f"::: equipoise.{name}\n" for name in names), ERRORS])
    return {
        "reference/settings-file.md": file,
        "reference/commands.md": commands,
        "reference/library.md": library,
    }


def place(name: str) -> str:
    """Where a Markdown page of the repository stands on the site."""
    return name.removeprefix("docs/") if name.startswith("docs/") else f"repository/{name}"


def linked(text: str, name: str) -> Iterator[str]:
    """The files of the repository that the page `name` links to."""
    for link in LINK.finditer(text):
        if link["to"] and not ELSEWHERE.match(link["to"]):
            yield _target(link["to"], name)


def moved(text: str, name: str) -> str:
    """The text of the page `name` with its links as they must be on the site."""

    def rewritten(link: re.Match[str]) -> str:
        if not link["to"] or ELSEWHERE.match(link["to"]):
            return link[0]
        target, anchor = _target(link["to"], name), link["to"].partition("#")[1:]
        if target.startswith("docs/") and not target.endswith(".md"):
            return link[0]
        if not target.endswith(".md"):
            return (
                f"`{target}`" if target.endswith(link["said"].strip("`")) else f"{link['said']} (`{target}`)"
            )
        way = os.path.relpath(place(target), PurePosixPath(place(name)).parent)
        return f"[{link['said']}]({way}{''.join(anchor)})"

    return LINK.sub(rewritten, text)


def _target(to: str, name: str) -> str:
    target = os.path.normpath(PurePosixPath(name).parent / to.partition("#")[0])
    return HOME if target == "README.md" else target


def _commands(command: Any, name: str) -> Iterator[str]:  # noqa: ANN401 - typer's own click has no public types
    """A section for each command: what it does, its arguments and options."""
    if hasattr(command, "list_commands"):
        for word in command.list_commands(None):
            yield from _commands(command.get_command(None, word), f"{name} {word}")
        return
    rows = [
        f"| {_names(parameter)} | {_plain(getattr(parameter, 'help', ''))} |" for parameter in command.params
    ]
    yield f"## {name}\n\n{_plain(command.help)}\n"
    yield "\n".join(["| | |", "| --- | --- |", *rows, ""] if rows else [])


def _names(parameter: Any) -> str:  # noqa: ANN401
    names = (
        [*parameter.opts, *parameter.secondary_opts]
        if parameter.param_type_name == "option"
        else [parameter.name.upper()]
    )
    return ", ".join(f"`{word}`" for word in names)


def _plain(text: str | None) -> str:
    return " ".join(inspect.cleandoc(text or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    main()
