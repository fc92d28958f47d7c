"""Asks every question through every pipeline: document set by document set, one record and one timing each.

Scores: a declined answer to an answerable question has recall 0; a failed one is not scored. `answer_k_precision` is
the share of the answer's tokens in the gold passage (H&S, Table 1), `answer_k_precision_documents` in all documents
that were given (Adlakha's own). `highlight_*` compare the highlighted text with the gold passage (Table 5);
`highlight_in_gold` and `gold_in_highlight` are Figure 6. `guess_*` are Table 6 for the best guess, `guess_first_*` for
the first. `decision_correct` is 1 where a yes/no question was decided rightly.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from equipoise.core.protocols import ChatModel, Encoder, Highlighter, Pipeline, Reranker
from equipoise.core.results import Answer, Reason, Refusal
from equipoise.core.settings import Settings
from equipoise.core.types import Document, Span
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.rag.components import Components
from equipoise_lab.bench.qa import items as asked
from equipoise_lab.bench.qa import metrics
from equipoise_lab.bench.qa.items import QaItem, Text
from equipoise_lab.bench.qa.metrics import Relation
from equipoise_lab.bench.qa.records import ANSWERED, DECLINED, FAILED, QaRecord, QaTiming
from equipoise_lab.bench.systems import Named
from equipoise_lab.evaluation.budget import RunBudget
from equipoise_lab.evaluation.results import Key
from equipoise_lab.evaluation.run import Progress, Ran, RecordForm, System, Timings, evaluate

TIMINGS = "timings.jsonl"
DIGITS, TIME_DIGITS = 5, 4
NOTHING: Mapping[str, Any] = {
    "answer": "", "grounded": None, "probability": None, "tags": (), "highlights": (), "highlighted": "", "dropped": 0,
    "gold_text": "", "guesses": (), "usage": {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0},
}  # fmt: skip
"""What a record keeps of a question whose pipeline raised an error."""

Documents = tuple[Text, ...]
Outcome = tuple[Answer | Refusal, bool]
"""A result, and whether its pipeline highlights at all."""


@dataclass(frozen=True, slots=True)
class Harness:
    """What pipelines are built from, where records go, and how many questions run at a time. Without a `reranker`
    nothing is reranked."""

    settings: Settings
    encoder: Encoder
    chat: ChatModel | None
    out: Path
    budget: RunBudget
    progress: Progress
    concurrency: int = 1
    reranker: Reranker | None = None


@dataclass(frozen=True, slots=True)
class QaPipeline:
    """A System: a pipeline of the product over the documents of the question, which stand on the shelf then."""

    named: Named
    shelf: dict[Documents, dict[str, Pipeline]]

    @property
    def name(self) -> str:
        """The pipeline's."""
        return self.named.name

    async def __call__(self, sample: QaItem) -> Outcome:
        """Ask the question. Raises what the pipeline raises."""
        return await self.shelf[sample.documents][self.name].ask(sample.question), self.named.highlights


async def run(
    dataset: str, items: Sequence[QaItem], wanted: Sequence[Named], harness: Harness
) -> list[QaRecord]:
    """Ask what the output folder does not hold yet; the records of these items and pipelines by their keys.

    Raises what building a pipeline raises. Errors while one question is answered are records.
    """
    shelf: dict[Documents, dict[str, Pipeline]] = {}
    highlighters: dict[str, Highlighter | None] = {}
    models = {pipeline.name: pipeline.model(harness.chat) for pipeline in wanted}

    def key(item: QaItem, system: System[QaItem, Outcome]) -> Key:
        return dataset, item.item_id, system.name, models[system.name]

    @asynccontextmanager
    async def stocked(
        samples: Sequence[QaItem], systems: Sequence[System[QaItem, Outcome]]
    ) -> AsyncIterator[None]:
        """A store of the documents, with the pipelines over it; their models are loaded once for the whole run."""
        documents, names = samples[0].documents, {system.name for system in systems}
        async with store_of(documents, harness.encoder) as store:
            parts = Components(harness.settings, store, harness.encoder, harness.chat, harness.reranker)
            shelf[documents] = {}
            for pipeline in wanted:
                if pipeline.name in names:
                    if pipeline.name not in highlighters:
                        highlighters[pipeline.name] = pipeline.highlighting(parts)
                    own = replace(parts, highlighter=highlighters[pipeline.name])
                    shelf[documents][pipeline.name] = pipeline.pipeline(own)
            yield
            del shelf[documents]

    form: RecordForm[QaItem, Outcome, QaRecord] = RecordForm(QaRecord, key, _fields)
    times: RecordForm[QaItem, Outcome, QaTiming] = RecordForm(QaTiming, key, _times)

    def timing(item: QaItem, system: System[QaItem, Outcome], ran: Ran[Outcome]) -> QaTiming | None:
        """None where a reply was replayed, or an error ended it early."""
        result = ran.outcome[0] if ran.outcome else None
        fresh = result is not None and not _failed(result) and not result.trace.usage.replayed
        return times.made(item, system, ran) if fresh else None

    evaluated = await evaluate(
        items, [QaPipeline(pipeline, shelf) for pipeline in wanted], (), harness.out,
        form=form, timings=Timings(TIMINGS, QaTiming, timing), progress=harness.progress, budget=harness.budget,
        concurrency=harness.concurrency, group=lambda item: item.documents, setup=stocked,
    )  # fmt: skip
    return evaluated.records


