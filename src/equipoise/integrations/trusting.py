"""Trusted chunks are read first, by themselves; untrusted ones are witnesses (`rag.witnesses`), heard author by author
where the trusted ones do not answer or where it is asked for. The author of a chunk is its source.
"""

from dataclasses import dataclass, field, replace
from functools import partial

from equipoise.core.protocols import Highlighter
from equipoise.core.results import Trace
from equipoise.core.settings import Given, settings_of
from equipoise.core.types import Dropped, Proposal, Query, Span, Trust
from equipoise.integrations import parts
from equipoise.integrations.chunks import EQUAL, FIRST, ChunkDocuments
from equipoise.integrations.shared import Picks, crossed
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.rag.filters import NoFilter
from equipoise.rag.gathering import best_of, checked
from equipoise.rag.impersonation import impersonated_among
from equipoise.rag.sources import authors_of
from equipoise.rag.versions import without_outdated_passages
from equipoise.rag.witnesses import Witnesses
from equipoise.text.questions import one_question
from equipoise.text.small_talk import asked
from equipoise.text.spans import SpanPolicy
from equipoise.text.tokens import words


@dataclass(frozen=True, slots=True)
class ChunkReader:
    """Reads chunks for a question: the `highlighter` those that an answer is made of, the `witnesses` the others."""

    highlighter: Highlighter
    policy: SpanPolicy
    mode: str
    witnesses: Witnesses | None


@dataclass(frozen=True, slots=True)
class PickedChunks:
    """What was picked, and for the operator what the highlighter proposed and how others were heard."""

    picks: Picks
    proposal: Proposal
    heard: Trace = field(default_factory=Trace)

    @property
    def dropped(self) -> tuple[Dropped, ...]:
        """What did not become a pick, and why."""
        return (*self.proposal.dropped, *self.heard.dropped)


def mode_of(given: Given, trust_key: str) -> str:
    """`trust.mode`. Where no `trust_key` tells trusted chunks from others, EQUAL unless the settings say otherwise:
    with nothing trusted there is nothing to keep apart."""
    trust = settings_of(given).trust
    return trust.mode if trust_key or "mode" in trust.model_fields_set else EQUAL


def reader_of(part: str | Highlighter, made: Components, trust_key: str) -> ChunkReader:
    """The highlighter of that name, or the object as it is, and what hears untrusted chunks where the mode is FIRST.
    Raises InputError."""
    highlighter, mode = parts.highlighter_of(part, made), mode_of(made.settings, trust_key)
    reads = replace(made, filter=NoFilter(), highlighter=None if isinstance(part, str) else part)
    witnesses = build.witnesses(reads) if mode == FIRST else None
    return ChunkReader(
        highlighter, replace(build.policy(made.settings), within_passages=False), mode, witnesses
    )


async def picked(
    reader: ChunkReader, question: str, chunk_documents: ChunkDocuments, *, others: bool = False
) -> PickedChunks:
    """What answers the question, of the newest versions of documents, and what untrusted chunks say where nothing does,
    or with `others`. Raises QuestionError and ModelError."""
    query, read = Query(checked(question)), chunk_documents.read_in(reader.mode)
    known = {word for document in read.documents.values() for word in words(document.text)}
    if not asked(query.text, lambda text: set(words(text)) - known):
        return PickedChunks(Picks(), Proposal(()))
    found, outdated = without_outdated_passages(query.text, read.candidates)
    proposal = await reader.highlighter.highlight(query, found.passages) if found.passages else Proposal(())
    proposal = best_of(proposal, read.documents, reader.policy)
    unread = (
        Dropped(flag.reason, Span(flag.passage.doc_id, flag.passage.start, flag.passage.end))
        for flag in outdated
    )
    proposal = replace(proposal, dropped=(*unread, *proposal.dropped))
    picks = Picks.of(proposal)
    if reader.witnesses is None:
        return PickedChunks(picks, proposal)
    answered = bool(crossed(picks, read, reader.policy)[0].highlights)
    if answered and not others:
        return PickedChunks(picks, proposal)
    witnesses = replace(
        reader.witnesses,
        search=partial(authors_of, found=chunk_documents.of(Trust.UNTRUSTED).candidates),
        impersonated=partial(impersonated_among, others=tuple(read.documents.values())),
    )
    silent = bool(read.passages) and not answered
    heard = await witnesses.collect_statements(one_question(query.text), None, silent=silent)
    return PickedChunks(replace(picks, others=heard.others), proposal, heard.journal.trace)
