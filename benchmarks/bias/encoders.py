"""PS and retrieval by different encoders: does the push depend on which encoder looks?

    python benchmarks/bias/encoders.py [--data data] [--out .equipoise/bench-bias] [--encoders minilm,bge-small,mpnet]

The paper's attacker does not know the retriever's encoder, and measures PS with another one. Of each pair of encoders
one retrieves, the other one measures PS, on the axis of the synthetic passages; 5 planted, no defence, means over
three choices of what is planted. Writes encoders.json and encoders.md beside this file.
"""

import argparse
import json
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from equipoise.rag import build
from equipoise_lab.bench import tables
from equipoise_lab.bench.bias import attacked_questions, attacks, corpora, metrics
from equipoise_lab.bench.bias.attacked_questions import AttackedQuestion
from equipoise_lab.bench.bias.attacks import SIGNS
from equipoise_lab.bench.bias.background import EmbeddedPassages, InMemory
from equipoise_lab.bench.bias.metrics import ESTIMATOR, PsSample
from equipoise_lab.bench.bias.vectors import Workspace
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.tables import Line, Table

HERE = Path(__file__).resolve().parent
COUNT, ROTATIONS = 5, 3
HEAD = (
    "PS by", "retrieval by", "sign", "adversarial share", "PS shift", "signed", "questions moved the way of the attack",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seen:
    """Corpus and questions through one encoder."""

    background: InMemory
    questions: tuple[AttackedQuestion, ...]
    ps: Sequence[Mapping[str, float]]
    """By question, the PS of every passage."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of encoders under one sign."""

    ps: str
    retrieval: str
    sign: str
    adversarial: Estimate | None
    shift: Estimate | None
    signed: Estimate | None
    moved: Estimate | None


def main() -> None:
    """Measure every pair, and write."""
    arguments = _arguments()
    config = tomllib.loads((HERE / "config.toml").read_text("utf-8"))
    corpus = corpora.read(arguments.data / config["corpus"])
    written = attacks.read(arguments.data / config["attacks"], corpus)
    seen = {}
    for name in arguments.encoders.split(","):
        encoder = build.encoder(name)
        workspace = Workspace(encoder, arguments.out, _say)
        embedded = attacked_questions.embedded(corpus, workspace)
        asked = attacked_questions.attacked_questions(written, corpus, embedded, workspace)
        seen[name] = Seen(InMemory(embedded), asked, [_ps(one, embedded) for one in asked])
    pairs = [
        measured(ps, retrieval, seen, sign.value, config["k"])
        for ps in seen
        for retrieval in seen
        for sign in SIGNS
    ]
    (HERE / "encoders.json").write_text(json.dumps([_plain(one) for one in pairs], indent=1) + "\n", "utf-8")
    title = (
        f"PS shift at {COUNT} planted, no defence, in % of the unattacked mean |PS|; {len(written)} questions"
    )
    page = Table(title, HEAD, tuple(map(_line, pairs)), "Intervals are 99%, by bootstrap over questions.")
    (HERE / "encoders.md").write_text(tables.as_markdown(page), "utf-8")


def measured(ps: str, retrieval: str, seen: Mapping[str, Seen], sign: str, k: int) -> Pair:
    """What `retrieval` brings up of the attack, and where it lies by `ps`."""
    before: dict[str, PsSample] = {}
    after: dict[str, list[float]] = {}
    shares: list[tuple[str, float]] = []
    kind = next(one for one in SIGNS if one.value == sign)
    for one, scores in zip(seen[retrieval].questions, seen[ps].ps, strict=True):
        query, planted = one.attack.query_id, one.planted[kind]
        before[query] = _sample(seen[retrieval].background, one, planted.first(0), scores, k)[0]
        for first in planted.starts(COUNT, ROTATIONS):
            found, ids = _sample(seen[retrieval].background, one, planted.rotated(COUNT, first), scores, k)
            after.setdefault(query, []).append(found.mean)
            own = {passage.doc_id for passage in planted.passages}
            shares.append((query, sum(doc_id in own for doc_id in ids) / k))
    return Pair(
        ps, retrieval, sign, ESTIMATOR.mean_by_unit(shares), metrics.shift_interval(after, before),
        metrics.signed_shift_interval(after, before), metrics.moved(after, before, sign),
    )  # fmt: skip


def _sample(
    background: InMemory,
    one: AttackedQuestion,
    planted: EmbeddedPassages,
    scores: Mapping[str, float],
    k: int,
) -> tuple[PsSample, list[str]]:
    found = background.search(one.attack.question, one.vector, planted, k=k)
    ids = [passage.doc_id for passage in found.passages]
    values = np.array([scores[doc_id] for doc_id in ids])
    return PsSample(float(values.mean()), float(np.abs(values).mean())), ids


def _ps(one: AttackedQuestion, embedded: EmbeddedPassages) -> dict[str, float]:
    parts = (embedded, *one.planted.values())
    return {
        passage.doc_id: float(score)
        for part in parts
        for passage, score in zip(part.passages, part.vectors @ one.axis, strict=True)
    }


def _line(one: Pair) -> Line:
    shifts = (tables.interval(value, tables.percent) for value in (one.shift, one.signed, one.moved))
    return Line(one.ps, (one.retrieval, one.sign, tables.interval(one.adversarial), *shifts))


def _plain(one: Pair) -> dict[str, object]:
    estimates = {
        name: value.as_json() for name in asdict(one) if isinstance(value := getattr(one, name), Estimate)
    }
    return {"ps": one.ps, "retrieval": one.retrieval, "sign": one.sign} | estimates


def _say(done: int, total: int, what: str) -> None:
    print(f"{done}/{total} {what}", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    root = HERE.parents[1]
    parser.add_argument("--data", type=Path, default=root / "data")
    parser.add_argument("--out", type=Path, default=root / ".equipoise" / "bench-bias")
    parser.add_argument("--encoders", default="minilm,bge-small,mpnet", help="names with commas between")
    return parser.parse_args()


if __name__ == "__main__":
    main()
