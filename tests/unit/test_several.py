"""Several questions in one message: each asked apart, all joined, none lost."""

from dataclasses import dataclass, field

import pytest

from equipoise.apps.server.citing import numbers
from equipoise.core import sync
from equipoise.core.errors import InputError
from equipoise.core.protocols import Pipeline
from equipoise.core.results import Answer, Reason, Refusal, SubAnswer, Trace
from equipoise.core.settings import FilterSettings, QuestionSettings, Settings
from equipoise.core.types import (
    Document,
    Dropped,
    Flag,
    Highlight,
    Highlights,
    Passage,
    ScoredPassage,
    Span,
    Usage,
)
from equipoise.corpus.store import Store
from equipoise.models.scripted import ScriptedChat
from equipoise.rag import build
from equipoise.rag.boundary import all_of, read_highlights, within_one_policy
from equipoise.rag.components import Components
from equipoise.rag.joining import joined
from equipoise.rag.journal import total
from equipoise.rag.pipeline import Ended, HighlightSummarize
from equipoise.rag.vanilla import Vanilla
from equipoise.text.spans import DropReason, SpanPolicy
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
    most: int = 5
    reception: None = None
    asked: list = field(default_factory=list)

    ask = HighlightSummarize.ask

    async def ask_all(self, questions, observer=None, *, others=False):
        self.asked += [question.whole for question in questions]
        results = tuple(self.results.get(question.whole, NONE_FOUND) for question in questions)
        items = sorted({i for result in results for i in result.highlights.items}, key=lambda i: i.span)
        return Ended(results, Highlights(tuple(items)))


FEE = answer("5 pounds.", quote(0, 20), usage=Usage(2, 10, 3), timings={"retrieve": 0.5})
DUE = answer("In May.", quote(21, 38), grounded=False, usage=Usage(1, 5, 1), timings={"retrieve": 0.25})
TABLE = {"What is the fee?": FEE, "What is the fee? When is it due?": DUE}


def ask(message, results=TABLE, before=(), **more):
    table = Table(results, **more)
    return sync.run(table.ask(message, before=before)), table.asked


