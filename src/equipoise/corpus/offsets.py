"""Lists of offsets as bytes and back: little-endian int32, checked against the text they point into.

Used where bytes come from outside: a store file, a worker process that has read a hostile file.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

Offsets = tuple[int, int]
Ints = NDArray[np.int64]


def packed(offsets: Sequence[Offsets] | Sequence[int]) -> bytes:
    """The offsets one after the other, 4 bytes each."""
    return np.asarray(offsets, "<i4").tobytes()


def unpacked(data: bytes) -> Ints:
    """The numbers in `data`, (n,). Raises ValueError where its length is no multiple of 4."""
    if len(data) % 4:
        raise ValueError(f"a list of offsets is {len(data)} bytes long")
    return np.frombuffer(data, "<i4").astype(np.int64)


def spans(numbers: Ints, length: int) -> "Spans":
    """The (start, end) pairs in `numbers`, checked by `check_spans`."""
    if len(numbers) % 2:
        raise ValueError("a start has no end")
    pairs = numbers.reshape(-1, 2)
    check_spans(pairs, length)
    return Spans(pairs)


class Spans(Sequence[Offsets]):
    """(start, end) pairs, made into tuples where they are asked for; equal to the tuple of them, and as immutable.

    A question reads the documents of all its candidates and quotes from few of them: a tuple of all sentences of each
    would cost more than the rest of retrieval.
    """

    __slots__ = ("_numbers", "_pairs")

    def __init__(self, numbers: Ints) -> None:
        """`numbers` are (n, 2)."""
        self._numbers = numbers
        self._pairs: tuple[Offsets, ...] | None = None

    @property
    def pairs(self) -> tuple[Offsets, ...]:
        """All of them; made once."""
        if self._pairs is None:
            self._pairs = tuple((start, end) for start, end in self._numbers.tolist())
        return self._pairs

    @overload
    def __getitem__(self, index: int) -> Offsets: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Offsets, ...]: ...

    def __getitem__(self, index: int | slice) -> Offsets | tuple[Offsets, ...]:
        if self._pairs is not None:
            return self._pairs[index]
        numbers = self._numbers[index].tolist()
        return tuple(map(tuple, numbers)) if isinstance(index, slice) else (numbers[0], numbers[1])

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Offsets]:
        return iter(self.pairs)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Spans):
            return np.array_equal(self._numbers, other._numbers)
        return self.pairs == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.pairs)

    def __repr__(self) -> str:
        return repr(self.pairs)


def check_spans(pairs: Iterable[Offsets] | Ints, length: int) -> None:
    """Raises ValueError unless the pairs are in order, not empty, not overlapping, and inside 0..length."""
    numbers = _as_ints(pairs, 2)
    flat, (starts, ends) = numbers.ravel(), (numbers[:, 0], numbers[:, 1])
    if len(flat) and (flat[0] < 0 or flat[-1] > length or (starts >= ends).any()):
        raise ValueError(f"an offset is empty or outside its text of {length} characters")
    if (starts[1:] < ends[:-1]).any():
        raise ValueError("offsets overlap or are not in order")


def check_pages(pages: Iterable[int] | Ints, length: int) -> None:
    """Raises ValueError unless page starts rise, or stay for an empty page, inside 0..length."""
    numbers = _as_ints(pages, 1).ravel()
    if len(numbers) and (numbers[0] < 0 or numbers[-1] > length or (np.diff(numbers) < 0).any()):
        raise ValueError(f"page starts are not in order or outside the text of {length} characters")


def _as_ints(numbers: Iterable[object] | Ints, width: int) -> Ints:
    given = numbers if isinstance(numbers, np.ndarray) else np.array(list(numbers), np.int64)
    return given.reshape(-1, width)
