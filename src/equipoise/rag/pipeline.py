"""Pipelines: a question in, an `Answer` or a `Refusal` with its reason out."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from equipoise import prompts
from equipoise.core.errors import InputError, ModelError, ModelReplyError
from equipoise.core.protocols import (
    ChatModel,
    Encoder,
    Highlighter,
    PassageFilter,
    Retriever,
    Summarizer,
)
from equipoise.core.types import (
    Answer,
    Candidates,
    ChatOptions,
    ChatReply,
    Document,
    Highlights,
    Passage,
    Proposal,
    Query,
    Reason,
    Refusal,
    Summary,
)
from equipoise.corpus.store import Store
from equipoise.rag.boundary import read_highlights, with_context
from equipoise.rag.highlighters.quotations import documents_text
from equipoise.rag.journal import Journal
from equipoise.rag.monitor import nearest_guess
from equipoise.text.spans import SpanPolicy
from equipoise.text.tokens import has_words

MAX_QUESTION = 4_000
UNANSWERABLE = "UNANSWERABLE"


def checked(question: str) -> Query:
    """The question as a query; raises InputError for an empty one, one over 4,000 characters, or no text."""
    if not question.strip():
        raise InputError("the question is empty: type one, for example  equipoise ask 'Who wrote this?'")
    if len(question) > MAX_QUESTION:
        raise InputError(
            f"the question has {len(question):,} characters: ask one of at most {MAX_QUESTION:,}, "
            "and index long text as a document instead"
        )
    if any("\ud800" <= c <= "\udfff" for c in question):
        raise InputError("the question is not valid text: type it again, in UTF-8")
    return Query(question.strip())


@dataclass(frozen=True, slots=True)
class Search:
    """Retrieval and filtering: the part both pipelines share."""

    retriever: Retriever
    filter: PassageFilter
    k: int = 5
    candidates: int = 20

    async def find(self, query: Query, journal: Journal) -> Candidates:
        """At most `k` passages that passed the filter; what was taken out is in the journal."""
        with journal.stage("retrieve"):
            found = await asyncio.to_thread(self.retriever.retrieve, query, k=self.candidates)
        with journal.stage("filter"):
            filtered = await self.filter.filter(query, found, k=self.k)
        journal.flagged = filtered.flagged
        journal.saw(filtered.kept)
        return filtered.kept


@dataclass(frozen=True, slots=True)
class HighlightSummarize:
    """H&S: the highlighter sees the question, the summarizer does not.

    `monitor_similarity` is the least cosine between the question and the nearest guessed question (None: off).
    With `context` the summarizer also reads the passages around the highlights.
    """

    store: Store
    encoder: Encoder
    search: Search
    highlighter: Highlighter
    summarizer: Summarizer
    policy: SpanPolicy
    models: dict[str, str]
    monitor_similarity: float | None = None
    context: bool = False

    async def ask(self, question: str) -> Answer | Refusal:
        """Raises InputError for a question that cannot be used; a failing model is a Refusal."""
        query = checked(question)
        journal = Journal(self.models)
        try:
            kept = await self.search.find(query, journal)
            if not kept:
                return _refuse(Reason.NOTHING_RETRIEVED, _nothing(journal), journal)
            documents = self.store.documents(passage.doc_id for passage in kept.passages)
            with journal.stage("highlight"):
                proposal = await self.highlighter.highlight(query, kept.passages)
            highlights = self._cross(proposal, kept.passages, documents, journal)
            if not highlights:
                return _refuse(Reason.NOTHING_HIGHLIGHTED, _unanswered(proposal), journal)
            journal.tags = tuple(sorted(proposal.tags))
            with journal.stage("summarize"):
                summary = await self.summarizer.summarize(highlights, tags=proposal.tags)
        except ModelError as error:
            journal.usage += error.usage
            return _refuse(Reason.MODEL_FAILED, str(error), journal)
        return await self._monitored(query, highlights, summary, journal)

    def _cross(
        self,
        proposal: Proposal,
        passages: Sequence[Passage],
        documents: Mapping[str, Document],
        journal: Journal,
    ) -> Highlights:
        journal.usage += proposal.usage
        journal.probability = proposal.probability
        with journal.stage("canonicalize"):
            highlights, dropped = read_highlights(proposal.spans, passages, documents, self.policy)
            if self.context:
                highlights = with_context(highlights, documents, self.store.passages_of)
        journal.dropped = (*proposal.dropped, *dropped)
        return highlights

    async def _monitored(
        self, query: Query, highlights: Highlights, summary: Summary, journal: Journal
    ) -> Answer | Refusal:
        journal.usage += summary.usage
        journal.guessed_questions = summary.guessed_questions
        journal.unsupported, journal.missing = summary.unsupported, summary.missing
        journal.failure = summary.failure
        if summary.failure and self.monitor_similarity is not None:
            return _refuse(Reason.MODEL_FAILED, summary.failure, journal)  # nothing was guessed to watch
        if self.monitor_similarity is not None and summary.guessed_questions:
            with journal.stage("monitor"):
                guesses = summary.guessed_questions
                nearest = await asyncio.to_thread(nearest_guess, query.text, guesses, self.encoder)
            if nearest < self.monitor_similarity:
                detail = (
                    f"What was found answers another question (similarity {nearest:.2f}, "
                    f"at least {self.monitor_similarity:.2f} is wanted)."
                )
                return _refuse(Reason.GUESS_TOO_FAR, detail, journal, highlights)
        return Answer(summary.answer, highlights, summary.grounded, journal.trace())


VANILLA_PROMPT = "vanilla-v2"


@dataclass(frozen=True, slots=True)
class Vanilla:
    """Plain RAG (the paper's comparison): question and passages in one prompt. Not protected."""

    search: Search
    chat: ChatModel
    models: dict[str, str]
    options: ChatOptions = ChatOptions()
    prompt: str = VANILLA_PROMPT

    async def ask(self, question: str) -> Answer | Refusal:
        """Raises InputError for a question that cannot be used; a failing model is a Refusal."""
        query = checked(question)
        journal = Journal(self.models)
        try:
            kept = await self.search.find(query, journal)
            if not kept:
                return _refuse(Reason.NOTHING_RETRIEVED, _nothing(journal), journal)
            texts = documents_text(kept.passages)
            messages = prompts.load(self.prompt, documents=texts, question=query.text)
            with journal.stage("answer"):
                reply = await self.chat.complete(messages, options=self.options)
            journal.usage += reply.usage
            text = _worded(reply)
        except ModelError as error:
            journal.usage += error.usage
            return _refuse(Reason.MODEL_FAILED, str(error), journal)
        if UNANSWERABLE in text:
            return _refuse(Reason.MODEL_DECLINED, "The model says the documents do not answer this.", journal)
        return Answer(text, Highlights(), trace=journal.trace())


def _worded(reply: ChatReply) -> str:
    """The reply's text; raises ModelReplyError where it says nothing."""
    if not has_words(reply.text):
        raise ModelReplyError(f"{reply.model} replied without a word: ask again, or use another model")
    return reply.text.strip()


def _unanswered(proposal: Proposal) -> str:
    said = "The documents do not seem to answer this question"
    if proposal.probability is None or proposal.wanted is None or proposal.probability >= proposal.wanted:
        return f"{said}."
    return f"{said} (probability {proposal.probability:.2f}, at least {proposal.wanted:.2f} is wanted)."


def _nothing(journal: Journal) -> str:
    if journal.flagged:
        return f"The filter took out every passage that was found ({len(journal.flagged)})."
    return "No passage was found for this question."


def _refuse(reason: Reason, detail: str, journal: Journal, highlights: Highlights | None = None) -> Refusal:
    return Refusal(reason, detail, highlights or Highlights(), journal.trace())
