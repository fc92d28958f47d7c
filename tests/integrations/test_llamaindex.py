"""LlamaIndex, the real framework: nodes in, verbatim quotes and blind answers out."""

import asyncio
import json
from dataclasses import dataclass, replace

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
from llama_parts import (
    CANARY,
    QUESTION,
    QUOTE,
    WRITES,
    Firsts,
    Given,
    Recorder,
    both,
    node,
    scored,
)

from equipoise import Library
from equipoise.core.errors import InputError, QuestionError
from equipoise.core.types import Document as Text
from equipoise.core.types import Filtered
from equipoise.corpus.indexing import prepare
from equipoise.integrations.llamaindex import (
    Filter,
    Highlighter,
    QueryEngine,
    QuoteNode,
    Synthesizer,
    chat_of,
    query_engine,
)
from equipoise.models.scripted import ScriptedChat
from hashed_words import HashedWords
from serving import CATS, WAL, FirstSentence


@dataclass
class Unsure(Firsts):
    """The same, with a probability that they answer."""

    probability: float | None

    async def highlight(self, query, passages):
        return replace(await super().highlight(query, passages), probability=self.probability)


def test_ten_lines_put_a_blind_pipeline_behind_any_retriever():
    for response in both(query_engine(Given()), "Does write-ahead logging work over a network filesystem?"):
        assert response.response == QUOTE
        metadata = {"refused": False, "reason": None, "grounded": True, "trust": "untrusted", "others": None}
        probability = response.metadata["probability"]
        assert 0.85 < probability <= 1
        assert response.metadata == metadata | {"weak": False, "probability": probability}
    for response in both(query_engine(Given()), "How much is the metro in Paris?"):
        assert response.metadata["refused"] and response.metadata["reason"] == "nothing highlighted"
        assert response.response.startswith("The documents do not seem to answer this question.")
        assert response.source_nodes == []


@pytest.mark.parametrize(("probability", "weak"), [(0.6, True), (0.9, False), (None, False)])
def test_weak_evidence_is_told(probability, weak):
    engine = RetrieverQueryEngine(Given(), Synthesizer(), [Highlighter(part=Unsure(probability))])
    for response in both(engine, QUESTION):
        assert (response.metadata["weak"], response.metadata["probability"]) == (weak, probability)


def test_quotes_are_verbatim_with_offsets_and_no_metadata_is_put_before_them():
    engine = query_engine(Given(node(start_char_idx=100, end_char_idx=100 + len(WAL))))
    [source] = engine.query("Does write-ahead logging work over a network filesystem?").source_nodes
    quote = source.node
    assert isinstance(quote, QuoteNode)
    assert quote.text == QUOTE == WAL[quote.metadata["quote_start"] : quote.metadata["quote_end"]]
    assert (quote.start_char_idx, quote.end_char_idx) == (100, 100 + len(QUOTE))
    for mode in MetadataMode:
        if mode is not MetadataMode.ALL:
            assert quote.get_content(mode) == QUOTE
    assert quote.parent_node.node_id == "x/1 #ü"
    assert quote.metadata["file_name"] == "wal.html" and source.score == 1


def test_the_same_id_for_different_texts_and_none_and_odd_ones():
    nodes = scored(node(), node(CATS), node("", "empty"), node(WAL), TextNode(text=f"Odd. {CATS}", id_="a~b"))
    for made in (
        Highlighter(part=Firsts()).postprocess_nodes(nodes, query_str="Who?"),
        asyncio.run(Highlighter(part=Firsts()).apostprocess_nodes(nodes, query_str="Who?")),
    ):
        assert sorted(hit.node.text for hit in made) == sorted([f"Odd. {CATS}", QUOTE, CATS])


def test_trust_is_told_by_a_key_that_the_operator_names():
    seen = []

    class Looks:
        async def filter(self, query, candidates, *, k):
            seen.append({document.trust.value for document in candidates.documents.values()})
            return Filtered(candidates)

    single = node()
    single.metadata["who"] = "trusted"
    for key in ("who", ""):
        Filter(part=Looks(), embedder=HashedWords(), trust_key=key).postprocess_nodes(
            scored(single), query_str="Who?"
        )
    assert seen == [{"trusted"}, {"untrusted"}]


def test_an_embedding_of_llamaindex_encodes_for_the_filter():
    index = VectorStoreIndex.from_documents(
        [Document(text=WAL), Document(text=CATS)], embed_model=MockEmbedding(8)
    )
    made = Filter(part="mmr", top_k=1, embedder=MockEmbedding(8))
    nodes = index.as_retriever(similarity_top_k=2).retrieve(QUESTION)
    assert len(made.postprocess_nodes(nodes, query_str=QUESTION)) == 1


def test_a_model_of_llamaindex_writes_the_answer_and_ours_does_too():
    foreign, ours = Recorder(), ScriptedChat(lambda _: json.dumps({"answer": QUOTE}))
    for chat in (foreign, ours):
        engine = RetrieverQueryEngine(
            Given(node()), Synthesizer(chat=chat, settings=WRITES), [Highlighter(part=Firsts())]
        )
        for response in both(engine, QUESTION):
            assert response.response == QUOTE
    assert len(foreign.got) == len(ours.requests) == 2


