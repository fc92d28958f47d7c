"""What every Pipeline promises, over every pipeline there is; each Reason is reached. Scripted, and `live`."""

import json
from dataclasses import dataclass, field

import pytest

from equipoise.core import sync
from equipoise.core.errors import InputError, ModelUnavailable
from equipoise.core.protocols import Pipeline
from equipoise.core.results import Answer, Reason, Refusal
from equipoise.core.settings import HighlightSettings, MonitorSettings, Settings, SummarizeSettings
from equipoise.models.scripted import ScriptedChat
from equipoise.rag.build import PIPELINES, pipeline
from equipoise.rag.components import Components
from equipoise.testing.corpus import ANSWER, QUESTION
from equipoise.text.questions import MAX_QUESTION

GUESS = "How long is the bridge?"
WRITTEN = "The Harlow bridge is 212 metres long and stands on seven piers of grey stone."
OPENED = "The Harlow bridge was opened to carts in 1874."
PARAGRAPH = f"{OPENED} {ANSWER} Lorries above 18 tonnes must take the ferry instead."
EXTRACTS = {"answer": "212 metres", "text_extracts": [ANSWER]}
STRUCTURED = Settings(
    highlight=HighlightSettings(name="structured"), summarize=SummarizeSettings(when="always", guesses=1)
)
STAGES = {
    "hs": ["retrieve", "filter", "highlight", "canonicalize", "summarize"],
    "vanilla": ["retrieve", "filter", "answer"],
}
MARKS = {"highlight": "text_extracts", "summarize": "guessed_questions"}
"""A word of each prompt of a pipeline with the structured highlighter."""


def script(extracts=EXTRACTS, answer=WRITTEN, guesses=(GUESS,), plain=WRITTEN):
    """What the model says to each of the prompts; an exception is raised instead."""
    said = {"guessed_questions": list(guesses), "answer": answer}
    return ScriptedChat(
        {
            MARKS["highlight"]: extracts if isinstance(extracts, Exception) else json.dumps(extracts),
            MARKS["summarize"]: answer if isinstance(answer, Exception) else json.dumps(said),
            "UNANSWERABLE": plain,
        }
    )


@dataclass
class Told:
    """An observer that remembers."""

    stages: list = field(default_factory=list)
    answers: list = field(default_factory=list)

    def stage(self, name):
        self.stages.append(name)

    def quotes(self, answers):
        self.answers.append((self.stages[-1], *answers))


@pytest.fixture
def asked(store, encoder):
    """A function: the result of `question` with the pipeline `name`."""

    def ask(name, question=QUESTION, *, chat=None, settings=STRUCTURED, over=store, **more):
        components = Components(settings, over, encoder, script() if chat is None else chat)
        return sync.run(pipeline(name, components).ask(question, **more))

    return ask


def assert_lawful(result, store):
    assert isinstance(result, Answer | Refusal)
    for item in result.highlights.items:
        document = store.document(item.doc_id)
        assert document.text[item.start : item.end] == item.text
        assert item.source == document.source
    assert all(seconds >= 0 for seconds in result.trace.timings.values())
    if isinstance(result, Refusal) and result.reason is Reason.NO_QUESTION:
        assert (result.trace.models, result.trace.timings) == ({}, {})
        return
    assert result.trace.models["encoder"]
    assert "retrieve" in result.trace.timings
    if isinstance(result, Answer):
        assert any(map(str.isalnum, result.text))
        assert result.trace.passages
    else:
        assert result.detail.endswith((".", ")"))
        assert result.detail.strip()


def test_every_pipeline_has_its_stages_here():
    assert set(STAGES) == set(PIPELINES), "PIPELINES has a new name: add its stages to STAGES"


