"""What reaches a terminal: help of every command, and hostile text shown as it is, its controls seen."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from chat_server import ChatServer, Say, completion, error
from command_tree import commands_in, root
from equipoise.apps import progress, render, terminal
from equipoise.apps.cli import COMMANDS
from equipoise.apps.terminal import Terminal, complain, one_line, styled
from equipoise.core.results import Reason, Refusal, Trace
from processes import ENVIRONMENT
from processes_cli import environment, on_terminal, piped

APPS = Path(terminal.__file__).parent
QUESTION = "When does the office open?"
ACTS = ("\x1b[2J", "\x1b]0;", "\x07", "\x9b", "\u202e", "\u2066")
HOSTILE = "[/x]\x1b[2J\x1b]0;mine\x07\u202e"
NAME = HOSTILE.replace("/", "")
SENTENCE = f"The office{HOSTILE} opens at half past eight :lock: in the [bold]morning[/bold] at C:\\dir\\"
READ = "".join(
    " " if ord(c) < 32 or c == "\u202e" else c for c in SENTENCE
)  # what a loader of text files makes of it


def commands(group, words=()):
    yield words
    for name, inner in commands_in(group).items():
        yield from commands(inner, (*words, name))


EVERY = list(commands(root()))


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("on", ["terminal", "pipe"])
@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_every_help_is_shown(run, monkeypatch, words, on, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1" if on == "terminal" else "")
    code, out, err = run(*words, "--help")
    assert (code, err) == (0, "")
    assert out.startswith("Usage: equipoise")
    assert all(option in out for option in ("Options:", "--help"))


def test_help_shows_brackets_as_they_are_on_a_real_terminal(tmp_path):
    code, said = on_terminal("ask", "--help", cwd=tmp_path, env=environment(tmp_path), columns=200)
    assert code == 0
    assert "local[/NAME], openai/NAME or azure/DEPLOYMENT" in " ".join(said.split())


def no_control_acts(said):
    return [control for control in ACTS if control in said] == []


def furnished(home):
    """The folder of an office with hostile documents in `docs`."""
    folder = home / "docs"
    folder.mkdir()
    (folder / f"{NAME}\nequipoise: forged.md").write_text(SENTENCE + "\n")
    (folder / f"broken{NAME}.pdf").write_bytes(b"%PDF-1.7 not a PDF")
    return home


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """An office whose documents are indexed; tests only ask there."""
    home = furnished(tmp_path_factory.mktemp("office"))
    assert piped("index", "docs", cwd=home, env=environment(home)).returncode == 3
    return home


class TestOnATerminal:
    def test_hostile_names_quotes_and_questions(self, tmp_path):
        office = furnished(tmp_path)
        env = environment(office)
        code, said = on_terminal("index", "docs", cwd=office, env=env, columns=300)
        assert code == 3
        assert "not indexed:" in said
        assert f"broken{one_line(NAME)}.pdf" in said
        assert no_control_acts(said)
        code, said = on_terminal(
            "ask", f"{QUESTION}{HOSTILE}", "--llm", "none", cwd=office, env=env, columns=300
        )
        assert code == 0
        assert no_control_acts(said)
        assert " ".join(READ.split()) in said
        assert "\nequipoise: forged" not in said

    def test_several_hostile_questions_and_a_chat(self, office):
        env = environment(office, EQUIPOISE_MODEL_LLM="none")
        asked = f"{QUESTION} What is {HOSTILE} sourdough bread?"
        code, said = on_terminal("ask", asked, cwd=office, env=env, columns=300)
        assert code == 0
        assert no_control_acts(said)
        typed = f"{QUESTION}\x16\x1b[2J\n{'x' * 3000}\n\xff\n".encode("latin-1") + b"\n"
        code, said = on_terminal("chat", cwd=office, env=env, columns=300, types=typed)
        assert code == 0
        assert "half past eight" in said
        assert no_control_acts(said)

    def test_a_hostile_endpoint(self, office):
        reply = json.dumps({"answerable": True, "sentences": [1]})
        with ChatServer() as server:
            env = environment(office, OPENAI_BASE_URL=server.url, EQUIPOISE_MODEL_RETRIES="0")
            server.says += [Say(body=completion(f"The office {HOSTILE}")) for _ in range(9)]
            asked = ("ask", QUESTION, "--pipeline", "vanilla")
            code, said = on_terminal(*asked, cwd=office, env=env, columns=300)
            assert (code, no_control_acts(said)) == (0, True)
            assert one_line(f"The office {HOSTILE}") in said
            server.says.clear()
            server.says += [Say(400, error(f"no\n{HOSTILE}")), Say(body=completion(reply))]
            code, said = on_terminal(*asked, cwd=office, env=env, columns=300)
            assert (code, no_control_acts(said)) == (3, True)
            assert "model failed" in said

    @pytest.mark.parametrize(
        "arguments",
        [
            ("ask", QUESTION, "--store", f"{HOSTILE}\nequipoise: forged.db"),
            ("ask", QUESTION, "--highlighter", f"magic{HOSTILE}", "--llm", "none"),
            (f"command{HOSTILE}",),
            ("ask", QUESTION, f"--{HOSTILE}"),
            ("index", f"nowhere{HOSTILE}\nequipoise: forged"),
            ("models", "pull", f"magic{HOSTILE}"),
            ("config", "trust", f"nowhere{HOSTILE}"),
        ],
    )
    def test_hostile_arguments_in_errors(self, office, arguments):
        code, said = on_terminal(*arguments, cwd=office, env=environment(office), columns=4000)
        assert code in (2, 3)
        assert no_control_acts(said)
        assert said.count("\n") == 1
        assert "x1b[2J" in said

    def test_a_hostile_settings_file(self, tmp_path):
        (tmp_path / "equipoise.toml").write_text('["\\u001b[2J"]\n"\\u202e\\n" = 1\n')
        code, said = on_terminal("config", "show", cwd=tmp_path, env=environment(tmp_path), columns=4000)
        assert (code, no_control_acts(said), said.count("\n")) == (2, True, 1)
        (tmp_path / "equipoise.toml").write_text('[model]\nbase_url = "http://a/\\u001b[2J[/x]\\u202e"\n')
        code, said = on_terminal("config", "show", cwd=tmp_path, env=environment(tmp_path), columns=200)
        assert (code, no_control_acts(said)) == (0, True)
        assert "\\x1b[2J[/x]\\u202e" in said

    def test_long_words_go_on_in_the_next_line(self, tmp_path):
        word = "".join(f"{n:03}" for n in range(100))
        own = environment(tmp_path) | {"EQUIPOISE_FILTER_NAME": word}
        _, said = on_terminal("config", "show", cwd=tmp_path, env=own, columns=80)
        shown = "".join(line.split("│")[2].strip() for line in said.splitlines() if line.count("│") == 4)
        assert word in shown

    def test_answers_are_wrapped_between_words(self, tmp_path):
        words = "The office opens at half past eight in the morning on every day but Sunday and Monday of each week."
        (tmp_path / "a.md").write_text(words)
        env = environment(tmp_path, NO_COLOR="1")
        piped("index", "a.md", cwd=tmp_path, env=env)
        asked = ("ask", QUESTION, "--llm", "none")
        _, said = on_terminal(*asked, cwd=tmp_path, env=env, columns=40, errors=subprocess.DEVNULL)
        place, *lines = re.sub(r"\x1b\[\d*m", "", said).splitlines()
        assert place == "[1] a.md, line 1"
        assert len(lines) > 1
        assert max(map(len, lines)) <= 40
        assert {line[:4] for line in lines} == {"    "}
        assert " ".join(" ".join(lines).split()) == words


class TestInAPipe:
    def test_quotes_are_verbatim(self, run, tmp_path, monkeypatch):
        monkeypatch.setenv("COLUMNS", "40")
        monkeypatch.setenv("EQUIPOISE_HIGHLIGHT_THRESHOLD", "0")
        word = "w" * 300
        text = f"The office opens :lock: at [bold]eight[/bold] [/x] near {word} in folder C:\\dir\\"
        (tmp_path / "a.md").write_text(text)
        code, out, _ = run("ask", QUESTION, "--docs", "a.md", "--llm", "none")
        assert code == 0
        assert f"    {text}\n" in out

    def test_a_file_named_like_markup(self, run, tmp_path):
        (tmp_path / "[").mkdir()
        (tmp_path / "[/x]a.md").write_text("The office opens at half past eight in the morning.")
        (tmp_path / "[bold]b.odd").write_text("x")
        code, _, err = run("index", "[/x]a.md", "[bold]b.odd")
        assert code == 3
        assert "[bold]b.odd" in err
        assert "[/x]a.md" in run("ask", QUESTION, "--llm", "none")[1]

    def test_json_has_the_text_itself(self, office):
        env = environment(office)
        done = piped("ask", QUESTION, "--llm", "none", "--json", cwd=office, env=env)
        shown = json.loads(done.stdout)
        assert shown["highlights"][0]["text"] == READ
        code, said = on_terminal("ask", QUESTION, "--llm", "none", "--json", cwd=office, env=env)
        assert (code, no_control_acts(said)) == (0, True)
        assert json.loads(said)["highlights"] == shown["highlights"]


def test_the_work_of_a_progress_bar_is_text(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE_S", -1.0)
    for name, value in (("TERM", "xterm"), ("FORCE_COLOR", "1"), ("COLUMNS", "200")):
        monkeypatch.setenv(name, value)
    with progress.counted() as report:
        report(1, 2, f"{HOSTILE}\nnext")
    shown = capsys.readouterr().err
    assert one_line(f"{HOSTILE}\nnext") in shown
    assert no_control_acts(shown)


def test_a_pipe_gets_no_progress_bar(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE_S", -1.0)
    with progress.counted() as report:
        report(1, 2, "a file")
    assert capsys.readouterr().err == ""


def test_strings_of_every_kind_are_shown_as_they_are(capsys):
    console = Terminal()
    console.print(HOSTILE)
    console.print(styled((HOSTILE, "bold")))
    console.table((HOSTILE,), [(HOSTILE,)])
    console.paragraph(styled(HOSTILE))
    complain(HOSTILE, HOSTILE)
    said = "".join(capsys.readouterr())
    assert no_control_acts(said)
    assert said.count(one_line(HOSTILE)) == 7


def test_the_operator_is_told_what_failed(capsys):
    trace = Trace((), failure=f"http://127.0.0.1:9 cannot be reached{HOSTILE}\nby m")
    render.show_failure(Refusal(Reason.MODEL_FAILED, "The model did not answer.", trace=trace))
    render.show_failure(Refusal(Reason.NOTHING_HIGHLIGHTED, "Nothing."))
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"model failed: {one_line(trace.failure)}\n"


def test_only_one_module_makes_consoles():
    """Every other way to print would be a way around `terminal`."""
    forbidden = {"rich.console", "rich.markup", "rich.table", "rich.padding", "rich"}
    for path in APPS.glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        modules |= {
            name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
        }
        calls = {
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        if path.name != "terminal.py":
            assert not modules & forbidden, path.name
            assert "print" not in calls, path.name
    assert issubclass(terminal.Terminal, Console)


def test_the_table_of_commands_says_what_their_own_help_says():
    there = commands_in(root())
    for name, (_, said) in COMMANDS.items():
        assert there[name].help.replace("\n", " ").startswith(said)


def modules_after(code):
    said = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
        env=ENVIRONMENT,
        capture_output=True,
        check=True,
    )
    return {*said.stdout.decode().splitlines()[-1].split()}


def test_help_comes_without_what_the_commands_need():
    needed = {"pydantic", "openai", "onnxruntime", "lxml", "equipoise.rag.build"}
    assert not needed & modules_after(
        "from equipoise.apps.cli import app; app(['--help'], standalone_mode=False)"
    )


def test_a_question_is_asked_without_client_and_loaders():
    assert not {"openai", "lxml", "pypdfium2"} & modules_after("import equipoise.apps.asking")


def test_json_on_a_terminal_has_no_control_character(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    terminal.print_json({"text": "a\x7fb\x9bc\u202e"})
    said = capsys.readouterr().out
    assert not [c for c in said if not c.isprintable() and c != "\n"]
    assert json.loads(said) == {"text": "a\x7fb\x9bc\u202e"}
