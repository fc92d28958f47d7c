"""What a refusal says of the question: the words of it that no document has."""

import re
from collections.abc import Sequence

from equipoise.core.types import Passage, Query
from equipoise.rag.highlighters.amounts import dates, is_number, missing_numbers
from equipoise.rag.highlighters.evidence import absent_words, everything
from equipoise.text.support import common_words, stem, stems_of
from equipoise.text.tokens import words

MOST = 3
"""Words that a refusal names."""
_WORD = re.compile(r"[\w'’]+(?:-[\w'’]+)*+")


def unheard(query: Query, passages: Sequence[Passage]) -> tuple[str, ...]:
    """The words of the question, as they were typed, that no document has, none of them so common that texts say it
    otherwise ("take"); numbers where what was read says nothing of them. At most MOST."""
    asked, text = query.newest, everything(passages)
    common, days = stems_of(common_words()), {str(day) for _, day in dates(asked)}
    absent = {word for word in absent_words(query, text) if stem(word) not in common}
    absent |= {
        number
        for number in missing_numbers(asked, text)
        if number in query.out_of_corpus and number not in days
    }
    small = {word for word in query.out_of_corpus if len(word) == 1 and not is_number(word)}
    found = dict.fromkeys(
        typed
        for typed in _WORD.findall(asked)
        if (parts := set(words(typed))) and parts & absent and parts <= absent | small
    )
    return tuple(found)[:MOST]


def sentence_of(unheard_words: Sequence[str]) -> str:
    """One sentence for them; empty where there are none."""
    *others, last = (f"“{word}”" for word in unheard_words) if unheard_words else ("",)
    whole = f"{', '.join(others)} or {last}" if others else last
    return f"None of them mentions {whole}." if whole else ""
