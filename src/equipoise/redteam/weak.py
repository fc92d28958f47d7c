"""A deliberately weak target: any number of extracts, cut anywhere, in any order, and the question in the prompt.

What a zero elsewhere is held against: an attack that does not even get through here shows nothing. Never answer real
questions with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from equipoise import prompts
from equipoise.core.types import ChatOptions, Document, Proposal, Query, Span
from equipoise.models.listening import ListeningChat
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.rag.filters import NoFilter
from equipoise.rag.journal import Journal
from equipoise.redteam.hijack import told
from equipoise.redteam.targets import FORCED, OverStore, Response

PROMPT = "attack-weak-v1"


@dataclass(frozen=True)
class WeakTarget(OverStore):
    """Everything that equipoise does not do, over the same index."""

    components: Components
    name: str = "weak"
    options: ChatOptions = ChatOptions(max_tokens=200)

    async def ask(self, question: str, *, before: Sequence[str] = (), tool: bool = False) -> Response:
        """See Target: every passage that is found is an extract, and none is shown."""
        search = replace(build.search(self.components), filter=NoFilter(), reranker=None)
        candidates = await search.find(Query(question[:4_000]), Journal())
        extracts = [passage.text for passage in candidates.passages]
        return replace(await self._written("\n".join((*before, question)), extracts, tool=tool), quotes=())

    async def force(self, proposal: Proposal, *, tool: bool = False) -> Response:
        """See Inside: the spans as they are, in the order they come, and every tag."""
        documents = self.ground.documents
        extracts = [_cut(span, documents) for span in proposal.spans if span.doc_id in documents]
        verdicts = [f"The answer is: {tag.value}." for tag in sorted(proposal.tags)]
        return await self._written(FORCED, [*verdicts, *extracts], tool=tool)

    async def _written(self, question: str, extracts: Sequence[str], *, tool: bool) -> Response:
        chat = ListeningChat(self.components.need_chat("the weak target"), rewrite=told if tool else None)
        lines = "\n".join(f"- {' '.join(extract.split())}" for extract in extracts)
        reply = await chat.complete(
            prompts.load(PROMPT, question=question, extracts=lines), options=self.options
        )
        return Response(reply.text, "", tuple(extracts), tuple(extracts), tuple(chat.replies), reached=True)


def _cut(span: Span, documents: Mapping[str, Document]) -> str:
    return documents[span.doc_id].text[span.start : span.end]