@pytest.mark.parametrize("name", PIPELINES)
class TestEveryPipeline:
    def test_is_a_pipeline(self, name, store, encoder):
        assert isinstance(pipeline(name, Components(STRUCTURED, store, encoder, script())), Pipeline)

    def test_answers_and_writes_down_how(self, name, asked, store):
        result = asked(name)
        assert_lawful(result, store)
        assert isinstance(result, Answer)
        assert "212" in result.text
        assert result.trace.passages[0].passage.doc_id == "bridge"
        assert list(result.trace.timings) == STAGES[name]
        assert result.trace.usage.calls == (2 if name == "hs" else 1)
        assert result.trace.usage.prompt_tokens > 100
        assert result.trace.models["llm"] == "scripted"

    def test_the_same_every_time(self, name, asked):
        first, again = asked(name), asked(name)
        assert (first.text, first.highlights) == (again.text, again.highlights)
        assert first.trace.passages == again.trace.passages

    @pytest.mark.parametrize("question", ["", " \n\t", "a" * (MAX_QUESTION + 1), "b " * 500_000])
    def test_bad_questions_are_the_callers_error(self, name, asked, question):
        with pytest.raises(InputError, match=r"the question .*: (type|ask) one"):
            asked(name, question)

    def test_the_longest_question_is_taken(self, name, asked, store):
        assert_lawful(asked(name, "q" * MAX_QUESTION), store)

    @pytest.mark.parametrize("question", ["🐝?", "$question ${x} {x} %s", "what is it", "bridge\x00\u202e"])
    def test_odd_questions(self, name, asked, store, question):
        assert_lawful(asked(name, question), store)

    def test_half_a_surrogate_pair_is_the_callers_error(self, name, asked):
        """It stands for a byte of the command line that is no text; no model can be sent it."""
        with pytest.raises(InputError, match="not valid text: type it again"):
            asked(name, "How long is the bridge\udcff?")

    def test_a_follow_up_is_read_with_the_question_it_follows(self, name, asked):
        chat = script()
        result = asked(name, "And who built it?", chat=chat, before=["Who wrote Emma?", QUESTION, "Thanks!"])
        assert isinstance(result, Answer)
        assert result.trace.read_as == f"{QUESTION} And who built it?"
        assert result.trace.passages[0].passage.doc_id == "bridge"
        first, *others = [repr(request) for request in chat.requests]
        assert result.trace.read_as in first
        assert "built it" not in repr(others)
        assert asked(name, before=["Who wrote Emma?"]).trace.read_as == ""

    def test_an_observer_is_told_every_stage_and_changes_nothing(self, name, asked):
        first, second, told = script(), script(), Told()
        alone, watched = asked(name, chat=first), asked(name, chat=second, observer=told)
        assert list(dict.fromkeys(told.stages)) == STAGES[name]
        assert first.requests == second.requests
        assert (alone.text, alone.highlights) == (watched.text, watched.highlights)
        assert len(told.answers) == (name == "hs")

    @pytest.mark.parametrize("question", ["", "a" * (MAX_QUESTION + 1), "Why\udcff?"])
    def test_a_bad_question_is_no_better_after_others(self, name, asked, question):
        with pytest.raises(InputError):
            asked(name, question, before=[QUESTION])

    def test_nothing_retrieved(self, name, asked, embedded):
        chat, empty = script(), embedded()
        result = asked(name, chat=chat, over=empty)
        assert_lawful(result, empty)
        assert result.reason is Reason.NOTHING_RETRIEVED
        assert chat.requests == []

    def test_model_failed(self, name, asked, store):
        down = ModelUnavailable("the endpoint is down: start it")
        result = asked(name, chat=script(extracts=down, plain=down))
        assert_lawful(result, store)
        assert (result.reason, result.trace.failure) == (Reason.MODEL_FAILED, str(down))
        assert "endpoint" not in result.detail
        assert STAGES[name][2] in result.trace.timings, "the stage that failed has no time"
        assert result.trace.passages

    def test_without_a_model_it_is_built_or_says_how_to_get_one(self, name, store, encoder):
        without = Components(Settings(), store, encoder, None)
        if name == "hs":
            assert_lawful(sync.run(pipeline(name, without).ask(QUESTION)), store)
        else:
            with pytest.raises(ModelUnavailable, match="needs a language model: run "):
                pipeline(name, without)


