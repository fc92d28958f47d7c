"""Plain RAG (the paper's comparison): question and passages in one prompt. Not protected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from equipoise import prompts
from equipoise.core.errors import ModelError, ModelReplyError
from equipoise.core.protocols import ChatModel, Observer
from equipoise.core.results import Answer, Reason, Refusal
from equipoise.core.types import ChatOptions, ChatReply, Highlights
from equipoise.rag.gathering import as_read, because, checked, failed, nothing, refuse
from equipoise.rag.highlighters.quotations import documents_text
from equipoise.rag.search import Search
from equipoise.text.questions import one_question
from equipoise.text.tokens import has_words

PROMPT = "vanilla-v2"
UNANSWERABLE = "UNANSWERABLE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vanilla(Search):
    """Retriever, filter and one request."""

    chat: ChatModel
    models: Mapping[str, str] = field(default_factory=dict)
    options: ChatOptions = ChatOptions()
    prompt: str = PROMPT

    async def ask(
        self,
        question: str,
        *,
        before: Sequence[str] = (),
        observer: Observer | None = None,
        others: bool = False,
    ) -> Answer | Refusal:
        """See Pipeline; `others` changes nothing: all documents are read alike."""
        query, journal = as_read(one_question(checked(question), before), self.models, observer)
        try:
            kept = await self.find(query, journal)
            if not kept:
                return refuse(*nothing(journal), journal)
            texts = documents_text(kept.passages)
            messages = prompts.load(self.prompt, documents=texts, question=query.text)
            with journal.stage("answer"):
                reply = await self.chat.complete(messages, options=self.options)
            journal.spent(reply.usage)
            text = _worded(reply)
        except ModelError as error:
            return refuse(*failed(error, journal), journal)
        if UNANSWERABLE in text:
            return refuse(*because(Reason.MODEL_DECLINED), journal)
        return Answer(text, Highlights(), trace=journal.trace)


def _worded(reply: ChatReply) -> str:
    """The reply's text; raises ModelReplyError where it says nothing."""
    if not has_words(reply.text):
        raise ModelReplyError(f"{reply.model} replied without a word: ask again, or use another model")
    return reply.text.strip()