@asynccontextmanager
async def store_of(documents: Documents, encoder: Encoder) -> AsyncIterator[Store]:
    """A store that holds just these documents, gone afterwards."""

    def fill(store: Store) -> None:
        store.bind_encoder(encoder)
        entries = [Document(text.doc_id, text.text, text.doc_id, text.title) for text in documents]
        store.add_documents(prepare(entries, encoder))

    with (
        TemporaryDirectory(prefix="equipoise-") as folder,
        Store.open(Path(folder) / "index.db", create=True) as store,
    ):
        await asyncio.to_thread(fill, store)
        yield store


def _failed(result: Answer | Refusal) -> bool:
    return isinstance(result, Refusal) and result.reason is Reason.MODEL_FAILED


def _fields(item: QaItem, ran: Ran[Outcome]) -> dict[str, Any]:
    """An error is a failed question without scores."""
    if ran.outcome:
        result, quotes = ran.outcome
        spans = [span for highlight in result.highlights.items for span in highlight.chosen]
        fields = _made(result) | {"highlights": _places(spans), "gold_text": asked.gold_text(item)}
    else:
        said = str(ran.error) or type(ran.error).__name__
        spans, quotes = [], False
        fields = {**NOTHING, "outcome": FAILED, "reason": f"{Reason.MODEL_FAILED.value}: {said}"}
    values = _scores(item, fields, spans, quotes=quotes)
    scores = {name: None if value is None else round(float(value), DIGITS) for name, value in values.items()}
    known = {name: getattr(item, name) for name in ("question", "answerable", "decision", "references")}
    return known | fields | {"gold": _places(item.gold), "scores": scores}


def _made(result: Answer | Refusal) -> dict[str, Any]:
    """What a record keeps of a result."""
    trace, usage = result.trace, result.trace.usage
    if isinstance(result, Answer):
        ended: tuple[str, str | None, str, bool | None] = (ANSWERED, None, result.text, result.grounded)
    elif _failed(result):
        ended = (FAILED, f"{result.reason.value}: {trace.failure}", "", None)
    else:
        ended = (DECLINED, result.reason.value, "", None)
    return {
        **dict(zip(("outcome", "reason", "answer", "grounded"), ended, strict=True)),
        "probability": None if trace.probability is None else round(trace.probability, DIGITS),
        "tags": [tag.value for tag in trace.tags],
        "highlighted": "\n".join(text for one in result.highlights.items for text in one.marked),
        "dropped": len(trace.dropped),
        "guesses": trace.guessed_questions,
        "usage": {
            "calls": usage.calls + usage.replayed,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
        },
    }


def _scores(
    item: QaItem, fields: dict[str, Any], spans: Sequence[Span], *, quotes: bool
) -> dict[str, float | bool | None]:
    """Every score, None where there is nothing to measure."""
    answer, marked, gold = fields["answer"], fields["highlighted"], fields["gold_text"]
    ran = fields["outcome"] != FAILED
    wanted = ran and item.answerable is not False
    relation: Any = metrics.relation(marked, gold) if gold and marked else None
    documents = "\n".join(part for text in item.documents for part in (text.title, text.text))
    best, first = (
        metrics.best_guess(item.question, fields["guesses"][:n]) or (None, None) for n in (None, 1)
    )
    decides = ran and item.decision in ("yes", "no")
    return {
        "answer_recall": metrics.best_recall(item.references, answer) if wanted else None,
        "answer_hit": metrics.answer_hit(item.references, answer) if wanted else None,
        "answer_k_precision": metrics.k_precision(answer, gold) if gold else None,
        "answer_k_precision_documents": metrics.k_precision(answer, documents),
        "evidence_hit": metrics.evidence_hit(spans, item.gold) if wanted and quotes else None,
        "highlight_k_precision": metrics.k_precision(marked, gold) if gold else None,
        "highlight_recall": metrics.recall(gold, marked) if wanted and quotes else None,
        "highlight_in_gold": relation and relation in {Relation.EQUAL, Relation.SUBSTRING},
        "gold_in_highlight": relation and relation in {Relation.EQUAL, Relation.SUPERSTRING},
        "guess_k_precision": best[0],
        "guess_recall": best[1],
        "guess_first_k_precision": first[0],
        "guess_first_recall": first[1],
        "decision_correct": metrics.decided(answer, fields["tags"]) == item.decision if decides else None,
    }


def _times(_: QaItem, ran: Ran[Outcome]) -> dict[str, Any]:
    stages = {name: round(part, TIME_DIGITS) for name, part in ran.value[0].trace.timings.items()}
    return {"seconds": round(ran.seconds, TIME_DIGITS), "stages": stages}


def _places(spans: Iterable[Span]) -> list[tuple[str, int, int]]:
    return [(span.doc_id, span.start, span.end) for span in spans]