class TestAsk:
    def test_it_is_a_pipeline(self):
        assert isinstance(Table({}), Pipeline)

    @pytest.mark.parametrize(
        "message", ["What is the fee?", " What is the\nfee and when? \n", "fee", "Hi! What fee?"]
    )
    def test_one_question_passes_as_it_is_both_ways(self, message):
        result, asked = ask(message, {message.strip(): FEE})
        assert result is FEE
        assert asked == [message.strip()]

    def test_two_questions_are_asked_apart_and_joined(self):
        result, asked = ask("What is the fee? When is it due?")
        assert asked == ["What is the fee?", "What is the fee? When is it due?"]
        assert result.text == "5 pounds.\n\nIn May."
        assert [(part.question, part.result) for part in result.sub_answers] == [
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

    def test_the_first_of_them_may_follow_an_earlier_message(self):
        _, asked = ask("And when is it due? Who is the porter?", before=["What is the fee?", "Thanks!"])
        assert asked == ["What is the fee? And when is it due?", "Who is the porter?"]
        result, asked = ask("When is it due?", before=["What is the fee?"])
        assert (result, asked) == (DUE, ["What is the fee? When is it due?"])

    def test_text_and_quotes_are_in_the_order_asked_and_an_answer_is_said_once(self):
        early, late = answer("5 pounds.", quote(0, 20)), answer("In May.", quote(21, 38))
        typed = ["What is the fee?", "Who pays it?", "Who says so?"]
        for first, other in ((late, early), (early, late)):
            found = (first, other, first)
            table = dict(zip(typed, found, strict=True))
            results = table | {" ".join(typed[: n + 1]): one for n, one in enumerate(found)}
            result, _ = ask(" ".join(typed), results)
            assert result.text == f"{first.text}\n\n{other.text}"
            assert result.highlights.items == (*early.highlights.items, *late.highlights.items)
            assert result.quotes == (*first.highlights.items, *other.highlights.items)

    def test_quotes_that_are_one_for_the_message_stand_where_their_parts_do(self):
        whole, apart = quote(0, 38), quote(39, 59)
        part = SubAnswer("When is it due?", answer("It is due in May.", quote(21, 38)))
        first = SubAnswer("Who pays?", answer("Members pay nothing.", apart))
        result = joined([first, part], Highlights((whole, apart)))
        assert result.best_first == (1, 0)
        assert [piece["quotes"] for piece in numbers(result)] == [[1], [2]]

    def test_a_question_without_an_answer_is_said_with_its_reason(self):
        result, _ = ask("What is the fee? Who wrote Emma?")
        assert isinstance(result, Answer)
        assert result.text == (
            "5 pounds.\n\nNo answer to 1 of 2 questions: The documents do not answer this."
        )
        assert result.sub_answers[1].result is NONE_FOUND
        assert result.grounded

    def test_no_answer_at_all_is_a_refusal_that_lists_every_reason(self):
        result, _ = ask("Who wrote Emma? Where is Kent?")
        assert isinstance(result, Refusal)
        assert result.reason is Reason.NOTHING_HIGHLIGHTED
        assert result.detail == (
            "None of the 2 questions was answered. "
            "No answer to 2 of 2 questions: The documents do not answer this."
        )
        assert len(result.sub_answers) == 2

    def test_a_failure_among_refusals_is_the_reason(self):
        down = Refusal(Reason.MODEL_FAILED, "the endpoint is down: start it")
        result, _ = ask("Who wrote Emma? Where is Kent?", {"Where is Kent?": down})
        assert result.reason is Reason.MODEL_FAILED
        assert down.detail in result.detail

    def test_questions_over_the_limit_are_refused_and_not_asked(self):
        message = " ".join(f"Who wrote book {n}?" for n in range(7))
        result, asked = ask(message, {"Who wrote book 0?": FEE})
        assert asked == [f"Who wrote book {n}?" for n in range(5)]
        assert [part.question for part in result.sub_answers] == [f"Who wrote book {n}?" for n in range(7)]
        over = [part.result.reason for part in result.sub_answers[5:]]
        assert over == [Reason.TOO_MANY_QUESTIONS] * 2
        assert result.text.endswith(
            "No answer to 2 of 7 questions: A message may hold 5 questions: ask this one by itself."
        )
        assert len(ask(message, most=2)[1]) == 2

    def test_questions_that_differ_in_a_sign_are_all_asked_and_a_repeated_one_once(self):
        typed = ["What is C good for?", "What is C++ good for?", "Who is Ada?"]
        assert ask(" ".join(typed), {})[1] == typed
        assert ask(" ".join([*typed, "WHO is Ada??"]), {})[1] == typed

    def test_nothing_that_was_typed_is_in_the_answer(self):
        """An answer in the operator's name must not say what a user typed."""
        result, _ = ask("What is the fee? Is BUY-GOLD the best? Who says BUY-GOLD?")
        assert "BUY-GOLD" not in result.text
        assert "BUY-GOLD" in result.sub_answers[1].question

    @pytest.mark.parametrize("message", ["", " \n", "Who is it? " * 400, "Who is he? Who is she\udcff?"])
    def test_bad_messages_are_the_callers_error_before_anything_is_asked(self, message):
        table = Table({})
        with pytest.raises(InputError, match="the question"):
            sync.run(table.ask(message))
        assert table.asked == []


def policy(**limits):
    return SpanPolicy(min_words=1, **limits)


DOCUMENTS = {
    name: Document(name, TEXT, f"{name}.txt", sentences=((0, 20), (21, 38), (39, 59)))
    for name in ("a", "fees")
}
PAGES = [Passage(n, name, 0, len(TEXT), TEXT) for n, name in enumerate(DOCUMENTS)]


def of(*spans, doc_id="fees"):
    wanted = [Span(doc_id, *span) for span in spans]
    return read_highlights(wanted, PAGES, DOCUMENTS, policy())[0]


def places(highlights):
    return [(item.doc_id, item.start, item.end) for item in highlights.items]


class TestWithinOnePolicy:
    def test_adjacent_quotes_of_several_questions_are_one(self):
        sets = [of((39, 59)), of((0, 20)), of((21, 38)), of((0, 20))]
        assert places(all_of(sets, DOCUMENTS, policy())) == [("fees", 0, 59)]
        assert within_one_policy(sets, DOCUMENTS, policy()) == [(highlights, ()) for highlights in sets]

    def test_one_limit_of_sentences_holds_for_all_together(self):
        sets = [of((39, 59)), of((0, 20), (39, 59)), of((21, 38))]
        limits = policy(max_sentences=2)
        third = Dropped(DropReason.OVER_THE_MESSAGE, Span("fees", 39, 59))
        assert within_one_policy(sets, DOCUMENTS, limits) == [
            (Highlights(), (third,)),
            (of((0, 20)), (third,)),
            (of((21, 38)), ()),
        ]
        again = within_one_policy([sets[1], sets[2], sets[0], sets[1]], DOCUMENTS, limits)
        assert [highlights for highlights, _ in again] == [
            of((0, 20)),
            of((21, 38)),
            Highlights(),
            of((0, 20)),
        ]

    def test_one_limit_of_spans_too(self):
        left = within_one_policy([of((0, 20)), of((39, 59))], DOCUMENTS, policy(max_spans=1))
        assert [places(highlights) for highlights, _ in left] == [[("fees", 0, 20)], []]

    def test_a_quote_that_repeats_one_of_another_question_stays_where_it_was_shown(self):
        sets = [of((0, 20)), of((0, 20), doc_id="a")]
        left = within_one_policy(sets, DOCUMENTS, policy(max_sentences=1))
        assert [places(highlights) for highlights, _ in left] == [[("fees", 0, 20)], [("a", 0, 20)]]
        assert places(all_of(sets, DOCUMENTS, policy())) == [("a", 0, 20)]

    def test_nothing_and_one(self):
        assert within_one_policy([], DOCUMENTS, policy()) == []
        alone = of((0, 20))
        assert within_one_policy([alone], DOCUMENTS, policy()) == [(alone, ())]
        assert all_of([Highlights()], DOCUMENTS, policy()) == Highlights()


class TestReadHighlights:
    def test_a_sentence_that_runs_out_of_what_was_shown_is_left_out(self):
        """A chunker of somebody else may cut inside a sentence, and a filter take the rest of it out."""
        half = Passage(1, "fees", 0, 30, TEXT[:30])
        rest = Passage(2, "fees", 30, 59, TEXT[30:])
        spans = [Span("fees", 0, 30)]
        alone, dropped = read_highlights(spans, [half], DOCUMENTS, policy())
        assert places(alone) == [("fees", 0, 20)]
        assert dropped == (Dropped(DropReason.NOT_SHOWN, Span("fees", 21, 38)),)
        both, dropped = read_highlights(spans, [rest, half], DOCUMENTS, policy())
        assert (places(both), dropped) == ([("fees", 0, 38)], ())

    @pytest.mark.parametrize("junk", [None, "fees", Span("fees", "0", "20"), Span("fees", None, 3), (1, 2)])
    def test_what_is_no_span_is_dropped_with_a_reason(self, junk):
        highlights, dropped = read_highlights([junk, Span("fees", 0, 20)], PAGES, DOCUMENTS, policy())
        assert places(highlights) == [("fees", 0, 20)]
        assert len(dropped) == 1


class TestTotal:
    def test_passages_and_flags_once_and_the_rest_in_order(self):
        low, high = (ScoredPassage(Passage(n, "d", 0, 1, "x"), 0.1 * n) for n in (1, 2))
        again = ScoredPassage(low.passage, 0.9)
        seven, eight = (Passage(n, "d", 0, 1, "x") for n in (7, 8))
        first = Trace(
            passages=(high, low), flagged=(Flag(seven, "a", 0.5),), unsupported=("gold",), models={"llm": "m"}
        )
        second = Trace(
            passages=(again,),
            flagged=(Flag(seven, "b", 0.6), Flag(eight, "c", 0.1)),
            guessed_questions=("Who?",),
        )
        trace = total([first, second])
        assert [(p.passage.passage_id, p.score) for p in trace.passages] == [(1, 0.9), (2, 0.2)]
        assert {flag.passage.passage_id: flag.reason for flag in trace.flagged} == {7: "a", 8: "c"}
        assert (trace.unsupported, trace.guessed_questions, trace.models) == (
            ("gold",),
            ("Who?",),
            {"llm": "m"},
        )


class TestBuild:
    def components(self, store, **more):
        settings = Settings(question=QuestionSettings(**more), filter=FilterSettings(name="none"))
        return Components(settings, store, HashedWords(), ScriptedChat([]))

    def test_it_is_on_by_default_for_hs_alone_and_settings_turn_it_off(self, tmp_path):
        with Store.open(tmp_path / "index.db", create=True) as store:
            self.check(store)

    def check(self, store):
        assert build.pipeline("hs", self.components(store, most=3)).most == 3
        assert build.pipeline("hs", self.components(store, split=False)).most == 1
        assert isinstance(build.pipeline("vanilla", self.components(store)), Vanilla)
