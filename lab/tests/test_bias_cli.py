"""`equipoise bench bias` as people type it: a whole run in a process of its own, errors in this one."""

import json

import pytest

import bias_corpus
from processes import ENVIRONMENT
from processes_cli import piped


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    bias_corpus.write(folder)
    return folder


@pytest.fixture
def inside(folder, run_here, monkeypatch):
    """`run_here` in the folder."""
    monkeypatch.chdir(folder)
    return run_here


def bias(*arguments, corpus="corpus", attacks="attacks/passages.jsonl"):
    return ("bench", "bias", "--corpus", corpus, "--attacks", attacks, *arguments)


def test_a_run_writes_everything_and_says_where(folder):
    asked = bias("--injections", "0,2", "--filters", "none,biasdef", "--limit", "1", "--out", "out")
    done = piped(*asked, cwd=folder, env=ENVIRONMENT)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert done.stdout == b"1 questions in out: tables.md, summary.json, results.jsonl\n"
    assert json.loads((folder / "out" / "summary.json").read_text())["queries"] == 1
    assert len((folder / "out" / "results.jsonl").read_text().splitlines()) == 2 * (1 + 2 * 3)


@pytest.mark.parametrize(
    ("arguments", "files", "why"),
    [
        (["--filters", "nil"], {}, "there is no filter 'nil'"),
        (["--filters", ","], {}, "no filter was named"),
        (["--injections", "many"], {}, "--injections is 'many'"),
        (["--injections", "0,99"], {}, "99 are to be injected"),
        (["--encoder", "abacus"], {}, "there is no encoder 'abacus'"),
        (["--facts", "rumours"], {}, "--facts 'rumours' is no URL"),
        (["--facts", "http://me:secret@facts"], {}, "--facts has a user or a password in its URL"),
        (["-k", "9", "--candidates", "3"], {}, "3 candidates for the top 9"),
        (["--likert", "2"], {}, "stances needs a language model"),
        ([], {"corpus": "nowhere"}, "nowhere is not a folder"),
        ([], {"attacks": "nothing.jsonl"}, "nothing.jsonl"),
    ],
)
def test_an_error_is_one_line(inside, arguments, files, why):
    code, out, err = inside(*bias("--out", f"bad-{abs(hash(why))}", *arguments, **files))
    assert code in (2, 3)
    assert out == ""
    assert err.startswith("equipoise: ")
    assert why in err
    assert err.count("\n") == 1


def test_data_sets_are_fetched_by_name(inside):
    code, _, err = inside("bench", "fetch", "nothing", "there")
    assert code == 2
    assert "choose one of wiki-balance-natural" in err