def test_a_model_that_fails_is_a_refusal_without_its_words():
    class Fails(Recorder):
        def complete(self, prompt, formatted=False, **more):
            raise RuntimeError("no key sk-secret")

    engine = RetrieverQueryEngine(
        Given(), Synthesizer(chat=Fails(), settings=WRITES), [Highlighter(part=Firsts())]
    )
    for response in both(engine, QUESTION):
        assert response.metadata["reason"] == "model failed"
        assert "secret" not in str(response) + str(response.metadata)


def test_what_crosses_is_written_without_the_question():
    quotes = Highlighter(part=Firsts()).postprocess_nodes(scored(node()), query_str=f"{CANARY}?")
    [quote] = quotes
    assert CANARY not in quote.to_json()
    again = QuoteNode.from_dict(quote.node.to_dict())
    response = Synthesizer().synthesize("whatever", [NodeWithScore(node=again)])
    assert response.response == QUOTE


def test_parts_are_written_and_read_without_models_or_keys():
    made = Highlighter(part="reader", settings={"highlight": {"max_sentences": 3}}, chat=Recorder())
    again = Highlighter.from_dict(made.to_dict())
    assert (again.part, again.settings, again.chat) == ("reader", {"highlight": {"max_sentences": 3}}, None)
    assert "chat" not in made.to_dict()
    assert Filter.from_dict(Filter(part="quotas", top_k=3, trust_key="who").to_dict()).top_k == 3


def test_only_quotes_are_summarized():
    for bad in (
        lambda: Synthesizer().synthesize(QUESTION, scored(node())),
        lambda: asyncio.run(Synthesizer().asynthesize(QUESTION, scored(node()))),
        lambda: Synthesizer().get_response(QUESTION, [WAL]),
        lambda: asyncio.run(Synthesizer().aget_response(QUESTION, [WAL])),
    ):
        with pytest.raises(InputError, match="Highlighter"):
            bad()


@pytest.mark.parametrize(
    "bad",
    [
        lambda: Filter(part="nonsense"),
        lambda: Highlighter(part="nonsense"),
        lambda: Synthesizer("nonsense"),
        lambda: Highlighter(part=object()),
        lambda: Filter(settings={"nonsense": 1}),
        lambda: Highlighter().postprocess_nodes(scored(node())),
        lambda: Filter(chat=7),
    ],
)
def test_bad_input_is_one_sentence(bad):
    with pytest.raises(InputError) as raised:
        bad()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Filter(topk=3), "topk"),
        (lambda: Highlighter(trustkey="owner"), "trustkey"),
        (lambda: QueryEngine(library=None, filter="team = it"), "filter"),
    ],
)
def test_a_misspelt_argument_is_not_lost(make, name):
    with pytest.raises(ValueError, match=rf"{name}\n +Extra inputs are not permitted"):
        make()


def test_a_question_that_cannot_be_used():
    with pytest.raises(QuestionError):
        Filter(part="none").postprocess_nodes(scored(node()), query_str=" ")


def test_nothing_here_asks_a_model_that_nobody_named(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    for part in (Highlighter(), Highlighter(settings={}), Filter()):
        assert part._part(blocking=True)[1].chat is None


def test_other_synthesizers_get_the_quotes_alone():
    """The postprocessors may be used by themselves."""
    recorder = Recorder()
    engine = RetrieverQueryEngine(
        Given(node()), get_response_synthesizer(llm=recorder), [Highlighter(part=Firsts())]
    )
    engine.query(QUESTION)
    assert QUOTE in recorder.got[0][0] and "SECRET NOTE" not in recorder.got[0][0]


@pytest.fixture
def library(tmp_path):
    encoder = HashedWords()
    with Library.create(
        tmp_path / "index.db", encoder=encoder, chat=None, reranker=None, highlighter=FirstSentence()
    ) as made:
        made.store.bind_encoder(encoder)
        made.store.add_documents(prepare([Text("wal", WAL, "wal.txt", "Logging")], encoder))
        yield made


def test_a_query_engine_over_our_index(library):
    engine = QueryEngine(library=library)
    for response in both(engine, QUESTION):
        assert response.response == QUOTE and not response.metadata["refused"]
        [hit] = response.source_nodes
        assert WAL[hit.node.start_char_idx : hit.node.end_char_idx] == hit.node.text == QUOTE
        assert hit.node.metadata["source"] == "wal.txt"
    for response in both(engine, "Which colour has tuesday morning?"):
        assert response.metadata["refused"]
    with pytest.raises(QuestionError):
        engine.query("")


def test_a_model_of_llamaindex_in_a_library(tmp_path, library):
    recorder = Recorder()
    with Library.open(
        tmp_path / "index.db", encoder=HashedWords(), chat=chat_of(recorder, blocking=True), reranker=None,
        highlighter=FirstSentence(), settings=shared_settings(),
    ) as written:  # fmt: skip
        assert QueryEngine(library=written).query(QUESTION).response == QUOTE
    assert len(recorder.got) == 1 and QUESTION not in repr(recorder.got)


def shared_settings():
    from equipoise import Settings

    return Settings.model_validate(WRITES)
