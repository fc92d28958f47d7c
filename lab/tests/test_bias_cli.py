"""`equipoise bench` as people type it, in a process of its own."""

import json
import subprocess
import sys

import pytest

import bias_corpus
from processes import ENVIRONMENT


def equipoise(*arguments, cwd):
    command = [sys.executable, "-c", "from equipoise.apps.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, cwd=cwd, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    bias_corpus.write(folder)
    return folder


def bench(folder, *arguments, corpus="corpus", attacks="attacks/passages.jsonl"):
    return equipoise("bench", "bias", "--corpus", corpus, "--attacks", attacks, *arguments, cwd=folder)


def test_a_run_writes_everything_and_says_where(folder):
    done = bench(folder, "--injections", "0,2", "--filters", "none,biasdef", "--limit", "1", "--out", "out")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert done.stdout == "1 questions in out: tables.md, summary.json, results.jsonl\n"
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
def test_an_error_is_one_line(folder, arguments, files, why):
    done = bench(folder, "--out", f"bad-{abs(hash(why))}", *arguments, **files)
    assert done.returncode in (2, 3)
    assert done.stdout == ""
    assert done.stderr.startswith("equipoise: ")
    assert why in done.stderr
    assert done.stderr.count("\n") == 1


def test_data_sets_are_fetched_by_name(folder):
    done = equipoise("bench", "fetch", "nothing", "there", cwd=folder)
    assert done.returncode == 2
    assert "choose one of wiki-balance-natural" in done.stderr
