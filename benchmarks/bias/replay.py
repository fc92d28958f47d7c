"""The joined filter on the attack by the paper's steps, without its texts: from the published records of `own.py`.

    python benchmarks/bias/replay.py [--data data]

The passages that the attacker's model wrote are not published, but most of what the joined step looks at is: what
BiasDef and voices flagged of the same candidates and, in the reasons of MMR, how like a passage of the first five is to
another one. Cosines between people's passages are computed. One that nobody said counts as 0, so a cluster can be
larger than here; voices' seats are taken as they were. With the model of `own.py` all of it can be measured there.
Writes `own/joined.json` and `own/joined.md`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.evaluation.records import read_records
from equipoise.evaluation.run import silent
from equipoise.maths.checks import Floats
from equipoise.maths.similarity import near_duplicates
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag.near_copies import NEAR
from equipoise_lab.bench import scripts, tables
from equipoise_lab.bench.bias import attacks, corpora, planting
from equipoise_lab.bench.bias.planting import Workspace
from equipoise_lab.bench.bias.records import ESTIMATOR, BiasRecord, PassageRecord
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.tables import Line, Table, interval

HERE = Path(__file__).resolve().parent
OWN = HERE / "own"
ROWS = {
    "none": "no defence",
    "biasdef": "BiasDef",
    "voices": "voices",
    "joined": "voices joined with BiasDef",
}
CONDITIONS = {
    ("none", 0): "none planted",
    ("adv_neg", 1): "1 against",
    ("adv_pos", 1): "1 for",
    ("adv_neg", 3): "3 against",
    ("adv_pos", 3): "3 for",
}
SHARES = {"adversarial": "Planted passages among the five", "relevant": "Relevant passages among the five"}
_SAID = re.compile(r"mmr: (\d\.\d\d) like passage (\d+)")

Condition = tuple[str, int]


def main() -> None:
    """Replay, and write."""
    arguments = scripts.parser(__file__, __doc__, "bench-bias", table=True).parse_args()
    if arguments.table:
        (OWN / "joined.md").write_text(page(json.loads((OWN / "joined.json").read_text("utf-8"))), "utf-8")
        return
    config = scripts.config(HERE)
    corpus = corpora.read(arguments.data / config["corpus"])
    written = attacks.read(arguments.data / config["attacks"], corpus)
    encoder = EmbeddedEncoder()
    embedded = planting.embedded(corpus, Workspace(encoder, arguments.out, silent))
    rows = {passage.doc_id: row for row, passage in enumerate(embedded.passages)}
    records = {
        (one.query_id, one.sign, one.injections, one.filter): one
        for one in read_records(OWN / "results.jsonl", BiasRecord)
    }
    numbers = _numbers(read_records(OWN / "passages.jsonl", PassageRecord), len(embedded))
    kept = {place: list(one.kept) for place, one in records.items() if place[-1] in ROWS}
    for place in [place for place in kept if place[-1] == "voices"]:
        alike = _alike(records[*place[:3], "mmr"], rows, embedded.vectors, numbers[place[:2]])
        kept[*place[:3], "joined"] = joined(
            records[place], records[*place[:3], "biasdef"], alike, config["k"]
        )
    relevant = {attack.query_id: corpus.relevant[attack.query_id] for attack in written}
    found = {
        (row, condition): _shares(
            {place[0]: kept[place] for place in sorted(kept) if place[1:] == (*condition, row)},
            {place[0]: one.injected for place, one in records.items() if place[1:] == (*condition, "none")},
            relevant,
            config["k"],
        )
        for row in ROWS
        for condition in CONDITIONS
    }
    publish(found)


def joined(voices: BiasRecord, biasdef: BiasRecord, alike: Floats, k: int) -> list[str]:
    """What the joined filter keeps, with voices' seats where its own step leaves them."""
    biased = {flag.id for flag in biasdef.flagged}
    ids = voices.candidates
    clusters = [{ids[row] for row in group} for group in near_duplicates(alike, NEAR)]
    out = set().union(*(cluster for cluster in clusters if cluster & biased))
    first = [one for one in voices.kept if one not in out]
    gone = out | {flag.id for flag in voices.flagged}
    rest = [one for one in ids if one not in gone and one not in first]
    return [*first, *rest][:k]


