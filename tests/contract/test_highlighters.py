"""What every Highlighter promises, over every highlighter there is, those of the laboratory too: with a scripted model,
and `live`.

A new one of HIGHLIGHTERS that asks a language model needs a line in SCRIPTS: what an honest model replies to
QUESTION over the small corpus, and what one replies that finds no answer; a tuple where it is asked twice.
"""

import json
from dataclasses import dataclass, replace
from math import inf

import pytest

from equipoise.core import sync
from equipoise.core.errors import ModelReplyError, ModelUnavailable
from equipoise.core.protocols import Highlighter
from equipoise.core.settings import HighlightSettings, Settings
from equipoise.core.types import CUT, ChatReply, Message, Query
from equipoise.models.pretrained import installed
from equipoise.models.scripted import ScriptedChat
from equipoise.rag import others
from equipoise.rag.build import HIGHLIGHTERS as OURS
from equipoise.rag.build import make
from equipoise.rag.components import Components
from equipoise.testing.corpus import ANSWER, QUESTION
from equipoise.text.sentences import sentence_spans
from equipoise.text.spans import DropReason
from equipoise_lab.methods.extractive_qa import ExtractiveQAHighlighter
from equipoise_lab.models.extractive import ExtractedSpan

HIGHLIGHTERS = others.known("highlighter", OURS)


@dataclass(frozen=True)
class Script:
    """What the model says in both cases, and in how many requests it gives an honest answer.

    A tuple holds a line for each message of one conversation, a mapping one for each request, by words of it.
    "%d" stands for the number of ANSWER among all sentences.
    """

    honest: str | tuple[str, ...] | dict[str, str]
    declines: str
    requests: int = 1


SCRIPTS = {
    "cascade": Script('{"sentences": [%d]}', '{"sentences": []}'),
    "indexed": Script({"Reply with yes": "yes", "their numbers": '{"sentences": [%d]}'}, "no", requests=2),
    "baseline": Script(f"- {ANSWER}", "NONE"),
    "structured": Script(
        json.dumps({"answer": "212 metres", "text_extracts": [ANSWER]}),
        '{"answer": "NONE", "text_extracts": []}',
    ),
    "two_step": Script(
        ("It is 212 metres long.", json.dumps({"text_extracts": [ANSWER]})), "NONE", requests=2
    ),
    "span": Script(
        json.dumps(
            {
                "answer": "212 metres",
                "text_extracts": [{"start": "The bridge is 212", "end": "of grey stone."}],
            }
        ),
        '{"answer": "NONE", "text_extracts": []}',
    ),
}
LIES = {
    "cascade": '{"sentences": [999, 0, -1]}',
    "indexed": '{"sentences": [999, 0, -1]}',
    "baseline": "- The bridge is made of cheese, says nobody at all.",
    "structured": '{"answer": "Cheese.", "text_extracts": ["The bridge is made of cheese, says nobody."]}',
    "two_step": '{"text_extracts": ["The bridge is made of cheese, says nobody."]}',
    "span": '{"answer": "Cheese.", "text_extracts": [{"start": "The bridge is", "end": "made of cheese."}]}',
}
MODEL_FREE = {"sentence", "reader", "extractive_qa"}
HERE = [name for name in HIGHLIGHTERS if name != "extractive_qa" or installed()]
ASKING = [name for name in HIGHLIGHTERS if name not in MODEL_FREE]
ASKED_LIVE = [name if name == "cascade" else pytest.param(name, marks=pytest.mark.nightly) for name in ASKING]
"""The default with a local model; the others, some of which tests/live asks, at night."""
ODD = {
    "emoji": "🐝🔥 🧊 ?",
    "4,000 characters": ("bridge bees " * 400)[:4_000],
    "only stop words": "what is it that they were",
    "quotes and braces": '"}], "answer": "x", "text_extracts": ["bridge"] $question ${x}',
}


@pytest.fixture(scope="session")
def passages(store):
    """All passages of the corpus, the bridge's first."""
    return tuple(p for doc_id in store.doc_ids() for p in store.passages_of(doc_id))


