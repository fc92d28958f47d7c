"""The partitions of a store: one for each `Trust`, told apart by their numbers.

Each partition counts its documents and passages by itself, from `first` on, so a number says which one it belongs to,
and what is in one partition leaves the numbers of the others as they are.
"""

from equipoise.core.types import Trust

SIZE = 1 << 40
"""Numbers of a partition: documents and passages of each have fewer."""
_FIRST = {Trust.TRUSTED: 1, Trust.UNTRUSTED: SIZE + 1, Trust.HELD: 2 * SIZE + 1}


def first(trust: Trust) -> int:
    """The lowest number of a document or passage in the partition."""
    return _FIRST[trust]


def bounds(trust: Trust) -> tuple[int, int]:
    """The lowest and the highest number of the partition, for SQL's BETWEEN."""
    return first(trust), first(trust) + SIZE - 1


def trust_of(number: int) -> Trust:
    """The partition that a number of a document or passage belongs to."""
    return next(trust for trust in reversed(Trust) if number >= _FIRST[trust] or trust is Trust.TRUSTED)