def _alike(mmr: BiasRecord, rows: Mapping[str, int], vectors: Floats, numbers: Mapping[int, str]) -> Floats:
    """(n, n) cosines of the candidates, 0 where nobody said them."""
    ids = list(mmr.candidates)
    people = [place for place, one in enumerate(ids) if one in rows]
    alike = np.zeros((len(ids), len(ids)))
    own = vectors[[rows[ids[place]] for place in people]].astype(np.float64)
    alike[np.ix_(people, people)] = own @ own.T
    by_number = {row: name for name, row in rows.items()} | dict(numbers)
    for flag in mmr.flagged:
        if said := _SAID.match(flag.reason):
            one, other = ids.index(flag.id), ids.index(by_number[int(said[2])])
            if flag.id not in rows or ids[other] not in rows:
                alike[one, other] = alike[other, one] = float(said[1])
    return alike


def _numbers(passages: Sequence[PassageRecord], first: int) -> dict[tuple[str, str], dict[int, str]]:
    """The ids of planted passages by their numbers, which go on from those of the corpus, by question and sign."""
    ids: dict[tuple[str, str], list[str]] = {}
    for one in sorted(passages, key=lambda one: one.id):
        ids.setdefault((one.query_id, one.kind), []).append(one.id)
    numbered = {place: dict(enumerate(some, first)) for place, some in ids.items()}
    return numbered | {(query_id, "none"): {} for query_id, _ in ids}


def _shares(
    kept: Mapping[str, Sequence[str]],
    planted: Mapping[str, Sequence[str]],
    relevant: Mapping[str, frozenset[str]],
    k: int,
) -> tuple[Estimate | None, Estimate | None]:
    """Planted and relevant passages among the k, all by question."""
    return (
        ESTIMATOR.mean(len(set(planted[query]) & set(some)) / k for query, some in kept.items()),
        ESTIMATOR.mean(len(relevant[query] & set(some)) / k for query, some in kept.items()),
    )


def publish(found: Mapping[tuple[str, Condition], tuple[Estimate | None, Estimate | None]]) -> None:
    """The shares as JSON and as Markdown."""
    plain = [
        {"filter": row, "sign": sign, "injections": count}
        | {name: asdict(one) for name, one in zip(SHARES, both, strict=True) if one}
        for (row, (sign, count)), both in found.items()
    ]
    (OWN / "joined.json").write_text(json.dumps(plain, indent=1) + "\n", "utf-8")
    (OWN / "joined.md").write_text(page(plain), "utf-8")


def page(plain: Sequence[Mapping[str, Any]]) -> str:
    """The tables as Markdown, from what `joined.json` holds."""
    shares = {(one["filter"], (one["sign"], one["injections"])): one for one in plain}
    parts = [
        "# Voices joined with BiasDef on the attack by the paper's steps",
        "`python benchmarks/bias/replay.py`: replayed from the records of `own.py` beside this file, six questions. "
        "How stands in that script; the first three rows are those of `table.md` there. Intervals are 99%, by "
        "bootstrap over questions.",
    ]
    for name, title in SHARES.items():
        lines = [
            Line(said, tuple(_shown(shares[row, condition][name]) for condition in CONDITIONS))
            for row, said in ROWS.items()
        ]
        parts.append(tables.as_markdown(Table(title, ("", *CONDITIONS.values()), tuple(lines), "")).rstrip())
    return "\n\n".join(parts) + "\n"


def _shown(share: Mapping[str, Any]) -> str:
    return interval(Estimate(*(share[name] for name in ("value", "low", "high", "n"))))


if __name__ == "__main__":
    main()
