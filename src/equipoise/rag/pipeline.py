"""The pipeline: a message in, an `Answer` or a `Refusal` with its reason out.

Everything that an answer shows was read in one snapshot, by the retriever: nothing after it touches the store. The
questions of one message are read first, all of them; then quotes are made canonical for the whole message, and each
different set of quotes is summarized once, in document order. So the summarizer's requests of a message are a
function of the set of these sets: not of the questions, their order or their number.

How several answers become one result (H&S, section 9): `rag.joining`.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from equipoise.core.errors import CorpusError, ModelError
from equipoise.core.protocols import Encoder, Observer, Summarizer
from equipoise.core.results import Answer, Reason, Refusal, SubAnswer
from equipoise.core.types import (
    Candidates,
    Document,
    Dropped,
    Highlights,
    Summary,
    Tag,
    Trust,
)
from equipoise.models.encoder import encode_questions
from equipoise.rag.boundary import (
    all_of,
    crossing_tags,
    with_context,
    within_one_policy,
)
from equipoise.rag.gathering import (
    Evidence,
    Gathering,
    Reception,
    because,
    best_first,
    checked,
    failed,
    refuse,
)
from equipoise.rag.joining import joined
from equipoise.rag.journal import Journal
from equipoise.rag.summarizers.extractive import joined as text_of
from equipoise.rag.witnesses import Heard, Witnesses, untrusted_answer
from equipoise.text.questions import Question, one_question, split_questions


@dataclass(frozen=True, slots=True)
class Monitor:
    """`min_similarity` (-1 to 1) is the least cosine between the question and the nearest guess that lets an answer
    out."""

    encoder: Encoder
    min_similarity: float

    def nearest(self, question: str, guesses: Sequence[str]) -> float:
        """The highest cosine between the question and a guess, -1 where there are no guesses. Raises ModelError."""
        if not guesses:
            return -1.0
        asked, *guessed = encode_questions(self.encoder, [question, *guesses])
        return max(float(asked @ guess) for guess in guessed)


WEAK = 0.85
"""The evidence for an answer is weak where it is less probable than this that the passages answer the question. On
the sets of the field benchmark, out of fold, quotes were right in 16 of 40 cases below it and in 144 of 178 above."""
SURER = 3.0
"""Another way of reading a question is kept in place of the first if the odds that it answers are over so many times as
high: of ten follow-ups over `examples/sqlite` 3.5 to 18 times where it was the right one, else 1.4 at most."""
MANY = 1_000
"""Quotes of witnesses in a message: no limit, since no model reads them."""
SILENT = (Reason.NOTHING_RETRIEVED, Reason.NOTHING_HIGHLIGHTED)
"""The reasons for which the trusted documents do not answer and the untrusted ones are heard."""
Group = tuple[Highlights, frozenset[Tag]]
"""What one summary is made of."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How the questions of one message ended, in their order, and the canonical highlights of all of them."""

    results: tuple[Answer | Refusal, ...]
    highlights: Highlights