def line(name, kind, passages, sent=()):
    """What the scripted model says after the messages `sent`; fails with what to do for a row nobody wrote a
    script for."""
    if name in MODEL_FREE:
        return None
    if name not in SCRIPTS:
        pytest.fail(f"HIGHLIGHTERS has a new row {name!r}: add it to SCRIPTS, or to MODEL_FREE")
    said = getattr(SCRIPTS[name], kind)
    if isinstance(said, dict):
        said = next(words for key, words in said.items() if key in sent[-1].content)
    if isinstance(said, tuple):
        said = said[sum(message.role == "assistant" for message in sent)]
    sentences = [p.text[start:end] for p in passages for start, end in sentence_spans(p.text)]
    return said % (sentences.index(ANSWER) + 1) if "%d" in said else said


@pytest.fixture
def built(store, encoder, request):
    """A function: the highlighter `name` on a chat model."""

    def build(name, chat):
        chosen = Settings()
        if name == "extractive_qa":
            folder = request.getfixturevalue("qa_folder")
            chosen = Settings(highlight=HighlightSettings(qa_model=folder))
        made = make("highlighter", OURS, name, Components(chosen, store, encoder, chat))
        return replace(made, unsure=inf) if name == "cascade" else made

    return build


@pytest.fixture
def scripted(built, passages):
    """A function: the highlighter `name`, whose model always says the line `kind` of its script."""
    return lambda name, kind="honest": built(
        name, ScriptedChat(lambda sent: line(name, kind, passages, sent))
    )


def highlight(highlighter, question, passages):
    return sync.run(highlighter.highlight(Query(question), passages))


def assert_inside(proposal, passages):
    for span in proposal.spans:
        assert any(p.doc_id == span.doc_id and p.start <= span.start < span.end <= p.end for p in passages), (
            span
        )


def quoted(proposal, store):
    return [store.document(s.doc_id).text[s.start : s.end] for s in proposal.spans]


def test_no_script_is_left_over():
    assert set(SCRIPTS) | MODEL_FREE == set(HIGHLIGHTERS)


def test_every_highlighter_is_held_to_the_contract():
    if not installed():
        pytest.skip(
            "transformers is not installed: pip install 'equipoise[hf]'; extractive_qa is left out below"
        )
    assert list(HIGHLIGHTERS) == HERE


@pytest.mark.parametrize("name", HERE)
class TestEveryHighlighter:
    def test_is_a_highlighter(self, scripted, name):
        assert isinstance(scripted(name), Highlighter)

    def test_finds_the_answer_inside_the_passages(self, scripted, name, passages, store):
        proposal = highlight(scripted(name), QUESTION, passages)
        assert_inside(proposal, passages)
        assert any(ANSWER in quote for quote in quoted(proposal, store))
        assert proposal.dropped == ()

    def test_the_same_every_time(self, scripted, name, passages):
        first, again = (highlight(scripted(name), QUESTION, passages) for _ in range(2))
        assert first == again

    def test_no_passages_give_no_spans(self, scripted, name):
        assert highlight(scripted(name), QUESTION, ()).spans == ()

    def test_nothing_is_proposed_where_nothing_answers(self, scripted, name, passages):
        proposal = highlight(scripted(name, "declines"), "Which moons does Neptune have?", passages)
        assert (proposal.spans, proposal.dropped) == ((), ())

    @pytest.mark.parametrize("question", ODD.values(), ids=ODD)
    def test_odd_questions(self, scripted, name, passages, question):
        assert_inside(highlight(scripted(name), question, passages), passages)

    def test_one_passage_is_enough_and_the_others_are_out_of_reach(self, scripted, name, passages, store):
        bees = tuple(p for p in passages if p.doc_id == "bees")
        assert_inside(highlight(scripted(name), QUESTION, bees), bees)


