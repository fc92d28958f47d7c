"""LlamaIndex's models as ours, and its nodes: as chunks to be judged, and as quotes that crossed the boundary."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from equipoise.core.errors import InputError, MissingExtra
from equipoise.core.protocols import ChatModel, Encoder
from equipoise.core.results import Answer, Others, Refusal
from equipoise.core.types import ChatReply, Highlight, Highlights, Message, Tag, Usage
from equipoise.integrations.chunks import Chunk, chunk_of
from equipoise.integrations.parts import TRUST, ForeignChat, ForeignEncoder, labelled
from equipoise.integrations.shared import Quotes
from equipoise.rag.boundary import crossing_tags
from equipoise.rag.pipeline import is_weak

try:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.base.llms.base import BaseLLM
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.base.response.schema import Response
    from llama_index.core.bridge.pydantic import Field
    from llama_index.core.schema import BaseNode, MetadataMode, NodeRelationship, NodeWithScore, TextNode
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


class QuoteNode(TextNode):
    """A verbatim quote of a node: `text`, where it stands, and `crossed`, what the synthesizer reads of it.
    `probability` (0 to 1) is that the quotes answer, for the operator; None: it was not measured.

    `start_char_idx` and `end_char_idx` are offsets in the source document where the node it comes from has them, else
    in that node's text; `quote_start` and `quote_end` of the metadata, which is that node's, are always the latter.
    No metadata is put before the text, for any synthesizer.
    """

    crossed: dict[str, Any] = Field(default_factory=dict)
    probability: float | None = None

    @classmethod
    def class_name(cls) -> str:
        """Its name in serialised forms."""
        return "EquipoiseQuoteNode"


def chunk(scored: NodeWithScore, trust_key: str) -> Chunk:
    """The node as this package reads it; its metadata is never part of its text."""
    node = scored.node
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    metadata: dict[str, object] = {**node.metadata, "start_char_idx": _start(node)}
    return chunk_of(
        text, metadata, node.node_id, trust_key=trust_key, embedding=node.embedding, score=scored.score
    )


def _start(node: BaseNode) -> int | None:
    return node.start_char_idx if isinstance(node, TextNode) else None


def quote(
    item: Highlight, crossed: Quotes, source: NodeWithScore, probability: float | None
) -> NodeWithScore:
    """The quote as a node of its own, with the metadata and score of the node it stands in."""
    node, shift = source.node, _start(source.node) or 0
    name, metadata = f"{node.node_id}:{item.start}-{item.end}", labelled(item, node.metadata)
    made = _quote_node(item, crossed, name, metadata, shift)
    made.probability = probability
    made.relationships = {**node.relationships, NodeRelationship.PARENT: node.as_related_node_info()}
    return NodeWithScore(node=made, score=source.score)


def library_quote(item: Highlight) -> NodeWithScore:
    """A quote of an index of this package."""
    places = {"doc_id": item.doc_id, "source": item.source, "title": item.title, "page": item.page}
    metadata = {**places, "line": item.line, "quote_start": item.start, "quote_end": item.end}
    metadata[TRUST] = item.trust.value
    node_id = f"{item.doc_id}:{item.start}-{item.end}"
    return NodeWithScore(node=_quote_node(item, Quotes(Highlights((item,))), node_id, metadata, 0))


def _quote_node(
    item: Highlight, crossed: Quotes, node_id: str, metadata: Mapping[str, Any], shift: int
) -> QuoteNode:
    made = QuoteNode(
        id_=node_id,
        text=item.text,
        start_char_idx=shift + item.start,
        end_char_idx=shift + item.end,
        excluded_llm_metadata_keys=list(metadata),
        excluded_embed_metadata_keys=list(metadata),
        text_template="{content}",
        crossed=crossed.to_dict(),
    )
    made.metadata = dict(metadata)
    return made


def weighed(result: Answer | Refusal, nodes: Iterable[NodeWithScore]) -> Answer | Refusal:
    """The result with the probability that the quotes it is made of answer. It is added here, since it depends on the
    question: no summarizer is told."""
    chances = [hit.node.probability for hit in nodes if isinstance(hit.node, QuoteNode)]
    chance = min((one for one in chances if one is not None), default=None)
    told = replace(result, trace=replace(result.trace, probability=chance))
    return replace(told, weak=is_weak(chance)) if isinstance(told, Answer) else told


def quotes_of(nodes: Iterable[NodeWithScore]) -> Quotes:
    """What crossed the boundary with these nodes, in canonical order; raises InputError for other nodes."""
    items: dict[tuple[str, int, int], Highlight] = {}
    tags: set[Tag] = set()
    others: Others | None = None
    for node in nodes:
        if not isinstance(node.node, QuoteNode):
            raise InputError(
                f"a node of type {type(node.node).__name__} is no quote: put a Highlighter of this package last among "
                "the node postprocessors"
            )
        quotes = Quotes.from_dict(node.node.crossed)
        tags, others = tags | quotes.tags, others or quotes.others
        items |= {(item.doc_id, item.start, item.end): item for item in quotes.highlights.items}
    highlights = Highlights(tuple(items[place] for place in sorted(items)))
    return Quotes(highlights, crossing_tags(tags, highlights)[0], others)


def response(result: Answer | Refusal, nodes: list[NodeWithScore]) -> Response:
    """For who asks: the answer or the refusal's sentence, and in the metadata whether it is one and why, whether the
    evidence is weak, whose quotes the answer rests on, and what untrusted documents say; `probability` is for the
    operator alone."""
    answer, refusal = (result, None) if isinstance(result, Answer) else (None, result)
    whole = result.to_dict()
    metadata = {
        "refused": refusal is not None,
        "reason": refusal.reason.value if refusal else None,
        "grounded": answer.grounded if answer else None,
        "weak": whole["weak"],
        TRUST: answer.trust.value if answer else None,
        "others": whole["others"],
        "probability": whole["probability"],
    }
    text = answer.text if answer else refusal.detail if refusal else ""
    return Response(text, source_nodes=nodes, metadata=metadata)
