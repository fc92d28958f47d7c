"""Fits the reader highlighter: the probability that its best windows answer, and the least one that does.

    python benchmarks/calibration/reader.py [--cache DIR] [--data data] [--out .equipoise/bench-reader]

Every question of the fitting sets of benchmarks/field (fetch them first), a follow-up with the question before it,
and a sample of those on the fitting documents of squad2, covid_qa and bioasq12b (`splits.py`), goes through
retrieval, reranking and reading as in the product. Rows are kept, so that a stopped run goes on; after a change of the
text's structure or of the reader use another --out. Then a logistic model over the features is fitted, with a threshold
that handles the largest weighted share of questions right; figures are from folds that leave whole sets or documents
out. Writes reader.json beside the highlighter and reader.md beside this file. About 12 minutes for 335 questions on a
busy machine, without indexing: `--indexes` takes the indexes of a run of benchmarks/field as they are.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from fit import logistic

from equipoise.bench.qa import datasets, stores
from equipoise.bench.results import Lines, check_config, fingerprint
from equipoise.core.types import Candidates, Passage, Query
from equipoise.corpus.roots import Gone
from equipoise.corpus.spelling import corrected
from equipoise.corpus.store import Store
from equipoise.maths.calibration import auc
from equipoise.maths.measures import ndcg_at_k
from equipoise.models.crossencoder import CrossEncoder
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag.highlighters import reading
from equipoise.rag.highlighters.evidence import FEATURES, features
from equipoise.rag.highlighters.reading import Reading, Window, distinct, windows_of
from equipoise.rag.library import update
from equipoise.rag.reranking import RERANKED, passage_scores, reranked
from equipoise.rag.retrieval import RRF_CONSTANT, HybridRetriever
from equipoise.text.questions import one_question

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "field")]

import questions as field_questions  # noqa: E402
import sets as field_sets  # noqa: E402
from splits import FIT as SQUAD_FIT  # noqa: E402
from splits import SEED, bioasq_part, covid_part  # noqa: E402

TARGET = ROOT / "src" / "equipoise" / "rag" / "highlighters" / "reader.json"
SAMPLE = {"squad2": 160, "covid_qa": 40, "bioasq12b": 40}
WEIGHT = {"field": 0.55, "squad2": 0.2, "covid_qa": 0.1, "bioasq12b": 0.15}
CANDIDATES, K, FOLDS = 20, 5, 8
KEEP, MOST = 5.0, 4
RIDGE = 5e-3
ANSWERS = 0.6  # of right quotes in what the threshold is chosen by; the rest is of right refusals
Row = dict[str, Any]
IsGold = Callable[[Passage, int, int], bool]


def main() -> None:
    """Read what is missing, fit, write."""
    arguments = options(__doc__, "bench-reader").parse_args()
    check_config(arguments.out, _config())
    with Lines(arguments.out / "rows.jsonl", ("source", "group", "id")) as lines:
        for name in arguments.only or [*field_names(), *SAMPLE]:
            asyncio.run(_collect(name, arguments, lines))
        rows = lines.rows()
    fitted = fit(rows)
    table = report(rows, arguments.out)
    if not arguments.dry:
        TARGET.write_text(json.dumps(_stored(fitted, rows), indent=2) + "\n", "utf-8")
        (HERE / "reader.md").write_text(table, "utf-8")
    print(table)


class Reader:
    """A question through reranking and reading, as a row."""

    def __init__(self) -> None:
        self.encoder, self.reranker = EmbeddedEncoder(), CrossEncoder()

    def ranked(self, store: Store, question: str) -> tuple[str, Candidates, Candidates]:
        """The question as it is read, and what is found for it, before and after reranking."""
        question = corrected(question, store.corrections(question, known=self.encoder.knows))
        found = HybridRetriever(store, self.encoder).retrieve(Query(question), k=CANDIDATES)
        return question, found, reranked(self.reranker, question, found)

    def row(self, store: Store, question: str, is_gold: IsGold) -> Row:
        """What the fit and the tables need; no text of the documents."""
        question, found, ranked = self.ranked(store, question)
        passages = ranked.passages[:K]
        scores = passage_scores(question, passages, self.reranker)
        every = windows_of(question, passages[: reading.READ], self.reranker)
        windows = distinct(every)
        known = features(question, Reading(passages, scores, windows), self.encoder) if windows else None
        return {
            "retrieved": [is_gold(one, 0, len(one.text)) for one in found.passages],
            "reranked": [is_gold(one, 0, len(one.text)) for one in ranked.passages],
            "windows": [_window(one, passages, is_gold) for one in windows[:6]],
            "every": [_window(one, passages, is_gold) for one in every],
            "features": None if known is None else dict(zip(FEATURES, known.round(4).tolist(), strict=True)),
        }


def _window(one: Window, passages: Sequence[Passage], is_gold: IsGold) -> list[float]:
    gold = is_gold(one.passage, one.start, one.end)
    return [passages.index(one.passage), one.first, one.last, round(one.score, 3), int(gold)]


async def _collect(name: str, arguments: argparse.Namespace, lines: Lines) -> None:
    reader, done = Reader(), 0
    async for key, question, answerable, is_gold, store in cases(name, arguments, lines):
        if tuple(key.values()) not in lines:
            lines.append({**key, "answerable": answerable, **reader.row(store, question, is_gold)})
        done += 1
        print(f"{name} {done}", file=sys.stderr)


Case = tuple[Row, str, bool, IsGold, Store]


def cases(name: str, arguments: argparse.Namespace, lines: Lines) -> AsyncIterator[Case]:
    """Every question of a set of benchmarks/field, or the sample of a data set, with the store to ask."""
    return _sampled(name, arguments, lines) if name in SAMPLE else _field(name, arguments)


async def _field(name: str, arguments: argparse.Namespace) -> AsyncIterator[Case]:
    index = (arguments.indexes or arguments.out / "indexes") / f"{name}.db"
    if arguments.indexes is None:
        index.parent.mkdir(parents=True, exist_ok=True)
        update(index, [field_sets.folder(arguments.cache, name)], gone=Gone.DROP)
    with Store.open(index, read_only=True) as store:
        for q in field_questions.load(name):
            version = fingerprint([q.question, *q.before, *q.gold])[:8]
            key = {"source": "field", "group": name, "id": f"{q.id}-{version}"}
            yield key, one_question(q.question, q.before).whole, q.answerable, _matching(q), store


def _matching(question: field_questions.Question) -> IsGold:
    return lambda passage, start, end: question.matches(passage.text[start:end]) > 0


async def _sampled(name: str, arguments: argparse.Namespace, lines: Lines) -> AsyncIterator[Case]:
    encoder = EmbeddedEncoder()
    for documents, items in stores.by_documents(_items(name, arguments.data)).items():
        group = documents[0].doc_id.partition("#")[0] if name == "squad2" else documents[0].doc_id
        keys = [{"source": name, "group": group, "id": item.item_id} for item in items]
        if all(tuple(key.values()) in lines for key in keys):
            continue
        async with stores.store_of(documents, encoder) as store:
            for key, item in zip(keys, items, strict=True):
                yield key, item.question, bool(item.answerable), _overlapping(item), store


def _items(name: str, data: Path) -> list[datasets.Item]:
    """The sample: fitting documents only, half of squad2's without an answer."""
    found = [item for item in datasets.load(name, data) if _fitting(name, item)]
    drawn = Random(SEED).sample(found, len(found))
    if name != "squad2":
        return drawn[: SAMPLE[name]]
    half = SAMPLE[name] // 2
    return [
        *[one for one in drawn if one.answerable][:half],
        *[one for one in drawn if not one.answerable][:half],
    ]


