"""Gathering evidence: a question is spell-checked, searched for and filtered, passages are read, spans made canonical.

A question goes two ways, through the trusted documents and the untrusted ones. Each way has a `Gathering` of its own:
its retriever, speller and listener know one partition of the store (`corpus.partition.Partition`).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from equipoise.core.errors import ModelError, QuestionError
from equipoise.core.protocols import Encoder, Highlighter, Observer
from equipoise.core.results import Reason, Refusal, Trace
from equipoise.core.types import Candidates, Document, Highlights, Passage, Proposal, Query, Span, Tag, Trust
from equipoise.corpus.spelling import Correction, corrected, feasts, is_english, is_foreign, strange
from equipoise.corpus.store import Store
from equipoise.models.encoder import english_words, is_multilingual
from equipoise.rag.boundary import read_highlights
from equipoise.rag.components import Components
from equipoise.rag.journal import Journal
from equipoise.rag.search import Search
from equipoise.rag.unheard import sentence_of, unheard
from equipoise.rag.versions import undated, with_correction_spans, without_outdated_quotes
from equipoise.text import small_talk
from equipoise.text.questions import MAX_QUESTION, Question
from equipoise.text.spans import SpanPolicy, best_within, overlap
from equipoise.text.tokens import script_of
from equipoise.text.visible import title

NEAREST = 3
"""Most passages near the question that a refusal names in place of an answer."""
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
SUBJECTS, SUBJECT = 3, 60
"""Titles that the reply to small talk names, and characters of each."""

Speller = Callable[[str], tuple[Correction, ...]]
"""Finds misspelt words of a question, each with what was probably meant."""

Listener = Callable[[str], tuple[tuple[str, ...], tuple[str, ...]]]
"""Finds words of a question that no document has, and those of them that are no common English words either."""

Notice = Callable[[str, Sequence[Passage]], str]
"""Makes what a person is told if the encoder does not read the question, or the passages found for it; else it is
empty."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one question found before anything is written about it, or the reason and detail of ending there."""

    query: Query
    journal: Journal
    kept: Candidates | None = None
    highlights: Highlights = field(default_factory=Highlights)
    tags: frozenset[Tag] = frozenset()
    picked: tuple[Span, ...] = ()
    refused: tuple[Reason, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathering(Search):
    """Reads a question and what is found for it. `speller` corrects it before it is searched for, `listener` says
    which of its words no document has, `notice` whether the encoder reads it, `policy` is the canonical form of what
    `highlighter` picks. `models` are names for the trace."""

    highlighter: Highlighter
    policy: SpanPolicy = field(default_factory=SpanPolicy)
    speller: Speller | None = None
    listener: Listener | None = None
    notice: Notice | None = None
    models: Mapping[str, str] = field(default_factory=dict)

    async def begun(self, question: Question, observer: Observer | None) -> tuple[Query, Journal]:
        """The question as it is read, and a journal that says what was added and corrected."""
        query, journal = as_read(question, self.models, observer)
        if self.speller:
            with journal.stage("retrieve"):
                spelling = await asyncio.to_thread(self.speller, query.text)
            journal.note(spelling=spelling)
        text, last = (corrected(typed, journal.trace.spelling) for typed in (query.text, query.last))
        out_of_corpus, unknown = (
            await asyncio.to_thread(self.listener, last or text) if self.listener else ((), ())
        )
        text, last = (undated(typed, out_of_corpus) for typed in (text, last))
        return Query(text, last, out_of_corpus, unknown), journal

    async def read(self, query: Query, journal: Journal, retrieved: Candidates | ModelError) -> Evidence:
        """Filtered, highlighted, made canonical: the last that sees the question, up to the monitor."""
        evidence = Evidence(query, journal)
        try:
            kept, query = await self.sift(query, retrieved, journal)
            if self.notice:
                journal.note(notice=self.notice(query.newest, kept.passages))
            if not kept:
                return replace(evidence, refused=nothing(journal))
            with journal.stage("highlight"):
                proposal = await self.highlighter.highlight(query, kept.passages)
        except ModelError as error:
            return replace(evidence, refused=failed(error, journal))
        journal.spent(proposal.usage)
        with journal.stage("canonicalize"):
            proposal = best_of(proposal, kept.documents, self.policy)
            shown = kept.passages, kept.documents, self.policy
            highlights, dropped = read_highlights(proposal.spans, *shown)
            picked = with_correction_spans(proposal.spans, highlights, kept.documents)
            if len(picked) > len(proposal.spans):
                highlights, dropped = read_highlights(picked, *shown)
            highlights, outdated = without_outdated_quotes(query.newest, highlights, kept)
        journal.note(
            probability=proposal.probability,
            threshold=proposal.threshold,
            dropped=(*proposal.dropped, *dropped),
            flagged=(*journal.trace.flagged, *outdated),
        )
        if not highlights:
            typed = {meant: word for word, meant in journal.trace.spelling}
            silent = () if journal.trace.notice else unheard(query, kept.passages)
            journal.note(unheard=tuple(typed.get(word, word) for word in silent))
            return replace(evidence, refused=because(Reason.NOTHING_HIGHLIGHTED))
        return replace(evidence, kept=kept, highlights=highlights, tags=proposal.tags, picked=picked)


def checked(question: str) -> str:
    """The question without white space around it; raises QuestionError for an empty one, one over 4,000 characters, or
    no text."""
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
    return question.strip()


def as_read(
    question: Question, models: Mapping[str, str], observer: Observer | None
) -> tuple[Query, Journal]:
    """The question with all that is read with it, and a journal that says so."""
    follows = question.before and not question.alone
    query = Query(question.whole.strip(), question.text if follows else "")
    return query, Journal(Trace(read_as=query.text if question.before else "", models=dict(models)), observer)


def best_of(proposal: Proposal, documents: Mapping[str, Document], policy: SpanPolicy) -> Proposal:
    """The proposal; of ranked spans only the best ones that `policy` leaves room for."""
    if not proposal.ranked:
        return proposal
    spans, over = best_within(proposal.spans, documents, policy)
    return replace(proposal, spans=spans, dropped=(*proposal.dropped, *over))


def best_first(highlights: Highlights, picked: Sequence[object]) -> tuple[int, ...]:
    """The rows of `highlights` in the order of the spans they were made from."""
    spans = [
        span
        for span in picked
        if isinstance(span, Span) and isinstance(span.start, int) and isinstance(span.end, int)
    ]
    ranks = [
        next(
            (rank for rank, span in enumerate(spans) if any(overlap(own, span) for own in item.chosen)),
            len(spans),
        )
        for item in highlights.items
    ]
    return tuple(sorted(range(len(ranks)), key=ranks.__getitem__))


def refuse(reason: Reason, detail: str, journal: Journal, highlights: Highlights | None = None) -> Refusal:
    """The refusal, with passages to look at where some were read, and with what no document has."""
    read = journal.trace.passages if reason in (Reason.NOTHING_HIGHLIGHTED, Reason.MODEL_DECLINED) else ()
    nearest = tuple(candidate.passage for candidate in read if candidate.near)[:NEAREST]
    if reason is Reason.NOTHING_HIGHLIGHTED:
        detail = " ".join(filter(None, (detail, sentence_of(journal.trace.unheard))))
    return Refusal(reason, detail, highlights or Highlights(), journal.trace, nearest=nearest)


def because(reason: Reason) -> tuple[Reason, str]:
    """The reason with what the person who asks is told."""
    return reason, DETAILS[reason]


def failed(error: ModelError, journal: Journal) -> tuple[Reason, str]:
    """The reason of a model that failed; how it did is in the journal."""
    journal.note(failure=str(error))
    journal.spent(error.usage)
    return because(Reason.MODEL_FAILED)


def nothing(journal: Journal) -> tuple[Reason, str]:
    """The reason where there is nothing to read."""
    flagged = journal.trace.flagged
    if not flagged:
        return because(Reason.NOTHING_RETRIEVED)
    said = f"The filter took out every passage that was found ({len(flagged)})."
    return Reason.NOTHING_RETRIEVED, said


def speller(components: Components, *trusts: Trust) -> Speller | None:
    """Corrections of a question by the words of the documents of these trusts; the commonest words of English are right
    anyway, and so is what the documents of one of the trusts have.

    None where the settings want no corrections.
    """
    if not components.settings.question.spelling:
        return None
    partitions = [components.store.partition(trust) for trust in trusts]
    outside = listener(components, *trusts)

    def corrections(text: str) -> tuple[Correction, ...]:
        found = [dict(partition.corrections(text, english(components))) for partition in partitions]
        agreed = [pair for pair in found[0].items() if all(pair[0] in other for other in found)]
        return (*agreed, *feasts(text, lambda name: outside(name)[0]))

    return corrections


def listener(components: Components, *trusts: Trust) -> Listener:
    """The words of a question that no document of these trusts has, and those of them that English has not either."""
    partitions = [components.store.partition(trust) for trust in trusts]

    def out_of_corpus(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        found = [partition.out_of_corpus(text) for partition in partitions]
        words = tuple(word for word in found[0] if all(word in other for other in found))
        return words, strange(words, english(components))

    return out_of_corpus


def unread(text: str, what: str, encoder: Encoder) -> str:
    """One sentence for a text, which is called `what`, in a script that the encoder does not read; empty for others."""
    script = "" if is_multilingual(encoder) else script_of(text)
    how = "which the encoder does not read: only its words count in a search."
    return f"{what} is in {script}, {how}" if script else ""


def noticed(question: str, passages: Sequence[Passage], encoder: Encoder) -> str:
    """One sentence for a question that the encoder does not read, or that is in English where most of what was found
    is not; empty for others."""
    if (said := unread(question, "The question", encoder)) or is_multilingual(encoder):
        return said
    others = sum(is_foreign(passage.text) or bool(script_of(passage.text)) for passage in passages)
    if is_foreign(question) or not is_english(question, english_words()) or 2 * others <= len(passages):
        return ""
    return "The documents are in another language than the question: only words that both have count in a search."


def english(components: Components) -> Mapping[str, int]:
    """The common words of English with their rank; none where the encoder reads other languages, whose words those
    of English are no correction of."""
    return {} if is_multilingual(components.encoder) else english_words()


@dataclass(frozen=True, slots=True)
class Reception:
    """Small talk: what a message that asks nothing gets is a fixed reply, a function of (message, trusted documents,
    settings). `reply` is said to a message that asks nothing; empty: which documents there are to ask about."""

    store: Store
    reply: str = ""

    def asked(self, question: str, before: Sequence[str]) -> list[str]:
        """What is asked, empty where that is nothing, then the earlier messages that ask anything."""
        out_of_corpus = self.store.partition(Trust.TRUSTED).out_of_corpus
        earlier = [said for said in before if small_talk.asked(said, out_of_corpus)]
        return [small_talk.asked(question, out_of_corpus).strip(), *earlier]

    def said(self) -> str:
        """The reply."""
        if self.reply:
            return self.reply
        titles = [f"“{title(one, SUBJECT)}”" for one in self.store.subjects(SUBJECTS)]
        listed = " or ".join(filter(None, (", ".join(titles[:-1]), *titles[-1:])))
        return f"Ask a question about the documents{f', for example about {listed}' if listed else ''}."
