"""A filter over metadata reaches the index through every framework."""

import asyncio

import pytest

from equipoise import Document, Library
from equipoise.core.errors import InputError

FERRY = "The ferry to Orkney leaves the harbour at nine on every day of the week."
COACH = "The coach to Orkney leaves the harbour at ten on every day of the week."
QUESTION = "When does the ferry to Orkney leave the harbour?"


@pytest.fixture
def index(tmp_path):
    path = tmp_path / "index.db"
    with Library.create(path, chat=None) as library:
        library.add(
            [
                Document("ferry", FERRY, "ferry", metadata={"team": "sea"}),
                Document("coach", COACH, "coach", metadata={"team": "land"}),
            ]
        )
    return str(path)


def test_langchain(index):
    pytest.importorskip("langchain_core")
    from equipoise.integrations.langchain import Retriever

    retriever = Retriever(index=index, where="team = land")
    assert [found.page_content for found in retriever.invoke(QUESTION)] == [COACH]
    retriever.close()
    broken = Retriever(index=index, where="team")
    with pytest.raises(InputError, match="not understood"):
        broken.invoke(QUESTION)
    broken.close()


def test_haystack(index):
    pytest.importorskip("haystack")
    from equipoise.integrations.haystack import Retriever

    retriever = Retriever(index, where={"equal": {"team": "land"}})
    assert [found.content for found in retriever.run(QUESTION)["documents"]] == [COACH]
    assert retriever.run(QUESTION, where="team = sea")["documents"] == []
    copy = Retriever.from_dict(retriever.to_dict())
    assert [found.content for found in copy.run(QUESTION)["documents"]] == [COACH]
    for one in (retriever, copy):
        one.close()


def test_llamaindex(index):
    pytest.importorskip("llama_index.core")
    from equipoise.integrations.llamaindex import QueryEngine

    with Library.open(index, chat=None) as library:
        assert FERRY in str(QueryEngine(library=library).query(QUESTION))
        assert FERRY not in str(QueryEngine(library=library, where="team = land").query(QUESTION))


def test_mcp(index):
    pytest.importorskip("mcp")
    from mcp import Client

    from equipoise.integrations.mcp import server

    async def asked(library):
        async with Client(server(library)) as client:
            found = await client.call_tool("search", {"words": "harbour Orkney", "where": "not team = sea"})
            refused = await client.call_tool("ask", {"question": QUESTION, "where": "team = nobody"})
            broken = await client.call_tool("ask", {"question": QUESTION, "where": "team"})
            return found.structured_content, refused.structured_content, broken

    with Library.open(index, chat=None) as library:
        found, refused, broken = asyncio.run(asked(library))
    assert [passage["text"] for passage in found["passages"]] == [COACH]
    assert refused["refused"] and refused["nearest"] == []
    assert broken.is_error and "not understood" in broken.content[0].text
