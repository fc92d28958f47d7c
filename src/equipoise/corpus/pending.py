"""A document that words find already and that has no vectors yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from equipoise.core.types import Document
from equipoise.corpus.offsets import Offsets, check_spans
from equipoise.corpus.record_types import Damage, read_document, text


@dataclass(frozen=True, slots=True)
class Pending:
    """Document number `number` of the store, with its passages; `path` as in `FileRecord`, None where it came from
    no file."""

    number: int
    path: str | None
    document: Document
    spans: tuple[Offsets, ...]

    @classmethod
    def read(
        cls, number: int, path: object, rows: Sequence[tuple[Any, ...]], places: Sequence[tuple[Any, ...]]
    ) -> Self:
        """From the row of `record_types.DOCUMENT`, if there is one, and the offsets of the passages. Raises Damage."""
        if not rows:
            raise Damage(f"there is no document {number}")
        document, spans = read_document(rows[0]), tuple((start, end) for start, end in places)
        try:
            check_spans(spans, len(document.text))
        except (TypeError, ValueError) as error:
            raise Damage(f"the passages of document {document.doc_id!r}: {error}") from error
        return cls(number, None if path is None else text(path), document, spans)

    def is_like(self, other: "Pending | None") -> bool:
        """Whether vectors of one are those of the other: both have the same text, cut alike."""
        return other is not None and _seen(self) == _seen(other)


def _seen(pending: Pending) -> tuple[object, ...]:
    document = pending.document
    return pending.path, document.doc_id, document.title, document.text, document.blocks, pending.spans