def _fitting(name: str, item: datasets.Item) -> bool:
    if name == "squad2":
        return item.documents[0].doc_id.partition("#")[0] in SQUAD_FIT
    part = covid_part(item.documents[0].doc_id) if name == "covid_qa" else bioasq_part(item.item_id)
    return part != "report"


def _overlapping(item: datasets.Item) -> IsGold:
    def is_gold(passage: Passage, start: int, end: int) -> bool:
        a, b = passage.start + start, passage.start + end
        return any(g.doc_id == passage.doc_id and a < g.end and g.start < b for g in item.gold)

    return is_gold


def chosen(row: Row, keep: float = KEEP, most: int = MOST) -> list[list[float]]:
    """The windows that would be highlighted."""
    windows = row["windows"][:most]
    return [one for one in windows if _worth(one) >= _worth(windows[0]) - keep]


def _worth(window: list[float]) -> float:
    return window[3] - reading.COST * (window[2] - window[1] - 1)


def hit(row: Row) -> bool:
    """Whether one of them holds the answer."""
    return row["answerable"] and any(one[4] for one in chosen(row))


Fitted = tuple[np.ndarray, float, float]


def fit(rows: Sequence[Row]) -> Fitted:
    """Weights, bias, threshold."""
    x, y = _matrix(rows), np.array([float(row["answerable"]) for row in rows])
    weights, bias = logistic(x, y, _weights(rows), RIDGE)
    chance = _probability(x @ weights + bias)
    steps = np.linspace(0.02, 0.9, 89)
    threshold = max(steps, key=lambda t: right(rows, chance >= t))
    return weights, bias, float(threshold)


