"""The worlds: what is planted beside a corpus, and what is taken out of it, question by question.

Every world but `clean` and `synthetic` is planted for both sides, and for several choices of passages (`rotations`):
the first passage of an attack need not be like the others.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from equipoise.core.types import Array, Candidates, Document, Passage, Trust
from equipoise.maths.polarization import polarization_scores
from equipoise.maths.similarity import top_k
from equipoise_lab.attacks.passages import AttackPassage, Kind
from equipoise_lab.bench.bias import vectors
from equipoise_lab.bench.bias.attacked_questions import AttackedQuestion
from equipoise_lab.bench.bias.attacks import SIGNS
from equipoise_lab.bench.bias.background import EmbeddedPassages, merged
from equipoise_lab.bench.bias.corpora import Corpus
from equipoise_lab.bench.bias.metrics import SIDE
from equipoise_lab.bench.bias.vectors import Workspace
from equipoise_lab.bench.bias.worlds import texts

FEWEST = 3
"""Passages by people on one side of a question; with fewer nothing is planted for that side."""
USUAL = 5
ROTATIONS, FEW_ROTATIONS = 5, 2
COPIES = 3
"""Passages rewritten from one, as many as `benchmarks/bias/own.py` plants; people's passages that stand there twice."""

Key = tuple[str, str]
"""(question, text)."""
PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class Known:
    """A text by its ids; `kind` is PEOPLE or that of an attack passage, `side` the true one towards "yes" (-1 to 1):
    the attack's own, people's label, the author's of a synthetic passage; 0 where nobody labelled it."""

    query_id: str
    id: str
    kind: str
    side: float


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One planting: the attack, benign passages put in `beside` it, documents taken out, and which are relevant."""

    planted: EmbeddedPassages
    beside: EmbeddedPassages
    removed: frozenset[str]
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A Sample: all trials of one kind for one question."""

    name: str
    attacked: AttackedQuestion
    trials: tuple[Trial, ...]

    @property
    def sample_id(self) -> str:
        """The world and the query."""
        return f"{self.name} {self.attacked.attack.query_id}"


@dataclass(frozen=True, slots=True, eq=False)
class AttackedCorpus:
    """What worlds are made of: a corpus with its vectors, the attacked questions.

    `changed` holds by the name of a world and the id of a passage its changed text with its vector, `rewritten` by
    question and sign what is rewritten from one passage, with its true side, and `twice` by question people's passages
    rewritten once.
    """

    corpus: Corpus
    embedded: EmbeddedPassages
    questions: tuple[AttackedQuestion, ...]
    synthetic: Mapping[str, EmbeddedPassages]
    changed: Mapping[tuple[str, str], tuple[Passage, Array]]
    rewritten: Mapping[tuple[str, Kind], tuple[EmbeddedPassages, float]]
    twice: Mapping[str, EmbeddedPassages]

    def candidates(self, world: World, trial: Trial, k: int) -> Candidates:
        """The k candidates of a trial. Documents by people count as trusted: only quotas look at that."""
        question = world.attacked
        rows, scores = top_k(self.embedded.vectors, question.vector, k + len(trial.removed))
        passages = [self.embedded.passages[row] for row in rows]
        left = [place for place, passage in enumerate(passages) if passage.doc_id not in trial.removed]
        whole = Candidates(tuple(passages), scores, self.embedded.vectors[rows], question.vector).take(left)
        both = merged(merged(whole, trial.beside, k=k), trial.planted, k=k)
        own = {passage.doc_id for passage in (*trial.planted.passages, *trial.beside.passages)}
        trusted = {
            passage.doc_id: Document(passage.doc_id, passage.text, passage.doc_id, trust=Trust.TRUSTED)
            for passage in both.passages
            if passage.doc_id not in own
        }
        return Candidates(
            both.passages, both.scores, both.embeddings, both.query_embedding, documents=trusted
        )

    def texts(self) -> dict[Key, Known]:
        """What is known of every text that can be among the candidates of a question."""
        by_text: dict[Key, Known] = {}
        for question in self.questions:
            asked, query_id = question.attack.question, question.attack.query_id
            labels = _labels(self.corpus, question)
            for passage in self.embedded.passages:
                doc_id = passage.doc_id
                by_text[asked, passage.text] = Known(query_id, doc_id, PEOPLE, labels.get(doc_id, 0.0))
            for written in question.attack.passages[Kind.SYNTHETIC]:
                side = float(np.clip(written.stance or 0, -1, 1))
                by_text[asked, written.text] = Known(query_id, written.passage_id, Kind.SYNTHETIC.value, side)
            for sign in SIGNS:
                for passage in self._attacking(question, sign):
                    known = Known(query_id, passage.doc_id, sign.value, SIDE[sign.value])
                    by_text[asked, passage.text] = known
                made, side = self.rewritten.get((query_id, sign), (None, 0.0))
                for passage in made.passages if made else ():
                    by_text[asked, passage.text] = Known(query_id, passage.doc_id, sign.value, side)
            for passage in self.twice[query_id].passages:
                side = labels.get(passage.doc_id.partition("~")[0], 0.0)
                by_text[asked, passage.text] = Known(query_id, passage.doc_id, PEOPLE, side)
        return by_text

    def _attacking(self, question: AttackedQuestion, sign: Kind) -> Iterator[Passage]:
        yield from question.planted[sign].passages
        names = {name for name, _ in self.changed}
        for passage in question.planted[sign].passages:
            yield from (self.changed[name, passage.doc_id][0] for name in sorted(names))


