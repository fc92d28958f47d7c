"""Retrieval over whole corpora: where the passages that answer stand in each ranking.

    python benchmarks/retrieval/run.py [CORPUS ...] [--data data] [--cache DIR] [--half reporting]
                                       [--sample 200] [--out .equipoise/bench-retrieval] [--table FILE]

A corpus is all documents of covid_qa, bioasq12b (every snippet once) or hotpotqa_distractor (every paragraph
once), or a set of benchmarks/field (fetch it first); without names, the three and all sets of --half. Of the
three only questions that nothing was fitted on are asked (`splits.py`), at most --sample of each. A passage
is right where it overlaps a gold span, on field sets where a gold pattern matches it. nDCG@5 counts every right
passage alike (Järvelin and Kekäläinen 2002), against the best order of as many right passages as any ranking found.
Rows hold ranks, never text; interrupted runs resume.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from equipoise.core.types import Passage, Query, Trust
from equipoise.corpus.roots import Gone
from equipoise.corpus.spelling import corrected
from equipoise.corpus.store import Store
from equipoise.evaluation.results import Lines, check_config
from equipoise.models.crossencoder import CrossEncoder
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.models.english import english_words
from equipoise.rag.library import update
from equipoise.rag.reranking import RERANKED, reranked
from equipoise.rag.retrieval import RRF_CONSTANT, HybridRetriever, candidates, dense, fused
from equipoise.text.questions import one_question
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.qa import datasets, stores
from equipoise_lab.bench.qa.items import Item, Text
from equipoise_lab.bench.tables import interval
from equipoise_lab.maths.measures import ndcg_at_k
from equipoise_lab.maths.statistics import bootstrap_interval, wilson

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "field")]

import questions as field_questions  # noqa: E402
import sets as field_sets  # noqa: E402
from splits import SEED, bioasq_part, covid_part, hotpot_part  # noqa: E402

SETS = ("covid_qa", "bioasq12b", "hotpotqa_distractor")
RANKINGS = ("dense", "bm25", "hybrid", "hybrid-60", "reranked")
"""hybrid-60 is the fusion of its paper, with the constant 60."""
DEEP, READ = 50, 5
Row = dict[str, Any]
IsRight = Callable[[Passage], bool]


@dataclass(frozen=True)
class Asked:
    """A question to a corpus, and what answers it."""

    id: str
    text: str
    is_right: IsRight


class Ranker:
    """Every ranking of one question."""

    def __init__(self) -> None:
        self.encoder, self.reranker = EmbeddedEncoder(), CrossEncoder()

    def ranks(self, store: Store, asked: Asked) -> dict[str, list[int]]:
        """By ranking, the ranks (from 1, up to DEEP) of the right passages; misspelt words are corrected first."""
        text = corrected(
            asked.text, store.partition(Trust.TRUSTED).corrections(asked.text, known=english_words())
        )
        vector = self.encoder.encode([text])[0]
        with store.snapshot():
            near, words = (
                dense(store.partition(Trust.TRUSTED), vector, DEEP),
                store.partition(Trust.TRUSTED).bm25(text, DEEP),
            )
            rankings = {"dense": near, "bm25": words, "hybrid-60": fused([near, words], constant=60)[:DEEP]}
            retrieved = {
                name: candidates(store.partition(Trust.TRUSTED), ranking, vector)
                for name, ranking in rankings.items()
            }
        retrieved["hybrid"] = HybridRetriever(store.partition(Trust.TRUSTED), self.encoder).retrieve(
            Query(text), k=DEEP
        )
        retrieved["reranked"] = reranked(self.reranker, text, retrieved["hybrid"])
        return {
            name: [rank for rank, passage in enumerate(those.passages, 1) if asked.is_right(passage)]
            for name, those in retrieved.items()
        }


def main() -> None:
    """Rank what is missing, then print the table."""
    arguments = _arguments()
    names = arguments.corpora or [
        *SETS,
        *(field_set.name for field_set in field_sets.chosen((), half=arguments.half)),
    ]
    config = {"reranker": CrossEncoder().name, "read": RERANKED, "deep": DEEP, "constant": RRF_CONSTANT}
    check_config(arguments.out, config)
    with Lines(arguments.out / "rows.jsonl", ("corpus", "id")) as lines:
        for name in names:
            asyncio.run(_ranked(name, arguments, lines))
        rows = [row for row in lines.rows() if row["corpus"] in names]
    made = table(rows, names)
    if arguments.table:
        arguments.table.write_text(made, "utf-8")
    print(made)


async def _ranked(name: str, arguments: argparse.Namespace, lines: Lines) -> None:
    asked = list(_questions(name, arguments))
    missing = [question for question in asked if (name, question.id) not in lines]
    if not missing:
        return
    ranker = Ranker()
    async with _store(name, arguments, ranker.encoder) as store:
        passages = len(store.partition(Trust.TRUSTED).matrix()[0])
        for number, question in enumerate(missing, 1):
            ranks = ranker.ranks(store, question)
            lines.append({"corpus": name, "id": question.id, "passages": passages, "ranks": ranks})
            print(f"{name} {number}/{len(missing)}", file=sys.stderr)


def _questions(name: str, arguments: argparse.Namespace) -> Iterator[Asked]:
    if name not in SETS:
        for q in field_questions.load(name):
            if q.answerable:
                yield Asked(q.id, one_question(q.question, q.before).whole, _matching(q))
        return
    items = [item for item in datasets.load(name, arguments.data) if _unseen(name, item)]
    for item in sorted(
        Random(SEED).sample(items, min(len(items), arguments.sample)), key=lambda i: i.item_id
    ):
        yield Asked(item.item_id, item.question, _overlapping(name, item))


def _unseen(name: str, item: Item) -> bool:
    """Whether nothing was fitted on it."""
    if name == "covid_qa":
        return covid_part(item.documents[0].doc_id) == "report"
    return (bioasq_part if name == "bioasq12b" else hotpot_part)(item.item_id) == "report"


def _matching(question: field_questions.Question) -> IsRight:
    return lambda passage: question.matches(passage.text) > 0


def _overlapping(name: str, item: Item) -> IsRight:
    """Right by place where documents are whole, by text where they are pieces that several questions share."""
    if name == "covid_qa":
        return lambda passage: any(
            g.doc_id == passage.doc_id and passage.start < g.end and g.start < passage.end for g in item.gold
        )
    texts = {document.doc_id: document.text for document in item.documents}
    gold = {line for g in item.gold for line in texts[g.doc_id][g.start : g.end].split("\n")}
    return lambda passage: any(line in passage.text or passage.text in line for line in gold if line.strip())


@asynccontextmanager
async def _store(name: str, arguments: argparse.Namespace, encoder: EmbeddedEncoder) -> AsyncIterator[Store]:
    if name in SETS:
        async with stores.store_of(_corpus(name, arguments.data), encoder) as store:
            yield store
        return
    index = arguments.out / "indexes" / f"{name}.db"
    index.parent.mkdir(parents=True, exist_ok=True)
    update(index, [field_sets.folder(arguments.cache, name)], gone=Gone.DROP)
    with Store.open(index, read_only=True) as store:
        yield store


def _corpus(name: str, data: Path) -> tuple[Text, ...]:
    """Every different text of the data set, as a document."""
    texts = [text for item in datasets.load(name, data) for text in item.documents]
    if name == "bioasq12b":
        lines = dict.fromkeys(line for text in texts for line in text.text.split("\n") if line.strip())
        return tuple(Text(f"snippet-{n}", "", line) for n, line in enumerate(lines))
    return tuple({(text.title, text.text): text for text in texts}.values())


def table(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Markdown: for each corpus and for all, hits and nDCG@5 of each ranking, with 95% intervals."""
    lines = [
        "| corpus | passages | questions | ranking | hit@1 | hit@3 | hit@5 | hit@10 | nDCG@5 |",
        "|" + "---|" * 9,
    ]
    groups = {name: [row for row in rows if row["corpus"] == name] for name in names}
    field = [row for row in rows if row["corpus"] not in SETS]
    if len(groups) > 1 and field:
        groups["field sets, all"] = field
    for name, mine in groups.items():
        for ranking in RANKINGS if mine else ():
            lines.append(_line(name, ranking, mine))
    return "\n".join(lines) + "\n"


