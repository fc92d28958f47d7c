"""What sources say, and how many independent ones say it, where some of the sources are an attacker's.

Isolate, then aggregate, as RobustRAG does (Xiang et al., arXiv 2405.15556), without a language model: each source is
read by itself and gives one quote, a row here. `agreement` says which two rows claim the same, `dependent` which two
are near copies or by one author, and `apart` which two contradict each other. Each entry must depend on its two rows
alone: not on weights of words among all rows, nor on chains of copies.

Every row has a claim: the row, its representative, and all rows that agree with it, pairwise and not by chains. Its
supporters are the independence number of these rows under `dependent` (`maths.independence`). Claims come with the
most supporters first, then by `order`. A row is folded, which means that its own claim is not shown, only into a claim
that stands before it, that has the row among its rows, and none of whose rows is apart from it.

Theorem. Let the honest rows alone give an honest row h a claim with m supporters, shown or folded. Add p planted rows
with any entries of their own, anywhere in the order. Then

1. a claim is shown that has h among its rows and at least m supporters, and no row of it is apart from h. With
   `apart` left out, all of its rows agree with h;
2. no claim, shown or folded, has more supporters than there are independent honest rows that agree with its
   representative (itself counted where it is honest), and p;
3. where honest rows g and h are apart, neither is folded into a claim that holds the other.

Proof. (2) A claim's rows are the honest ones that agree with its representative, and planted ones, p at most. Each row
added to a graph raises its independence number by 1 at most. (1) The entries among honest rows are what they were, so
the rows of h's claim are those it had and perhaps planted ones, and a larger graph has no smaller independence number:
h's claim has at least m supporters. Either it is shown, and h agrees with each of its rows. Or h was folded into a
claim shown before it, which by the order has at least as many supporters, and by the rule has h among its rows and none
apart from h. With `apart` left out, whatever does not agree is apart. (3) This is the rule. QED.

What it does not say. A limit on how many claims are shown can be used up by planted ones: show all, or all with so many
supporters. The wording of a claim may be planted: show the words of its other rows, too. And agreement alone cannot do
more: where a row agrees with two that do not agree, they may be paraphrases of which one pair was missed, or two
answers with a planted row between them ("30 days, or 14"). The graph is the same. So with `apart` left out such rows
are all shown, and with it those that contradict.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.checks import Mask
from equipoise.maths.independence import independence_number, symmetric_mask


@dataclass(frozen=True, slots=True)
class ClaimRows:
    """What the quote of a source claims: `rows`, its representative first and then those that agree with it, best
    first, and how many of them are independent of each other (`supporters`, 1 to len(rows))."""

    rows: tuple[int, ...]
    supporters: int


def claims(
    agreement: ArrayLike, dependent: ArrayLike, order: Sequence[int], apart: ArrayLike | None = None
) -> tuple[ClaimRows, ...]:
    """The claims to show, those with the most supporters first; every row is in one at least.

    `agreement`, `dependent`, `apart` (n, n): symmetric; a diagonal is not read. n is at most `independence.MOST`.
    `apart` None: what does not agree is apart; what agrees is not, whatever `apart` says. `order`: the rows, best
    first. Raises ValueError for other shapes, and where `order` does not hold each row once.

    Worked value: 0, 1 and 2 agree, 1 and 2 are copies, 3 says something else: ((0, 1, 2), 2) and ((3,), 1).
    """
    agrees, copies, differs = _masks(agreement, dependent, apart)
    if sorted(order) != list(range(len(agrees))):
        raise ValueError(f"order must hold each of the {len(agrees)} rows once, not {list(order)}")
    ranked = sorted((_claim(agrees, copies, order, row) for row in order), key=lambda c: -c.supporters)
    shown: list[ClaimRows] = []
    for claim in ranked:
        row = claim.rows[0]
        if not any(row in other.rows and not differs[row, list(other.rows)].any() for other in shown):
            shown.append(claim)
    return tuple(shown)


def _masks(agreement: ArrayLike, dependent: ArrayLike, apart: ArrayLike | None) -> tuple[Mask, Mask, Mask]:
    """The three masks, all of one shape. Each row agrees with itself, and what agrees is not apart."""
    agrees = symmetric_mask(agreement, "agreement")
    copies = symmetric_mask(dependent, "dependent")
    differs = ~agrees if apart is None else symmetric_mask(apart, "apart")
    for mask, name in ((copies, "dependent"), (differs, "apart")):
        if mask.shape != agrees.shape:
            raise ValueError(f"{name} must be of the shape of agreement, {agrees.shape}, not {mask.shape}")
    agrees = agrees | np.eye(len(agrees), dtype=np.bool_)
    return agrees, copies, differs & ~agrees


def _claim(agrees: Mask, copies: Mask, order: Sequence[int], row: int) -> ClaimRows:
    rows = (row, *(other for other in order if other != row and agrees[row, other]))
    return ClaimRows(rows, independence_number(copies[np.ix_(rows, rows)]))
