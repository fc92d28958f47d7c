"""What a worker process makes of a file, how it is sent, and how the receiver checks it.

A worker has read hostile bytes: what it sends is checked like a file from a stranger before it is used.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from equipoise.core import metadata
from equipoise.core.metadata import Scalar
from equipoise.core.types import Block
from equipoise.corpus.blocks import blocks_in, packed_blocks
from equipoise.corpus.offsets import Offsets, check_pages, packed, spans, unpacked
from equipoise.text import visible

LONGEST_FRAGMENT = 1_000
"""Most characters of a fragment, such as the id of a row: it is a part of the document's source."""

_LONGEST_ENCODING = 20
_LISTS = ("pages", "sentences", "passages", "blocks")


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """One document of a file: its text, title, page starts, blocks, what may be quoted, and passages.

    `fragment` tells the documents of one file apart; `hidden` counts characters that nobody sees and that were
    left out, `invisible` those that are in the text, `running` lines of running headers and footers that were left
    out; `encoding` is that of a file that does not say its own.
    """

    text: str
    title: str
    fragment: str = ""
    pages: tuple[int, ...] = ()
    sentences: tuple[Offsets, ...] = ()
    passages: tuple[Offsets, ...] = ()
    hidden: int = 0
    invisible: int = 0
    blocks: Sequence[Block] = ()
    encoding: str = ""
    metadata: Mapping[str, Scalar] = field(default_factory=dict)
    running: int = 0


def written(readings: Sequence[ParsedDocument]) -> tuple[dict[str, Any], list[bytes]]:
    """The readings as header and body of a frame."""
    heads: list[dict[str, Any]] = []
    body: list[bytes] = []
    for reading in readings:
        lists = [
            packed(reading.pages),
            packed(reading.sentences),
            packed(reading.passages),
            packed_blocks(reading.blocks),
        ]
        parts = [reading.text.encode(), *lists]
        head = {"title": reading.title, "fragment": reading.fragment, "encoding": reading.encoding}
        head["metadata"] = metadata.packed(reading.metadata)
        unseen = {"hidden": reading.hidden, "invisible": reading.invisible, "running": reading.running}
        heads.append(head | unseen | {"lengths": [len(part) for part in parts]})
        body += parts
    return {"documents": heads}, body


def read(header: dict[str, Any], body: bytes) -> list[ParsedDocument]:
    """The readings in a frame, at least one. Raises ValueError for any that is not in order."""
    heads = header.get("documents")
    if not isinstance(heads, list) or not heads:
        raise ValueError("no documents")
    parts = _Parts(body)
    readings = [_reading(head, parts) for head in heads]
    if parts.left():
        raise ValueError("more than the documents")
    return readings


@dataclass(slots=True)
class _Parts:
    """Cuts the body into parts of the lengths that are asked for."""

    body: bytes
    at: int = 0

    def take(self, lengths: object) -> Iterator[bytes]:
        if not isinstance(lengths, list) or len(lengths) != len(_LISTS) + 1:
            raise ValueError("no lengths")
        for length in lengths:
            if not isinstance(length, int) or not 0 <= length <= self.left():
                raise ValueError("a length outside the body")
            self.at += length
            yield self.body[self.at - length : self.at]

    def left(self) -> int:
        return len(self.body) - self.at


def _reading(head: object, parts: _Parts) -> ParsedDocument:
    if not isinstance(head, dict):
        raise ValueError("a document that is no object")  # noqa: TRY004  one kind of error for the caller
    text_part, *lists = parts.take(head.get("lengths"))
    text = text_part.decode()
    pages, sentences, passages, blocks = (unpacked(part) for part in lists)
    check_pages(pages, len(text))
    return ParsedDocument(
        text,
        visible.title(_string(head, "title")),
        _string(head, "fragment"),
        tuple(pages.tolist()),
        spans(sentences, len(text)).all,
        spans(passages, len(text)).all,
        _count(head, "hidden"),
        _count(head, "invisible"),
        blocks_in(blocks, len(text)),
        visible.title(_string(head, "encoding"), _LONGEST_ENCODING),
        metadata.own(metadata.unpacked(_string(head, "metadata"))),
        _count(head, "running"),
    )


def _count(head: dict[str, Any], key: str) -> int:
    value = head.get(key)
    return value if isinstance(value, int) and value > 0 else 0


def _string(head: dict[str, Any], key: str) -> str:
    value = head.get(key)
    if not isinstance(value, str):
        raise ValueError(f"no {key}")  # noqa: TRY004
    return value
