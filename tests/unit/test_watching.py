"""While a question is answered: the stage that runs on stderr, the quotes before the written answer, nothing twice."""

import json

import pytest

from equipoise.apps import progress, render
from equipoise.apps.asking import watching
from equipoise.apps.terminal import Terminal
from equipoise.core import sync
from equipoise.core.errors import ModelUnavailable
from equipoise.core.protocols import Observer
from equipoise.core.settings import (
    HighlightSettings,
    MonitorSettings,
    QuestionSettings,
    Settings,
    SummarizeSettings,
)
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.models.scripted import ScriptedChat
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.testing.corpus import ANSWER, DOCUMENTS, QUESTION
from hashed_words import HashedWords

WRITTEN = "The Harlow bridge is 212 metres long; it stands on seven piers of grey stone."
BEES = "What do beekeepers feed in autumn?"
WHOLE = " ".join(DOCUMENTS[0].text.partition("\n\n")[0].split())
NOTHING = {"answer": "NONE", "text_extracts": []}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    encoder = HashedWords()
    with Store.open(tmp_path_factory.mktemp("shelf") / "index.db", create=True) as opened:
        opened.bind_encoder(encoder)
        opened.add_documents(prepare(DOCUMENTS, encoder))
        yield opened


@pytest.fixture
def asked(store, capsys):
    """A function: what the summarizer's request found on the terminal, and all that was shown in the end."""

    def ask(message=QUESTION, written=WRITTEN, guess=QUESTION, least=None):
        seen = []

        def say(messages):
            if "text_extracts" in str(messages):
                picked = {"answer": "212 metres", "text_extracts": [ANSWER]}
                return json.dumps(NOTHING if "Neptune" in messages[-1].content else picked)
            seen.append(capsys.readouterr().out)
            if isinstance(written, Exception):
                raise written
            return json.dumps({"guessed_questions": [guess], "answer": written})

        settings = Settings(
            highlight=HighlightSettings(name="structured"),
            summarize=SummarizeSettings(when="always", guesses=1),
            monitor=MonitorSettings(min_similarity=least),
            question=QuestionSettings(most=2, spelling=False),
        )
        made = build.pipeline("hs", Components(settings, store, HashedWords(), ScriptedChat(say)))
        console = Terminal()
        with watching(console) as watch:
            result = sync.run(made.ask(message, observer=watch))
        render.show(result, console, shown=watch.shown)
        out, err = capsys.readouterr()
        assert err == ""  # no terminal
        return seen, "".join(seen) + out

    return ask


def test_a_watch_is_an_observer():
    with watching(Terminal()) as watch:
        assert isinstance(watch, Observer)


def test_quotes_come_before_the_answer_is_written_and_once(asked):
    seen, out = asked()
    assert seen == [f"[1] bridge.txt, paragraph 1\n    {WHOLE}\n"]
    assert out == f"{seen[0]}\nAnswer\n{WRITTEN}\n"


def test_quotes_that_are_the_answer_are_not_repeated(asked):
    seen, out = asked(written=WHOLE)
    assert out == seen[0]
    seen, out = asked(written="The main topic is gold.")
    assert out == f"{seen[0]}The written answer did not say what the quotes say: the quotes are the answer.\n"


def test_a_summary_that_fails_is_said_after_its_quotes(asked):
    seen, out = asked(written=ModelUnavailable("the endpoint is down"))
    assert ANSWER in seen[0]
    failed = "Something failed while this question was answered: ask it again later."
    assert out == f"{seen[0]}No answer (model failed): {failed}\n"


@pytest.mark.parametrize("guess", [QUESTION, BEES])
def test_under_a_monitor_nothing_is_shown_before_it_has_passed(asked, guess):
    seen, out = asked(guess=guess, least=0.9)
    assert seen == [""]
    assert out.count(ANSWER) == 1
    assert out.endswith(f"Answer\n{WRITTEN}\n") == (guess == QUESTION)
    assert out.startswith("No answer (guess too far)") == (guess == BEES)


def test_several_questions(asked):
    message = f"{QUESTION} Which moons does Neptune have? Who feeds the bees?"
    seen, out = asked(message)
    first = f"1. {QUESTION}\n[1] bridge.txt, paragraph 1\n    {WHOLE}\n"
    assert seen[0].startswith(
        f"{first}\n2. Which moons does Neptune have?\nNo answer (nothing highlighted): "
    )
    third = "\n3. Who feeds the bees?\nNo answer (too many questions): "
    rest = out.removeprefix(seen[0])
    assert rest.startswith(f"\nAnswer to 1\n{WRITTEN}\n{third}")
    assert rest.count("No answer") == 1


def test_under_a_monitor_each_question_has_its_answer_below_its_quotes(asked):
    _, out = asked(f"{QUESTION} Which moons does Neptune have?", least=-1)
    assert out.index(ANSWER) < out.index("Answer to 1") < out.index("2. Which moons")


def test_json_is_one_object_and_nothing_before_it(run, tmp_path, monkeypatch):
    (tmp_path / "bridge.txt").write_text(DOCUMENTS[0].text)
    monkeypatch.delattr("equipoise.apps.asking.watching")
    code, out, err = run("ask", QUESTION, "--docs", "bridge.txt", "--llm", "none", "--json")
    assert (code, ANSWER in json.loads(out)["answer"], err) == (0, True, "")


class TestStages:
    @pytest.fixture(autouse=True)
    def at_once(self, monkeypatch):
        """Patience is over as soon as a stage begins."""

        class Timer:
            def __init__(self, seconds, work):
                assert seconds == progress.PATIENCE_S
                self.start, self.cancel, self.join = work, lambda: None, lambda: None

        monkeypatch.setattr(progress, "Timer", Timer)

    def terminal(self, monkeypatch):
        for name, value in (("TERM", "xterm"), ("FORCE_COLOR", "1"), ("COLUMNS", "200")):
            monkeypatch.setenv(name, value)

    def test_the_stage_is_shown_on_a_terminal_until_a_pause_and_again_after_it(self, monkeypatch, capsys):
        self.terminal(monkeypatch)
        with progress.Stages() as shown:
            shown.begin("highlight")
            shown.pause()
            assert "choosing quotes" in capsys.readouterr().err
            shown.pause()
            assert capsys.readouterr().err == ""
            shown.begin("summarize")
        assert "writing the answer" in capsys.readouterr().err

    def test_an_error_leaves_nothing_running(self, monkeypatch, capsys):
        self.terminal(monkeypatch)
        with pytest.raises(KeyError), progress.Stages() as shown:
            shown.begin("a stage\x1b[2J of one's own")
            raise KeyError
        said = capsys.readouterr().err
        assert "\x1b[2J" not in said
        assert said.endswith("\x1b[2K")

    def test_nothing_where_stderr_is_no_terminal(self, monkeypatch, capsys):
        monkeypatch.setenv("FORCE_COLOR", "")
        with progress.Stages() as shown:
            shown.begin("highlight")
        assert capsys.readouterr() == ("", "")


def test_every_stage_has_a_name_for_people(asked, monkeypatch):
    begun = []
    monkeypatch.setattr(progress.Stages, "begin", lambda _, name: begun.append(name))
    asked(least=-1)
    assert "monitor" in begun
    assert set(begun) <= set(progress.STAGES)
