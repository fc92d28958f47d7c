"""Where a reader finds the passages that a filter took out."""

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.core.types import Flag, Highlight, Span
from equipoise.corpus.store import Store
from equipoise.rag.boundary import read_span


@dataclass(frozen=True, slots=True)
class FlaggedPassage:
    """A flag and the passage it is about."""

    flag: Flag
    passage: Highlight


def located(flags: Sequence[Flag], store: Store) -> tuple[FlaggedPassage, ...]:
    """Each flag with its passage read from the store. Raises CorpusError for a passage that is gone."""
    with store.snapshot():
        passages = store.passages(flag.passage_id for flag in flags)
        documents = store.documents(passage.doc_id for passage in passages)
    return tuple(
        FlaggedPassage(flag, read_span(Span(p.doc_id, p.start, p.end), documents[p.doc_id]))
        for flag, p in zip(flags, passages, strict=True)
    )
