"""Odds from a first token, the calibrated probability, and what declines by it. Values by hand."""

import json
from math import exp, inf, log

import pytest

from equipoise.core import sync
from equipoise.core.settings import Settings
from equipoise.core.types import ChatReply, Passage, Proposal, Query, Span, Tag, TokenLogprob, Usage
from equipoise.models.odds import yes_odds
from equipoise.models.scripted import ScriptedChat
from equipoise.models.structured import strict_schema
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.rag.highlighters import abstention, sentence
from equipoise.rag.highlighters.abstaining import AbstainingHighlighter
from equipoise.rag.highlighters.abstention import (
    LIMIT,
    UNFITTED,
    Check,
    CheckFit,
    calibrations,
    log_odds,
    second_opinion,
)
from equipoise.rag.highlighters.indexed import MOST, IndexedHighlighter, reply_schema, widened
from equipoise.rag.highlighters.reader import ReaderHighlighter
from equipoise.rag.highlighters.sentence import SentenceHighlighter
from equipoise.text.polar import is_yes_no
from equipoise.text.spans import DropReason
from hashed_words import HashedWords

TEXT = "The fox sleeps by day. Owls hunt at night only. The badger was first seen in 1874."
PASSAGE = Passage(1, "d", 0, len(TEXT), TEXT, "Animals")
ALWAYS = CheckFit(check=1.0, second=0.0, bias=0.0, threshold=0.5)
SECOND = SentenceHighlighter(HashedWords(), sentence.calibration(), threshold=0.0)


def told(*pairs):
    """A reply whose first token had these (token, probability) alternatives."""
    top = tuple((token, log(p)) for token, p in pairs)
    return ChatReply(pairs[0][0], "m", Usage(1, 10, 1), logprobs=(TokenLogprob(*top[0], top),))


class TestOdds:
    def test_forms_of_a_word_add_up(self):
        assert yes_odds(told(("Yes", 0.3), (" yes", 0.3), ("No", 0.2), ("no.", 0.1))) == pytest.approx(log(2))

    def test_a_word_that_is_not_told_gets_the_last_one_told(self):
        assert yes_odds(told(("yes", 0.9), ("The", 0.05), ("It", 0.01))) == pytest.approx(log(90))
        assert yes_odds(told(("no", 0.8), ("The", 0.1))) == pytest.approx(-log(8))

    def test_the_token_itself_where_no_alternatives_are_told(self):
        assert yes_odds(ChatReply("yes", "m", logprobs=(TokenLogprob("yes", -0.1),))) == pytest.approx(0.0)

    def test_without_log_probabilities_the_word_decides(self):
        assert [yes_odds(ChatReply(said, "m")) for said in ("Yes, it does.", "no", "NO!", "**yes**")] == [
            inf, -inf, -inf, inf]  # fmt: skip

    @pytest.mark.parametrize("said", ["", "  ", "Perhaps", "yesterday", "noon"])
    def test_neither(self, said):
        assert yes_odds(ChatReply(said, "m")) is None

    def test_neither_among_the_tokens(self):
        assert yes_odds(told(("The", 0.9), ("I", 0.1))) is None


class TestCalibration:
    fitted = CheckFit(check=2.0, second=0.5, bias=-1.0, threshold=0.4)

    def test_both_count(self):
        assert self.fitted.probability(0.5, 2.0) == pytest.approx(1 / (1 + exp(-1)))
        assert self.fitted.probability(0.0, 0.0) == pytest.approx(1 / (1 + exp(1)))

    def test_odds_are_cut_at_8(self):
        assert self.fitted.probability(inf, -inf) == pytest.approx(1 / (1 + exp(-(16 - 4 - 1))))
        assert self.fitted.probability(-inf, 900.0) == self.fitted.probability(-8.0, 8.0)

    def test_a_model_that_was_not_fitted_is_taken_at_its_own_probability(self):
        assert calibrations("nobody/knows") == {}
        assert UNFITTED.probability(log(3), 7.0) == pytest.approx(0.75)
        assert UNFITTED.threshold == 0.5

    def test_the_second_opinion_is_one_that_the_model_was_fitted_with(self, monkeypatch):
        fitted = {"old": {"sentence": self.fitted}, "new": {"sentence": self.fitted, "reader": self.fitted}}
        monkeypatch.setattr(abstention, "calibrations", lambda model: fitted.get(model, {}))
        assert [second_opinion(name, "reader") for name in ("old", "new", "none")] == [
            "sentence",
            "reader",
            "reader",
        ]
        assert [second_opinion(name, "sentence") for name in fitted] == ["sentence", "sentence"]

    def test_log_odds(self):
        assert log_odds(0.75) == pytest.approx(log(3))
        assert [log_odds(p) for p in (0.0, 1e-9, 0.5, 1.0)] == [-LIMIT, -LIMIT, 0.0, LIMIT]


