"""Fits the reader highlighter: the probability that its best windows answer, and the least one that does.

    python benchmarks/calibration/reader.py [--cache DIR] [--data data] [--out .equipoise/bench-reader]

Every question of SETS of benchmarks/field (fetch them first; they were reported on once, and are used up), a follow-up
with the question before it, each part of a question in two parts by itself, and a sample of those on the fitting
documents of bioasq12b (`splits.py`; those of squad2 have trained what decides), goes through retrieval, reranking and
reading as in the product. Rows are kept, so that interrupted runs resume; after a change of the text's structure or the
reader use another --out. Then a logistic model over the features is fitted, with the least threshold that refuses
REFUSED of the field questions without an answer, by probabilities out of fold. Figures are from folds that leave
a whole set (or documents of the others) out, of the threshold too. Writes reader.json beside the highlighter and
reader.md beside this file. About 8 minutes for 367 questions:
`--indexes` takes the indexes of a run of benchmarks/field as they are.
"""

import asyncio
import json
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from equipoise.core.types import Candidates, Passage, Query, Trust
from equipoise.corpus.roots import Gone
from equipoise.corpus.spelling import corrected, strange
from equipoise.corpus.store import Store
from equipoise.models.adapted import DECISION, RANKING
from equipoise.models.crossencoder import READER
from equipoise.models.encoder import EmbeddedEncoder, english_words
from equipoise.rag.highlighters import reading
from equipoise.rag.highlighters.deciding import decision_logit
from equipoise.rag.highlighters.evidence import FEATURES, features
from equipoise.rag.highlighters.reader import ReaderHighlighter
from equipoise.rag.highlighters.reading import Window
from equipoise.rag.library import update
from equipoise.rag.retrieval import RRF_CONSTANT, HybridRetriever
from equipoise.rag.search import FOLLOWING, RERANKED, reranked
from equipoise.text.questions import Question, split_questions
from equipoise_lab.bench import scripts
from equipoise_lab.bench.qa import datasets, runner
from equipoise_lab.bench.tables import grid, interval, number
from equipoise_lab.evaluation.results import Lines, check_config, fingerprint, grouped
from equipoise_lab.maths.measures import auc
from equipoise_lab.maths.rates import wilson
from equipoise_lab.maths.statistics import logistic

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "field")]

import questions as field_questions  # noqa: E402
import sets as field_sets  # noqa: E402
from splits import SEED, bioasq_part  # noqa: E402

TARGET = ROOT / "src" / "equipoise" / "rag" / "highlighters" / "reader.json"
SETS = tuple(
    """
    backgammon beets borg certbot charis countries debian-history debmake eyes17 fastify hackrf homebank lifelines music
    node-packages rtklib solfege tables vega-tables w1retap web-access zoneminder
    """.split()  # noqa: SIM905
)
"""Those in English, of older parts, that are indexed in a minute."""
SAMPLE = {"bioasq12b": 40}
WEIGHT = {"field": 0.8, "bioasq12b": 0.15}
CANDIDATES, K, FOLDS = 20, 5, 8
KEEP, MOST = 7.0, 4
"""Windows that are shown: at most so many, each worth so much less than the best at most."""
RIDGE = 2e-3
REFUSED = 0.82
"""Of field questions without an answer; the target is .80 on documents that nothing was fitted on."""
KEY = ("source", "group", "id", "part")
Row = dict[str, Any]
IsGold = Callable[[Passage, int, int], bool]


def main() -> None:
    """Read what is missing, fit, write."""
    arguments = _arguments()
    check_config(arguments.out, _config())
    with Lines(arguments.out / "rows.jsonl", KEY) as lines:
        for name in arguments.only or [*SETS, *SAMPLE]:
            asyncio.run(_collect(name, arguments, lines))
        rows = lines.rows()
    made = report(rows)
    if not arguments.dry:
        TARGET.write_text(json.dumps(_stored(rows), indent=2) + "\n", "utf-8")
        (HERE / "reader.md").write_text(made, "utf-8")
    print(made)


class Reader:
    """A question through reranking and reading, as a row."""

    def __init__(self) -> None:
        self.encoder, self.highlighter = EmbeddedEncoder(), ReaderHighlighter()

    def query(self, store: Store, question: Question) -> Query:
        """The question as it is read."""
        spelling = store.partition(Trust.TRUSTED).corrections(question.whole, known=english_words())
        follows = question.before and not question.alone
        text, last = (
            corrected(question.whole, spelling),
            corrected(question.text, spelling) if follows else "",
        )
        out_of_corpus = store.partition(Trust.TRUSTED).out_of_corpus(last or text)
        return Query(text, last, out_of_corpus, strange(out_of_corpus, english_words()))

    def ranked(self, store: Store, query: Query) -> tuple[Candidates, Candidates, Query]:
        """What is found, before and after reranking, and the query with the scores."""
        retrieved = HybridRetriever(store.partition(Trust.TRUSTED), self.encoder).retrieve(
            query, k=CANDIDATES
        )
        return retrieved, *reranked(RANKING, query, retrieved)

    def row(self, store: Store, question: Question, is_gold: IsGold) -> Row:
        """What the fit and the tables need; no text of the documents."""
        query = self.query(store, question)
        retrieved, ranked, query = self.ranked(store, query)
        whole = self.highlighter.read(query, ranked.passages[:K])
        windows, passages = whole.windows, list(whole.passages)
        known = features(query, whole, decision_logit(query, windows, DECISION)) if windows else None
        return {
            "retrieved": [is_gold(passage, 0, len(passage.text)) for passage in retrieved.passages],
            "reranked": [is_gold(passage, 0, len(passage.text)) for passage in ranked.passages],
            "windows": [_window(window, passages, is_gold) for window in windows[:6]],
            "features": None if known is None else dict(zip(FEATURES, known.round(4).tolist(), strict=True)),
        }


