"""The list that is asked for as a whole."""

import re

from equipoise.rag.highlighters.reading import Window
from equipoise.text.block_text import without_marker
from equipoise.text.quotes import MAX_LIST_WORDS
from equipoise.text.support import common_words, content_stems, stem, stems_of

_ASKED = re.compile(
    r"\b(?:which|what|list|name|all|every)\b(?:\s+(?:all|of|the|are|other|different|kinds?|types?|sorts?)){0,4}+"
    r"\s+((?:[^\W\d_]{1,40}\s+){0,2}?[^\W\d_]{2,40}s)\b",
    re.IGNORECASE,
)
"""Things of a kind, in the plural."""


def asked_list_items(question: str, best: Window) -> list[Window]:
    """All items of the best one's list, where things are asked for that its lead-in names: of "which architectures does
    it support" what stands below "for the following architectures:". Empty where the best one says something of the
    question that its lead-in does not, and so answers by itself; and where the list is too long to be quoted."""
    asked = {stem(match[1].split()[-1].casefold()) for match in _ASKED.finditer(question)}
    if not (asked and best.is_led and without_marker(best.own) != best.own):
        return []
    passage, top = best.passage, best.read_stretches[0][0]
    units = passage.sentences or ()
    lead = next((passage.text[start:end] for start, end in units if start == top), "")
    named = content_stems("\n".join((*best.above, lead)))
    own = (content_stems(question) & content_stems(best.own)) - named - stems_of(common_words())
    if own or not asked <= named:
        return []
    places = enumerate(zip(units, passage.readings, strict=True))
    items = [
        Window(passage, *place, row, row + 1, read_stretches=stretches)
        for row, (place, stretches) in places
        if stretches and stretches[0][0] == top < place[0]
    ]
    return items if sum(len(item.own.split()) for item in items) <= MAX_LIST_WORDS else []
