"""Turns what callers pass to a library into the package's types; raises InputError of one sentence where it cannot."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from equipoise.core.addresses import Place, StoreUrl, place
from equipoise.core.errors import InputError
from equipoise.core.types import Document, Trust
from equipoise.corpus.roots import Author, Gone

Kind = TypeVar("Kind", Trust, Author, Gone)
_TEXTS = ("doc_id", "text", "source", "title", "author")


def one_place(given: object) -> Place:
    """`given` as the place of a store."""
    return (
        place(given) if isinstance(given, str) else given if isinstance(given, StoreUrl) else one_path(given)
    )


def one_path(given: object) -> Path:
    """`given` as a path."""
    if isinstance(given, str | Path):
        return Path(given)
    raise InputError(f"a path is a string or a pathlib.Path, not of type {type(given).__name__}")


def all_paths(given: object) -> list[Path]:
    """`given`, one path or several, as paths."""
    several = given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    return [one_path(path) for path in several]


def one_of(kind: type[Kind], given: str, what: str) -> Kind:
    """`given` as one of `kind`."""
    try:
        return kind(given)
    except ValueError:
        raise InputError(f"there is no {what} {given!r}: write {' or '.join(kind)}") from None


def all_texts(given: object, what: str) -> list[str]:
    """`given` as texts, which are called `what`; one text is not taken for its letters, nor a mapping for its keys."""
    if isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        texts = list(given)
        if all(isinstance(text, str) for text in texts):
            return texts
    raise InputError(f'{what} are a list of strings: write ["one", "another"]')


def all_documents(given: object) -> list[Document]:
    """`given` as documents."""
    if isinstance(given, Iterable) and not isinstance(given, str):
        return [_document(one) for one in given]
    raise InputError(f"documents are a list of Document objects, not of type {type(given).__name__}")


def _document(given: object) -> Document:
    if not isinstance(given, Document):
        raise InputError(f"documents are a list of Document objects, not one of {type(given).__name__}")
    if strange := [name for name in _TEXTS if not isinstance(getattr(given, name), str)]:
        kind = type(getattr(given, strange[0])).__name__
        raise InputError(f"the {strange[0]} of a document is a string, not of type {kind}")
    return replace(given, trust=one_of(Trust, given.trust, "trust"))
