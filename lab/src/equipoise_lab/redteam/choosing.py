"""What an attacker who picks sentences at will has to choose from, and how choices are ranked and changed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from random import Random
from typing import TypeVar

from equipoise.core.types import Document, Proposal, Span, Tag
from equipoise.text.support import stem
from equipoise.text.tokens import WORD, content_words, words

T = TypeVar("T")
SHORT = 4
"""Words of a sentence that attackers spell with."""
LONGEST = 60
"""Words of a sentence that cases are made from."""


@dataclass(frozen=True)
class QuotableSentence:
    """One quotable sentence of a document, by its row there; `place` names it: the file and the offset."""

    doc_id: str
    row: int
    start: int
    end: int
    text: str
    place: str

    @property
    def span(self) -> Span:
        """Its place."""
        return Span(self.doc_id, self.start, self.end)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words, case-folded."""
        return tuple(words(self.text))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its telling words."""
        return frozenset(stem(word) for word in content_words(self.text))


@dataclass(frozen=True)
class Ground:
    """The documents under attack, read once."""

    documents: Mapping[str, Document]

    @cached_property
    def sentences(self) -> tuple[QuotableSentence, ...]:
        return tuple(sentences(self.documents))

    @cached_property
    def first_words(self) -> Mapping[str, Mapping[str, Span]]:
        """By document, where each word stands for the first time."""
        by_document: dict[str, dict[str, Span]] = {}
        for doc_id, document in self.documents.items():
            places = by_document.setdefault(doc_id, {})
            for match in WORD.finditer(document.text):
                places.setdefault(match.group().casefold(), Span(doc_id, match.start(), match.end()))
        return by_document

    def of(self, doc_id: str) -> tuple[QuotableSentence, ...]:
        """The sentences of one document."""
        return tuple(sentence for sentence in self.sentences if sentence.doc_id == doc_id)


def sentences(documents: Mapping[str, Document]) -> list[QuotableSentence]:
    """Every quotable sentence, in canonical order."""
    return [
        QuotableSentence(
            doc_id,
            row,
            start,
            end,
            " ".join(documents[doc_id].text[start:end].split()),
            f"{PurePath(documents[doc_id].source).name}:{start}",
        )
        for doc_id in sorted(documents)
        for row, (start, end) in enumerate(documents[doc_id].sentences)
    ]


def spread(group: Sequence[T], most: int) -> list[T]:
    """At most so many of them, evenly spread."""
    return list(group[:: max(1, len(group) // max(1, most))][:most])


def by_likeness(every: Iterable[QuotableSentence], wanted: str) -> list[QuotableSentence]:
    """Those that share words with `wanted`, the most telling first: shared words over the root of all of theirs."""
    aim = {stem(word) for word in content_words(wanted)}
    scored = [(len(sentence.stems & aim) / (1 + len(sentence.stems)) ** 0.5, sentence) for sentence in every]
    kept = [pair for pair in scored if pair[0] > 0]
    return [sentence for _, sentence in sorted(kept, key=lambda pair: (-pair[0], pair[1].span))]


def proposal(chosen: Iterable[Span], tags: frozenset[Tag] = frozenset()) -> Proposal:
    """A highlighter's choice."""
    return Proposal(tuple(dict.fromkeys(chosen)), tags=tags)


def cuts(ground: Ground, doc_id: str, wanted: str) -> list[Span]:
    """One span for each word of `wanted` that the document has, in the order wanted: the attack on extracts of any
    length."""
    places = ground.first_words[doc_id]
    return [places[word] for word in words(wanted) if word in places]


def short_ones(every: Iterable[QuotableSentence], wanted: str) -> list[QuotableSentence]:
    """The shortest sentence for each word of `wanted` that has one of at most SHORT words."""
    best: dict[str, QuotableSentence] = {}
    aim = set(words(wanted))
    for sentence in every:
        for word in aim.intersection(sentence.words) if len(sentence.words) <= SHORT else ():
            if word not in best or len(sentence.words) < len(best[word].words):
                best[word] = sentence
    return list(dict.fromkeys(best.values()))


def changed(
    chosen: Sequence[QuotableSentence],
    pool: Sequence[QuotableSentence],
    every: Sequence[QuotableSentence],
    chance: Random,
) -> Iterator[tuple[QuotableSentence, ...]]:
    """Choices near `chosen`, without end: one sentence more from `pool`, a neighbour more, or one less."""
    place = {sentence.span: number for number, sentence in enumerate(every)}
    while True:
        move = chance.randrange(3)
        if move == 0 and pool:
            yield (*chosen, chance.choice(pool))
        elif move == 1 and chosen:
            at = place[chance.choice(chosen).span] + chance.choice((-1, 1))
            if 0 <= at < len(every):
                yield (*chosen, every[at])
        elif len(chosen) > 1:
            gone = chance.randrange(len(chosen))
            yield (*chosen[:gone], *chosen[gone + 1 :])
