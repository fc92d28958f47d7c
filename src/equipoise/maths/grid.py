"""A table of counts by three small numbers, packed into one integer: shifting it moves every count at once.

Counts of choices have hundreds of bits, and a step over a sentence moves all of them. With a slot of fixed width for
each, a step is a mask and a shift of one long integer, which is exact and fast.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from equipoise.core.errors import InputError

MOST_BITS = 20_000_000
"""Most bits of one table (2.5 MB); a count needs some dozens of tables."""


@dataclass(frozen=True)
class CountGrid:
    """Counts of `width` bits by (passages, spans, sentences), each from 0 to its limit; a limit of 0 counts nothing.

    Raises InputError where the table has more than MOST_BITS.
    """

    passages: int
    spans: int
    sentences: int
    width: int

    def __post_init__(self) -> None:
        if self._slots * self.width > MOST_BITS:
            raise InputError(
                "the limits of quotes are too wide to count what they let through: lower highlight.max_sentences, "
                "highlight.max_spans or retrieval.k"
            )

    @property
    def one(self) -> int:
        """The table that holds one choice: the empty one."""
        return 1

    def with_sentence(self, table: int, *, passage: bool, span: bool) -> int:
        """Adds a sentence to every choice, and a passage or span if it begins one; choices over a limit are dropped."""
        passage, span = passage and self.passages > 0, span and self.spans > 0
        shift = 1 + span * (self.sentences + 1) + passage * (self.sentences + 1) * (self.spans + 1)
        return (table & self._masks[passage, span]) << (shift * self.width)

    def cells(self, table: int) -> Iterator[tuple[tuple[int, int, int], int]]:
        """((passages, spans, sentences), count) of every slot."""
        slot = (1 << self.width) - 1
        for number, place in enumerate(self._places()):
            yield place, (table >> (number * self.width)) & slot

    @property
    def _slots(self) -> int:
        return (self.passages + 1) * (self.spans + 1) * (self.sentences + 1)

    def _places(self) -> Iterator[tuple[int, int, int]]:
        for passages in range(self.passages + 1):
            for spans in range(self.spans + 1):
                for sentences in range(self.sentences + 1):
                    yield passages, spans, sentences

    @cached_property
    def _masks(self) -> dict[tuple[bool, bool], int]:
        """By (passage, span), whether a sentence begins one: the slots that have room for it, as bits of an integer."""
        slot = (1 << self.width) - 1
        masks = {(passage, span): 0 for passage in (False, True) for span in (False, True)}
        for number, (passages, spans, sentences) in enumerate(self._places()):
            for passage, span in masks:
                fits = sentences < self.sentences
                fits = fits and not (passage and passages >= self.passages)
                if fits and not (span and spans >= self.spans):
                    masks[passage, span] |= slot << (number * self.width)
        return masks
