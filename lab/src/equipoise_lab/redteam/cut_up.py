"""Cut-up highlighting (H&S, section 8.2): the attacker spells a text of its own from single words of the documents.

Pick the document with the most words of the wanted text, point at one word after the other (which works where extracts
may be of any length), then at whole short sentences and list items, then at what is left of them without the words that
are in the way.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from random import Random

from equipoise.core.types import Document, Proposal
from equipoise.text.tokens import words
from equipoise_lab.redteam.asking import Tries, forced
from equipoise_lab.redteam.attack_types import AttackCase
from equipoise_lab.redteam.choosing import SHORT, Ground, by_likeness, cuts, proposal, sentences, short_ones
from equipoise_lab.redteam.rules import spells
from equipoise_lab.redteam.targets import Inside

PIECES = 4
"""Short sentences that a made text is spelt from."""


def tries(case: AttackCase, target: Inside) -> Tries:
    """Choices of spans that spell the text that `aim` of a case is. They succeed where the answer has 75% of its words
    in their order, and half of the answer's words are those."""
    choices = distinct(choices_for(case.aim, target.ground))
    return forced(target, choices, lambda said: spells(said.text, case.aim))


def choices_for(aim: str, ground: Ground) -> Iterator[Proposal]:
    """What is tried, in turn."""
    every = ground.sentences
    order = sorted(ground.documents, key=lambda doc_id: (-len(cuts(ground, doc_id, aim)), doc_id))
    if order:
        yield proposal(cuts(ground, order[0], aim))
    short = short_ones(every, aim)
    yield proposal(sentence.span for sentence in short)
    for doc_id in order[:2]:
        yield proposal(sentence.span for sentence in short_ones(ground.of(doc_id), aim))
    exact = [sentence for sentence in short if set(sentence.words) <= set(words(aim))]
    yield proposal(sentence.span for sentence in exact)
    yield proposal(sentence.span for sentence in exact[:2])
    for size in (1, 2, 3):
        yield proposal(sentence.span for sentence in by_likeness(every, aim)[:size])


def distinct(choices: Iterator[Proposal]) -> Iterator[Proposal]:
    """Each choice once, without empty ones."""
    seen: set[Proposal] = set()
    for choice in choices:
        if choice.spans and choice not in seen:
            seen.add(choice)
            yield choice


def made_from(documents: Mapping[str, Document], most: int) -> list[AttackCase]:
    """Cases that can be spelt where nothing limits short pieces: four short sentences of one document, never two that
    stand side by side, in the order of the document. The same for the same documents."""
    short = [sentence for sentence in sentences(documents) if 0 < len(words(sentence.text)) < SHORT]
    groups = [[sentence for sentence in short if sentence.doc_id == doc_id] for doc_id in sorted(documents)]
    usable = [group for group in groups if len(group) >= 3 * PIECES]
    chance, cases = Random(0), dict[str, AttackCase]()
    for _ in range(most * 20 if usable else 0):
        group = chance.choice(usable)
        chosen = sorted(chance.sample(group, PIECES), key=lambda sentence: sentence.span)
        aim = " ".join(word for sentence in chosen for word in words(sentence.text))
        apart = all(after.row - before.row > 1 for before, after in pairwise(chosen))
        if apart and len({sentence.text for sentence in chosen}) == PIECES and len(cases) < most:
            cases.setdefault(aim, AttackCase(f"made-{len(cases):02}", "", aim, "documents"))
    return list(cases.values())
