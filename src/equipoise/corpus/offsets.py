"""The sentences of a stored document, made into pairs where they are asked for.

A question reads the documents of all its candidates and quotes from few of them: a tuple of all sentences of each would
cost more than the rest of retrieval.
"""

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

Pair = tuple[int, int]


class Offsets(Sequence[Pair]):
    """(start, end) pairs as little-endian 32-bit integers; equal to the tuple of them, and as immutable."""

    __slots__ = ("_data", "_pairs")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._pairs: tuple[Pair, ...] | None = None

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All of them; made once."""
        if self._pairs is None:
            flat = np.frombuffer(self._data, "<i4").tolist()
            self._pairs = tuple(zip(flat[::2], flat[1::2], strict=True))
        return self._pairs

    @overload
    def __getitem__(self, index: int) -> Pair: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Pair, ...]: ...

    def __getitem__(self, index: int | slice) -> Pair | tuple[Pair, ...]:
        return self.pairs[index]

    def __len__(self) -> int:
        return len(self._data) // 8

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Offsets):
            return self._data == other._data
        return self.pairs == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.pairs)

    def __repr__(self) -> str:
        return repr(self.pairs)