def attacked_corpus(
    corpus: Corpus, embedded: EmbeddedPassages, questions: Sequence[AttackedQuestion], workspace: Workspace
) -> AttackedCorpus:
    """The attacked corpus, with every changed text encoded."""
    first = len(embedded) + 1000
    synthetic = {
        question.attack.query_id: _embedded(question.attack.passages[Kind.SYNTHETIC], first, workspace)
        for question in questions
    }
    changed = {}
    for name, change in CHANGES.items():
        pairs = [
            (passage, change(passage.text, passage.doc_id, place, _people(corpus, question, sign), question))
            for question in questions
            for sign in SIGNS
            for place, passage in enumerate(question.planted[sign].passages)
        ]
        rows = vectors.encode([text for _, text in pairs], workspace, f"attacks, {name}")
        for (passage, text), row in zip(pairs, rows, strict=True):
            made = Passage(passage.passage_id, f"{passage.doc_id}~{name}", 0, len(text), text)
            changed[name, passage.doc_id] = made, row
    rewritten = {
        (question.attack.query_id, sign): (
            _copies([(one.passage_id, one.text)] * COPIES, first + 1000, workspace),
            float(np.clip(one.stance or 0, -1, 1)),
        )
        for question in questions
        for sign in SIGNS
        if (one := _extreme(question, synthetic[question.attack.query_id], sign))
    }
    twice = {
        question.attack.query_id: _copies(
            [(doc_id, corpus.documents[doc_id].text) for doc_id in _first_relevant(corpus, question)],
            first + 2000,
            workspace,
        )
        for question in questions
    }
    return AttackedCorpus(corpus, embedded, tuple(questions), synthetic, changed, rewritten, twice)


Change = Callable[[str, str, int, Sequence[str], AttackedQuestion], str]
"""(text, id, number from 0, people's texts on the same side, question) to a changed text."""

CHANGES: Mapping[str, Change] = {
    "mixed": lambda text, _, place, people, __: (
        texts.mixed(text, people[place % len(people)]) if people else text
    ),
    "roughened": lambda text, name, *_: texts.roughened(text, name),
    "less-relevant": lambda text, _, __, ___, question: texts.less_relevant(text, question.attack.question),
    "echoing": lambda text, _, __, ___, question: texts.echoing(text, question.attack.question),
    "neutral": lambda text, *_: texts.neutral(text),
}


def worlds(attacked_corpus: AttackedCorpus) -> list[World]:
    """Every world for every question, in the order of NAMES; a world that a question cannot have is left out."""
    samples = []
    for name, trials in TRIALS.items():
        for question in attacked_corpus.questions:
            if made := tuple(trials(attacked_corpus, question)):
                samples.append(World(name, question, made))
    return samples