def checked(reply, fitted=ALWAYS):
    chat = ScriptedChat([reply])
    return chat, Check(chat, SECOND, fitted)


class TestCheck:
    def test_it_asks_for_one_token_with_its_alternatives(self):
        chat, check = checked(told(("yes", 0.6), ("no", 0.2)))
        verdict = sync.run(check.ask(Query("When was the badger seen?"), [PASSAGE]))
        assert verdict.probability == pytest.approx(0.75)
        assert (verdict.usage.calls, chat.requests[0].options.max_tokens) == (1, 1)
        assert chat.requests[0].options.top_logprobs == 20
        assert TEXT[verdict.likeliest.start : verdict.likeliest.end] == "The badger was first seen in 1874."

    def test_nothing_is_asked_about_nothing(self):
        chat, check = checked("yes")
        assert sync.run(check.ask(Query("Who?"), [])).probability == 0.0
        assert chat.requests == []

    def test_the_threshold_itself_is_enough(self):
        _, check = checked(told(("yes", 0.5), ("no", 0.5)))
        verdict = sync.run(check.ask(Query("Who?"), [PASSAGE]))
        assert check.declines(verdict) is None

    def test_below_it_the_proposal_says_by_how_much(self):
        _, check = checked(told(("yes", 0.2), ("no", 0.6)))
        verdict = sync.run(check.ask(Query("Who?"), [PASSAGE]))
        declined = check.declines(verdict)
        assert (declined.spans, declined.threshold, declined.usage.calls) == ((), 0.5, 1)
        assert declined.probability == pytest.approx(0.25)


class TestIndexed:
    def ask(self, question, *replies):
        chat = ScriptedChat(replies)
        highlighter = IndexedHighlighter(chat, check=Check(chat, SECOND, ALWAYS))
        return chat, sync.run(highlighter.highlight(Query(question), [PASSAGE]))

    def test_it_stops_asking_once_it_declines(self):
        chat, proposal = self.ask("Who?", told(("no", 0.9), ("yes", 0.1)))
        assert (proposal.spans, len(chat.requests)) == ((), 1)

    def test_the_requests_begin_alike(self):
        yes = told(("yes", 0.9), ("no", 0.1))
        chat, _ = self.ask("Do owls hunt at night?", yes, '{"sentences": [2]}', yes)
        systems = {request.messages[0].content for request in chat.requests}
        texts = {request.messages[1].content.split("Task:")[0] for request in chat.requests}
        assert (len(chat.requests), len(systems), len(texts)) == (3, 1, 1)

    def test_the_likeliest_sentence_joins_the_picked_ones(self):
        _, proposal = self.ask("When was the badger seen?", "yes", '{"sentences": [1]}')
        assert [TEXT[span.start : span.end] for span in proposal.spans] == [
            "The fox sleeps by day.", "The badger was first seen in 1874."]  # fmt: skip

    def test_an_empty_pick_declines_whatever_the_features_say(self):
        _, proposal = self.ask("When was the badger seen?", "yes", '{"sentences": []}')
        assert proposal.spans == ()

    @pytest.mark.parametrize(
        ("yes", "no", "tags"),
        [(0.8, 0.1, {Tag.YES}), (0.1, 0.8, {Tag.NO}), (0.5, 0.4, set()), (0.4, 0.5, set())],
    )
    def test_a_tag_where_the_model_is_sure(self, yes, no, tags):
        verdict = told(("yes", yes), ("no", no))
        _, proposal = self.ask("Do owls hunt at night?", "yes", '{"sentences": [2]}', verdict)
        assert proposal.tags == tags

    def test_no_verdict_is_asked_for_other_questions(self):
        chat, proposal = self.ask("When do owls hunt?", "yes", '{"sentences": [2]}')
        assert (proposal.tags, len(chat.requests)) == (frozenset(), 2)

    def test_numbers_beyond_the_third_are_dropped_with_a_reason(self):
        _, proposal = self.ask("When do owls hunt?", "yes", '{"sentences": [2, 9, 2, 1, 2, 9, 7, 1]}')
        assert [(drop.reason, drop.quotation) for drop in proposal.dropped] == [
            (DropReason.NO_SUCH_NUMBER, "9"),
            (DropReason.OVER_THE_PICK, "1"),
            (DropReason.OVER_THE_PICK, "7"),
        ]

    def test_the_limit_is_told_to_the_model(self):
        assert strict_schema(reply_schema(MOST))["properties"]["sentences"]["maxItems"] == MOST

    def test_widened(self):
        spans = [Span("d", n, n + 1) for n in range(5)]
        last = Span("d", 4, 5)
        assert widened(spans[:3], None) == tuple(spans[:3])
        assert widened(spans[:1], last) == (spans[0], spans[4])
        assert widened(spans[4:], last) == (spans[4],)
        assert widened([], last) == ()