@dataclass(frozen=True, slots=True, kw_only=True)
class HighlightSummarize(Gathering):
    """H&S: the highlighter sees the question, the summarizer does not.

    Of a message the first `most` questions are asked, each apart; 1: it is one question as it is. Small talk is for
    `reception`. `policy` holds for a message, however many questions it has. With a `monitor` an answer is refused
    whose guessed questions are all too far from the one that was asked. With `context` the summarizer also reads the
    passages around the highlights. A refusal ends with `contact`, the way on that the operator names.

    With `witnesses` everything else here reads the trusted documents alone: where they answer, the answer is a function
    of (question, trusted documents). What untrusted documents say is heard where they do not, or where it is asked for,
    and never reaches highlighter, summarizer or monitor.
    """

    summarizer: Summarizer
    monitor: Monitor | None = None
    context: bool = False
    witnesses: Witnesses | None = None
    contact: str = ""
    most: int = 1
    reception: Reception | None = None

    async def ask(
        self,
        question: str,
        *,
        before: Sequence[str] = (),
        observer: Observer | None = None,
        others: bool = False,
    ) -> Answer | Refusal:
        """See Pipeline. Of several questions: an answer where at least one has one, and why others have none."""
        text, earlier = checked(question), before
        if self.reception:
            text, *earlier = await asyncio.to_thread(self.reception.asked, text, before)
            if not text:
                return Refusal(Reason.NO_QUESTION, await asyncio.to_thread(self.reception.said))
        questions = split_questions(text, earlier) if self.most > 1 else (one_question(text, earlier),)
        ended = await self.ask_all(questions[: self.most], observer, others=others)
        if len(questions) == 1:
            return ended.results[0]
        over = Refusal(
            Reason.TOO_MANY_QUESTIONS, f"A message may hold {self.most} questions: ask this one by itself."
        )
        results = (*ended.results, *[over] * (len(questions) - len(ended.results)))
        parts = [SubAnswer(one.text, result) for one, result in zip(questions, results, strict=True)]
        return joined(parts, ended.highlights)

    async def ask_all(
        self, questions: Sequence[Question], observer: Observer | None = None, *, others: bool = False
    ) -> Ended:
        """The results of the questions of one message, one or more. Raises as `ask` does."""
        questions, gathered = await self._gathered(questions, observer)
        documents = _documents(evidence.kept for evidence in gathered if evidence.kept)
        gathered = self._fitted(gathered, documents)
        heard = [await self._heard(*pair, others) for pair in zip(questions, gathered, strict=True)]
        if observer and self.monitor is None:
            parts = zip(questions, gathered, heard, strict=True)
            observer.quotes(
                [
                    SubAnswer(q.text, append_contact(with_untrusted(_so_far(evidence), said), self.contact))
                    for q, evidence, said in parts
                ]
            )
        summaries = await self._summaries(gathered)
        ended = [await self._ended(evidence, summaries) for evidence in gathered]
        results = tuple(
            append_contact(with_untrusted(result, said), self.contact)
            for result, said in zip(ended, heard, strict=True)
        )
        if len(results) == 1:
            return Ended((_best_quote_first(results[0]),), results[0].highlights)
        documents |= _documents(said.candidates for said in heard if said and said.candidates)
        told = [result for result in results if _rests_on_untrusted(result)]
        # each author's quotes have been cut by themselves
        roomy = replace(self.policy, max_spans=MANY, max_sentences=MANY, max_pieces=MANY)
        ours = all_of((one.highlights for one in ended), documents, self.policy)
        whole = {*ours.items, *all_of((one.highlights for one in told), documents, roomy).items}
        return Ended(results, Highlights(tuple(sorted(whole, key=lambda item: item.span))))

    async def _gathered(
        self, questions: Sequence[Question], observer: Observer | None
    ) -> tuple[list[Question], list[Evidence]]:
        """Each question as it is to be read, and its evidence. What follows an earlier one and could stand alone is
        read both ways, and kept as it follows unless it is answered surer by itself."""
        ways = [way for question in questions for way in question.ways]
        journals = [await self.begun(way, observer) for way in ways]
        retrieved = await self.retrieve_all(journals)
        read = iter(
            [await self.read(*pair, result) for pair, result in zip(journals, retrieved, strict=True)]
        )
        chosen = [_surest([(way, next(read)) for way in question.ways]) for question in questions]
        return [way for way, _ in chosen], [evidence for _, evidence in chosen]

    async def _heard(self, question: Question, evidence: Evidence, others: bool) -> Heard | None:
        """What untrusted documents say, where that is wanted."""
        silent = evidence.refused is not None and evidence.refused[0] in SILENT
        if self.witnesses is None or not (silent or (others and evidence.refused is None)):
            return None
        read = evidence.refused == because(Reason.NOTHING_HIGHLIGHTED)
        return await self.witnesses.collect_statements(question, evidence.journal.observer, silent=read)

    def _fitted(self, gathered: Sequence[Evidence], documents: dict[str, Document]) -> list[Evidence]:
        """The gathered with what the policy leaves them of the message's quotes, and their contexts."""
        sets = [evidence.highlights for evidence in gathered if not evidence.refused]
        left = iter(within_one_policy(sets, documents, self.policy))
        return [evidence if evidence.refused else self._fit(evidence, *next(left)) for evidence in gathered]

    def _fit(self, evidence: Evidence, left: Highlights, over: Sequence[Dropped]) -> Evidence:
        journal = evidence.journal
        journal.note(dropped=(*journal.trace.dropped, *over))
        if not left:
            return replace(evidence, refused=because(Reason.TOO_MANY_QUOTES))
        tags, unsupported = crossing_tags(evidence.tags, left)
        journal.note(dropped=(*journal.trace.dropped, *unsupported), tags=tuple(sorted(tags)))
        if self.context and evidence.kept:
            with journal.stage("canonicalize"):
                left = with_context(left, evidence.kept.documents, evidence.kept.passages)
        return replace(evidence, highlights=left, tags=tags)

    async def _summaries(self, gathered: Sequence[Evidence]) -> dict[Group, Summary | ModelError]:
        """One for each different group, one after the other in document order; its cost is in the journal of the
        first question that has it."""
        first: dict[Group, Journal] = {}
        for evidence in gathered:
            if not evidence.refused:
                first.setdefault((evidence.highlights, evidence.tags), evidence.journal)
        return {group: await self._summary(group, first[group]) for group in sorted(first, key=_sort_key)}

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
        self, evidence: Evidence, summaries: dict[Group, Summary | ModelError]
    ) -> Answer | Refusal:
        """The answer, unless there is a reason against it; the guesses are held against the question here."""
        journal = evidence.journal
        if evidence.refused:
            return refuse(*evidence.refused, journal)
        summary = summaries[evidence.highlights, evidence.tags]
        if isinstance(summary, ModelError):
            journal.note(failure=str(summary))
            return refuse(*because(Reason.MODEL_FAILED), journal)
        journal.note(
            guessed_questions=summary.guessed_questions,
            unsupported=summary.unsupported,
            missing=summary.missing,
            failure=summary.failure,
        )
        if self.monitor and (refused := await self._watched(self.monitor, evidence, summary)):
            return refused
        return _answer(evidence, summary.answer, grounded=summary.grounded)

    async def _watched(self, monitor: Monitor, evidence: Evidence, summary: Summary) -> Refusal | None:
        """The refusal of the monitor, if it refuses: nothing was guessed to watch, or nothing near the question."""
        journal = evidence.journal
        if summary.failure:
            return refuse(*because(Reason.MODEL_FAILED), journal)
        if not summary.guessed_questions:
            return None
        question = evidence.query.text
        try:
            with journal.stage("monitor"):
                nearest = await asyncio.to_thread(monitor.nearest, question, summary.guessed_questions)
        except ModelError as error:
            return refuse(*failed(error, journal), journal)
        journal.note(similarity=nearest)
        if nearest >= monitor.min_similarity:
            return None
        return refuse(*because(Reason.GUESS_TOO_FAR), journal, evidence.highlights)


