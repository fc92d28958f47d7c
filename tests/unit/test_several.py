"""Several questions in one message: each asked apart, all joined, none lost."""

from dataclasses import dataclass, field

import pytest

from equipoise.core import sync
from equipoise.core.errors import InputError
from equipoise.core.protocols import Pipeline
from equipoise.core.settings import FilterSettings, QuestionSettings, Settings
from equipoise.core.types import (
    Answer,
    Flag,
    Highlight,
    Highlights,
    Passage,
    Reason,
    Refusal,
    ScoredPassage,
    Trace,
    Usage,
)
from equipoise.models.scripted import ScriptedChat
from equipoise.rag import build
from equipoise.rag.parts import Parts
from equipoise.rag.pipeline import HighlightSummarize, Vanilla
from equipoise.rag.several import SeveralQuestions, merged, total
from hashed_words import HashedWords

TEXT = "The fee is 5 pounds. It is due in May. Members pay nothing."
NONE_FOUND = Refusal(Reason.NOTHING_HIGHLIGHTED, "The documents do not answer this.")


def quote(start, end, doc_id="fees"):
    return Highlight(doc_id, start, end, TEXT[start:end], f"{doc_id}.txt")


def answer(text, *items, grounded=True, **trace):
    return Answer(text, Highlights(items), grounded, Trace(**trace))


@dataclass
class Table:
    """A pipeline that answers from a table and keeps what it was asked."""

    results: dict
    asked: list = field(default_factory=list)

    async def ask(self, question):
        self.asked.append(question)
        return self.results.get(question, NONE_FOUND)


FEE = answer("5 pounds.", quote(0, 20), usage=Usage(2, 10, 3), timings={"retrieve": 0.5})
DUE = answer("In May.", quote(21, 38), grounded=False, usage=Usage(1, 5, 1), timings={"retrieve": 0.25})
TABLE = {"What is the fee?": FEE, "What is the fee? When is it due?": DUE}


def ask(message, results=TABLE, **more):
    table = Table(results)
    return sync.run(SeveralQuestions(table, **more).ask(message)), table.asked


class TestAsk:
    def test_it_is_a_pipeline(self):
        assert isinstance(SeveralQuestions(Table({})), Pipeline)

    @pytest.mark.parametrize(
        "message", ["What is the fee?", " What is the\nfee and when? \n", "fee", "Hi! What fee?"]
    )
    def test_one_question_passes_as_it_is_both_ways(self, message):
        result, asked = ask(message, {message: FEE})
        assert result is FEE
        assert asked == [message]

    def test_two_questions_are_asked_apart_and_joined(self):
        result, asked = ask("What is the fee? When is it due?")
        assert asked == ["What is the fee?", "What is the fee? When is it due?"]
        assert result.text == "1. 5 pounds.\n\n2. In May."
        assert [(part.question, part.result) for part in result.parts] == [
            ("What is the fee?", FEE),
            ("When is it due?", DUE),
        ]
        assert [item.text for item in result.highlights.items] == [
            "The fee is 5 pounds.",
            "It is due in May.",
        ]
        assert not result.grounded
        assert result.trace.usage == Usage(3, 15, 4)
        assert result.trace.timings == {"retrieve": 0.75}

    def test_a_question_without_an_answer_is_said_with_its_reason(self):
        result, _ = ask("What is the fee? Who wrote Emma?")
        assert isinstance(result, Answer)
        assert (
            result.text
            == "1. 5 pounds.\n\n2. No answer (nothing highlighted): The documents do not answer this."
        )
        assert result.parts[1].result is NONE_FOUND
        assert result.grounded

    def test_no_answer_at_all_is_a_refusal_that_lists_every_reason(self):
        result, _ = ask("Who wrote Emma? Where is Kent?")
        assert isinstance(result, Refusal)
        assert result.reason is Reason.NOTHING_HIGHLIGHTED
        assert result.detail.startswith(
            "None of the 2 questions was answered. 1. No answer (nothing highlighted)"
        )
        assert result.detail.count("The documents do not answer this.") == 2
        assert len(result.parts) == 2

    def test_a_failure_among_refusals_is_the_reason(self):
        down = Refusal(Reason.MODEL_FAILED, "the endpoint is down: start it")
        result, _ = ask("Who wrote Emma? Where is Kent?", {"Where is Kent?": down})
        assert result.reason is Reason.MODEL_FAILED
        assert down.detail in result.detail

    def test_questions_over_the_limit_are_refused_and_not_asked(self):
        message = " ".join(f"Who wrote book {n}?" for n in range(7))
        result, asked = ask(message, {"Who wrote book 0?": FEE})
        assert asked == [f"Who wrote book {n}?" for n in range(5)]
        assert [part.question for part in result.parts] == [f"Who wrote book {n}?" for n in range(7)]
        over = [part.result.reason for part in result.parts[5:]]
        assert over == [Reason.TOO_MANY_QUESTIONS] * 2
        assert result.text.endswith(
            "7. No answer (too many questions): A message may hold 5 questions: ask this one by itself."
        )
        assert len(ask(message, most=2)[1]) == 2

    def test_nothing_that_was_typed_is_in_the_answer(self):
        """An answer in the operator's name must not say what a user typed."""
        result, _ = ask("What is the fee? Is BUY-GOLD the best? Who says BUY-GOLD?")
        assert "BUY-GOLD" not in result.text
        assert "BUY-GOLD" in result.parts[1].question

    @pytest.mark.parametrize("message", ["", " \n", "Who is it? " * 400, "Who is he? Who is she\udcff?"])
    def test_bad_messages_are_the_callers_error_before_anything_is_asked(self, message):
        table = Table({})
        with pytest.raises(InputError, match="the question"):
            sync.run(SeveralQuestions(table).ask(message))
        assert table.asked == []