def right(rows: Sequence[Row], shown: np.ndarray) -> float:
    """Right quotes and right refusals, each kind and source with its weight."""
    total = 0.0
    for source, weight in WEIGHT.items():
        for answerable, share in ((True, ANSWERS), (False, 1 - ANSWERS)):
            some = [
                (hit(row) and yes) if answerable else not yes
                for row, yes in zip(rows, shown, strict=True)
                if row["source"] == source and row["answerable"] is answerable
            ]
            total += weight * share * float(np.mean(some)) if some else 0.0
    return total


def _matrix(rows: Sequence[Row]) -> np.ndarray:
    return np.array(
        [[(row["features"] or dict.fromkeys(FEATURES, -1.0))[name] for name in FEATURES] for row in rows]
    )


def _weights(rows: Sequence[Row]) -> np.ndarray:
    """Each source has its weight, shared by its questions."""
    count = {source: sum(row["source"] == source for row in rows) for source in WEIGHT}
    return np.array([WEIGHT[row["source"]] / count[row["source"]] for row in rows])


def _probability(odds: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-odds))


def held_out(rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray]:
    """(probability, shown) of every row, each fitted on the folds without its set or document."""
    groups = {name: n % FOLDS for n, name in enumerate(sorted({(r["source"], r["group"]) for r in rows}))}
    fold = np.array([groups[row["source"], row["group"]] for row in rows])
    chance, shown = np.zeros(len(rows)), np.zeros(len(rows), bool)
    for n in sorted(set(fold.tolist())):
        weights, bias, threshold = fit([row for row, f in zip(rows, fold, strict=True) if f != n])
        mine = np.flatnonzero(fold == n)
        chance[mine] = _probability(_matrix([rows[i] for i in mine]) @ weights + bias)
        shown[mine] = chance[mine] >= threshold
    return chance, shown


def report(rows: Sequence[Row], out: Path) -> str:
    """The figures, out of fold, in Markdown."""
    chance, shown = held_out(rows)
    names = ["field", *sorted({r["group"] for r in rows if r["source"] == "field"}), *SAMPLE]
    heads = (
        "n|with answer|right quote|wrong quote|wrongly refused|refused, without|AUC|best window|three windows"
    )
    heads += "|decline F1|hit@1, @3, nDCG@5 before|after"
    lines = [f"| | {heads.replace('|', ' | ')} |", "|" + "---|" * (heads.count("|") + 2)]
    for name in names:
        mine = [i for i, row in enumerate(rows) if name in (row["source"], row["group"])]
        if mine:
            lines.append(_line(name, [rows[i] for i in mine], chance[mine], shown[mine]))
    return "\n".join(lines) + "\n"


