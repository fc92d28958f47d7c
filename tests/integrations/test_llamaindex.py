"""LlamaIndex, the real framework: nodes in, verbatim quotes and blind answers out, no way for a question through."""

import asyncio
import json
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

pytest.importorskip("llama_index.core")

from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index_instrumentation import get_dispatcher, root_dispatcher
from llama_index_instrumentation.event_handlers import BaseEventHandler
from llama_index_instrumentation.span_handlers import SimpleSpanHandler

from equipoise import Library
from equipoise.core import sync
from equipoise.core.errors import InputError, QuestionError
from equipoise.core.types import Document as Text
from equipoise.core.types import Filtered, Flag, Proposal, Span
from equipoise.corpus.indexing import prepare
from equipoise.integrations import llamaindex, shared
from equipoise.integrations.llamaindex import (
    Filter,
    Highlighter,
    NotQuoted,
    QueryEngine,
    QuoteNode,
    Synthesizer,
    TakenOut,
    chat_of,
    query_engine,
)
from equipoise.models.scripted import ScriptedChat
from hashed_words import HashedWords
from serving import CATS, WAL, FirstSentence

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


@dataclass
class Unsure(Firsts):
    """The same, with a probability that they answer."""

    probability: float | None

    async def highlight(self, query, passages):
        return replace(await super().highlight(query, passages), probability=self.probability)


def both(engine, question):
    """The same question, sync and async."""
    return engine.query(question), asyncio.run(engine.aquery(question))


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


@dataclass
class TakesCats:
    async def filter(self, query, candidates, *, k):
        rows = [row for row, passage in enumerate(candidates.passages) if "Cats" not in passage.text]
        out = [passage for passage in candidates.passages if "Cats" in passage.text]
        return Filtered(candidates.take(rows[:k]), tuple(Flag(passage, "about cats", 0.7) for passage in out))


class Listens(BaseEventHandler):
    """Writes down every event."""

    events: list

    @classmethod
    def class_name(cls):
        return "Listens"

    def handle(self, event, **more):
        self.events.append(event)


@pytest.fixture
def heard():
    """Every event of LlamaIndex from now on."""
    events, spans = Listens(events=[]), SimpleSpanHandler()
    before = root_dispatcher.event_handlers, root_dispatcher.span_handlers
    root_dispatcher.event_handlers, root_dispatcher.span_handlers = [events], [spans]
    yield events.events
    root_dispatcher.event_handlers, root_dispatcher.span_handlers = before


def test_what_is_taken_out_or_dropped_is_told_with_its_reason(heard):
    nodes = scored(node(), node(CATS, "cats"), node("", "empty"))
    kept = Filter(part=TakesCats(), embedder=HashedWords()).postprocess_nodes(nodes, query_str=QUESTION)
    assert [hit.node.node_id for hit in kept] == ["x/1 #ü"]
    [event] = [event for event in heard if isinstance(event, TakenOut)]
    assert event.flagged == [("cats", "about cats", 0.7), ("empty", "has no text", pytest.approx(1 / 3))]

    class Wild:
        async def highlight(self, query, passages):
            return Proposal((Span("nowhere", 0, 9),))

    assert Highlighter(part=Wild()).postprocess_nodes(nodes, query_str=QUESTION) == []
    [event] = [event for event in heard if isinstance(event, NotQuoted)]
    assert event.dropped[0][1:] == ("nowhere", 0, 9) and event.dropped[0][0]


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


def leak(question, *, awaited=False):
    """What shows that the model's requests depend on the question; empty where nothing does."""
    got, other = asked(question, awaited=awaited), asked(f"{CANARY}?", awaited=awaited)
    if repr(got).encode() != repr(other).encode():
        return "other words, other requests"
    return "a question stands in a request" if CANARY in repr(other) else ""


@settings(max_examples=40)
@given(question=st.text(max_size=200).map(lambda said: f"{said} {CANARY} who?"), awaited=st.booleans())
def test_no_question_changes_what_the_summarizers_model_gets(question, awaited):
    if any("\ud800" <= c <= "\udfff" for c in question):
        return
    assert leak(question, awaited=awaited) == ""