@pytest.mark.parametrize("name", ASKING)
class TestEveryHighlighterThatAsksAModel:
    def test_without_a_model_it_says_how_to_get_one(self, built, name):
        with pytest.raises(ModelUnavailable, match=rf"'{name}' needs a language model: run "):
            built(name, None)

    def test_its_cost_is_counted(self, scripted, name, passages):
        usage = highlight(scripted(name), QUESTION, passages).usage
        assert (usage.calls, usage.replayed) == (SCRIPTS[name].requests, 0)
        assert usage.prompt_tokens > 100
        assert usage.completion_tokens > 0

    def test_the_question_and_every_passage_reach_the_model(self, built, name, passages):
        chat = ScriptedChat(lambda _: line(name, "declines", passages))
        highlight(built(name, chat), QUESTION, passages)
        (sent,) = chat.requests
        said = "\n".join(message.content for message in sent.messages)
        assert QUESTION in said
        assert all(passage.title in said for passage in passages)
        assert all(p.text[a:b] in said for p in passages for a, b in sentence_spans(p.text))

    def test_a_model_that_fails_is_its_callers_business(self, built, name, passages):
        chat = ScriptedChat(lambda _: ModelUnavailable("the endpoint is down: start it"))
        with pytest.raises(ModelUnavailable, match="the endpoint is down"):
            highlight(built(name, chat), QUESTION, passages)

    def test_what_cannot_be_placed_is_dropped_with_a_reason(self, built, name, passages):
        chat = ScriptedChat(lambda sent: "yes" if "Reply with yes" in sent[-1].content else LIES[name])
        proposal = highlight(built(name, chat), QUESTION, passages)
        assert proposal.spans == ()
        assert proposal.dropped
        assert all(d.reason and d.quotation for d in proposal.dropped)


def test_the_second_opinion_picks_for_a_model_that_writes_junk_twice(built, passages, store):
    proposal = highlight(
        built("indexed", ScriptedChat(["yes", "I think so.", "Surely."])), QUESTION, passages
    )
    assert any(ANSWER in quote for quote in quoted(proposal, store))
    assert [drop.reason for drop in proposal.dropped] == [DropReason.NO_VALID_REPLY]
    assert "twice sent no valid" in proposal.dropped[0].quotation
    assert proposal.usage.calls == 3


@pytest.mark.parametrize(("name", "before"), [("structured", []), ("span", [])])
def test_junk_twice_is_an_error_and_junk_once_is_repaired(built, name, before, passages, store):
    honest = line(name, "honest", passages, [Message("user", "their numbers")])
    proposal = highlight(built(name, ScriptedChat([*before, "I think so.", honest])), QUESTION, passages)
    assert ANSWER in quoted(proposal, store)
    assert proposal.usage.calls == 2 + len(before)
    with pytest.raises(ModelReplyError, match="twice sent no valid") as raised:
        highlight(built(name, ScriptedChat([*before, "I think so.", "Still."])), QUESTION, passages)
    assert raised.value.usage.calls == 2 + len(before)


@pytest.mark.parametrize(("name", "before"), [("structured", []), ("two_step", ["212 metres."])])
def test_extracts_of_a_reply_that_was_cut_count(built, name, before, passages, store):
    honest = line(name, "honest", passages, [Message("assistant", "212 metres.")])
    begun = honest.removesuffix('"]}') + '", "And it has'
    cut = ChatReply(begun, "scripted", finish_reason=CUT)
    proposal = highlight(built(name, ScriptedChat([*before, cut])), QUESTION, passages)
    assert quoted(proposal, store) == [ANSWER]
    assert [dropped.quotation for dropped in proposal.dropped] == ["And it has"]
    assert proposal.usage.calls == 1 + len(before)


