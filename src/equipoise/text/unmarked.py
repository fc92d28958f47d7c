"""Lists whose items have no marks, as when somebody takes the text alone out of a Word file."""

from collections.abc import Iterator, Sequence

from equipoise.core.types import BlockKind
from equipoise.text import lines
from equipoise.text.roles import Stretch

_LEAST = 2  # items
_LONGEST = 200  # characters of an item
_LEAD = 4  # words of a lead-in; fewer are a label
_TITLE = 3  # words
_GOES_ON = (",", ";", ", and", "; and", ", or", "; or")


def mark_items(stretches: Sequence[Stretch]) -> None:
    """Make items of the lines below a paragraph that ends in a colon, where blank lines stand around each and none ends
    like a sentence but the last. A title of a few words below them, with a paragraph of its own, is no item."""
    row = 1
    while row < len(stretches):
        run = list(_items(stretches, row)) if _leads(stretches[row - 1]) else []
        below = row + len(run)
        if run and below < len(stretches) and _is_title(run[-1], stretches[below]):
            run.pop()
        for item in run if len(run) >= _LEAST else ():
            item.kind = BlockKind.ITEM
        row += max(1, len(run))


def _leads(stretch: Stretch) -> bool:
    paragraph = stretch.kind is BlockKind.PARAGRAPH and stretch.last.endswith(":")
    return paragraph and (stretch.lines > 1 or len(stretch.last.split()) >= _LEAD)


def _items(stretches: Sequence[Stretch], first: int) -> Iterator[Stretch]:
    """The items from row `first` on; a sentence only where it goes on from the one before."""
    goes_on = False
    for row in range(first, len(stretches)):
        stretch, line = stretches[row], stretches[row].first
        closed = lines.is_closed(line) and not line.endswith(_GOES_ON)
        alone = stretch.lines == 1 and stretch.gap and len(line) <= _LONGEST
        begins = goes_on or line[:1].islower() or not closed
        same = stretch.kind is BlockKind.PARAGRAPH and stretch.indent == stretches[first].indent
        if not (alone and begins and same):
            return
        yield stretch
        if closed:
            return
        goes_on = line.endswith(_GOES_ON)


def _is_title(stretch: Stretch, below: Stretch) -> bool:
    few = len(stretch.first.split()) <= _TITLE and stretch.first[:1].isupper()
    return few and not lines.is_closed(stretch.first) and lines.is_closed(below.last)
