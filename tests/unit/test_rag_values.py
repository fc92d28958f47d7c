"""The small functions of rag/ with values worked out by hand."""

import asyncio
import json
import re

import numpy as np
import pytest

from equipoise.core import sync
from equipoise.core.results import Trace
from equipoise.core.types import Candidates, Flag, Highlight, Highlights, Passage, Span, Tag, Usage
from equipoise.models.scripted import ScriptedChat
from equipoise.models.structured import strict_schema
from equipoise.rag.gathering import best_first
from equipoise.rag.highlighters.features import FEATURES, features
from equipoise.rag.highlighters.quotations import documents_text, place
from equipoise.rag.highlighters.sentence import SentenceFit, calibration
from equipoise.rag.highlighters.sentences import numbered, sentences_of
from equipoise.rag.journal import Journal
from equipoise.rag.pipeline import Monitor
from equipoise.rag.retrieval import fused
from equipoise.rag.summarizers.extractive import joined
from equipoise.rag.summarizers.llm import (
    LlmSummarizer,
    distinct,
    missing,
    opening,
    reply_schema,
    request,
    room,
)
from equipoise.text.labels import is_fragment
from equipoise_lab.methods.baseline import extracts
from hashed_words import HashedWords

FOX = Passage(1, "fox", 10, 62, "The fox is red. Its limit is -5 °C.  It sleeps by day.", "Foxes")
OWL = Passage(2, "owl", 0, 24, "Owls\nhunt at night only.", "")


def quotes(*texts, title="Report", doc_id="d"):
    ends = np.cumsum([len(text) + 1 for text in texts])
    starts = [int(end) - len(text) - 1 for end, text in zip(ends, texts, strict=True)]
    return Highlights(
        tuple(
            Highlight(doc_id, start, start + len(text), text, "d.txt", title)
            for start, text in zip(starts, texts, strict=True)
        )
    )


class TestFused:
    def test_the_worked_value(self):
        first, second = [(7, 0.9), (3, 0.8)], [(3, 12.0), (5, 1.0)]
        assert fused([first, second]) == [
            (3, pytest.approx(1 / 7 + 1 / 6)),
            (7, pytest.approx(1 / 6)),
            (5, pytest.approx(1 / 7)),
        ]
        assert dict(fused([first, second]))[3] == pytest.approx(0.30952, abs=5e-6)

    def test_ties_go_to_the_lower_id(self):
        assert [n for n, _ in fused([[(9, 1.0), (4, 0.5)], [(4, 1.0), (9, 0.5)]])] == [4, 9]
        assert [n for n, _ in fused([[(9, 1.0)], [(2, 1.0)]])] == [2, 9]

    def test_nothing_and_another_constant(self):
        assert fused([]) == fused([[], []]) == []
        assert fused([[(1, 5.0)]], constant=0) == [(1, 1.0)]


class TestQuotations:
    def test_documents_text_numbers_and_titles(self):
        assert documents_text([FOX, OWL]) == (
            "[1] Foxes\nThe fox is red. Its limit is -5 °C.  It sleeps by day.\n\n"
            "[2] \nOwls\nhunt at night only."
        )
        assert documents_text([]) == ""

    def test_place_counts_in_the_document(self):
        spans, dropped = place(["Its limit is -5 °C.", "hunt at night", "no such words"], [FOX, OWL])
        assert spans == (Span("fox", 26, 45), Span("owl", 5, 18))
        assert [(d.reason, d.span, d.quotation) for d in dropped] == [
            ("quotation not found", None, "no such words")
        ]

    def test_place_with_no_quotations_or_no_passages(self):
        assert place([], [FOX]) == ((), ())
        spans, dropped = place(["The fox is red."], [])
        assert (spans, len(dropped)) == ((), 1)

    @pytest.mark.parametrize(
        ("reply", "expected"),
        [
            ("- -5 °C is the limit", ["-5 °C is the limit"]),
            ("-5 °C is the limit", ["-5 °C is the limit"]),
            ("* starred\n- dashed\n\n  - indented  \nbare", ["starred", "dashed", "indented", "bare"]),
            ("NONE", []),
            ("- NONE.\n", []),
            ("", []),
            (" \n- \n", []),
            ("NONE of the foxes sleep.", ["NONE of the foxes sleep."]),
        ],
    )
    def test_extracts(self, reply, expected):
        assert extracts(reply) == expected


