"""Kinds of arguments that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer


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
