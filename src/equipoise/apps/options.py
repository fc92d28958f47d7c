"""What several commands share: how a group of them is made, kinds of arguments, and options written once."""

import dataclasses
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.core import addresses
from equipoise.core.addresses import Place


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


def place(text: str) -> Place:
    """Where a store is, as it was typed: a path or an address."""
    path(text)
    return addresses.place(text)


def documents(text: str) -> Path | str:
    """Where documents are, as it was typed: a path, or the address of a site."""
    return text if "://" in text else path(text)


def store_option(said: str = "The index: a file, or the address of a database.") -> Any:  # noqa: ANN401
    """The option --store; see `StoreOption`."""
    return typer.Option("--store", help=said, parser=place, metavar="PATH|URL")


def store_argument(name: str, said: str) -> Any:  # noqa: ANN401
    """An argument that is the place of a store."""
    return typer.Argument(help=said, parser=place, metavar=name)


PathArgument = _with_paths(typer.Argument)
DocumentsArgument = Annotated[
    list[Any],
    typer.Argument(help="Files, folders and addresses of sites.", parser=documents, metavar="PATH|URL..."),
]
"""A `list[Path | str]`: typer knows no unions."""
PathOption = _with_paths(typer.Option)
StoreOption = Annotated[Any, store_option()]
"""A `Place | None`: typer knows no unions."""


def sharing(kind: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command with the parameter `chosen` an option for each field of the dataclass `kind` in its place.

    A field is written as an option of a command is, annotated and with its default.
    """

    def shared(command: Callable[..., None]) -> Callable[..., None]:
        fields = dataclasses.fields(kind)
        own = signature(command).parameters
        options = [
            Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type) for f in fields
        ]
        others = [
            option.replace(kind=Parameter.KEYWORD_ONLY) for option in own.values() if option.name != "chosen"
        ]
        arguments = [option for option in others if option.default is Parameter.empty]
        flags = [option for option in others if option.default is not Parameter.empty]

        @wraps(command)
        def called(**given: Any) -> None:  # noqa: ANN401
            chosen = kind(**{field.name: given.pop(field.name) for field in fields})
            command(chosen=chosen, **given)

        everything = [*arguments, *options, *flags]
        called.__signature__ = signature(command).replace(parameters=everything)  # type: ignore[attr-defined]
        called.__annotations__ = {option.name: option.annotation for option in everything}
        return called

    return shared
