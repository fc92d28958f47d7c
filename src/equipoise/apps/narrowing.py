"""Options that select documents, `--where` and `--collection`, and `--meta`, for documents that are indexed."""

from collections.abc import Sequence
from typing import Annotated

import typer

from equipoise.core import where as language
from equipoise.core.errors import InputError
from equipoise.core.metadata import COLLECTION, Scalar
from equipoise.core.where import Where, as_where, both, in_collection

WhereOption = Annotated[
    str | None,
    typer.Option(
        "--where", metavar="FILTER", help="Only documents that match it: 'team = hr and year >= 2020'."
    ),
]
CollectionOption = Annotated[
    str | None, typer.Option("--collection", metavar="NAME", help="Only documents of this collection.")
]
MetaOption = Annotated[
    list[str] | None,
    typer.Option(
        "--meta", metavar="NAME=VALUE", help="Metadata of these documents, to filter by; repeatable."
    ),
]
IntoOption = Annotated[
    str | None, typer.Option("--collection", metavar="NAME", help="Put these documents into this collection.")
]


def meant(where: str | None, collection: str | None) -> Where | None:
    """The filter that the options ask for; None: all documents. Raises InputError."""
    return both(in_collection(collection) if collection else None, as_where(where))


def told(meta: Sequence[str] | None, collection: str | None) -> dict[str, Scalar] | None:
    """The metadata that the options give to documents; None if they give none. Raises InputError."""
    if not meta and not collection:
        return None
    known: dict[str, Scalar] = {COLLECTION: collection} if collection else {}
    for given in meta or ():
        name, sign, value = given.partition("=")
        if not sign:
            raise InputError(f"--meta {given!r} says nothing: write for example  --meta team=hr")
        if name.strip() == COLLECTION:
            raise InputError(f"write  --collection {value.strip()}  in the place of  --meta {given}")
        known[name.strip().lower()] = language.value(value.strip())
    return known
