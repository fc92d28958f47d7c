"""What several commands share: how a group of them is made, and kinds of arguments."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer


def group(said: str = "") -> typer.Typer:
    """An empty group of commands; without markup, since help texts hold [/NAME]."""
    return typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=said or None)


def path(text: str) -> Path:
    """A path as it was typed; an empty one is refused, which would mean the current folder."""
    if not text:
        raise typer.BadParameter("the path is empty")
    return Path(text)


def _with_paths(kind: Callable[..., Any]) -> Callable[..., Any]:
    def made(*names: str, **how: Any) -> Any:  # noqa: ANN401
        return kind(*names, parser=path, metavar="PATH", **how)

    return made


PathArgument = _with_paths(typer.Argument)
PathOption = _with_paths(typer.Option)