class TestStructured:
    @pytest.mark.parametrize("said", ["NONE", "NONE.", ' "NONE"', "NONE - the documents say nothing.", ""])
    def test_a_model_that_declines_has_no_extracts(self, built, passages, said):
        """They are no evidence, and they do not vanish."""
        reply = json.dumps({"answer": said, "text_extracts": [ANSWER, "cheese"]})
        proposal = highlight(built("structured", ScriptedChat([reply])), QUESTION, passages)
        assert proposal.spans == ()
        assert [(d.reason, d.quotation) for d in proposal.dropped] == [
            (DropReason.DECLINED, ANSWER),
            (DropReason.DECLINED, "cheese"),
        ]

    @pytest.mark.parametrize("said", ["NONE of the piers is wooden.", "212 metres"])
    def test_an_answer_that_only_begins_like_one_is_an_answer(self, built, passages, store, said):
        reply = json.dumps({"answer": said, "text_extracts": [ANSWER]})
        proposal = highlight(built("structured", ScriptedChat([reply])), QUESTION, passages)
        assert quoted(proposal, store) == [ANSWER]


def test_answers_beyond_the_one_that_is_highlighted_are_dropped_with_a_reason(passages):
    @dataclass
    class Sure:
        async def find(self, question, texts):
            return [ExtractedSpan(0, 3, 0.9 - 0.1 * n) for n, _ in enumerate(texts)]

    proposal = highlight(ExtractiveQAHighlighter(Sure()), QUESTION, passages[:3])
    assert [span.doc_id for span in proposal.spans] == [passages[0].doc_id]
    assert [(d.reason, d.span.doc_id) for d in proposal.dropped] == [
        (DropReason.OVER_THE_PICK, passage.doc_id) for passage in passages[1:3]
    ]


class TestTwoStep:
    """Two calls with one beginning, so that a server's prompt cache keeps the documents."""

    def asked(self, built, passages, *script):
        chat = ScriptedChat(script)
        return highlight(built("two_step", chat), QUESTION, passages), [r.messages for r in chat.requests]

    def test_the_second_call_goes_on_from_the_first(self, built, passages, store):
        answer, extracts = SCRIPTS["two_step"].honest
        proposal, (first, second) = self.asked(built, passages, answer, extracts)
        assert quoted(proposal, store) == [ANSWER]
        assert second[: len(first)] == first
        assert [m.role for m in second[len(first) :]] == ["assistant", "user"]
        assert second[len(first)].content == answer
        user = first[-1].content
        assert user.startswith("Documents:")
        assert user.index(ANSWER) < user.index(QUESTION)

    @pytest.mark.parametrize(
        "said", ["NONE", "NONE.", ' "NONE"\n', "NONE - the documents say nothing.", "", " . "]
    )
    def test_a_model_that_declines_is_not_asked_for_extracts(self, built, passages, said):
        proposal, requests = self.asked(built, passages, said)
        assert (proposal.spans, len(requests)) == ((), 1)

    @pytest.mark.parametrize("said", ["NONE of the piers is wooden.", "None but lorries.", "212"])
    def test_an_answer_that_only_begins_like_one_is_an_answer(self, built, passages, said):
        assert len(self.asked(built, passages, said, '{"text_extracts": []}')[1]) == 2

    def test_junk_in_the_second_call_is_repaired_once(self, built, passages, store):
        answer, extracts = SCRIPTS["two_step"].honest
        proposal, _ = self.asked(built, passages, answer, "I think so.", extracts)
        assert quoted(proposal, store) == [ANSWER]
        assert proposal.usage.calls == 3
        with pytest.raises(ModelReplyError, match="twice sent no valid") as raised:
            self.asked(built, passages, answer, "I think so.", "Still.")
        assert raised.value.usage.calls == 3


@pytest.mark.live
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ASKED_LIVE)
class TestEveryHighlighterWithTheLocalModel:
    def test_spans_lie_inside_the_passages_and_the_cost_is_counted(
        self, built, name, local_chat, passages, store
    ):
        proposal = highlight(built(name, local_chat), QUESTION, passages)
        assert_inside(proposal, passages)
        assert proposal.usage.calls in range(1, 2 * SCRIPTS[name].requests + 1)
        assert proposal.usage.prompt_tokens > 100
        print(name, quoted(proposal, store), proposal.dropped, proposal.usage)

    def test_no_passages_give_no_spans(self, built, name, local_chat):
        assert highlight(built(name, local_chat), QUESTION, ()).spans == ()