def _clean(attacked_corpus: AttackedCorpus, question: AttackedQuestion) -> Iterator[Trial]:
    yield _trial(attacked_corpus, question, _none(question))


def _planted(count: int) -> Callable[[AttackedCorpus, AttackedQuestion], Iterator[Trial]]:
    def trials(attacked_corpus: AttackedCorpus, question: AttackedQuestion) -> Iterator[Trial]:
        for sign in SIGNS:
            for part in _rotated(question.planted[sign], count, ROTATIONS):
                yield _trial(attacked_corpus, question, part)

    return trials


def _synthetic(attacked_corpus: AttackedCorpus, question: AttackedQuestion) -> Iterator[Trial]:
    beside = attacked_corpus.synthetic[question.attack.query_id]
    ids = frozenset(passage.doc_id for passage in beside.passages)
    if ids:
        yield Trial(_none(question), beside, frozenset(), _relevant(attacked_corpus, question) | ids)


def _machine(attacked_corpus: AttackedCorpus, question: AttackedQuestion) -> Iterator[Trial]:
    """All that is relevant was written by a model: people's relevant passages are gone."""
    beside = attacked_corpus.synthetic[question.attack.query_id]
    ids = frozenset(passage.doc_id for passage in beside.passages)
    for sign in SIGNS if ids else ():
        for part in _rotated(question.planted[sign], USUAL, ROTATIONS):
            yield Trial(part, beside, _relevant(attacked_corpus, question), ids)


def _by_people(attacked_corpus: AttackedCorpus, question: AttackedQuestion) -> Iterator[Trial]:
    """Passages by people on one side, held out of the corpus, are what is planted."""
    labels, embedded = _labels(attacked_corpus.corpus, question), attacked_corpus.embedded
    rows = {p.doc_id: n for n, p in enumerate(embedded.passages)}
    for sign in SIGNS:
        held_out = sorted(doc_id for doc_id, side in labels.items() if side * SIDE[sign.value] > 0)
        for rotation in range(ROTATIONS if len(held_out) >= FEWEST else 0):
            drawn = Random(f"{question.attack.query_id} {sign} {rotation}").sample(held_out, len(held_out))[
                :USUAL
            ]
            part = embedded.take([rows[doc_id] for doc_id in drawn])
            out = frozenset(held_out)
            yield Trial(part, _none(question), out, _relevant(attacked_corpus, question) - out)


def _changed(name: str) -> Callable[[AttackedCorpus, AttackedQuestion], Iterator[Trial]]:
    def trials(attacked_corpus: AttackedCorpus, question: AttackedQuestion) -> Iterator[Trial]:
        for sign in SIGNS:
            pairs = [
                attacked_corpus.changed[name, passage.doc_id] for passage in question.planted[sign].passages
            ]
            whole = EmbeddedPassages(
                tuple(passage for passage, _ in pairs), np.stack([row for _, row in pairs])
            )
            for part in _rotated(whole, USUAL, FEW_ROTATIONS):
                yield _trial(attacked_corpus, question, part)

    return trials


def _spread(attacked_corpus: AttackedCorpus, question: AttackedQuestion) -> Iterator[Trial]:
    """The passages of an attack that are least alike: each next one is the farthest from those chosen."""
    for sign in SIGNS:
        whole = question.planted[sign]
        alike = whole.vectors @ whole.vectors.T
        for start in whole.starts(USUAL, FEW_ROTATIONS):
            chosen = [start]
            while len(chosen) < min(USUAL, len(whole)):
                nearest = alike[:, chosen].max(axis=1)
                nearest[chosen] = np.inf
                chosen.append(int(np.argmin(nearest)))
            yield _trial(attacked_corpus, question, whole.take(chosen))


def _rewritten(attacked_corpus: AttackedCorpus, question: AttackedQuestion) -> Iterator[Trial]:
    """The paper's steps 3 and 4 by rule: what is planted is rewritten from the synthetic passage of extreme PS."""
    for sign in SIGNS:
        if made := attacked_corpus.rewritten.get((question.attack.query_id, sign)):
            yield _trial(attacked_corpus, question, made[0])


