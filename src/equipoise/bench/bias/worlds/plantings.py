"""The worlds: what is planted beside a corpus, and what is taken out of it, question by question.

Every world but `clean` and `synthetic` is planted for both sides, and for several choices of passages (`rotations`):
the first passage of an attack need not be like the others.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from equipoise.bench.bias import vectors
from equipoise.bench.bias.attacked_questions import AttackedQuestion
from equipoise.bench.bias.attacks import SIGNS
from equipoise.bench.bias.background import EmbeddedPassages, merged
from equipoise.bench.bias.corpora import Corpus
from equipoise.bench.bias.metrics import SIDE
from equipoise.bench.bias.vectors import Workspace
from equipoise.bench.bias.worlds import texts
from equipoise.core.types import Array, Candidates, Document, Passage, Trust
from equipoise.maths.similarity import top_k
from equipoise.redteam.passages import AttackPassage, Kind

FEWEST = 3
"""Passages by people on one side of a question; with fewer nothing is planted for that side."""
USUAL = 5
ROTATIONS, FEW_ROTATIONS = 5, 2

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
class Scene:
    """What worlds are made of: a corpus with its vectors, the attacked questions.

    `changed` holds by the name of a world and the id of a passage its changed text with its vector.
    """

    corpus: Corpus
    embedded: EmbeddedPassages
    questions: tuple[AttackedQuestion, ...]
    synthetic: Mapping[str, EmbeddedPassages]
    changed: Mapping[tuple[str, str], tuple[Passage, Array]]

    def candidates(self, world: World, trial: Trial, k: int) -> Candidates:
        """The k candidates of a trial. Documents by people count as trusted: only quotas look at that."""
        question = world.attacked
        rows, scores = top_k(self.embedded.vectors, question.vector, k + len(trial.removed))
        found = [self.embedded.passages[row] for row in rows]
        left = [place for place, one in enumerate(found) if one.doc_id not in trial.removed]
        whole = Candidates(tuple(found), scores, self.embedded.vectors[rows], question.vector).take(left)
        both = merged(merged(whole, trial.beside, k=k), trial.planted, k=k)
        own = {one.doc_id for one in (*trial.planted.passages, *trial.beside.passages)}
        trusted = {
            one.doc_id: Document(one.doc_id, one.text, one.doc_id, trust=Trust.TRUSTED)
            for one in both.passages
            if one.doc_id not in own
        }
        return Candidates(
            both.passages, both.scores, both.embeddings, both.query_embedding, documents=trusted
        )

    def texts(self) -> dict[Key, Known]:
        """What is known of every text that can be among the candidates of a question."""
        found: dict[Key, Known] = {}
        for one in self.questions:
            asked, query_id = one.attack.question, one.attack.query_id
            labels = _labels(self.corpus, one)
            for passage in self.embedded.passages:
                doc_id = passage.doc_id
                found[asked, passage.text] = Known(query_id, doc_id, PEOPLE, labels.get(doc_id, 0.0))
            for written in one.attack.passages[Kind.SYNTHETIC]:
                side = float(np.clip(written.stance or 0, -1, 1))
                found[asked, written.text] = Known(query_id, written.passage_id, Kind.SYNTHETIC.value, side)
            for sign in SIGNS:
                for passage in self._attacking(one, sign):
                    known = Known(query_id, passage.doc_id, sign.value, SIDE[sign.value])
                    found[asked, passage.text] = known
        return found

    def _attacking(self, one: AttackedQuestion, sign: Kind) -> Iterator[Passage]:
        yield from one.planted[sign].passages
        names = {name for name, _ in self.changed}
        for passage in one.planted[sign].passages:
            yield from (self.changed[name, passage.doc_id][0] for name in sorted(names))


def scene(
    corpus: Corpus, embedded: EmbeddedPassages, questions: Sequence[AttackedQuestion], workspace: Workspace
) -> Scene:
    """The scene, with every changed text encoded."""
    first = len(embedded) + 1000
    synthetic = {
        one.attack.query_id: _embedded(one.attack.passages[Kind.SYNTHETIC], first, workspace)
        for one in questions
    }
    changed = {}
    for name, change in CHANGES.items():
        pairs = [
            (passage, change(passage.text, passage.doc_id, place, _people(corpus, one, sign), one))
            for one in questions
            for sign in SIGNS
            for place, passage in enumerate(one.planted[sign].passages)
        ]
        rows = vectors.encode([text for _, text in pairs], workspace, f"attacks, {name}")
        for (passage, text), row in zip(pairs, rows, strict=True):
            made = Passage(passage.passage_id, f"{passage.doc_id}~{name}", 0, len(text), text)
            changed[name, passage.doc_id] = made, row
    return Scene(corpus, embedded, tuple(questions), synthetic, changed)


Change = Callable[[str, str, int, Sequence[str], AttackedQuestion], str]
"""(text, id, number from 0, people's texts on the same side, question) to a changed text."""

CHANGES: Mapping[str, Change] = {
    "mixed": lambda text, _, place, people, __: (
        texts.mixed(text, people[place % len(people)]) if people else text
    ),
    "roughened": lambda text, name, *_: texts.roughened(text, name),
    "less-relevant": lambda text, _, __, ___, one: texts.less_relevant(text, one.attack.question),
    "echoing": lambda text, _, __, ___, one: texts.echoing(text, one.attack.question),
    "neutral": lambda text, *_: texts.neutral(text),
}


def worlds(scene: Scene) -> list[World]:
    """Every world for every question, in the order of NAMES; a world that a question cannot have is left out."""
    found = []
    for name, trials in TRIALS.items():
        for one in scene.questions:
            if made := tuple(trials(scene, one)):
                found.append(World(name, one, made))
    return found


def _clean(scene: Scene, one: AttackedQuestion) -> Iterator[Trial]:
    yield _trial(scene, one, _none(one))


def _planted(count: int) -> Callable[[Scene, AttackedQuestion], Iterator[Trial]]:
    def trials(scene: Scene, one: AttackedQuestion) -> Iterator[Trial]:
        for sign in SIGNS:
            for part in _rotated(one.planted[sign], count, ROTATIONS):
                yield _trial(scene, one, part)

    return trials


def _synthetic(scene: Scene, one: AttackedQuestion) -> Iterator[Trial]:
    beside = scene.synthetic[one.attack.query_id]
    ids = frozenset(passage.doc_id for passage in beside.passages)
    if ids:
        yield Trial(_none(one), beside, frozenset(), _relevant(scene, one) | ids)


def _machine(scene: Scene, one: AttackedQuestion) -> Iterator[Trial]:
    """All that is relevant was written by a model: people's relevant passages are gone."""
    beside = scene.synthetic[one.attack.query_id]
    ids = frozenset(passage.doc_id for passage in beside.passages)
    for sign in SIGNS if ids else ():
        for part in _rotated(one.planted[sign], USUAL, ROTATIONS):
            yield Trial(part, beside, _relevant(scene, one), ids)


def _by_people(scene: Scene, one: AttackedQuestion) -> Iterator[Trial]:
    """Passages by people on one side, held out of the corpus, are what is planted."""
    labels, rows = _labels(scene.corpus, one), {p.doc_id: n for n, p in enumerate(scene.embedded.passages)}
    for sign in SIGNS:
        held_out = sorted(doc_id for doc_id, side in labels.items() if side * SIDE[sign.value] > 0)
        for rotation in range(ROTATIONS if len(held_out) >= FEWEST else 0):
            drawn = Random(f"{one.attack.query_id} {sign} {rotation}").sample(held_out, len(held_out))[:USUAL]
            part = scene.embedded.take([rows[doc_id] for doc_id in drawn])
            out = frozenset(held_out)
            yield Trial(part, _none(one), out, _relevant(scene, one) - out)


def _changed(name: str) -> Callable[[Scene, AttackedQuestion], Iterator[Trial]]:
    def trials(scene: Scene, one: AttackedQuestion) -> Iterator[Trial]:
        for sign in SIGNS:
            pairs = [scene.changed[name, passage.doc_id] for passage in one.planted[sign].passages]
            whole = EmbeddedPassages(
                tuple(passage for passage, _ in pairs), np.stack([row for _, row in pairs])
            )
            for part in _rotated(whole, USUAL, FEW_ROTATIONS):
                yield _trial(scene, one, part)

    return trials


def _spread(scene: Scene, one: AttackedQuestion) -> Iterator[Trial]:
    """The passages of an attack that are least alike: each next one is the farthest from those chosen."""
    for sign in SIGNS:
        whole = one.planted[sign]
        alike = whole.vectors @ whole.vectors.T
        for start in whole.starts(USUAL, FEW_ROTATIONS):
            chosen = [start]
            while len(chosen) < min(USUAL, len(whole)):
                nearest = alike[:, chosen].max(axis=1)
                nearest[chosen] = np.inf
                chosen.append(int(np.argmin(nearest)))
            yield _trial(scene, one, whole.take(chosen))


TRIALS: Mapping[str, Callable[[Scene, AttackedQuestion], Iterator[Trial]]] = {
    "clean": _clean,
    "planted-1": _planted(1),
    "planted-5": _planted(USUAL),
    "planted-10": _planted(10),
    "synthetic": _synthetic,
    "machine": _machine,
    "people": _by_people,
    "spread": _spread,
    **{name: _changed(name) for name in CHANGES},
}
ADAPTIVE = ("spread", *CHANGES)
"""The worlds whose attack knows what it is to get past."""


def _trial(scene: Scene, one: AttackedQuestion, planted: EmbeddedPassages) -> Trial:
    return Trial(planted, _none(one), frozenset(), _relevant(scene, one))


def _none(one: AttackedQuestion) -> EmbeddedPassages:
    return one.planted[Kind.ADV_POS].first(0)


def _relevant(scene: Scene, one: AttackedQuestion) -> frozenset[str]:
    return scene.corpus.relevant.get(one.attack.query_id, frozenset())


def _labels(corpus: Corpus, one: AttackedQuestion) -> dict[str, float]:
    """People's stances towards "yes"."""
    found = corpus.stance.get(one.attack.query_id, {})
    return {doc_id: one.attack.polarity * side for doc_id, side in found.items()}


def _people(corpus: Corpus, one: AttackedQuestion, sign: Kind) -> list[str]:
    """Texts by people on the side of the attack."""
    labels = _labels(corpus, one)
    return [corpus.documents[d].text for d in sorted(labels) if labels[d] * SIDE[sign.value] > 0]


def _rotated(whole: EmbeddedPassages, count: int, rotations: int) -> Iterator[EmbeddedPassages]:
    for first in whole.starts(count, rotations):
        yield whole.rotated(count, first)


def _embedded(written: Sequence[AttackPassage], first: int, workspace: Workspace) -> EmbeddedPassages:
    passages = tuple(
        Passage(first + place, one.passage_id, 0, len(one.text), one.text)
        for place, one in enumerate(written)
    )
    return EmbeddedPassages(passages, vectors.encode([one.text for one in written], workspace, "synthetic"))
