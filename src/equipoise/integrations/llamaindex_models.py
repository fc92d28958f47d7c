"""LlamaIndex's language models and embeddings as ours."""

import asyncio
from collections.abc import Sequence
from typing import TypeAlias

from equipoise.core.errors import MissingExtra
from equipoise.core.protocols import ChatModel, Encoder
from equipoise.core.types import ChatReply, Message, Usage
from equipoise.integrations.parts import ForeignChat, ForeignEncoder

try:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.base.llms.base import BaseLLM
    from llama_index.core.base.llms.types import ChatMessage
except ImportError as error:
    raise MissingExtra("llama-index-core", "llamaindex") from error

Chat: TypeAlias = BaseLLM | ChatModel | str | None
"""An LLM of LlamaIndex, a model of ours, its name as in `model.llm`, or none."""
Embedder: TypeAlias = BaseEmbedding | Encoder | str | None
"""An embedding of LlamaIndex, an encoder of ours, its name as in `retrieval.encoder`, or that of the settings."""


def chat_of(chat: Chat, *, blocking: bool = False) -> ChatModel | str | None:
    """An LLM of LlamaIndex as a ChatModel; anything else as it is.

    With `blocking` its `chat` runs in a thread, for callers whose event loop ends with the call: clients that are kept
    between loops break.
    """
    if not isinstance(chat, BaseLLM):
        return chat
    llm = chat

    async def say(messages: Sequence[Message]) -> ChatReply:
        given = [ChatMessage(role=message.role, content=message.content) for message in messages]
        reply = await (asyncio.to_thread(llm.chat, given) if blocking else llm.achat(given))
        return ChatReply(reply.message.content or "", _name(llm), Usage(calls=1))

    return ForeignChat(_name(llm), say)


def encoder_of(embedder: Embedder) -> Encoder | str | None:
    """An embedding of LlamaIndex as an Encoder; anything else as it is."""
    if not isinstance(embedder, BaseEmbedding):
        return embedder
    name = f"llamaindex/{embedder.class_name()}/{embedder.model_name}"
    return ForeignEncoder(name, embedder.get_text_embedding_batch, embedder.get_query_embedding)


def _name(llm: BaseLLM) -> str:
    return f"llamaindex/{llm.metadata.model_name}"
