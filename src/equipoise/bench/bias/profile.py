"""SS, PS and properties of single passages: the attack's (Table 1) and a question's own relevant ones."""

from collections.abc import Mapping, Sequence

import numpy as np

from equipoise.bench.bias.attacked_questions import AttackedQuestion
from equipoise.bench.bias.attacks import SIGNS
from equipoise.bench.bias.background import Background, EmbeddedPassages
from equipoise.bench.bias.corpora import Corpus
from equipoise.bench.bias.runner import DIGITS
from equipoise.bench.results import Row
from equipoise.maths.checks import Floats
from equipoise.maths.polarization import polarization_scores
from equipoise.redteam.passages import Kind
from equipoise.redteam.properties import has_property_1, has_property_2

BENIGN = "benign"


def profiles(
    attacked_questions: Sequence[AttackedQuestion],
    corpus: Corpus,
    embedded: EmbeddedPassages,
    background: Background,
    *,
    depth: int,
) -> list[Row]:
    """One row for every attack passage and every relevant document of each question, without text.

    Properties 1 and 2 are those of section 3, against the `depth` passages retrieved without an attack: the
    paper does not say against which benign passages Table 1 was made. `stance` is towards "yes": the
    author's for an attack passage, the human one for a document (None where there is none).
    """
    places = {passage.doc_id: row for row, passage in enumerate(embedded.passages)}
    rows = []
    for attacked in attacked_questions:
        none = attacked.planted[Kind.ADV_POS].first(0)
        near = background.search(attacked.attack.question, attacked.vector, none, k=depth).embeddings
        benign = np.asarray(near @ attacked.vector, np.float64), polarization_scores(near, attacked.axis)
        for sign in SIGNS:
            rows += _attacking(attacked, sign, benign)
        rows += _relevant(attacked, corpus, embedded, places)
    return rows


def _attacking(attacked: AttackedQuestion, sign: Kind, benign: tuple[Floats, Floats]) -> list[Row]:
    embedded = attacked.planted[sign]
    ss, ps = embedded.vectors @ attacked.vector, polarization_scores(embedded.vectors, attacked.axis)
    rows = []
    for passage, similarity, score in zip(attacked.attack.passages[sign], ss, ps, strict=True):
        row = _row(attacked, passage.passage_id, sign.value, (similarity, score), passage.stance)
        row["property_1"] = has_property_1(float(similarity), benign[0])
        row["property_2"] = has_property_2(float(score), benign[1], sign)
        rows.append(row)
    return rows


def _relevant(
    attacked: AttackedQuestion, corpus: Corpus, embedded: EmbeddedPassages, places: Mapping[str, int]
) -> list[Row]:
    query_id = attacked.attack.query_id
    found = sorted(corpus.relevant.get(query_id, ()))
    vectors = embedded.vectors[[places[doc_id] for doc_id in found]]
    sides = corpus.stance.get(query_id, {})
    ss, ps = vectors @ attacked.vector, polarization_scores(vectors, attacked.axis)
    return [
        _row(
            attacked,
            doc_id,
            BENIGN,
            pair,
            attacked.attack.polarity * sides[doc_id] if doc_id in sides else None,
        )
        for doc_id, *pair in zip(found, ss, ps, strict=True)
    ]


def _row(
    attacked: AttackedQuestion, passage_id: str, kind: str, pair: Sequence[float], stance: float | None
) -> Row:
    ss, ps = (round(float(value), DIGITS) + 0.0 for value in pair)
    return {
        "query_id": attacked.attack.query_id,
        "id": passage_id,
        "kind": kind,
        "ss": ss,
        "ps": ps,
        "stance": stance,
        "property_1": None,
        "property_2": None,
    }


def property_table(rows: Sequence[Row]) -> dict[str, dict[str, float | int]]:
    """Table 1: for each sign the shares with both properties, one, the other, neither; and the count.

    Worked value: (True, True) and (True, False) give both 0.5, only_1 0.5, the others 0, count 2.
    """
    names = {
        (True, True): "both",
        (True, False): "only_1",
        (False, True): "only_2",
        (False, False): "neither",
    }
    table: dict[str, dict[str, float | int]] = {}
    for sign in SIGNS:
        held = [(row["property_1"], row["property_2"]) for row in rows if row["kind"] == sign.value]
        if held:
            shares = {name: float(np.mean([pair == key for pair in held])) for key, name in names.items()}
            table[sign.value] = {**shares, "count": len(held)}
    return table
