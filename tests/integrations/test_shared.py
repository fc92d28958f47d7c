"""What all integrations share: names of chunks, metadata, settings, and what is refused. Needs no framework."""

import asyncio
import sys
from contextvars import ContextVar, copy_context
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import InputError, MissingExtra, ModelUnavailable, SettingsError
from equipoise.core.types import ChatReply, Message, Span, Tag, Trust
from equipoise.integrations import parts, shared
from equipoise.integrations.chunks import Chunk, as_documents, chunk_of, has_text
from equipoise.integrations.shared import Picks, Quotes, crossed, sifted
from equipoise.testing import check_chat_model, check_encoder
from equipoise.text.spans import SpanPolicy
from hashed_words import HashedWords

A, B = "The ferry leaves at nine in the morning.", "A ticket costs twelve pounds for everybody."
texts = st.sampled_from([A, B, f"{A} {B}", "", " ", "...", "One word."])
ids = st.sampled_from(["", "a", "b", "a~b", "~"])
chunks = st.lists(st.builds(Chunk, texts, ids, position=st.none() | st.integers(0, 9)), max_size=8)


@settings(max_examples=200, deadline=None)
@given(chunks)
def test_every_text_has_a_name_of_its_own(given_chunks):
    chunk_documents = as_documents(given_chunks)
    for name, row in chunk_documents.rows.items():
        assert chunk_documents.documents[name].text == given_chunks[row].text
    held = {document.text for document in chunk_documents.documents.values()}
    assert held == {chunk.text for chunk in given_chunks if has_text(chunk)}
    for passage in chunk_documents.passages:
        assert chunk_documents.documents[passage.doc_id].text[passage.start : passage.end] == passage.text


@settings(max_examples=100, deadline=None)
@given(chunks, st.integers(1, 5))
def test_every_chunk_is_kept_or_flagged(given_chunks, k):
    made = parts.components(encoder=HashedWords())
    for name in ("auto", "none", "quotas"):
        work = sifted(parts.filter_of(name, made), "ferry?", given_chunks, k=k, encoder=made.encoder)
        outcome = asyncio.run(work)
        rows = [*outcome.kept, *(row for row, _, _ in outcome.flagged)]
        assert sorted(rows) == list(range(len(given_chunks)))
        assert len(outcome.kept) <= k
        assert all(reason for _, reason, _ in outcome.flagged)


@pytest.mark.parametrize(
    ("chunk", "name"),
    [
        (Chunk(A, "id-1"), "id-1"),
        (Chunk(A, source="a.txt", position=12), "a.txt@000000012"),
        (Chunk(A), f"~{sha256(A.encode()).hexdigest()[:16]}"),
    ],
)
def test_a_chunk_is_called_by_its_id_its_place_or_its_text(chunk, name):
    assert list(as_documents([chunk]).documents) == [name]


def test_an_id_that_stands_for_two_texts_tells_them_apart():
    names = list(as_documents([Chunk(A, "x"), Chunk(B, "x"), Chunk(A, "x")]).documents)
    assert len(names) == 2
    assert all(name.startswith("x~") for name in names)


@pytest.mark.parametrize(
    ("metadata", "first", "page"),
    [
        ({"page_number": 3}, 0, 3),
        ({"page": 2}, 0, 3),
        ({"page": 2}, 1, 2),
        ({"page": 0}, 1, None),
        ({"page_label": "7", "page": 6}, 0, 7),
        ({"page_label": "9" * 5000}, 0, None),
        ({"page": -1}, 0, None),
        ({"page": True}, 0, None),
        ({"page": "x"}, 0, None),
        ({}, 0, None),
    ],
)
def test_pages_count_from_one(metadata, first, page):
    (document,) = as_documents([chunk_of(A, metadata, "x", first_page=first)]).documents.values()
    assert document.page_at(0) == page


def test_a_chunk_is_trusted_only_where_the_operators_key_says_so():
    said = {"trust": "trusted", "owner": "trusted"}
    assert chunk_of(A, said).trust is Trust.UNTRUSTED
    assert chunk_of(A, said, trust_key="owner").trust is Trust.TRUSTED
    assert chunk_of(A, {"owner": ["trusted"]}, trust_key="owner").trust is Trust.UNTRUSTED