class TestReasonsOfHighlightSummarize:
    def test_nothing_highlighted(self, asked, store):
        chat = script(extracts={"answer": "NONE", "text_extracts": []})
        result = asked("hs", chat=chat)
        assert_lawful(result, store)
        assert result.reason is Reason.NOTHING_HIGHLIGHTED
        assert len(chat.requests) == 1, "the summarizer was asked about nothing"

    def test_nothing_highlighted_because_everything_was_dropped(self, asked, store):
        result = asked("hs", chat=script(extracts={"answer": "", "text_extracts": ["made up words here"]}))
        assert result.reason is Reason.NOTHING_HIGHLIGHTED
        assert [d.quotation for d in result.trace.dropped] == ["made up words here"]

    def test_the_summarizers_model_failed(self, asked, store):
        result = asked("hs", chat=script(answer=ModelUnavailable("the endpoint is down: start it")))
        assert_lawful(result, store)
        assert result.reason is Reason.MODEL_FAILED
        assert "summarize" in result.trace.timings
        assert result.trace.usage.calls == 1

    def test_guess_too_far(self, asked, store):
        watched = STRUCTURED.model_copy(
            update={"monitor": MonitorSettings(min_similarity=0.6), "summarize": SummarizeSettings()}
        )
        far = asked("hs", chat=script(guesses=["What do beekeepers feed in autumn?"]), settings=watched)
        assert_lawful(far, store)
        assert far.reason is Reason.GUESS_TOO_FAR
        assert far.highlights.items
        assert far.trace.guessed_questions == ("What do beekeepers feed in autumn?",)
        near = asked("hs", chat=script(guesses=["Who built it?", GUESS]), settings=watched)
        assert isinstance(near, Answer)
        assert "monitor" in near.trace.timings

    def test_guesses_are_held_against_the_question_as_it_was_read(self, asked):
        watched = STRUCTURED.model_copy(
            update={"monitor": MonitorSettings(min_similarity=0.6), "summarize": SummarizeSettings()}
        )
        alone = asked("hs", "And in all?", chat=script(guesses=[GUESS]), settings=watched)
        assert alone.reason is Reason.GUESS_TOO_FAR
        follows = asked(
            "hs", "And in all?", chat=script(guesses=[GUESS]), settings=watched, before=[QUESTION]
        )
        assert isinstance(follows, Answer)

    def test_a_summarizer_that_writes_nothing_usable_is_refused_where_guesses_are_watched(self, asked, store):
        watched = STRUCTURED.model_copy(
            update={"monitor": MonitorSettings(min_similarity=0.6), "summarize": SummarizeSettings()}
        )
        refused = asked("hs", chat=script(guesses=["?"]), settings=watched)
        assert_lawful(refused, store)
        assert refused.reason is Reason.MODEL_FAILED
        assert "twice sent no valid" in refused.trace.failure
        assert "twice" not in refused.detail
        assert refused.trace.usage.calls == 3
        quoted = asked("hs", chat=script(guesses=["?"]), settings=STRUCTURED)
        assert isinstance(quoted, Answer)
        assert not quoted.grounded
        assert "twice sent no valid" in quoted.trace.failure

    def test_an_observer_gets_the_quotes_before_anything_is_written_about_them(self, asked):
        told = Told()
        result = asked("hs", observer=told)
        [(stage, part)] = told.answers
        assert (stage, part.question, part.result.text) == ("canonicalize", QUESTION, "")
        assert (part.result.highlights, part.result.best_first) == (result.highlights, result.best_first)
        refused = asked("hs", chat=script(extracts={"answer": "NONE", "text_extracts": []}), observer=told)
        assert told.answers[1][1].result == refused

    def test_an_observer_gets_no_quotes_where_a_monitor_may_refuse_them(self, asked):
        watched = STRUCTURED.model_copy(update={"monitor": MonitorSettings(min_similarity=0.6)})
        for guess in (GUESS, "What do beekeepers feed in autumn?"):
            told = Told()
            asked("hs", chat=script(guesses=[guess]), settings=watched, observer=told)
            assert "monitor" in told.stages
            assert told.answers == []

    def test_the_monitor_is_off_by_default(self, asked):
        result = asked("hs", chat=script(guesses=["What do beekeepers feed in autumn?"]))
        assert isinstance(result, Answer)
        assert "monitor" not in result.trace.timings

    def test_quotes_in_place_of_what_they_do_not_say(self, asked):
        result = asked("hs", chat=script(answer="The main topic is gold."))
        assert (result.text, result.grounded) == (PARAGRAPH, False)
        assert "gold" in result.trace.unsupported

    def test_quotes_that_are_the_answer_stand_best_first(self, asked):
        """The documents' order is bees, then bridge."""
        bees = "Our beekeepers feed sugar syrup in autumn only."
        chosen = STRUCTURED.model_copy(update={"summarize": SummarizeSettings(name="extractive")})
        for extracts in ([ANSWER, bees], [bees, ANSWER]):
            told = {"answer": "212 metres", "text_extracts": extracts}
            result = asked("hs", settings=chosen, chat=script(extracts=told))
            assert [item.marked[0] for item in result.quotes] == extracts
            assert [line.split()[0] for line in result.text.splitlines()] == [
                {ANSWER: "The", bees: "Our"}[extract] for extract in extracts
            ]

    def test_extractive_has_no_second_call(self, asked):
        chosen = STRUCTURED.model_copy(update={"summarize": SummarizeSettings(name="extractive")})
        result = asked("hs", settings=chosen)
        assert (result.text, result.trace.usage.calls) == (PARAGRAPH, 1)


class TestReasonsOfVanilla:
    @pytest.mark.parametrize("said", ["UNANSWERABLE", "UNANSWERABLE.", " UNANSWERABLE\n"])
    def test_model_declined(self, asked, store, said):
        result = asked("vanilla", chat=script(plain=said))
        assert_lawful(result, store)
        assert result.reason is Reason.MODEL_DECLINED
        assert result.trace.usage.calls == 1

    @pytest.mark.parametrize("said", ["", " \n", "...", "\u200b"])
    def test_a_reply_without_a_word_is_a_failure(self, asked, store, said):
        result = asked("vanilla", chat=script(plain=said))
        assert_lawful(result, store)
        assert result.reason is Reason.MODEL_FAILED


@pytest.mark.live
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", PIPELINES)
def test_with_the_local_model(name, asked, store, local_chat):
    reads = Settings(highlight=HighlightSettings(name="indexed"))  # the default asks no local model to read
    result = asked(name, QUESTION, chat=local_chat, settings=reads)
    assert_lawful(result, store)
    assert result.trace.usage.prompt_tokens > 100
    print(name, result)