class Fixed:
    async def highlight(self, query, passages):
        return Proposal((Span("d", 0, 22),), usage=Usage(1, 5, 5))


@pytest.mark.parametrize(("yes", "spans", "calls"), [(0.9, 1, 2), (0.1, 0, 1)])
def test_any_highlighter_behind_the_check(yes, spans, calls):
    _, check = checked(told(("yes", yes), ("no", 1 - yes)))
    proposal = sync.run(AbstainingHighlighter(Fixed(), check).highlight(Query("Who?"), [PASSAGE]))
    assert (len(proposal.spans), proposal.usage.calls) == (spans, calls)
    assert proposal.probability == pytest.approx(yes)


@pytest.mark.parametrize("name", ["reader", "sentence"])
@pytest.mark.parametrize(("yes", "declines"), [(0.9, False), (0.1, True)])
def test_what_reads_without_a_model_declines_by_the_check_where_it_is_wanted(name, yes, declines):
    """Whether the passages answer is the model's word then: what the reader would decline by itself is quoted."""
    chat = ScriptedChat([told(("yes", yes), ("no", 1 - yes))])
    wanted = Settings.model_validate({"highlight": {"name": name, "abstain": True}})
    proposal = sync.run(
        build.highlighter(Components(wanted, None, HashedWords(), chat)).highlight(
            Query("Who mends the roof of the chapel?"), [PASSAGE]
        )
    )
    assert (proposal.spans == ()) is declines
    assert (proposal.usage.calls, len(chat.requests)) == (1, 1)
    assert proposal.probability == pytest.approx(yes)


def test_without_a_model_a_check_that_is_wanted_is_left_out():
    wanted = Settings.model_validate({"highlight": {"name": "reader", "abstain": True}})
    assert isinstance(build.highlighter(Components(wanted, None, HashedWords())), ReaderHighlighter)


def test_the_fitted_values_are_complete():
    from importlib.resources import files

    models = json.loads(files("equipoise.rag.highlighters").joinpath("abstention.json").read_text("utf-8"))
    assert set(models["local/qwen2.5-coder-1.5b"]) <= {"reader", "sentence"}
    for each in models.values():
        assert all(0 < CheckFit(**values).threshold < 1 for values in each.values())


@pytest.mark.parametrize(
    "question",
    [
        "Is it red?",
        "Can I return it after 30 days",
        "Sleep and memory: does one help the other?",
        "In 1874, were there badgers?",
        "Don\u2019t owls hunt?",
        "Does it work or not?",
    ],
)
def test_yes_no_questions(question):
    assert is_yes_no(question)


@pytest.mark.parametrize(
    "question", ["When is it?", "Is it red or blue?", "What is this?", "", "Iser river?", "Who can swim?"]
)
def test_other_questions(question):
    assert not is_yes_no(question)