class TestNumbered:
    def test_numbers_run_on_under_titles_with_white_space_folded(self):
        assert numbered(sentences_of([FOX, OWL])) == (
            "Foxes\n[1] The fox is red.\n[2] Its limit is -5 °C.\n[3] It sleeps by day.\n\n"
            "[4] Owls hunt at night only."
        )
        assert numbered([]) == ""


class TestSentenceHighlighter:
    fitted = SentenceFit(
        rank=np.array([1.0, 0.0]), answer=np.array([0.0, 2.0]), bias=-1.0, threshold=0.5, keep=0.5, most=3
    )

    def test_probability_is_logistic(self):
        assert self.fitted.probability(np.array([9.0, 0.5])) == pytest.approx(0.5)
        assert self.fitted.probability(np.array([0.0, 1.0])) == pytest.approx(1 / (1 + np.e**-1))

    def test_choose_keeps_those_within_half_the_odds_of_the_best(self):
        """log 0.5 is -0.693: of scores 2.0, 1.4, 1.3 and 1.31 the two last are too far down."""
        values = np.array([[1.3, 0.0], [2.0, 1.0], [1.4, 0.0], [1.31, 0.0]])
        assert self.fitted.choose(values) == [1, 2, 3]
        assert self.fitted.choose(np.array([[1.3, 0.0], [2.0, 1.0], [1.4, 0.0]])) == [1, 2]

    def test_choose_takes_at_most_most_and_equal_ones_in_order(self):
        assert self.fitted.choose(np.ones((5, 2))) == [0, 1, 2]

    def test_choose_declines_below_the_threshold_of_the_best_alone(self):
        values = np.array([[2.0, 0.4], [1.0, 9.0]])  # probability of the best: logistic(-0.2) = 0.450
        assert self.fitted.choose(values) == []
        assert self.fitted.choose(values, 0.45) == [0]
        assert self.fitted.choose(values, 0.451) == []

    def test_the_fitted_values_are_whole(self):
        fitted = calibration()
        assert fitted.rank.shape == fitted.answer.shape == (len(FEATURES),)
        assert 0 < fitted.threshold < 1
        assert 0 < fitted.keep <= 1
        assert fitted.most >= 1

    @pytest.mark.parametrize(
        ("text", "fragment"),
        [
            ("Opening hours", True),
            ("Opening hours of the library and its reading room", False),  # nine words
            ("It is closed.", False),
            ("Founded 1874", False),
            ("Twelve piers", False),
            ('He said "no."', False),
            ("Notes:", False),
            ("-C: only what is cleared", False),  # a name, and what is said of it
        ],
    )
    def test_is_fragment(self, text, fragment):
        assert is_fragment(text) is fragment

    @pytest.mark.parametrize(
        ("question", "text", "wanted", "unwanted"),
        [
            ("How many piers has it?", "It stands on seven piers.", 1, 0),
            ("How many piers has it?", "It stands on piers.", 0, 1),
            ("When was it built?", "It was built in 1874.", 1, 0),
            ("Who built it?", "It was built by Ada Harlow.", 1, 0),
            ("Who built it?", "It was built by us.", 0, 1),
            ("Who is Ada?", "She and Ada left.", 0, 1),  # the name of the question answers nothing
            ("Why is it grey?", "It is made of stone.", 0, 0),
        ],
    )
    def test_the_kind_of_answer(self, question, text, wanted, unwanted):
        (row,) = features(question, sentences_of([Passage(1, "d", 0, len(text), text)]), HashedWords())
        values = dict(zip(FEATURES, row, strict=True))
        assert (values["wanted_kind"], values["unwanted_kind"]) == (wanted, unwanted)

    def test_shared_words_names_and_flags_by_hand(self):
        """ "How old is the Harlow bridge in Kent?": content words old, harlow, bridge, kent; names Harlow, Kent."""
        text = "The bridge is old. Is it safe now for us?"
        passage = Passage(1, "d", 0, len(text), text, "Harlow")
        rows = features("How old is the Harlow bridge in Kent?", sentences_of([passage]), HashedWords())
        first, second = (dict(zip(FEATURES, row, strict=True)) for row in rows)
        assert (first["words"], first["window_words"], first["passage_words"]) == (0.5, 0.75, 0.75)
        assert second["words"] == 0
        assert first["missing_names"] == second["missing_names"] == 0.5
        assert (first["is_question"], second["is_question"]) == (0, 1)
        assert (first["short"], second["short"]) == (1, 0)
        assert max(first["below_best"], second["below_best"]) == 0