def passes_query(monkeypatch):
    """A synthesizer that adds query_str to what is summarized."""
    written = Synthesizer._written

    def synthesize(self, query, nodes, more=None, **rest):
        first = nodes[0].node.crossed["highlights"][0]
        first["text"] = f"{first['text']} ({query.query_str})"
        return sync.run(written(self, nodes, more or (), blocking=True))

    monkeypatch.setattr(Synthesizer, "synthesize", synthesize)


def reads_texts(monkeypatch):
    """A synthesizer that takes the text of the nodes as it comes."""

    def quotes_of(nodes):
        nodes = list(nodes)
        for hit in nodes:
            hit.node.crossed["highlights"][0]["text"] = hit.node.text
        return QUOTES_OF(nodes)

    monkeypatch.setattr(llamaindex, "quotes_of", quotes_of)


def counts_the_letters(monkeypatch):
    """A title that depends on how long the question is."""
    judged = Highlighter._judged

    async def highlight(self, nodes, asked, *, blocking):
        judged_nodes = await judged(self, nodes, asked, blocking=blocking)
        for hit in judged_nodes:
            hit.node.crossed["highlights"][0]["title"] = "long" * (len(asked.query_str) % 5)
        return judged_nodes

    monkeypatch.setattr(Highlighter, "_judged", highlight)


def keeps_the_context(monkeypatch):
    """A model that is called in the context of whoever asked."""

    async def apart(work):
        return await work

    monkeypatch.setattr(shared, "apart", apart)


QUOTES_OF = llamaindex.quotes_of


@pytest.mark.parametrize("mutant", [passes_query, reads_texts, counts_the_letters, keeps_the_context])
def test_every_mutant_that_leaks_is_caught(monkeypatch, mutant):
    mutant(monkeypatch)
    assert leak(f"Tell me {CANARY}, please!")


class Enters(SimpleSpanHandler):
    """Writes down what every span was entered with."""

    entered: list = Field(default_factory=list)

    def new_span(self, id_, bound_args, instance=None, parent_span_id=None, tags=None, **more):
        self.entered.append((id_, repr(bound_args)))
        return super().new_span(id_, bound_args, instance, parent_span_id, tags, **more)


@pytest.mark.parametrize("awaited", [False, True])
def test_events_spans_and_callbacks_of_the_synthesizer_have_no_question(heard, awaited):
    root_dispatcher.span_handlers = [Enters()]
    entered = root_dispatcher.span_handlers[0].entered
    debug = LlamaDebugHandler(print_trace_on_end=False)
    asked(f"{CANARY}?", awaited=awaited, debug=debug)
    synthesis = [event for event in heard if "Synthesize" in type(event).__name__]
    assert len(synthesis) == 2
    assert all(event.query == "" for event in synthesis)
    models = [event for event in heard if type(event).__name__.startswith("LLM")]
    assert models and CANARY not in repr(models)
    assert any(CANARY in said for _, said in entered), "the outer spans hold it, as the asker's own"
    assert not [name for name, said in entered if CANARY in said and name.startswith("Synthesizer.")]
    assert not [name for name, said in entered if CANARY in said and name.startswith("Recorder.")]
    payloads = [pair[0].payload for pair in debug.get_event_pairs(CBEventType.SYNTHESIZE)]
    assert payloads and all(CANARY not in repr(payload) for payload in payloads)


def test_a_span_around_synthesize_would_hold_it(heard):
    """The test above can fail: with LlamaIndex's own decorator the question is there."""
    root_dispatcher.span_handlers = [Enters()]
    entered = root_dispatcher.span_handlers[0].entered

    class Spanned(Synthesizer):
        @get_dispatcher(__name__).span
        def synthesize(self, query, nodes, additional_source_nodes=None, **more):
            return super().synthesize(query, nodes, additional_source_nodes, **more)

    with pytest.raises(InputError):
        Spanned().synthesize(f"{CANARY}?", scored(node()))
    assert any(CANARY in said for _, said in entered)


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