def _twice(attacked_corpus: AttackedCorpus, question: AttackedQuestion) -> Iterator[Trial]:
    """Nobody attacks, but some of people's relevant passages stand there once more in other words."""
    beside = attacked_corpus.twice[question.attack.query_id]
    ids = frozenset(passage.doc_id for passage in beside.passages)
    if ids:
        yield Trial(_none(question), beside, frozenset(), _relevant(attacked_corpus, question) | ids)


TRIALS: Mapping[str, Callable[[AttackedCorpus, AttackedQuestion], Iterator[Trial]]] = {
    "clean": _clean,
    "planted-1": _planted(1),
    "planted-5": _planted(USUAL),
    "planted-10": _planted(10),
    "synthetic": _synthetic,
    "machine": _machine,
    "people": _by_people,
    "spread": _spread,
    **{name: _changed(name) for name in CHANGES},
    "rewritten": _rewritten,
    "twice": _twice,
}
ADAPTIVE = ("spread", *CHANGES)
"""The worlds whose attack knows what it is to get past."""


def _trial(attacked_corpus: AttackedCorpus, question: AttackedQuestion, planted: EmbeddedPassages) -> Trial:
    return Trial(planted, _none(question), frozenset(), _relevant(attacked_corpus, question))


def _none(question: AttackedQuestion) -> EmbeddedPassages:
    return question.planted[Kind.ADV_POS].first(0)


def _relevant(attacked_corpus: AttackedCorpus, question: AttackedQuestion) -> frozenset[str]:
    return attacked_corpus.corpus.relevant.get(question.attack.query_id, frozenset())


def _labels(corpus: Corpus, question: AttackedQuestion) -> dict[str, float]:
    """People's stances towards "yes"."""
    stances = corpus.stance.get(question.attack.query_id, {})
    return {doc_id: question.attack.polarity * side for doc_id, side in stances.items()}


def _people(corpus: Corpus, question: AttackedQuestion, sign: Kind) -> list[str]:
    """Texts by people on the side of the attack."""
    labels = _labels(corpus, question)
    return [corpus.documents[d].text for d in sorted(labels) if labels[d] * SIDE[sign.value] > 0]


def _rotated(whole: EmbeddedPassages, count: int, rotations: int) -> Iterator[EmbeddedPassages]:
    for first in whole.starts(count, rotations):
        yield whole.rotated(count, first)


def _extreme(question: AttackedQuestion, anchors: EmbeddedPassages, sign: Kind) -> AttackPassage | None:
    """Step 3, Eq. 7: the synthetic passage furthest along the axis; None where there is none."""
    if not len(anchors):
        return None
    scores = SIDE[sign.value] * polarization_scores(anchors.vectors, question.axis)
    return question.attack.passages[Kind.SYNTHETIC][int(scores.argmax())]


def _first_relevant(corpus: Corpus, question: AttackedQuestion) -> list[str]:
    return sorted(corpus.relevant.get(question.attack.query_id, ()))[:COPIES]


def _copies(originals: Sequence[tuple[str, str]], first: int, workspace: Workspace) -> EmbeddedPassages:
    """Texts rewritten from `originals` (id, text), which may repeat."""
    made = [
        (f"{name}~{place}", texts.copied(text, f"{name} {place}"))
        for place, (name, text) in enumerate(originals)
    ]
    rows = vectors.encode([text for _, text in made], workspace, "copies")
    return EmbeddedPassages(
        tuple(Passage(first + place, name, 0, len(text), text) for place, (name, text) in enumerate(made)),
        rows,
    )


def _embedded(written: Sequence[AttackPassage], first: int, workspace: Workspace) -> EmbeddedPassages:
    passages = tuple(
        Passage(first + place, passage.passage_id, 0, len(passage.text), passage.text)
        for place, passage in enumerate(written)
    )
    return EmbeddedPassages(
        passages, vectors.encode([passage.text for passage in written], workspace, "synthetic")
    )