def _window(window: Window, passages: Sequence[Passage], is_gold: IsGold) -> list[float]:
    gold = is_gold(window.passage, window.start, window.end)
    return [passages.index(window.passage), window.first, window.last, round(window.worth, 3), int(gold)]


async def _collect(name: str, arguments: Namespace, lines: Lines) -> None:
    reader, done = Reader(), 0
    async for key, question, answerable, is_gold, store in cases(name, arguments, lines):
        if lines.key_of(key) not in lines:
            lines.append({**key, "answerable": answerable, **reader.row(store, question, is_gold)})
        done += 1
        print(f"{name} {done}", file=sys.stderr)


Case = tuple[Row, Question, bool, IsGold, Store]


def cases(name: str, arguments: Namespace, lines: Lines) -> AsyncIterator[Case]:
    """Every question of a set of benchmarks/field, or the sample of a data set, with the store to ask."""
    return _sampled(name, arguments, lines) if name in SAMPLE else _field(name, arguments)


async def _field(name: str, arguments: Namespace) -> AsyncIterator[Case]:
    index = (arguments.indexes or arguments.out / "indexes") / f"{name}.db"
    if arguments.indexes is None:
        index.parent.mkdir(parents=True, exist_ok=True)
        update(index, [field_sets.folder(arguments.cache, name)], gone=Gone.DROP)
    with Store.open(index, read_only=True) as store:
        for q in field_questions.load(name):
            version = fingerprint([q.question, *q.before, *q.gold])[:8]
            for number, part in enumerate(split_questions(q.question, q.before)):
                key = {"source": "field", "group": name, "id": f"{q.id}-{version}", "part": number}
                yield key | {"kind": q.kind}, part, q.answerable, _matching(q), store


def _matching(question: field_questions.Question) -> IsGold:
    return lambda passage, start, end: question.matches(passage.text[start:end]) > 0


async def _sampled(name: str, arguments: Namespace, lines: Lines) -> AsyncIterator[Case]:
    encoder = EmbeddedEncoder()
    for documents, items in grouped(_items(name, arguments.data), lambda item: item.documents).items():
        group = documents[0].doc_id
        keys = [
            {"source": name, "group": group, "id": item.item_id, "part": 0, "kind": "plain"} for item in items
        ]
        if all(lines.key_of(key) in lines for key in keys):
            continue
        async with runner.store_of(documents, encoder) as store:
            for key, item in zip(keys, items, strict=True):
                yield key, Question(item.question), bool(item.answerable), _overlapping(item), store


def _items(name: str, data: Path) -> list[datasets.QaItem]:
    """The sample: fitting documents only."""
    items = [item for item in datasets.load(name, data) if bioasq_part(item.item_id) != "report"]
    return Random(SEED).sample(items, len(items))[: SAMPLE[name]]


def _overlapping(item: datasets.QaItem) -> IsGold:
    def is_gold(passage: Passage, start: int, end: int) -> bool:
        a, b = passage.start + start, passage.start + end
        return any(g.doc_id == passage.doc_id and a < g.end and g.start < b for g in item.gold)

    return is_gold


def fit(rows: Sequence[Row]) -> tuple[np.ndarray, float]:
    """Weights and bias of a logistic regression with a ridge."""
    y = np.array([float(row["answerable"]) for row in rows])
    best = logistic(_matrix(rows), y, weight=_weights(rows) / _weights(rows).sum(), ridge=RIDGE)
    return best[1:], float(best[0])


def threshold(rows: Sequence[Row], chance: np.ndarray) -> float:
    """The least probability that answers, so that REFUSED of the field questions without an answer are refused."""
    likeliest: dict[str, float] = {}
    for row, each in zip(rows, chance.tolist(), strict=True):
        if row["source"] == "field" and not row["answerable"]:
            likeliest[row["id"]] = max(each, likeliest.get(row["id"], 0.0))
    return float(np.quantile(list(likeliest.values()), REFUSED, method="higher")) + 1e-4


def _matrix(rows: Sequence[Row]) -> np.ndarray:
    return np.array(
        [[(row["features"] or dict.fromkeys(FEATURES, -1.0))[name] for name in FEATURES] for row in rows]
    )