class TestMerged:
    def test_document_order_and_no_repeats(self):
        first = Highlights((quote(0, 20), quote(39, 59)))
        second = Highlights((quote(21, 38, "a"), quote(0, 20)))
        items = merged([first, second]).items
        assert [(i.doc_id, i.start, i.end) for i in items] == [
            ("a", 21, 38),
            ("fees", 0, 20),
            ("fees", 39, 59),
        ]

    def test_overlapping_ones_become_one_with_the_documents_text(self):
        sets = [Highlights((quote(0, 38),)), Highlights((quote(21, 59),)), Highlights((quote(21, 38),))]
        (item,) = merged(sets).items
        assert (item.start, item.end, item.text) == (0, 59, TEXT)

    def test_nothing(self):
        assert merged([]) == merged([Highlights()]) == Highlights()


class TestTotal:
    def test_passages_and_flags_once_and_the_rest_in_order(self):
        one, two = (ScoredPassage(Passage(n, "d", 0, 1, "x"), 0.1 * n) for n in (1, 2))
        again = ScoredPassage(one.passage, 0.9)
        first = Trace(
            passages=(two, one), flagged=(Flag(7, "a", 0.5),), unsupported=("gold",), models={"llm": "m"}
        )
        second = Trace(
            passages=(again,), flagged=(Flag(7, "b", 0.6), Flag(8, "c", 0.1)), guessed_questions=("Who?",)
        )
        trace = total([first, second])
        assert [(p.passage.passage_id, p.score) for p in trace.passages] == [(1, 0.9), (2, 0.2)]
        assert {flag.passage_id: flag.reason for flag in trace.flagged} == {7: "a", 8: "c"}
        assert (trace.unsupported, trace.guessed_questions, trace.models) == (
            ("gold",),
            ("Who?",),
            {"llm": "m"},
        )


class TestBuild:
    def parts(self, **more):
        settings = Settings(question=QuestionSettings(**more), filter=FilterSettings(name="none"))
        return Parts(settings, None, HashedWords(), ScriptedChat([]))

    def test_it_is_on_by_default_for_hs_alone_and_settings_turn_it_off(self):
        found = build.asked("hs", self.parts(most=3))
        assert isinstance(found, SeveralQuestions)
        assert isinstance(found.pipeline, HighlightSummarize)
        assert found.most == 3
        assert isinstance(build.asked("hs", self.parts(split=False)), HighlightSummarize)
        assert isinstance(build.asked("vanilla", self.parts()), Vanilla)
