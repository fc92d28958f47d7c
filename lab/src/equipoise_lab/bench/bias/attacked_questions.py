"""What the benchmark knows of each attacked question before anything is retrieved: vectors and the PS axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.core.types import Array, Passage
from equipoise.corpus.pieces import search_text
from equipoise.maths.checks import Floats
from equipoise.maths.polarization import polarization_axis
from equipoise_lab.attacks.passages import AttackPassage, Kind
from equipoise_lab.attacks.properties import oriented_axis
from equipoise_lab.bench.bias import vectors
from equipoise_lab.bench.bias.attacks import SIGNS, Attack
from equipoise_lab.bench.bias.background import EmbeddedPassages
from equipoise_lab.bench.bias.corpora import Corpus
from equipoise_lab.bench.bias.vectors import Workspace


@dataclass(frozen=True, slots=True, eq=False)
class AttackedQuestion:
    """One attacked question: its unit vector (d,), the PS axis (d,), what can be planted for it."""

    attack: Attack
    vector: Array
    axis: Floats
    planted: Mapping[Kind, EmbeddedPassages]


def embedded(corpus: Corpus, workspace: Workspace) -> EmbeddedPassages:
    """Every document of the corpus as one passage, encoded as the store would: title and text."""
    documents = list(corpus.documents.items())
    passages = tuple(
        Passage(number, doc_id, 0, len(d.text), d.text, d.title)
        for number, (doc_id, d) in enumerate(documents)
    )
    texts = [search_text(passage) for passage in passages]
    return EmbeddedPassages(passages, vectors.encode(texts, workspace, corpus.name))


def attacked_questions(
    attacks: Sequence[Attack], corpus: Corpus, background: EmbeddedPassages, workspace: Workspace
) -> tuple[AttackedQuestion, ...]:
    """One for each attack, encoded with the retriever's encoder."""
    written = [passage for attack in attacks for kind in Kind for passage in attack.passages[kind]]
    asked = vectors.encode([attack.question for attack in attacks], workspace, "questions", asked=True)
    rows = vectors.encode([passage.text for passage in written], workspace, "attacks")
    row_of = {p.passage_id: row for p, row in zip(written, rows, strict=True)}
    places = {passage.doc_id: row for row, passage in enumerate(background.passages)}
    return tuple(
        AttackedQuestion(
            attack, vector, axis_of(attack, row_of, _relevant(attack, corpus, places, background)), planted
        )
        for attack, vector in zip(attacks, asked, strict=True)
        for planted in [_planted(attack, row_of, len(background))]
    )


def axis_of(attack: Attack, rows: Mapping[str, Array], relevant: Array) -> Floats:
    """The axis (d,) on which PS is measured, the same for every filter and condition of a question.

    That of the synthetic passages, the paper's anchors (section 2.2 and step 2 of section 4), pointing to
    where their stances rise. With fewer than two of them: that of the question's `relevant` passages (m, d),
    pointing from the negative to the positive attack passages.
    """
    anchors = attack.passages[Kind.SYNTHETIC]
    if len(anchors) > 1:
        return oriented_axis(_stack(anchors, rows), [anchor.stance for anchor in anchors])
    ends = [_stack(attack.passages[sign], rows).mean(axis=0) for sign in SIGNS if attack.passages[sign]]
    return polarization_axis(relevant, towards=ends[1] - ends[0] if len(ends) == len(SIGNS) else None)


def _stack(passages: Sequence[AttackPassage], rows: Mapping[str, Array]) -> Array:
    return np.stack([rows[passage.passage_id] for passage in passages])


def _relevant(
    attack: Attack, corpus: Corpus, places: Mapping[str, int], background: EmbeddedPassages
) -> Array:
    rows = sorted(places[doc_id] for doc_id in corpus.relevant.get(attack.query_id, ()))
    return background.vectors[rows]


def _planted(attack: Attack, rows: Mapping[str, Array], first: int) -> dict[Kind, EmbeddedPassages]:
    """What can be planted, by sign; passage numbers go on from those of the corpus."""
    planted = {}
    for sign in SIGNS:
        written = attack.passages[sign]
        passages = tuple(
            Passage(first + number, p.passage_id, 0, len(p.text), p.text) for number, p in enumerate(written)
        )
        planted[sign] = EmbeddedPassages(passages, _stack(written, rows) if written else rows_of_none(rows))
    return planted


def rows_of_none(rows: Mapping[str, Array]) -> Array:
    """(0, d)."""
    return next(iter(rows.values()))[None][:0]