class TestBlindSummarizer:
    def test_room_is_60_and_30_a_guess_and_half_the_characters(self):
        assert room(quotes("a" * 100, "b" * 21), 5) == 60 + 150 + 60
        assert room(Highlights(), 1) == 90

    @pytest.mark.parametrize(
        ("answer", "most", "left"),
        [
            ("One is red. Two is blue. Three is not.", 2, "One is red. Two is blue."),
            ("One is red.", 2, "One is red."),
            ("  no end mark ", 2, "no end mark"),
            ("The limit is -5 °C. More.", 1, "The limit is -5 °C."),
        ],
    )
    def test_opening(self, answer, most, left):
        assert opening(answer, most=most) == left

    def test_missing_names_a_lost_number_of_short_quotes(self):
        short = quotes("The limit is -5 °C for hives.")
        assert missing("The limit for hives is -5 °C.", short) == ()
        assert "-5" in missing("There is a limit for hives.", short)

    def test_a_summary_of_long_quotes_may_leave_things_out(self):
        said = "We met Ada, Berta, Carla and Dora in 1874"
        filler = " and then it was that they all went on with it as they had done before" * 6
        assert missing("We met Ada and Berta.", quotes(f"{said}{filler}.")) == ()
        assert set(missing("We met Ada and Berta.", quotes(f"{said}."))) == {"Carla", "Dora", "1874"}

    def test_what_stands_in_the_title_is_not_missing(self):
        assert (
            missing("It is closed on Mondays.", quotes("Harlow is closed on Mondays.", title="Harlow")) == ()
        )

    def test_distinct(self):
        asked = ["Who?", " who? ", "", "How  many?", "how many?", "  ", "Why?"]
        assert distinct(asked) == ("Who?", "How  many?", "Why?")
        assert distinct([]) == distinct(["", " "]) == ()

    def test_reply_schema_bounds_the_guesses(self):
        properties = reply_schema(3).model_json_schema()["properties"]
        assert list(properties) == ["guessed_questions", "answer"]
        assert (properties["guessed_questions"]["minItems"], properties["guessed_questions"]["maxItems"]) == (
            1,
            3,
        )
        more = reply_schema(1)(guessed_questions=["Who?", "Why?"], answer="Ada.")
        assert more.guessed_questions == ["Who?"]

    def test_a_guess_ends_at_its_first_question_mark(self):
        said = reply_schema(2)(guessed_questions=["Who? When? Who?", "An owl"], answer="Ada.")
        assert said.guessed_questions == ["Who?", "An owl"]

    @pytest.mark.parametrize(
        ("guess", "fits"),
        [("Who built it?", True), ("Wer baute es, und wann?", True), ("Who? When?", False), ("Who built it", False),
         ("?", False), ("Who\nbuilt it?", False), ('Who said "no"?', False), ("o" * 201 + "?", False)],
    )  # fmt: skip
    def test_a_model_that_is_bound_writes_one_question_a_guess(self, guess, fits):
        items = strict_schema(reply_schema(1))["properties"]["guessed_questions"]["items"]
        assert items["type"] == "string"
        assert bool(re.search(items["pattern"], guess)) == fits

    @pytest.mark.parametrize("bad", [{"answer": " "}, {"answer": "..."}, {"guessed_questions": ["", "?"]}])
    def test_reply_schema_wants_words(self, bad):
        good = {"guessed_questions": ["Who?", " "], "answer": "Ada."}
        assert reply_schema(5)(**good).guessed_questions == ["Who?"]
        with pytest.raises(ValueError, match=next(iter(bad))):
            reply_schema(5)(**good | bad)

    def test_an_invented_topic_comes_back_as_the_quotes(self):
        chapter = quotes("Chapter 4", title="")
        reply = json.dumps({"guessed_questions": ["What is it about?"], "answer": "The main topic is gold"})
        summary = sync.run(LlmSummarizer(ScriptedChat([reply]), guesses=1).summarize(chapter))
        assert (summary.answer, summary.grounded) == ("Chapter 4", False)
        assert "gold" in summary.unsupported
        assert "4" in summary.missing

    def test_the_request_is_quotes_under_titles(self):
        two = Highlights(
            (*quotes("It is\n red.", doc_id="a").items, *quotes("It is 5.", title="", doc_id="b").items)
        )
        (system, user) = request(two, frozenset({Tag.NO}), guesses=4)
        assert user.content == (
            "Quotes:\nFrom Report:\n- It is red.\n\nFrom a document:\n- It is 5.\n\n"
            "The answer to the question is: no."
        )
        assert "at most 4." in system.content

    def test_joined(self):
        two = Highlights(
            (*quotes("It is\n red.", "It barks.", doc_id="a").items, *quotes("Five.", doc_id="b").items)
        )
        assert joined(two.items) == "It is red. It barks.\nFive."
        assert joined(two.items, frozenset({Tag.YES})) == "Yes. It is red. It barks.\nFive."


