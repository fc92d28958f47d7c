"""All the text of a file, also what its loader leaves out: how a worker process sends it, and how that is checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_PIECES = 100_000


@dataclass(frozen=True, slots=True)
class WholeText:
    """A text of a file; `page` is the number of its page, if any, `has_lines` that its lines are those of the file."""

    text: str
    page: int | None = None
    has_lines: bool = False


def written(texts: Sequence[WholeText]) -> tuple[dict[str, Any], list[bytes]]:
    """The texts as header and body of a frame."""
    body = [text.text.encode("utf-8", "replace") for text in texts]
    return {
        "whole": [[len(part), text.page or 0, text.has_lines] for part, text in zip(body, texts, strict=True)]
    }, body


def read(header: dict[str, Any], body: bytes) -> list[WholeText]:
    """The texts in a frame. Raises ValueError for any that is not in order."""
    heads, texts, at = header.get("whole"), [], 0
    if not isinstance(heads, list) or len(heads) > 2 * MOST_PIECES:
        raise ValueError("no texts")
    for head in heads:
        length, page, has_lines = _head(head)
        if not 0 <= length <= len(body) - at:
            raise ValueError("a length outside the body")
        texts.append(WholeText(body[at : at + length].decode(), page or None, has_lines))
        at += length
    return texts


def _head(head: object) -> tuple[int, int, bool]:
    if not isinstance(head, list) or [type(part) for part in head] != [int, int, bool] or head[1] < 0:
        raise ValueError("a text without its length")
    return head[0], head[1], head[2]
