"""SS, PS and properties of single passages: the attack's (Table 1) and a question's own relevant ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.maths.checks import Floats
from equipoise.maths.polarization import polarization_scores
from equipoise_lab.attacks.passages import Kind
from equipoise_lab.attacks.properties import has_property_1, has_property_2
from equipoise_lab.bench.bias.attacked_questions import AttackedQuestion
from equipoise_lab.bench.bias.attacks import SIGNS
from equipoise_lab.bench.bias.background import EmbeddedPassages, InMemory
from equipoise_lab.bench.bias.corpora import Corpus
from equipoise_lab.bench.bias.records import DIGITS, PassageRecord

BENIGN = "benign"


def profiles(
    attacked_questions: Sequence[AttackedQuestion],
    corpus: Corpus,
    embedded: EmbeddedPassages,
    background: InMemory,
    *,
    depth: int,
) -> list[PassageRecord]:
    """One record for every attack passage and every relevant document of each question, without text.

    Properties 1 and 2 are those of section 3, against the `depth` passages retrieved without an attack: the
    paper does not say against which benign passages Table 1 was made. `stance` is towards "yes": the
    author's for an attack passage, the human one for a document (None where there is none).
    """
    places = {passage.doc_id: row for row, passage in enumerate(embedded.passages)}
    rows: list[PassageRecord] = []
    for attacked in attacked_questions:
        none = attacked.planted[Kind.ADV_POS].first(0)
        near = background.search(attacked.attack.question, attacked.vector, none, k=depth).embeddings
        benign = np.asarray(near @ attacked.vector, np.float64), polarization_scores(near, attacked.axis)
        for sign in SIGNS:
            rows += _attacking(attacked, sign, benign)
        rows += _relevant(attacked, corpus, embedded, places)
    return rows


def _attacking(attacked: AttackedQuestion, sign: Kind, benign: tuple[Floats, Floats]) -> list[PassageRecord]:
    embedded = attacked.planted[sign]
    ss, ps = embedded.vectors @ attacked.vector, polarization_scores(embedded.vectors, attacked.axis)
    return [
        _record(
            attacked,
            passage.passage_id,
            sign.value,
            (similarity, score),
            passage.stance,
            property_1=has_property_1(float(similarity), benign[0]),
            property_2=has_property_2(float(score), benign[1], sign),
        )
        for passage, similarity, score in zip(attacked.attack.passages[sign], ss, ps, strict=True)
    ]


def _relevant(
    attacked: AttackedQuestion, corpus: Corpus, embedded: EmbeddedPassages, places: Mapping[str, int]
) -> list[PassageRecord]:
    query_id = attacked.attack.query_id
    doc_ids = sorted(corpus.relevant.get(query_id, ()))
    vectors = embedded.vectors[[places[doc_id] for doc_id in doc_ids]]
    sides = corpus.stance.get(query_id, {})
    ss, ps = vectors @ attacked.vector, polarization_scores(vectors, attacked.axis)
    return [
        _record(
            attacked,
            doc_id,
            BENIGN,
            pair,
            attacked.attack.polarity * sides[doc_id] if doc_id in sides else None,
        )
        for doc_id, *pair in zip(doc_ids, ss, ps, strict=True)
    ]


def _record(
    attacked: AttackedQuestion,
    passage_id: str,
    kind: str,
    pair: Sequence[float],
    stance: float | None,
    *,
    property_1: bool | None = None,
    property_2: bool | None = None,
) -> PassageRecord:
    ss, ps = (round(float(value), DIGITS) + 0.0 for value in pair)
    return PassageRecord(
        query_id=attacked.attack.query_id,
        id=passage_id,
        kind=kind,
        ss=ss,
        ps=ps,
        stance=stance,
        property_1=property_1,
        property_2=property_2,
    )


@dataclass(frozen=True, slots=True)
class Properties:
    """Shares of attack passages of one sign with both properties, one, the other, neither; and their count."""

    both: float
    only_1: float
    only_2: float
    neither: float
    count: int


def property_table(passages: Sequence[PassageRecord]) -> dict[str, Properties]:
    """Table 1, by sign.

    Worked value: (True, True) and (True, False) give both 0.5, only_1 0.5, the others 0, count 2.
    """
    table = {}
    for sign in SIGNS:
        held = [
            (passage.property_1, passage.property_2) for passage in passages if passage.kind == sign.value
        ]
        if held:
            pairs = ((True, True), (True, False), (False, True), (False, False))
            both, first, second, neither = (
                float(np.mean([pair == wanted for pair in held])) for wanted in pairs
            )
            table[sign.value] = Properties(both, first, second, neither, len(held))
    return table