class TestMonitor:
    def test_the_nearest_guess_counts(self):
        """Bags of words: "red fox" and "red owl" share one of two words, cosine 1/2."""
        monitor = Monitor(HashedWords(dimensions=4096), 0.5)
        assert monitor.nearest("red fox", ["blue sea", "red owl"]) == pytest.approx(0.5)
        assert monitor.nearest("red fox", ["fox red"]) == pytest.approx(1.0)
        assert monitor.nearest("red fox", []) == -1.0


class TestJournal:
    def test_a_stage_adds_up_and_is_timed_also_when_it_fails(self, monkeypatch):
        clock = iter([1.0, 3.0, 10.0, 15.0])
        monkeypatch.setattr("equipoise.rag.journal.perf_counter", lambda: next(clock))
        journal = Journal()
        with journal.stage("one"):
            pass
        assert journal.trace.timings == {"one": 2.0}
        with pytest.raises(RuntimeError), journal.stage("one"):
            raise RuntimeError
        assert journal.trace.timings == {"one": 7.0}

    def test_a_trace_stays_as_it_was(self):
        journal = Journal(Trace(models={"encoder": "e"}))
        journal.spent(Usage(1, 2, 3))
        kept = Candidates((FOX,), np.array([0.25], np.float32), np.eye(1, dtype=np.float32), np.ones(1))
        journal.filtered(kept, (Flag(FOX, "why", 0.5),))
        trace = journal.trace
        with journal.stage("later"):
            journal.spent(Usage(4))
        journal.note(failure="later")
        assert (trace.timings, trace.models, trace.usage) == ({}, {"encoder": "e"}, Usage(1, 2, 3))
        assert trace.failure == ""
        assert trace.flagged == (Flag(FOX, "why", 0.5),)
        assert [(s.passage, s.score) for s in trace.passages] == [(FOX, 0.25)]


class TestSync:
    def test_it_runs_inside_a_running_loop_in_another(self):
        async def loop_of():
            await asyncio.sleep(0)
            return id(asyncio.get_running_loop())

        async def notebook_cell():
            return sync.run(loop_of()), id(asyncio.get_running_loop())

        inner, outer = asyncio.run(notebook_cell())
        assert inner != outer
        assert sync.run(loop_of())

    def test_errors_come_out_of_both(self):
        async def fail():
            raise LookupError("lost")

        async def notebook_cell():
            sync.run(fail())

        with pytest.raises(LookupError, match="lost"):
            sync.run(fail())
        with pytest.raises(LookupError, match="lost"):
            asyncio.run(notebook_cell())


def test_quotes_are_shown_in_the_order_in_which_they_were_picked():
    items = tuple(Highlight("d", at, at + 5, "words", "d.txt") for at in (0, 10, 20, 30))
    picked = (Span("d", 21, 25), Span("d", 0, 5), Span("x", 0, 5), "no span", Span("d", None, 3))
    assert best_first(Highlights(items), picked) == (2, 0, 1, 3)
    assert best_first(Highlights(items), ()) == (0, 1, 2, 3)
    assert best_first(Highlights(()), picked) == ()
