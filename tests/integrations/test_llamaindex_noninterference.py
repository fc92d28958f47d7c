"""Fact 3 through LlamaIndex's own machinery: nothing that anybody may write moves what trusted nodes say. Fact 1 is in
`test_llamaindex_blind.py`.
"""

import asyncio

import pytest

pytest.importorskip("llama_index.core")

from hypothesis import given
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode

import planted_chunks as fact3
from equipoise import Library, Settings
from equipoise.integrations.llamaindex import Filter, Highlighter, QueryEngine, Synthesizer
from hashed_words import HashedWords


class Given(BaseRetriever):
    """Gives the same nodes for every question; the trusted ones have the same scores, whatever is beside them.

    Each has an id of its own: of nodes with one id LlamaIndex keeps the first, before any part of ours sees them.
    """

    def __init__(self, pieces):
        super().__init__()
        self.nodes = [
            NodeWithScore(
                node=TextNode(
                    text=piece.text,
                    id_=piece.name if piece in fact3.TRUSTED else f"{row} {piece.name}",
                    metadata=piece.metadata,
                ),
                score=0.5,
            )
            for row, piece in enumerate(pieces)
        ]

    def _retrieve(self, query_bundle):
        return self.nodes


def asked(
    pieces, question=fact3.QUESTION, *, key="owner", settings=fact3.ALWAYS, others=False, awaited=False
):
    """(the response, its metadata, its trusted nodes, its other nodes, what the model saw)."""
    chat, how = fact3.writing(), {"settings": settings, "trust_key": key}
    engine = RetrieverQueryEngine(
        Given(pieces),
        Synthesizer("llm", chat=chat, settings=settings),
        [
            Filter(embedder=HashedWords(), **how),
            Highlighter(part=fact3.Sharing(), others=others, **how),
        ],
    )
    response = asyncio.run(engine.aquery(question)) if awaited else engine.query(question)
    nodes = [(hit.node.metadata["trust"], hit.to_dict()) for hit in response.source_nodes]
    for _, node in nodes:  # names every node anew
        node["node"].pop("relationships")
    trusted = [node for trust, node in nodes if trust == "trusted"]
    said = [node for trust, node in nodes if trust == "untrusted"]
    assert key == "" or settings == fact3.EQUAL or [node for _, node in nodes] == [*trusted, *said]
    return (
        response.response,
        response.metadata,
        trusted,
        said,
        [request.messages for request in chat.requests],
    )


@pytest.mark.parametrize("awaited", [False, True])
@fact3.few
@given(pieces=fact3.planted)
def test_nothing_planted_moves_an_answer_or_what_the_model_sees(awaited, pieces):
    text, metadata, trusted, _, seen = asked(fact3.TRUSTED)
    for others in (False, True):
        again = asked(fact3.mixed(pieces), others=others, awaited=awaited)
        assert (again[0], again[2], again[4]) == (text, trusted, seen)
        assert again[1] | {"others": None} == metadata
        assert others or not again[3]
    assert fact3.ANSWER in text and seen and trusted


@fact3.few
@given(pieces=fact3.planted)
def test_where_no_trusted_node_answers_nothing_is_written(pieces):
    text, metadata, trusted, said, seen = asked([fact3.LAKE, *fact3.mixed(pieces)], fact3.SILENT)
    assert not seen and not trusted and said and not metadata["refused"]
    assert metadata["trust"] == "untrusted" and metadata["others"]["silent"] and "(untrusted)" in text


def test_where_all_are_read_alike_planted_text_is_written_about():
    every = fact3.mixed([fact3.LIE])
    for how in ({"settings": fact3.EQUAL}, {"key": ""}):
        assert fact3.MARK in repr(asked(every, **how)[4])


@fact3.few
@given(pieces=fact3.planted)
def test_nothing_planted_moves_an_answer_over_our_index(trusted_index, pieces):
    def answered(others=False):
        settings = Settings.model_validate(fact3.ALWAYS)
        chat = fact3.writing()
        with Library.open(
            trusted_index, encoder=HashedWords(), chat=chat, highlighter=fact3.Sharing(), settings=settings
        ) as library:
            response = QueryEngine(library=library, others=others).query(fact3.QUESTION)
        nodes = [hit.to_dict() for hit in response.source_nodes]
        seen = [request.messages for request in chat.requests]
        return response.response, nodes, response.metadata | {"others": None}, seen

    before = answered()
    with fact3.beside(trusted_index, pieces):
        assert answered() == answered(others=True) == before
    assert {node["node"]["metadata"]["trust"] for node in before[1]} == {"trusted"}