def _line(name: str, ranking: str, rows: Sequence[Row]) -> str:
    passages = {row["passages"] for row in rows}
    first = [min(row["ranks"][ranking], default=DEEP + 1) for row in rows]
    hits = [wilson(sum(rank <= k for rank in first), len(rows)) for k in (1, 3, READ, RERANKED)]
    gains = bootstrap_interval([ndcg(row["ranks"], ranking) for row in rows], seed=SEED)
    shown = " | ".join(interval(Estimate.of(bounds)) for bounds in (*hits, gains))
    return f"| {name} | {max(passages) if len(passages) == 1 else '–'} | {len(rows)} | {ranking} | {shown} |"


def ndcg(ranks: dict[str, list[int]], ranking: str) -> float:
    """nDCG@5 of a ranking, 0 to 1; 0 where no ranking found anything right."""
    most = max(len(each) for each in ranks.values())
    return ndcg_at_k(ranks[ranking], READ, total=most) or 0.0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpora", nargs="*", metavar="CORPUS")
    parser.add_argument("--data", type=Path, default=ROOT / "data")
    parser.add_argument("--cache", type=Path, default=field_sets.default_cache())
    parser.add_argument("--half", choices=field_sets.HALVES, default="reporting")
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--out", type=Path, default=ROOT / ".equipoise" / "bench-retrieval")
    parser.add_argument("--table", type=Path, help="also write the table there")
    return parser.parse_args()


if __name__ == "__main__":
    main()
