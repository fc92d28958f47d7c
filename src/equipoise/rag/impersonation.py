"""Untrusted documents that bear a trusted one's title, file name or text."""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from equipoise.core.types import Document, Trust
from equipoise.corpus.chunks import passages
from equipoise.corpus.partition import Partition
from equipoise.corpus.store import Store
from equipoise.text.shingles import near_copy
from equipoise.text.tokens import content_words

LEAST = 2
"""A title or file name of fewer words ("Readme", "Index") points to no particular document."""
READ = 20
"""Passages of a document that are compared."""
FOUND = 3
"""Trusted passages that a passage is compared with."""


def impersonated(document: Document, trusted: Partition) -> str:
    """The source of the trusted document that this one seems to be, since it has the same title or file name, or a
    passage that is a near copy of one there. Empty where it seems to be none. Raises StoreError."""
    return _namesake(document, trusted.sources()) or _copied(document, trusted)


def impersonated_among(document: Document, *, others: Sequence[Document]) -> str:
    """As `impersonated`, of a few trusted documents that are at hand, each of which is compared whole."""
    alike = (other.source for other in others if near_copy(document.text, other.text))
    return _namesake(document, [(other.source, other.title) for other in others]) or next(alike, "")


def _namesake(document: Document, named: Iterable[tuple[str, str]]) -> str:
    own = set(_names(document.source, document.title))
    return next((source for source, title in named if own & set(_names(source, title))), "")


def lookalikes(doc_ids: Iterable[str], store: Store) -> tuple[tuple[str, str], ...]:
    """(source, source of the trusted document that it seems to be) for each of the documents that seems to be one."""
    trusted = store.partition(Trust.TRUSTED)
    documents = store.documents(doc_ids).values()
    named = ((document.source, impersonated(document, trusted)) for document in documents)
    return tuple((source, name) for source, name in named if name)


def _names(source: str, title: str) -> Iterable[tuple[str, ...]]:
    """The words of a title and of a file name, each if there are at least LEAST."""
    stem = PurePosixPath(source.partition("#")[0].replace("\\", "/")).stem
    named = (tuple(content_words(name.replace("-", " ").replace("_", " "))) for name in (title, stem))
    return [words for words in named if len(words) >= LEAST]


def _copied(document: Document, trusted: Partition) -> str:
    with trusted.snapshot():
        for start, end in list(passages(document))[:READ]:
            text = document.text[start:end]
            near = [number for number, _ in trusted.bm25(text, FOUND)]
            places = trusted.places(near)
            documents = trusted.documents(place.doc_id for place in places)
            for place in places:
                other = documents[place.doc_id]
                if near_copy(text, other.text[place.start : place.end]):
                    return other.source
    return ""