def _line(name: str, rows: Sequence[Row], chance: np.ndarray, shown: np.ndarray) -> str:
    yes = np.array([row["answerable"] for row in rows])
    hits = np.array([hit(row) for row in rows])
    have = [row for row in rows if row["answerable"]]
    best = [bool(row["windows"]) and bool(row["windows"][0][4]) for row in have]
    three = [any(one[4] for one in row["windows"][:3]) for row in have]
    declined, wrong = int((~shown & ~yes).sum()), int((~shown & yes).sum())
    f1 = 2 * declined / max(1, 2 * declined + wrong + int((shown & ~yes).sum())) if (~yes).any() else None
    cells = [
        str(len(rows)),
        str(len(have)),
        _share((hits & shown)[yes]),
        _share((~hits & shown)[yes]),
        _share(~shown[yes]),
        _share(~shown[~yes]),
        _number(auc(chance, yes.astype(int))),
        _share(best),
        _share(three),
        _number(f1),
        _ranks([row["retrieved"] for row in have]),
        _ranks([row["reranked"] for row in have]),
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _ranks(rows: Sequence[Sequence[bool]]) -> str:
    return ", ".join(
        _number(float(np.mean(list(found)))) for found in zip(*map(_measures, rows), strict=True)
    )


def _measures(gold: Sequence[bool]) -> Iterator[float]:
    yield float(any(gold[:1]))
    yield float(any(gold[:3]))
    ranks = [rank for rank, right in enumerate(gold, 1) if right]
    yield ndcg_at_k(ranks, 5, total=len(ranks)) or 0.0


def _share(values: Any) -> str:  # noqa: ANN401
    return _number(float(np.mean(values))) if len(values) else "–"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _stored(fitted: Fitted, rows: Sequence[Row]) -> Row:
    weights, bias, threshold = fitted
    return {
        "fitted_by": f"benchmarks/calibration/reader.py on {len(rows)} questions: {_counted(rows)}",
        "reranker": CrossEncoder().name,
        "weights": {name: round(float(w), 4) for name, w in zip(FEATURES, weights, strict=True)},
        "bias": round(bias, 4),
        "threshold": round(threshold, 4),
        "keep": KEEP,
        "most": MOST,
    }


def _counted(rows: Sequence[Row]) -> str:
    """How many questions of which set."""
    names = [row["group"] if row["source"] == "field" else row["source"] for row in rows]
    return ", ".join(f"{name} {names.count(name)}" for name in dict.fromkeys(names))


def _config() -> Row:
    """What rows depend on: another --out is wanted where one of it changes."""
    widths = [RRF_CONSTANT, reading.READ, reading.SEEDS, reading.WIDEST, RERANKED, K]
    return {"reranker": CrossEncoder().name, "features": FEATURES, "read": widths, "sample": SAMPLE}


def field_names() -> list[str]:
    """The sets for fitting."""
    return [one.name for one in field_sets.chosen((), half="fitting")]


def options(description: str | None, out: str) -> argparse.ArgumentParser:
    """What this fit and that of the abstention share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cache", type=Path, default=field_sets.default_cache())
    parser.add_argument("--data", type=Path, default=ROOT / "data")
    parser.add_argument("--out", type=Path, default=ROOT / ".equipoise" / out)
    parser.add_argument(
        "--indexes", type=Path, help="the folder `indexes` of a run of benchmarks/field, as it is"
    )
    parser.add_argument("--only", nargs="*", help="only these sets and data sets")
    parser.add_argument("--dry", action="store_true", help="print the figures, write nothing")
    return parser


if __name__ == "__main__":
    main()
