"""Pipelines: a question in, an `Answer` or a `Refusal` with its reason out.

Everything that an answer shows was read in one snapshot, by the retriever: nothing after it touches the store. The
questions of one message are read first, all of them; then quotes are made canonical for the whole message, and each
different set of quotes is summarized once, in document order. So the summarizer's requests of a message are a
function of the set of these sets: not of the questions, their order or their number.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from equipoise import prompts
from equipoise.core.errors import CorpusError, ModelError, ModelReplyError, QuestionError
from equipoise.core.protocols import ChatModel, Highlighter, Observer, Summarizer
from equipoise.core.results import Answer, Reason, Refusal, SubAnswer, Trace
from equipoise.core.types import (
    Candidates,
    ChatOptions,
    ChatReply,
    Document,
    Dropped,
    Highlights,
    Query,
    Span,
    Summary,
    Tag,
)
from equipoise.corpus.spelling import Correction, corrected
from equipoise.rag.boundary import (
    all_of,
    crossing_tags,
    read_highlights,
    with_context,
    within_one_policy,
)
from equipoise.rag.highlighters.quotations import documents_text
from equipoise.rag.journal import Journal
from equipoise.rag.monitor import Monitor
from equipoise.rag.search import Search
from equipoise.text.questions import MAX_QUESTION, Question, one_question
from equipoise.text.spans import SpanPolicy, overlap
from equipoise.text.tokens import has_words

NEAREST = 3
"""Passages that a refusal names for want of an answer."""
UNANSWERABLE = "UNANSWERABLE"
DETAILS = {
    Reason.NOTHING_RETRIEVED: "No passage was found for this question.",
    Reason.NOTHING_HIGHLIGHTED: "The documents do not seem to answer this question.",
    Reason.MODEL_DECLINED: "The model says the documents do not answer this.",
    Reason.MODEL_FAILED: "Something failed while this question was answered: ask it again later.",
    Reason.GUESS_TOO_FAR: "What was found answers another question.",
    Reason.TOO_MANY_QUOTES: "The questions of this message need more quotes than one message may have: "
    "ask this one by itself.",
}
"""What the person who asks is told, in words that are fixed: what was measured and what failed is in the trace."""

Speller = Callable[[str], tuple[Correction, ...]]
"""Finds misspelt words of a question, each with what was probably meant."""

Listener = Callable[[str], tuple[tuple[str, ...], tuple[str, ...]]]
"""Finds words of a question that no document has, and those of them that are no common English words either."""

Group = tuple[Highlights, frozenset[Tag]]
"""What one summary is made of."""


def checked(question: str) -> Query:
    """The question as a query; raises QuestionError for an empty one, one over 4,000 characters, or no text."""
    if not isinstance(question, str):
        raise QuestionError(f"a question is a string, not of type {type(question).__name__}")
    if not question.strip():
        raise QuestionError("the question is empty: type one, for example  equipoise ask 'Who wrote this?'")
    if len(question) > MAX_QUESTION:
        raise QuestionError(
            f"the question has {len(question):,} characters: ask one of at most {MAX_QUESTION:,}, "
            "and index long text as a document instead"
        )
    if any("\ud800" <= c <= "\udfff" for c in question):
        raise QuestionError("the question is not valid text: type it again, in UTF-8")
    return Query(question.strip())


def _as_read(
    question: Question, models: Mapping[str, str], observer: Observer | None
) -> tuple[Query, Journal]:
    """The question with all that is read with it, and a journal that says so."""
    follows = question.before and not question.alone
    query = replace(checked(question.whole), last=question.text if follows else "")
    return query, Journal(Trace(read_as=query.text if question.before else "", models=dict(models)), observer)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one question found before anything is written about it, or the reason and detail of ending there."""

    query: Query
    journal: Journal
    kept: Candidates | None = None
    highlights: Highlights = field(default_factory=Highlights)
    tags: frozenset[Tag] = frozenset()
    picked: tuple[Span, ...] = ()
    refused: tuple[Reason, str] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """How the questions of one message ended, in their order, and the canonical highlights of all of them."""

    results: tuple[Answer | Refusal, ...]
    highlights: Highlights


