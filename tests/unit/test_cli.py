"""The command line in one process, over real files: what it prints, its exit codes, one line for each fault."""

import json
import sqlite3

import pytest

from chat_server import ChatServer, Say, completion

QUESTION = "When does the office open?"
OFFICE = "# Office\n\nThe office opens at half past eight in the morning.\n\nParking is free for visitors.\n"


@pytest.fixture
def office(run, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "office.md").write_text(OFFICE)
    assert run("index", "docs")[0] == 0
    return tmp_path / "docs"


def test_what_is_not_read_is_counted_and_the_folder_of_the_index_is_not_named(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "office.md").write_text(OFFICE)
    (tmp_path / "plan.pdf").write_text("Not a PDF.")
    (tmp_path / "image.svg").write_text("<svg/>")
    (tmp_path / ".notes").mkdir()
    code, out, err = run("index", ".", "--store", ".equipoise/index.db")
    assert code == 3
    assert out.strip().endswith("(files: 1 added, 2 skipped, 1 not read)")
    assert "hidden: .notes\n" in err and ".equipoise" not in err


def is_one_clear_line(err):
    return err.startswith("equipoise: ") and err.count("\n") == 1 and "Traceback" not in err


def test_an_answer_has_quotes_with_their_place(run, office):
    code, out, _ = run("ask", QUESTION, "--llm", "none")
    assert code == 0
    assert "half past eight" in out
    assert "docs/office.md, line 3" in out


def test_json_is_one_object_with_every_key(run, office):
    code, out, _ = run("ask", QUESTION, "--llm", "none", "--json", "--trace")
    shown = json.loads(out)
    assert code == 0
    assert not shown["refused"]
    assert shown["reason"] is None
    [quote] = shown["highlights"]
    assert OFFICE[quote["start"] : quote["end"]] == quote["text"]
    assert (quote["source"], quote["line"], quote["page"]) == ("docs/office.md", 3, None)
    assert {"retrieve", "highlight", "summarize"} <= set(shown["timings"])
    assert {"answer", "passages", "tokens", "models", "trace"} <= set(shown)
    assert shown["models"]["highlighter"] == "reader"


def test_a_refusal_says_why_and_exits_with_0(run, office):
    code, out, _ = run("ask", "How do I bake sourdough bread?", "--llm", "none", "--json")
    shown = json.loads(out)
    assert (code, shown["answer"], shown["refused"], shown["reason"]) == (
        0,
        None,
        True,
        "nothing highlighted",
    )


def test_a_refusal_shows_people_what_the_documents_are_about(run, office):
    _, out, _ = run("ask", "How do I bake sourdough bread?", "--llm", "none")
    assert "The documents are about: " in out


def test_docs_answers_from_these_files_only(run, office, tmp_path):
    (tmp_path / "other.txt").write_text("The canteen opens at noon and serves soup on Mondays.")
    code, out, _ = run("ask", "When does the canteen open?", "--docs", "other.txt", "--llm", "none")
    assert (code, "noon" in out, "other.txt" in out) == (0, True, True)
    assert "half past eight" not in run("ask", QUESTION, "--docs", "other.txt", "--llm", "none")[1]


def test_chat_answers_each_line_and_survives_a_bad_one(run, office, monkeypatch):
    lines = iter([QUESTION, "x" * 5000, "Is parking free?", ""])
    monkeypatch.setattr("rich.console.Console.input", lambda *_: next(lines))
    code, out, _ = run("chat", "--llm", "none")
    assert code == 0
    assert "half past eight" in out
    assert "5,000 characters" in out
    assert "Parking is free" in out


SEVERAL = f"{QUESTION} How do I bake sourdough bread?"


def test_several_questions_are_answered_one_by_one(run, office):
    code, out, _ = run("ask", SEVERAL, "--llm", "none")
    assert code == 0
    assert out.index(f"1. {QUESTION}") < out.index("half past eight") < out.index("2. How do I bake")
    assert "No answer (nothing highlighted)" in out


def test_several_questions_in_json_have_parts(run, office):
    shown = json.loads(run("ask", SEVERAL, "--llm", "none", "--json")[1])
    assert not shown["refused"]
    assert [part["question"] for part in shown["sub_answers"]] == [QUESTION, "How do I bake sourdough bread?"]
    assert [part["reason"] for part in shown["sub_answers"]] == [None, "nothing highlighted"]
    assert shown["sub_answers"][0]["highlights"] == shown["highlights"]
    assert "sub_answers" not in json.loads(run("ask", QUESTION, "--llm", "none", "--json")[1])


