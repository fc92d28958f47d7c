"""Erasure: what the reader's score says of the words of a question that the best window does not have.

A window about something else ("windows are cleaned", where the question has "carpets") is read as a better answer
when that word is left out of the question; one that says it in other words, as a worse one. Leave-one-out, after Li,
Monroe and Jurafsky (2016), who measure by it what a model's decision rests on.
"""

import re
from collections.abc import Iterable, Iterator

from equipoise.core.protocols import Reranker
from equipoise.corpus.spelling import is_foreign
from equipoise.rag.highlighters.evidence import SAYING_NOTHING, STEM, in_parts
from equipoise.rag.highlighters.reading import Window, below_heading
from equipoise.text.function_words import UMLAUTS, VERBS
from equipoise.text.lines import NAMED_CELL, is_loaded_row
from equipoise.text.references import ASKING
from equipoise.text.support import stem
from equipoise.text.tokens import STOP_WORDS, WORD, words

AGAINST = 2.0
"""From this rise of the score (log-odds) on, the window is about something else."""
BORNE_OUT = 1.0
"""The window says absent words otherwise if leaving out one lowers the score by so much, and none raises it as much."""
SHARE, MOST_FALL = 0.2, 3.0
"""Adds SHARE of the greatest fall, up to MOST_FALL (all chosen on one set of short documents: benchmarks/LOG.md)."""
MOST_ABSENT = 0.8
"""At most this share of the question's words may be absent for that: with too few in common, the loss of any hurts."""
MOST_GAIN = SHARE * MOST_FALL
MOST_WORDS = 8
"""Words of a question that are left out, each by itself."""
_OPEN = frozenset({"cost", "costs", "much", "long", "old"})
"""Words that ask for what a field may call by any name: a price, a duration, an age."""
_DEGREE = re.compile(r"\bhow (\w+)|\b(new|maximum|minimum|\w+est)\b", re.IGNORECASE)
_HIGHER = re.compile(r"\b(?:is|are|was|were)(?: the)? (\w+er)\b", re.IGNORECASE)
"""Words that ask for a size or an order, and that numbers answer; of things that are compared ("quieter, A or B")."""


def shift(question: str, window: Window, reader: Reranker) -> float:
    """What to add to the log-odds that the window answers: at most MOST_GAIN, below 0 if it is about something else. A
    question in another language, which the reader hardly reads, gets MOST_GAIN if half of its words are in the window,
    else 0. For questions that stand alone. Raises ModelError."""
    asked = _content_word_matches(question)
    if is_foreign(question):
        there = "\n".join((*window.above, window.text)).casefold().translate(UMLAUTS)
        telling = [word for match in asked if (word := match.group().casefold()) not in VERBS]
        held = sum(in_parts(word.translate(UMLAUTS), there) for word in telling)
        return MOST_GAIN if telling and 2 * held >= len(telling) else 0.0
    absent = [match for match in _absent(asked, window) if match.lastgroup != "number"][:MOST_WORDS]
    if not absent:
        return MOST_GAIN if _has_all_asked(window.own, asked, question) else 0.0
    text = below_heading(window)
    whole = reader.scores(question, [text])[0]
    shorter = {match.group().casefold(): _without(question, match) for match in absent}
    rises = {word: float(reader.scores(left, [text])[0] - whole) for word, left in shorter.items()}
    degrees = {word.casefold() for match in _DEGREE.finditer(question) for word in match.groups("")}
    if not {"or", "than"}.isdisjoint(words(question)):
        degrees |= {word.casefold() for word in _HIGHER.findall(question)}
    asks = not ASKING.isdisjoint(words(question))  # what a yes or no answers is often said by its opposite
    against = max((rise for word, rise in rises.items() if asks and word not in degrees), default=0.0)
    if against >= AGAINST:
        return -against
    fall = -min(rises.values())
    borne_out = fall >= BORNE_OUT > against and len(absent) <= MOST_ABSENT * len(asked)
    return SHARE * min(fall, MOST_FALL) if borne_out else 0.0


def _has_all_asked(row: str, asked: Iterable[re.Match[str]], question: str) -> bool:
    """Whether it is a row or field that has all that the question asks for by itself: "Call sign: LHXR"."""
    said, there = {match.group() for match in asked}, set(map(stem, words(row)))
    is_whole = len(said) > 1 and all(set(map(stem, words(word))) <= there for word in said)
    is_row = is_loaded_row(row) or NAMED_CELL.match(row) is not None
    return is_row and is_whole and _OPEN.isdisjoint(words(question))


def _without(question: str, match: re.Match[str]) -> str:
    return question[: match.start()] + question[match.end() :]


def _content_word_matches(question: str) -> list[re.Match[str]]:
    """The words of the question but for those that only ask."""
    return [
        match
        for match in WORD.finditer(question)
        if (len(match.group()) > 2 or match.lastgroup == "number")
        and match.group().casefold() not in STOP_WORDS | SAYING_NOTHING
    ]


def _absent(asked: Iterable[re.Match[str]], window: Window) -> Iterator[re.Match[str]]:
    """The words of `asked` that neither the window nor what stands above it has in any form."""
    there = set(words("\n".join((*window.above, window.text))))
    stems, beginnings = set(map(stem, there)), {word[:STEM] for word in there if len(word) >= STEM}
    for match in asked:
        word = match.group().casefold()
        if stem(word) not in stems and word[:STEM] not in beginnings:
            yield match
