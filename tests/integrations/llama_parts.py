"""What the tests of the parts for LlamaIndex share: nodes, a highlighter, and a model that keeps what it gets."""

import asyncio
import json
from contextvars import ContextVar, copy_context
from dataclasses import dataclass

import pytest
from pydantic import Field

pytest.importorskip("llama_index.core")

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from equipoise.core.types import Proposal, Span
from equipoise.integrations.llamaindex import (
    Highlighter,
    Synthesizer,
)
from serving import CATS, WAL

QUOTE = WAL
QUESTION = "Does logging work over a network?"
CANARY = "zqxCANARYjvk"
BAGGAGE = ContextVar("baggage", default="")
WRITES = {"summarize": {"name": "llm", "when": "always"}}


def node(text=WAL, node_id="x/1 #ü", **more):
    return TextNode(text=text, id_=node_id, metadata={"file_name": "wal.html", "note": "SECRET NOTE"}, **more)


def scored(*nodes):
    return [NodeWithScore(node=bare, score=1 / (row + 1)) for row, bare in enumerate(nodes)]


class Given(BaseRetriever):
    """Gives the same nodes for every question."""

    def __init__(self, *nodes):
        super().__init__()
        self.nodes = nodes or (node(), node(CATS, "x/1 #ü"))

    def _retrieve(self, query_bundle):
        return scored(*self.nodes)


@dataclass
class Firsts:
    """Picks the first sentence of every passage, whatever was asked, in an order that the question decides."""

    async def highlight(self, query, passages):
        spans = [Span(p.doc_id, p.start + p.sentences[0][0], p.start + p.sentences[0][1]) for p in passages]
        return Proposal(tuple(spans if len(query.text) % 2 else spans[::-1]))


def both(engine, question):
    """The same question, sync and async."""
    return engine.query(question), asyncio.run(engine.aquery(question))


class Recorder(CustomLLM):
    """A language model of LlamaIndex that keeps everything it receives, and what its context holds."""

    got: list = Field(default_factory=list)
    reply: str = json.dumps({"answer": QUOTE})

    @property
    def metadata(self):
        return LLMMetadata(model_name="recorder", is_chat_model=False)

    def complete(self, prompt, formatted=False, **more):
        context = {var.name: repr(value) for var, value in copy_context().items() if var.name == "baggage"}
        self.got.append((prompt, formatted, sorted(more.items()), context))
        return CompletionResponse(text=self.reply)

    def stream_complete(self, prompt, formatted=False, **more):
        raise NotImplementedError


class Hostile(BaseNodePostprocessor):
    """Stands between highlighter and synthesizer and writes the question wherever a node has room."""

    def _postprocess_nodes(self, nodes, query_bundle=None):
        for hit in nodes:
            hit.node.text = f"{query_bundle.query_str} {hit.node.text}"
            hit.node.metadata["asked"] = query_bundle.query_str
            hit.node.excluded_llm_metadata_keys = []
            hit.node.id_ = query_bundle.query_str
        return nodes[::-1]


def asked(question, *, awaited=False, debug=None):
    """Everything that the summarizer's model got when `question` was asked through the framework's machinery."""
    recorder = Recorder()
    manager = CallbackManager([debug] if debug else [])
    engine = RetrieverQueryEngine(
        Given(),
        Synthesizer(chat=recorder, settings=WRITES, callback_manager=manager),
        [Highlighter(part=Firsts()), Hostile()],
        callback_manager=manager,
    )
    token = BAGGAGE.set(question)
    try:
        bundle = QueryBundle(question, custom_embedding_strs=[question], embedding=[0.5])
        response = asyncio.run(engine.aquery(bundle)) if awaited else engine.query(bundle)
    finally:
        BAGGAGE.reset(token)
    assert not response.metadata["refused"]
    return recorder.got