def test_several_questions_can_stay_together(run, office, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_QUESTION_SPLIT", "false")
    assert "sub_answers" not in json.loads(run("ask", SEVERAL, "--llm", "none", "--json")[1])


def test_several_questions_to_an_endpoint_that_is_down_exit_with_3(run, office, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("EQUIPOISE_MODEL_RETRIES", "0")
    code, out, _ = run("ask", SEVERAL, "--json", "--highlighter", "indexed")
    assert (code, json.loads(out)["reason"]) == (3, "model failed")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["ask", "  "], 2, "the question is empty"),
        (["ask", "why " * 250_000], 2, "1,000,000 characters"),
        (["ask", QUESTION, "--highlighter", "magic", "--llm", "none"], 2, "choose one of sentence, reader"),
        (["ask", QUESTION, "--pipeline", "magic", "--llm", "none"], 2, "choose one of hs, vanilla"),
        (["ask", QUESTION, "--llm", "magic"], 2, "write none, auto, local"),
        (["ask", QUESTION, "--highlighter", "indexed", "--llm", "none"], 3, "equipoise models pull"),
        (["ask", QUESTION, "--llm", "openai/gpt-4.1-mini"], 3, "OPENAI_API_KEY"),
        (["ask", QUESTION, "-k", "0", "--llm", "none"], 2, "retrieval.k"),
        (["ask", QUESTION, "--store", "missing.db"], 3, "missing.db"),
        (["index", "nowhere"], 3, "nowhere"),
        (["models", "pull", "magic"], 2, "magic"),
    ],
)
def test_bad_input_is_one_clear_line(run, office, arguments, code, said):
    got, out, err = run(*arguments)
    assert is_one_clear_line(err)
    assert (got, out) == (code, "")
    assert said in err


def test_files_that_cannot_be_read_are_named_and_the_rest_goes_on(run, office):
    (office / "broken.pdf").write_bytes(b"%PDF-1.7\nthis is not a PDF")
    (office / "odd.xyz").write_text("text of an unknown type")
    code, out, err = run("index", office, office / "odd.xyz")
    assert code == 3
    assert "1 unchanged" in out
    assert "broken.pdf" in err
    assert "odd.xyz" in err
    assert "Traceback" not in err
    assert run("ask", QUESTION, "--llm", "none")[0] == 0


def test_an_empty_folder_says_what_to_add(run, tmp_path):
    (tmp_path / "empty").mkdir()
    code, _, err = run("index", "empty")
    assert (code, is_one_clear_line(err)) == (3, True)


def test_a_corrupt_store_is_named_and_left_alone(run, tmp_path):
    (tmp_path / "bad.db").write_bytes(b"not a database at all" * 100)
    before = (tmp_path / "bad.db").read_bytes()
    code, _, err = run("ask", QUESTION, "--store", "bad.db", "--llm", "none")
    assert (code, is_one_clear_line(err)) == (3, True)
    assert "bad.db" in err
    assert (tmp_path / "bad.db").read_bytes() == before


def test_a_locked_store_says_who_holds_it(run, office, tmp_path):
    (office / "new.txt").write_text("A new document that has to be written to the store.")
    with sqlite3.connect(tmp_path / ".equipoise" / "index.db") as other:
        other.execute("BEGIN IMMEDIATE")
        code, _, err = run("index", "docs")
        other.rollback()
    assert (code, is_one_clear_line(err)) == (3, True)
    assert "index.db" in err
    assert run("index", "docs")[0] == 0


def test_an_endpoint_that_is_down(run, office, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("EQUIPOISE_MODEL_RETRIES", "0")
    code, out, err = run("ask", QUESTION, "--highlighter", "indexed")
    assert code == 3
    assert "model failed" in out
    assert "http://127.0.0.1:9" in out + err


def test_an_endpoint_that_answers_junk(run, office, monkeypatch):
    with ChatServer() as server:
        server.says += [Say(body=completion("I would rather not say.")) for _ in range(3)]
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        code, out, err = run("ask", QUESTION, "--json", "--trace", "--highlighter", "indexed")
        server.says += [Say(body=completion("I would rather not say.")) for _ in range(3)]
        failed = run("ask", QUESTION, "--json", "--highlighter", "structured")
    shown = json.loads(out)
    assert (code, shown["refused"]) == (0, False)  # the reader picks, and the operator can see why
    assert "no valid reply" in shown["trace"]["dropped"][0]["reason"]
    shown = json.loads(failed[1])
    assert (failed[0], shown["refused"], shown["reason"]) == (3, True, "model failed")
    assert "Traceback" not in err + failed[2]


def test_config_show_names_the_origin_and_hides_secrets(run, tmp_path, monkeypatch):
    (tmp_path / "equipoise.toml").write_text("[retrieval]\nk = 3\n")
    monkeypatch.setenv("EQUIPOISE_MODEL_API_KEY", "sk-canary")
    code, out, _ = run("config", "show")
    assert code == 0
    assert "equipoise.toml" in out
    assert "sk-canary" not in out
    values = dict(cells for line in out.splitlines() if (cells := settings_cells(line)))
    assert values["retrieval.k"] == "3" and values["retrieval.name"] == '"hybrid"'
    assert values["retrieval.exact"] == "false" and values["retrieval.rerank"] == "not set"
    assert not {"None", "True", "False", "()"} & set(values.values())


def settings_cells(line):
    """The setting and its value in a line of the table, None for another line."""
    parts = [part.strip() for part in line.split("│")]
    return parts[1:3] if len(parts) == 5 else None


def test_a_settings_file_that_is_there_is_not_written_over(run, tmp_path):
    (tmp_path / "equipoise.toml").write_text("")
    code, _, err = run("init")
    assert code == 2
    assert "there is an equipoise.toml here already" in err


def test_highlight_indents_every_line_and_keeps_those_of_settings(run, tmp_path):
    lines = ["[power]", "; minutes without a request after which the worker sleeps", "sleep_after = 10"]
    (tmp_path / "app.ini").write_text("\n".join(lines))
    code, out, err = run(
        "highlight", "After how many minutes without a request does the worker sleep?", "app.ini"
    )
    assert code == 0, err
    assert out.splitlines()[1:] == [f"    {line}" for line in lines]