@dataclass(frozen=True, slots=True, kw_only=True)
class HighlightSummarize(Search):
    """H&S: the highlighter sees the question, the summarizer does not.

    `policy` holds for a message, however many questions it has. With a `monitor` an answer is refused whose guessed
    questions are all too far from the one that was asked. With `context` the summarizer also reads the passages
    around the highlights. `speller` corrects a question before it is searched for and read, `listener` says which
    of its words no document has. `models` are names for the trace.
    """

    highlighter: Highlighter
    summarizer: Summarizer
    policy: SpanPolicy = field(default_factory=SpanPolicy)
    monitor: Monitor | None = None
    context: bool = False
    speller: Speller | None = None
    listener: Listener | None = None
    models: Mapping[str, str] = field(default_factory=dict)

    async def ask(
        self, question: str, *, before: Sequence[str] = (), observer: Observer | None = None
    ) -> Answer | Refusal:
        """See Pipeline."""
        return (await self.ask_all([one_question(checked(question).text, before)], observer)).results[0]

    async def ask_all(self, questions: Sequence[Question], observer: Observer | None = None) -> Asked:
        """The results of the questions of one message, one or more. Raises as `ask` does."""
        journals = [await self._begun(question, observer) for question in questions]
        retrieved = await self.retrieve_all(journals)
        readings = [await self._read(*pair, result) for pair, result in zip(journals, retrieved, strict=True)]
        documents = _documents(reading.kept for reading in readings if reading.kept)
        readings = self._fitted(readings, documents)
        if observer and self.monitor is None:
            pairs = zip(questions, readings, strict=True)
            observer.quotes([SubAnswer(question.text, _so_far(reading)) for question, reading in pairs])
        summaries = await self._summaries(readings)
        results = tuple([await self._ended(reading, summaries) for reading in readings])
        if len(results) == 1:
            return Asked(results, results[0].highlights)
        return Asked(results, all_of((result.highlights for result in results), documents, self.policy))

    async def _begun(self, question: Question, observer: Observer | None) -> tuple[Query, Journal]:
        """The question as it is read, and a journal that says what was added and corrected."""
        query, journal = _as_read(question, self.models, observer)
        if self.speller:
            with journal.stage("retrieve"):
                spelling = await asyncio.to_thread(self.speller, query.text)
            journal.trace = replace(journal.trace, spelling=spelling)
        text, last = (corrected(typed, journal.trace.spelling) for typed in (query.text, query.last))
        unheard, unknown = await asyncio.to_thread(self.listener, last or text) if self.listener else ((), ())
        return Query(text, last, unheard, unknown), journal

    async def _read(self, query: Query, journal: Journal, retrieved: Candidates | ModelError) -> Reading:
        """Filtered, highlighted, made canonical: the last that sees the question, up to the monitor."""
        reading = Reading(query, journal)
        try:
            kept = await self.sift(query, retrieved, journal)
            if not kept:
                return replace(reading, refused=_nothing(journal))
            with journal.stage("highlight"):
                proposal = await self.highlighter.highlight(query, kept.passages)
        except ModelError as error:
            return replace(reading, refused=_failed(error, journal))
        journal.spent(proposal.usage)
        with journal.stage("canonicalize"):
            highlights, dropped = read_highlights(proposal.spans, kept.passages, kept.documents, self.policy)
        journal.trace = replace(
            journal.trace,
            probability=proposal.probability,
            threshold=proposal.threshold,
            dropped=(*proposal.dropped, *dropped),
        )
        if not highlights:
            return replace(reading, refused=_because(Reason.NOTHING_HIGHLIGHTED))
        return replace(reading, kept=kept, highlights=highlights, tags=proposal.tags, picked=proposal.spans)

    def _fitted(self, readings: Sequence[Reading], documents: dict[str, Document]) -> list[Reading]:
        """The readings with what the policy leaves them of the message's quotes, and their contexts."""
        sets = [reading.highlights for reading in readings if not reading.refused]
        left = iter(within_one_policy(sets, documents, self.policy))
        return [reading if reading.refused else self._fit(reading, *next(left)) for reading in readings]

    def _fit(self, reading: Reading, left: Highlights, over: Sequence[Dropped]) -> Reading:
        journal = reading.journal
        journal.trace = replace(journal.trace, dropped=(*journal.trace.dropped, *over))
        if not left:
            return replace(reading, refused=_because(Reason.TOO_MANY_QUOTES))
        tags, unborne = crossing_tags(reading.tags, left)
        journal.trace = replace(
            journal.trace, dropped=(*journal.trace.dropped, *unborne), tags=tuple(sorted(tags))
        )
        if self.context and reading.kept:
            with journal.stage("canonicalize"):
                left = with_context(left, reading.kept.documents, reading.kept.passages)
        return replace(reading, highlights=left, tags=tags)

    async def _summaries(self, readings: Sequence[Reading]) -> dict[Group, Summary | ModelError]:
        """One for each different group, one after the other in document order; its cost is in the journal of the
        first question that has it."""
        first: dict[Group, Journal] = {}
        for reading in readings:
            if not reading.refused:
                first.setdefault((reading.highlights, reading.tags), reading.journal)
        return {group: await self._summary(group, first[group]) for group in sorted(first, key=_place)}

    async def _summary(self, group: Group, journal: Journal) -> Summary | ModelError:
        try:
            with journal.stage("summarize"):
                summary = await self.summarizer.summarize(group[0], tags=group[1])
        except ModelError as error:
            journal.spent(error.usage)
            return error
        journal.spent(summary.usage)
        return summary

    async def _ended(
        self, reading: Reading, summaries: dict[Group, Summary | ModelError]
    ) -> Answer | Refusal:
        """The answer, unless there is a reason against it; the guesses are held against the question here."""
        journal = reading.journal
        if reading.refused:
            return _refuse(*reading.refused, journal)
        summary = summaries[reading.highlights, reading.tags]
        if isinstance(summary, ModelError):
            journal.failed(str(summary))
            return _refuse(*_because(Reason.MODEL_FAILED), journal)
        journal.trace = replace(
            journal.trace,
            guessed_questions=summary.guessed_questions,
            unsupported=summary.unsupported,
            missing=summary.missing,
            failure=summary.failure,
        )
        if self.monitor and (refused := await self._watched(self.monitor, reading, summary)):
            return refused
        return _answer(reading, summary.answer, grounded=summary.grounded)

    async def _watched(self, monitor: Monitor, reading: Reading, summary: Summary) -> Refusal | None:
        """The refusal of the monitor, if it refuses: nothing was guessed to watch, or nothing near the question."""
        journal = reading.journal
        if summary.failure:
            return _refuse(*_because(Reason.MODEL_FAILED), journal)
        if not summary.guessed_questions:
            return None
        question = reading.query.text
        try:
            with journal.stage("monitor"):
                nearest = await asyncio.to_thread(monitor.nearest, question, summary.guessed_questions)
        except ModelError as error:
            return _refuse(*_failed(error, journal), journal)
        journal.trace = replace(journal.trace, similarity=nearest)
        if nearest >= monitor.min_similarity:
            return None
        return _refuse(*_because(Reason.GUESS_TOO_FAR), journal, reading.highlights)


