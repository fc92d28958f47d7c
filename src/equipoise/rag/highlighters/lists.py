"""The list that is asked for as a whole."""

import re
import sys
from collections.abc import Iterable, Sequence

from equipoise.rag.highlighters.reading import Window
from equipoise.text.block_text import without_marker
from equipoise.text.labels import is_lead_in
from equipoise.text.lines import is_loaded_row
from equipoise.text.quotes import MAX_LIST_WORDS
from equipoise.text.support import common_words, content_stems, stem, stems_of

Offsets = tuple[int, int]

_ASKED = re.compile(
    r"\b(?:which|what|list|name|all|every)\b(?:\s+(?:all|of|the|are|other|different|kinds?|types?|sorts?)){0,4}+"
    r"\s+((?:[^\W\d_]{1,40}\s+){0,2}?[^\W\d_]{2,40}s)\b",
    re.IGNORECASE,
)
"""Things of a kind, in the plural."""


def asked_list_items(question: str, chosen: Sequence[Window]) -> list[Window]:
    """A lead-in and all items of its list, where things are asked for that it names: of "which architectures does it
    support" what stands below "for the following architectures:". It is the list of the best of the windows, or one
    without a lead-in below a heading that says all that is asked for.

    Empty where the best one says something of the question that its lead-in does not, and so answers by itself; where
    it shows the whole list already; and where the list is too long to be quoted."""
    asked = {stem(match[1].split()[-1].casefold()) for match in _ASKED.finditer(question)}
    if not asked:
        return []
    lists = (_led_items(question, asked, chosen[0]), *(_below_heading(question, asked, w) for w in chosen))
    return next((items for items in lists if items), [])


def _led_items(question: str, asked: set[str], best: Window) -> list[Window]:
    """The lead-in and the items of the list that the best window stands in, or that its paragraph leads to."""
    passage = best.passage
    in_list = best.is_led and (without_marker(best.own) != best.own or not is_loaded_row(best.own))
    lead = _lead_in_above(best) if in_list else _lead_in_below(best)
    named = content_stems(passage.text[slice(*lead)])
    if in_list:
        named |= content_stems("\n".join(best.above))
    own = (content_stems(question) & content_stems(best.own)) - named - stems_of(common_words())
    if lead == (0, 0) or (own and in_list) or not asked <= named:
        return []
    units = passage.sentences or ()
    rows = enumerate(zip(units, passage.readings, strict=True))
    led = (row for row, (place, read) in rows if place > lead and _holds(read, lead, place[0]))
    items = _windows(best, (units.index(lead), *led))
    shown = best.leads and all(_holds(best.read_stretches, (item.start, item.end)) for item in items)
    return items if len(items) > 1 and not shown else []


def _holds(stretches: Iterable[Offsets], unit: Offsets, before: int = sys.maxsize) -> bool:
    """Whether one of the stretches that begin in front of `before` has the sentence in it."""
    return any(low <= unit[0] and unit[1] <= high for low, high in stretches if low < before)


def _lead_in_above(window: Window) -> Offsets:
    """The sentence that leads to the list which the window stands in, (0, 0) for none."""
    above = (unit for unit in window.passage.sentences or () if unit[1] <= window.start)
    return max((unit for unit in above if _holds(window.read_stretches, unit)), default=(0, 0))


def _lead_in_below(window: Window) -> Offsets:
    """The first lead-in of the window's paragraph from its last sentence on, (0, 0) for none."""
    text, end = window.passage.text, window.end
    for start, stop in (window.passage.sentences or ())[window.last - 1 :]:
        if "\n\n" in text[end:start]:
            break
        if is_lead_in(text[start:stop]):
            return start, stop
        end = stop
    return 0, 0


def _below_heading(question: str, asked: set[str], window: Window) -> list[Window]:
    """The items of a list without a lead-in that the window is an item of, if its heading names all that is asked
    for."""
    passage, path = window.passage, window.passage.path_at(window.start)
    left = content_stems(question) - content_stems("\n".join(window.above)) - stems_of(common_words())
    if window.is_led or left or not path or not asked <= content_stems(path[-1]):
        return []
    run: list[int] = []
    end = 0
    for row, (start, stop) in enumerate(passage.sentences or ()):
        said = passage.text[start:stop]
        marked = without_marker(said) != said
        if passage.path_at(start) != path or ("\n\n" in passage.text[end:start] and not marked):
            if window.first in run:
                break
            run = []
        elif marked or run:
            run.append(row)
        end = stop
    return _windows(window, run) if window.first in run and len(run) > 1 else []


def _windows(window: Window, rows: Iterable[int]) -> list[Window]:
    """The sentences of the window's passage with these numbers; none if they are too long to be quoted."""
    passage, units = window.passage, window.passage.sentences or ()
    items = [Window(passage, *units[row], row, row + 1, read_stretches=passage.readings[row]) for row in rows]
    return items if sum(len(item.own.split()) for item in items) <= MAX_LIST_WORDS else []