def test_the_boundary_re_slices_and_lets_only_a_verdict_through_that_is_borne():
    chunk_documents = as_documents([Chunk(f"{A} {B}", "x")])
    quotes, dropped = crossed(Picks((Span("x", 3, 40),), frozenset(Tag)), chunk_documents, SpanPolicy())
    assert [(item.text, item.marked) for item in quotes.highlights.items] == [(f"{A} {B}", (A,))]
    assert quotes.tags == frozenset()
    assert [drop.quotation for drop in dropped] == ["no", "yes"]
    assert Quotes.from_dict(quotes.to_dict()) == quotes
    assert Picks.from_dict(Picks((Span("x", 3, 30),), frozenset({Tag.NO})).to_dict()).tags == {Tag.NO}


def test_work_apart_sees_no_variable_of_the_caller():
    around = ContextVar("around", default="")

    async def look():
        return [variable for variable in copy_context() if variable is around]

    async def both():
        around.set("the question")
        return await look(), await shared.apart(look())

    assert asyncio.run(both()) == ([around], [])


class TestForeign:
    def test_a_chat_model_made_of_a_function_keeps_its_promises(self):
        async def say(messages):
            return ChatReply("hello", "echo")

        check_chat_model(parts.ForeignChat("echo", say))

    def test_a_schema_goes_in_words(self):
        heard = []

        async def say(messages):
            heard.extend(messages)
            return ChatReply("{}", "echo")

        work = parts.ForeignChat("echo", say).complete([Message("user", "Hi")], schema={"title": "Reply"})
        asyncio.run(work)
        assert '"title": "Reply"' in heard[0].content

    def test_an_encoder_made_of_functions_keeps_its_promises(self):
        words = HashedWords()
        made = parts.ForeignEncoder(
            "words",
            lambda texts: (3 * words.encode(texts)).tolist(),
            lambda text: words.encode([text])[0].tolist(),
        )
        check_encoder(made)
        assert np.allclose(made.encode_questions(["a"]), made.encode(["a"]))

    def test_a_model_that_fails_is_unavailable(self):
        async def say(messages):
            raise KeyError("token")

        with pytest.raises(ModelUnavailable, match=r"the chat model echo failed \(KeyError: 'token'\)"):
            asyncio.run(parts.ForeignChat("echo", say).complete([Message("user", "Hi")]))

    def test_a_model_with_nothing_more_to_say_does_not_hang(self):
        with pytest.raises(RuntimeError, match="nothing more to say"):
            asyncio.run(parts.in_thread(next, iter(())))


class TestGiven:
    def test_no_model_is_asked_that_nobody_named(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-somebody's")
        assert parts.components().chat is None

    def test_a_named_model_is_made(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-somebody's")
        for made in (
            parts.components(chat="openai/tiny"),
            parts.components({"model": {"llm": "openai/tiny"}}),
        ):
            assert "tiny" in made.chat.name

    @pytest.mark.parametrize("given", [{"nosuch": {}}, {"highlight": {"max_spans": 0}}, ["x"], 7])
    def test_settings_that_are_none_are_one_sentence(self, given):
        with pytest.raises(SettingsError, match=r"docs/settings\.md"):
            parts.settings_of(given)

    def test_a_part_that_reads_an_index_says_that_there_is_none(self):
        with pytest.raises(InputError, match="reads an index"):
            parts.components().store.counts()


@pytest.mark.parametrize(
    ("module", "framework", "line"),
    [
        ("haystack", "haystack", r"pip install 'equipoise\[haystack\]'"),
        ("langchain", "langchain_core", r"pip install 'equipoise\[langchain\]'"),
    ],
)
def test_a_missing_framework_is_named_with_what_to_type(monkeypatch, module, framework, line):
    for name in [name for name in sys.modules if name.partition(".")[0] == framework]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith(f"equipoise.integrations.{module}")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, framework, None)
    with pytest.raises(MissingExtra, match=line):
        __import__(f"equipoise.integrations.{module}")