WEAK = 0.75
"""The evidence for an answer is weak where it is less probable than this that the passages answer the question."""

VANILLA_PROMPT = "vanilla-v2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vanilla(Search):
    """Plain RAG (the paper's comparison): question and passages in one prompt. Not protected."""

    chat: ChatModel
    models: Mapping[str, str] = field(default_factory=dict)
    options: ChatOptions = ChatOptions()
    prompt: str = VANILLA_PROMPT

    async def ask(
        self, question: str, *, before: Sequence[str] = (), observer: Observer | None = None
    ) -> Answer | Refusal:
        """See Pipeline."""
        query, journal = _as_read(one_question(checked(question).text, before), self.models, observer)
        try:
            kept = await self.find(query, journal)
            if not kept:
                return _refuse(*_nothing(journal), journal)
            texts = documents_text(kept.passages)
            messages = prompts.load(self.prompt, documents=texts, question=query.text)
            with journal.stage("answer"):
                reply = await self.chat.complete(messages, options=self.options)
            journal.spent(reply.usage)
            text = _worded(reply)
        except ModelError as error:
            return _refuse(*_failed(error, journal), journal)
        if UNANSWERABLE in text:
            return _refuse(*_because(Reason.MODEL_DECLINED), journal)
        return Answer(text, Highlights(), trace=journal.trace)