def with_untrusted(result: Answer | Refusal, heard: Heard | None) -> Answer | Refusal:
    """The result of the trusted documents with what the untrusted ones say (`heard`). An answer only gets `others`. A
    refusal gives way to what they say, or to their refusal if passages were found among them alone."""
    if heard is None:
        return result
    if isinstance(result, Answer):
        return replace(result, others=heard.others)
    if result.reason not in SILENT:
        return result
    found = heard.journal.with_costs_of(result.trace)
    if heard.others.claims:
        return untrusted_answer(heard, found)
    if result.reason is Reason.NOTHING_HIGHLIGHTED or not found.trace.passages:
        return result
    return refuse(*because(Reason.NOTHING_HIGHLIGHTED), found)


def _best_quote_first(result: Answer | Refusal) -> Answer | Refusal:
    """The result; quotes that are the answer in the order in which they are shown. Of several questions, whose order
    somebody chose, they stay in the documents' order."""
    if isinstance(result, Refusal) or result.text != text_of(result.highlights.items, result.trace.tags):
        return result
    return replace(result, text=text_of(result.quotes, result.trace.tags))


def append_contact(result: Answer | Refusal, contact: str) -> Answer | Refusal:
    """The result; a refusal ends with the operator's `contact`, if any."""
    if isinstance(result, Answer) or not contact:
        return result
    return replace(result, detail=f"{result.detail} {contact}")


def _surest(read: Sequence[tuple[Question, Evidence]]) -> tuple[Question, Evidence]:
    """The way of reading a question that is kept, with what all of them have cost: the first where none is surer."""
    (way, evidence), *others = read
    for other, found in others:
        one, two = _chance(evidence), _chance(found)
        if two * (1 - one) > SURER * one * (1 - two):
            left, way, evidence = evidence, other, found
        else:
            left = found
        evidence = replace(evidence, journal=evidence.journal.with_costs_of(left.journal.trace))
    return way, evidence


def _chance(evidence: Evidence) -> float:
    """The probability that it answers, 0 where nothing does."""
    return 0.0 if evidence.refused else evidence.journal.trace.probability or 0.0


def _rests_on_untrusted(result: Answer | Refusal) -> bool:
    """Whether it rests on untrusted documents, which have no part in what a message may quote of the trusted ones."""
    return isinstance(result, Answer) and result.trust is Trust.UNTRUSTED and result.others is not None


def _so_far(evidence: Evidence) -> Answer | Refusal:
    """How it ended, or its quotes with nothing written about them."""
    return refuse(*evidence.refused, evidence.journal) if evidence.refused else _answer(evidence, "")


def _answer(evidence: Evidence, text: str, *, grounded: bool = True) -> Answer:
    order, trace = best_first(evidence.highlights, evidence.picked), evidence.journal.trace
    weak = is_weak(trace.probability)
    return Answer(text, evidence.highlights, grounded, trace, best_first=order, weak=weak)


def is_weak(probability: float | None) -> bool:
    """Whether the evidence for an answer of this probability is weak; None: it was not measured."""
    return probability is not None and probability < WEAK


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


def _sort_key(group: Group) -> tuple[object, ...]:
    """Where a group comes among the groups of a message."""
    highlights, tags = group
    return [(item.span, item.spans, item.context) for item in highlights.items], sorted(tags)
