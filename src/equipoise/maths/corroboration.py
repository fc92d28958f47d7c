"""stub"""

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.maths.checks import Mask


@dataclass
class Group:
    rows: tuple[int, ...]
    supporters: int


def claims(agreement: Mask, dependent: Mask, order: Sequence[int]) -> tuple[Group, ...]:
    return tuple(Group((r, *[int(x) for x in agreement[r].nonzero()[0]]), 1) for r in order)