def _worded(reply: ChatReply) -> str:
    """The reply's text; raises ModelReplyError where it says nothing."""
    if not has_words(reply.text):
        raise ModelReplyError(f"{reply.model} replied without a word: ask again, or use another model")
    return reply.text.strip()


def best_first(highlights: Highlights, picked: Sequence[object]) -> tuple[int, ...]:
    """The rows of `highlights` in the order of the spans they were made from; what belongs to none stays before
    the row it is read with."""
    spans = [
        span
        for span in picked
        if isinstance(span, Span) and isinstance(span.start, int) and isinstance(span.end, int)
    ]
    ranks: list[float] = []
    for item in reversed(highlights.items):
        overlapping = (rank for rank, span in enumerate(spans) if overlap(item.span, span))
        ranks.append(next(overlapping, ranks[-1] if ranks else len(spans)))
    ranks.reverse()
    return tuple(sorted(range(len(ranks)), key=lambda row: (ranks[row], row)))


def _so_far(reading: Reading) -> Answer | Refusal:
    """How it ended, or its quotes with nothing written about them."""
    return _refuse(*reading.refused, reading.journal) if reading.refused else _answer(reading, "")


def _answer(reading: Reading, text: str, *, grounded: bool = True) -> Answer:
    order, chance = best_first(reading.highlights, reading.picked), reading.journal.trace.probability
    weak = chance is not None and chance < WEAK
    return Answer(text, reading.highlights, grounded, reading.journal.trace, best_first=order, weak=weak)


def _documents(sets: Iterable[Candidates]) -> dict[str, Document]:
    """The documents of all questions; raises CorpusError for one that is not the same for two of them."""
    documents: dict[str, Document] = {}
    for candidates in sets:
        for doc_id, document in candidates.documents.items():
            if documents.setdefault(doc_id, document) != document:
                raise CorpusError(
                    f"the document {doc_id!r} changed between two questions of one message: ask again, and give "
                    "the pipeline the snapshot of the store that its retriever reads"
                )
    return documents


def _place(group: Group) -> tuple[object, ...]:
    """Where a group comes among the groups of a message."""
    highlights, tags = group
    return [(item.span, item.context) for item in highlights.items], sorted(tags)


def _because(reason: Reason) -> tuple[Reason, str]:
    return reason, DETAILS[reason]


def _failed(error: ModelError, journal: Journal) -> tuple[Reason, str]:
    journal.failed(str(error))
    journal.spent(error.usage)
    return _because(Reason.MODEL_FAILED)


def _nothing(journal: Journal) -> tuple[Reason, str]:
    flagged = journal.trace.flagged
    if not flagged:
        return _because(Reason.NOTHING_RETRIEVED)
    said = f"The filter took out every passage that was found ({len(flagged)})."
    return Reason.NOTHING_RETRIEVED, said


def _refuse(reason: Reason, detail: str, journal: Journal, highlights: Highlights | None = None) -> Refusal:
    read = journal.trace.passages if reason in (Reason.NOTHING_HIGHLIGHTED, Reason.MODEL_DECLINED) else ()
    nearest = tuple(candidate.passage for candidate in read[:NEAREST])
    return Refusal(reason, detail, highlights or Highlights(), journal.trace, nearest=nearest)
