"""Metadata, filters and collections on the command line."""

import json

import pytest
from typer.testing import CliRunner

from equipoise.apps.cli import app
from equipoise.core.errors import InputError
from equipoise.core.where import as_where

FERRY = "The ferry to Orkney leaves the harbour at nine on every day of the week.\n"
REFUND = "A refund is paid within five working days after the ticket was sent back.\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A function: what a command says on stdout, run in a folder with two others."""
    for name, text in (("acme", FERRY), ("globex", REFUND)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.md").write_text(f"---\nyear: 2024\n---\n\n{text}")
    monkeypatch.chdir(tmp_path)

    def made(*words):
        done = CliRunner().invoke(app, list(words), env={"COLUMNS": "200"})
        assert done.exit_code == 0, done.output
        return done.stdout

    made("index", "acme", "--collection", "acme", "--meta", "team=sea", "--meta", "open=true")
    made("index", "globex", "--collection", "globex")
    return made


def documents(run, *words):
    return {
        row["source"]: row["metadata"]
        for row in json.loads(run("documents", "list", "--json", *words))["documents"]
    }


def test_what_is_said_is_listed_and_filtered(run):
    assert documents(run) == {
        "acme/page.md": {"collection": "acme", "team": "sea", "open": True, "year": 2024, "type": "md"},
        "globex/page.md": {"collection": "globex", "year": 2024, "type": "md"},
    }
    assert list(documents(run, "--collection", "acme")) == ["acme/page.md"]
    assert list(documents(run, "--where", "year >= 2024 and not open = true")) == ["globex/page.md"]
    assert documents(run, "--where", "year >= 2025") == {}
    assert "collection=acme" in run("documents", "list")


def test_only_what_is_meant_answers(run):
    question = "When does the ferry to Orkney leave the harbour?"
    assert "leaves the harbour at nine" in run("ask", question, "--collection", "acme", "--llm", "none")
    said = run("ask", question, "--where", "collection = globex", "--llm", "none")
    assert "No answer" in said and "nine" not in said
    assert "None of them mentions “ferry”, “Orkney” or “harbour”." in said  # none of those that are meant
    found = json.loads(run("search", "ferry refund", "--where", "team = sea", "--json"))["passages"]
    assert [passage["source"] for passage in found] == ["acme/page.md"]


def test_a_key_says_what_it_sees(run):
    made = json.loads(
        run("keys", "create", "web", "--collection", "acme", "--where", "open = true", "--json")
    )
    (key,) = json.loads(run("keys", "list", "--json"))["keys"]
    assert key["id"] == made["id"]
    assert json.loads(key["sees"]) == {"and": [{"equal": {"collection": "acme"}}, {"equal": {"open": True}}]}
    boss = CliRunner().invoke(app, ["keys", "create", "boss", "--scope", "admin", "--collection", "acme"])
    assert isinstance(boss.exception, InputError)


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "Who?", "--where", "team"),
        ("search", "refund", "--where", "team >= true"),
        ("index", "acme", "--meta", "team"),
        ("index", "acme", "--meta", "collection=acme"),
        ("index", "acme", "--meta", "2nd=1"),
        ("documents", "list", "--where", "("),
        ("keys", "create", "web", "--where", "x"),
    ],
)
def test_bad_input_gets_one_sentence(run, words):
    done = CliRunner().invoke(app, list(words))
    assert isinstance(done.exception, InputError)
    assert "\n" not in str(done.exception) and len(str(done.exception)) < 200


@pytest.mark.parametrize("text", ["audience = all staff", "audience in (it, all staff) and year >= 2020"])
def test_a_value_with_blanks_is_told_to_need_quotes(text):
    with pytest.raises(InputError, match='needs quotes around a value with blanks: write "all staff"'):
        as_where(text)


@pytest.mark.parametrize("text", ["a = b c = d", 'a = "b" c', "a b", "(a b)", "= a"])
def test_other_faults_of_a_filter_are_told_where_they_are(text):
    with pytest.raises(InputError, match="not understood at"):
        as_where(text)


@pytest.mark.parametrize(
    "given",
    ["date >= 2024-13-45", "date <= 2024-2-3", 'date >= "2024-02-30"', "date = 2024-02-30", "not d in (2023-02-29, x)",
     {"range": {"date": [None, "2024-13-45"]}}],
)  # fmt: skip
def test_a_day_that_does_not_exist_is_refused(given):
    with pytest.raises(InputError, match="is no date: write a day of the calendar, such as 2024-05-01"):
        as_where(given)


@pytest.mark.parametrize("bound", ["99999999999999999999", "1e3", "+5", ".5", "5."])
def test_a_bound_that_only_looks_like_a_number_is_refused(bound):
    with pytest.raises(InputError, match="is no number: write one below 2"):
        as_where(f"year <= {bound}")


def test_a_text_that_looks_like_a_date_or_number_can_be_asked_for():
    for given in ('order = "1234-56-78"', {"equal": {"order": "1234-56-78"}}):
        assert as_where(given).matches({"order": "1234-56-78"})
    assert as_where("phone = +4930123456").matches({"phone": "+4930123456"})
    assert as_where("version >= 1.2.3").matches({"version": "1.2.4"})


def test_a_filter_that_nothing_matches_does_not_call_the_index_empty(run):
    assert run("documents", "list", "--where", "yaer >= 2020") == "No document matches the filter.\n"
