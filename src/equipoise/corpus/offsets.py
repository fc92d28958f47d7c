"""Lists of offsets as bytes and back: little-endian int32, checked against the text they point into.

Used where bytes come from outside: a store file, a worker process that has read a hostile file.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
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


class Rows(Sequence[T]):
    """A sequence of things, stored as rows of numbers (n, d) and made only when asked for; it equals the tuple of them,
    and is as immutable.

    A question reads the documents of all its candidates and quotes from few of them: a tuple of all sentences of each
    would cost more than the rest of retrieval.
    """

    __slots__ = ("_all", "_rows")

    def __init__(self, rows: Ints) -> None:
        self._rows = rows
        self._all: tuple[T, ...] | None = None

    @staticmethod
    @abstractmethod
    def made(row: list[int]) -> T:
        """The thing that a row of numbers stands for."""

    @property
    def all(self) -> tuple[T, ...]:
        """All of them; made once."""
        if self._all is None:
            self._all = tuple(map(self.made, self._rows.tolist()))
        return self._all

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...

    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if self._all is not None:
            return self._all[index]
        numbers = self._rows[index].tolist()
        return tuple(map(self.made, numbers)) if isinstance(index, slice) else self.made(numbers)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[T]:
        return iter(self.all)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Rows):
            return type(self) is type(other) and np.array_equal(self._rows, other._rows)
        return self.all == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.all)

    def __repr__(self) -> str:
        return repr(self.all)


class Spans(Rows[Offsets]):
    """(start, end) pairs."""

    __slots__ = ()

    @staticmethod
    def made(row: list[int]) -> Offsets:
        return row[0], row[1]


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