def _weights(rows: Sequence[Row]) -> np.ndarray:
    """Each source has its weight, shared by its questions."""
    count = {source: sum(row["source"] == source for row in rows) for source in WEIGHT}
    return np.array([WEIGHT[row["source"]] / count[row["source"]] for row in rows])


def folds(rows: Sequence[Row]) -> np.ndarray:
    """(n,): each set of benchmarks/field is a fold, the documents of the others are dealt out to FOLDS more."""
    others = sorted({(r["source"], r["group"]) for r in rows if r["source"] != "field"})
    dealt = {name: f"others {n % FOLDS}" for n, name in enumerate(others)}
    return np.array([dealt.get((row["source"], row["group"]), row["group"]) for row in rows])


def out_of_fold(rows: Sequence[Row]) -> np.ndarray:
    """(n,) probabilities, each fitted on the folds without its set or document."""
    fold, chance = folds(rows), np.zeros(len(rows))
    for name in sorted(set(fold.tolist())):
        weights, bias = fit([row for row, f in zip(rows, fold, strict=True) if f != name])
        mine = np.flatnonzero(fold == name)
        chance[mine] = 1 / (1 + np.exp(-_matrix([rows[i] for i in mine]) @ weights - bias))
    return chance


def held_out(rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray]:
    """(probability, shown) of every row: weights and threshold are from the folds without its set or document."""
    fold, chance = folds(rows), out_of_fold(rows)
    shown = np.zeros(len(rows), bool)
    for name in sorted(set(fold.tolist())):
        others = [row for row, f in zip(rows, fold, strict=True) if f != name]
        least = threshold(others, out_of_fold(others))
        shown[fold == name] = chance[fold == name] >= least
    return chance, shown


def report(rows: Sequence[Row]) -> str:
    """The figures in Markdown, out of fold, of a question's parts together: of all field sets, each of them, and each
    sampled data set."""
    chance, shown = held_out(rows)
    questions: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(rows):
        questions.setdefault((row["source"], row["group"], row["id"]), []).append(place)
    groups: dict[str, list[list[int]]] = {}
    for (source, group, _), places in questions.items():
        for name in (source, group) if source == "field" else (source,):
            groups.setdefault(name, []).append(places)
    head = ("", "n", "with answer", "right quote", "wrongly refused", "refused, without", "AUC")
    lines = []
    for name, some in groups.items():
        yes, no = ([each for each in some if rows[each[0]]["answerable"] is known] for known in (True, False))
        right = sum(any(shown[place] and _hit(rows[place]) for place in each) for each in yes)
        lost, refused = (sum(not shown[each].any() for each in those) for those in (yes, no))
        rates = (interval(wilson(k, len(of))) for k, of in ((right, yes), (lost, yes), (refused, no)))
        area = auc([chance[each].max() for each in some], [rows[each[0]]["answerable"] for each in some])
        lines.append((name, str(len(some)), str(len(yes)), *rates, "–" if area is None else number(area)))
    return grid(head, lines) + "\n"


def _hit(row: Row) -> bool:
    """Whether one of the windows (passage, first and last sentence, worth, gold) that would be shown is gold."""
    windows = row["windows"][:MOST]
    return any(window[4] for window in windows if window[3] >= windows[0][3] - KEEP)


def _stored(rows: Sequence[Row]) -> Row:
    weights, bias = fit(rows)
    return {
        "fitted_by": f"benchmarks/calibration/reader.py on {len(rows)} questions: {_counted(rows)}",
        "reranker": READER.name,
        "weights": {name: round(float(w), 4) for name, w in zip(FEATURES, weights, strict=True)},
        "bias": round(bias, 4),
        "threshold": round(threshold(rows, out_of_fold(rows)), 4),
        "keep": KEEP,
        "most": MOST,
    }


def _counted(rows: Sequence[Row]) -> str:
    """How many questions of which set."""
    names = [row["group"] if row["source"] == "field" else row["source"] for row in rows]
    return ", ".join(f"{name} {names.count(name)}" for name in dict.fromkeys(names))


def _config() -> Row:
    """What rows depend on: another --out is wanted where one of it changes."""
    widths = [RRF_CONSTANT, reading.READ, reading.SEEDS, RERANKED, FOLLOWING, K]
    return {
        "reranker": READER.name,
        "decision": DECISION.name,
        "features": FEATURES,
        "read": widths,
        "sample": SAMPLE,
    }


def _arguments() -> Namespace:
    parser = scripts.parser(__file__, __doc__, "bench-reader")
    parser.add_argument("--cache", type=Path, default=field_sets.default_cache())
    parser.add_argument(
        "--indexes", type=Path, help="the folder `indexes` of a run of benchmarks/field, as it is"
    )
    parser.add_argument("--only", nargs="*", help="only these sets and data sets")
    parser.add_argument("--dry", action="store_true", help="print the figures, write nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()
