"""The corpus as background of an attack, and what can be planted beside it: passages, their vectors, the PS axis.

A question's nearest background passages are searched once; planting merges the planted ones into that ranking, so an
injection costs a few dot products, whatever the size of the corpus. Vectors are computed once and kept beside results.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TypeVar

import numpy as np

from equipoise.core.protocols import Encoder
from equipoise.core.types import Array, Candidates, Passage
from equipoise.corpus.pieces import search_text
from equipoise.maths.checks import Floats
from equipoise.maths.polarization import polarization_axis, polarization_scores
from equipoise.maths.similarity import top_k
from equipoise.models.encoder import encode_questions
from equipoise_lab.attacks.passages import AttackPassage, Kind
from equipoise_lab.attacks.properties import has_property_1, has_property_2, oriented_axis
from equipoise_lab.bench.bias.attacks import SIGNS, WrittenAttack
from equipoise_lab.bench.bias.corpora import BeirCorpus
from equipoise_lab.bench.bias.records import BENIGN, PassageRecord, rounded
from equipoise_lab.evaluation.results import fingerprint, write_atomically
from equipoise_lab.evaluation.run import Progress

T = TypeVar("T")
CHUNK = 256


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where a run works: its encoder, its output folder, whom it tells how far it is, requests at a time."""

    encoder: Encoder
    out: Path
    progress: Progress
    concurrency: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedPassages:
    """Passages with their unit vectors (n, d); a document of the benchmark is one passage."""

    passages: tuple[Passage, ...]
    vectors: Array

    def __len__(self) -> int:
        return len(self.passages)

    def take(self, rows: Sequence[int]) -> "EmbeddedPassages":
        """Those at `rows`, in that order."""
        return EmbeddedPassages(tuple(self.passages[row] for row in rows), self.vectors[list(rows)])

    def first(self, count: int) -> "EmbeddedPassages":
        """The first `count` of them."""
        return EmbeddedPassages(self.passages[:count], self.vectors[:count])

    def rotated(self, count: int, first: int) -> "EmbeddedPassages":
        """`count` of them, or all, from the one at `first` on and round. Worked value: 2 of 3 from 2: 2, 0."""
        return self.take([(first + step) % len(self) for step in range(min(count, len(self)))])

    def starts(self, count: int, rotations: int) -> list[int]:
        """Where `count` of them can begin, `rotations` places evenly apart; the first alone where all are taken.

        Worked value: 5 of 10 in 2 rotations: 0 and 5."""
        if not 0 < count < len(self):
            return [0]
        return sorted({len(self) * place // rotations for place in range(rotations)})

    def search(self, vector: Array, planted: "EmbeddedPassages", *, k: int) -> Candidates:
        """The k best of these and `planted` for a question with unit `vector` (d,): exact, by cosine; among equal
        cosines those of the corpus come before what was planted."""
        rows, scores = top_k(self.vectors, vector, k)
        nearest = self.take(rows.tolist())
        found = Candidates(
            (*nearest.passages, *planted.passages),
            np.concatenate((scores, planted.vectors @ vector)),
            np.concatenate((nearest.vectors, planted.vectors)),
            vector,
        )
        order = np.argsort(-found.scores, kind="stable") if len(planted) else np.arange(len(found))
        return found.take(order[:k].tolist())


@dataclass(frozen=True, slots=True, eq=False)
class AttackedQuestion:
    """One attacked question: its unit vector (d,), the PS axis (d,), what can be planted for it by sign."""

    attack: WrittenAttack
    vector: Array
    axis: Floats
    planted: Mapping[Kind, EmbeddedPassages]


def embedded(corpus: BeirCorpus, workspace: Workspace) -> EmbeddedPassages:
    """Every document of the corpus as one passage, encoded as the store would: title and text."""
    passages = tuple(
        Passage(number, doc_id, 0, len(d.text), d.text, d.title)
        for number, (doc_id, d) in enumerate(corpus.documents.items())
    )
    return EmbeddedPassages(passages, encode([search_text(p) for p in passages], workspace, corpus.name))


def attacked_questions(
    attacks: Sequence[WrittenAttack], corpus: BeirCorpus, background: EmbeddedPassages, workspace: Workspace
) -> tuple[AttackedQuestion, ...]:
    """One for each attack, encoded with the retriever's encoder."""
    written = [passage for attack in attacks for kind in Kind for passage in attack.passages[kind]]
    asked = encode([attack.question for attack in attacks], workspace, "questions", asked=True)
    vectors = encode([passage.text for passage in written], workspace, "attacks")
    rows = {p.passage_id: row for p, row in zip(written, vectors, strict=True)}
    places = {passage.doc_id: row for row, passage in enumerate(background.passages)}
    made = []
    for attack, vector in zip(attacks, asked, strict=True):
        relevant = [places[doc_id] for doc_id in corpus.relevant.get(attack.query_id, ())]
        axis = axis_of(attack, rows, background.vectors[sorted(relevant)])
        planted = {
            sign: _planted(attack.passages[sign], rows, len(background), vectors[:0]) for sign in SIGNS
        }
        made.append(AttackedQuestion(attack, vector, axis, planted))
    return tuple(made)


def axis_of(attack: WrittenAttack, rows: Mapping[str, Array], relevant: Array) -> Floats:
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


def profiles(
    questions: Iterable[AttackedQuestion], corpus: BeirCorpus, background: EmbeddedPassages, *, depth: int
) -> list[PassageRecord]:
    """One record for every attack passage and every relevant document of each question, without text.

    Properties 1 and 2 are those of section 3, against the `depth` passages retrieved without an attack: the
    paper does not say against which benign passages Table 1 was made. `stance` is towards "yes": the
    author's for an attack passage, the human one for a document (None where there is none).
    """
    places = {passage.doc_id: row for row, passage in enumerate(background.passages)}
    records: list[PassageRecord] = []
    for attacked in questions:
        query_id, polarity = attacked.attack.query_id, attacked.attack.polarity
        near = background.search(attacked.vector, background.first(0), k=depth).embeddings
        near_ss, near_ps = near @ attacked.vector, polarization_scores(near, attacked.axis)
        for sign in SIGNS:
            for passage, ss, ps in _scored(attacked.attack.passages[sign], attacked.planted[sign], attacked):
                held = has_property_1(ss, near_ss), has_property_2(ps, near_ps, sign)
                records.append(profile(query_id, passage.passage_id, sign, (ss, ps), passage.stance, held))
        doc_ids, sides = sorted(corpus.relevant.get(query_id, ())), corpus.stance.get(query_id, {})
        for doc_id, ss, ps in _scored(doc_ids, background.take([places[one] for one in doc_ids]), attacked):
            stance = polarity * sides[doc_id] if doc_id in sides else None
            records.append(profile(query_id, doc_id, BENIGN, (ss, ps), stance))
    return records


def profile(  # noqa: PLR0917
    query_id: str,
    passage_id: str,
    kind: str,
    scores: tuple[float, float],
    stance: float | None,
    held: tuple[bool | None, bool | None] = (None, None),
) -> PassageRecord:
    """The record of a passage with these SS and PS, and the properties that it has."""
    ss, ps = map(rounded, scores)
    return PassageRecord(
        query_id=query_id, id=passage_id, kind=str(kind), ss=ss, ps=ps, stance=stance,
        property_1=held[0], property_2=held[1],
    )  # fmt: skip


def encode(texts: Sequence[str], workspace: Workspace, what: str, *, asked: bool = False) -> Array:
    """(n, d) unit vectors of `texts`, from the output folder where these texts were encoded before, or some of them.

    With `asked` the texts are questions. The file is named after the encoder and every text, so another encoder or
    corpus never meets it; while it grows it has another ending.
    """
    encoder, folder = workspace.encoder, workspace.out
    kind = ["questions"] if asked else []
    path = folder / f"vectors-{fingerprint([encoder.name, *kind, *texts])[:16]}.npy"
    kept = _kept(path, encoder.dimensions)
    if len(kept) == len(texts):
        return kept
    growing = path.with_suffix(".some")
    rows = _kept(growing, encoder.dimensions)
    folder.mkdir(parents=True, exist_ok=True)
    while len(rows) < len(texts):
        workspace.progress(len(rows), len(texts), f"encoding {what}")
        some = list(texts[len(rows) : len(rows) + CHUNK])
        rows = np.concatenate((rows, encode_questions(encoder, some) if asked else encoder.encode(some)))
        _keep(growing, rows)
    growing.replace(path)
    return rows


def borrow(folder: Path, out: Path) -> None:
    """Copy the vectors that a run left in `folder` to the output folder `out`."""
    for path in folder.glob("vectors-*.npy"):
        if not (out / path.name).exists():
            write_atomically(out / path.name, path.read_bytes())


def _stack(passages: Sequence[AttackPassage], rows: Mapping[str, Array]) -> Array:
    return np.stack([rows[passage.passage_id] for passage in passages])


def _planted(
    written: Sequence[AttackPassage], rows: Mapping[str, Array], first: int, nothing: Array
) -> EmbeddedPassages:
    """What can be planted; passage numbers go on from those of the corpus."""
    passages = tuple(Passage(first + n, p.passage_id, 0, len(p.text), p.text) for n, p in enumerate(written))
    return EmbeddedPassages(passages, _stack(written, rows) if written else nothing)


def _scored(
    of: Sequence[T], passages: EmbeddedPassages, attacked: AttackedQuestion
) -> Iterable[tuple[T, float, float]]:
    """Each one `of` these passages with its SS and PS."""
    ss = (passages.vectors @ attacked.vector).tolist()
    return zip(of, ss, polarization_scores(passages.vectors, attacked.axis).tolist(), strict=True)


def _kept(path: Path, dimensions: int) -> Array:
    if path.exists():
        rows: Array = np.load(path, allow_pickle=False)
        if rows.shape[1:] == (dimensions,):
            return rows
    return np.empty((0, dimensions), np.float32)


def _keep(path: Path, rows: Array) -> None:
    content = BytesIO()
    np.save(content, rows, allow_pickle=False)
    write_atomically(path, content.getvalue())
