"""`equipoise serve` and `equipoise keys` on the command line."""

import json
import socket
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from equipoise.apps.cli import app
from equipoise.apps.listening import bound
from equipoise.core.errors import InputError


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.mark.parametrize("words", [["--help"], ["keys", "--help"], ["serve", "--help"]])
def test_help_needs_no_server(words):
    program = (
        "import sys\nfrom equipoise.apps import cli\nsys.argv = ['equipoise', *sys.argv[1:]]\n"
        "try:\n    cli.main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'fastapi', 'uvicorn', 'starlette', 'prometheus_client'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_key_is_made_listed_and_revoked(tmp_path):
    store = ("--store", tmp_path / "index.db")
    made = json.loads(run("keys", "create", "website", "--questions", 5, "--json", *store).stdout)
    assert made["key"].startswith("eqp_")
    listed = run("keys", "list", "--json", *store).stdout
    assert made["key"] not in listed
    [key] = json.loads(listed)["keys"]
    assert (key["id"], key["questions"], key["revoked"]) == (made["id"], "0 of 5", "")
    assert "website" in run("keys", "list", *store).output
    assert "is revoked" in run("keys", "revoke", made["id"], *store).output
    assert json.loads(run("keys", "list", "--json", *store).stdout)["keys"][0]["revoked"]


def test_what_cannot_be_is_one_sentence(tmp_path):
    store = ("--store", tmp_path / "index.db")
    assert isinstance(run("keys", "create", "x", "--scope", "king", *store).exception, InputError)
    assert isinstance(run("keys", "revoke", "none", *store).exception, InputError)
    assert isinstance(run("keys", "list", "--docs", tmp_path, *store).exception, InputError)


def test_without_keys_nobody_else_is_served(tmp_path):
    pytest.importorskip("fastapi")
    result = run("serve", "--store", tmp_path / "index.db", "--host", "0.0.0.0")
    assert isinstance(result.exception, InputError)
    assert "equipoise keys create" in str(result.exception)


def test_answers_do_not_wait_for_acknowledgements():
    """asyncio sets TCP_NODELAY only where a socket names its protocol; without it each answer takes 40 ms more."""
    with bound("127.0.0.1", 0) as made:
        assert made.proto == socket.IPPROTO_TCP
