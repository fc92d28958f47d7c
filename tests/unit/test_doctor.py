"""`equipoise doctor`: what it finds, and that each finding says what to do."""

import json

import pytest
from typer.testing import CliRunner

from chat_server import Say, error
from equipoise.apps.cli import app
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "hours.txt").write_text("The harbour opens at nine.")
    with Store.open(tmp_path / "index.db", create=True) as store:
        index(["docs"], store, EmbeddedEncoder())
    return tmp_path


def found(*arguments, code=0, **environment):
    done = CliRunner().invoke(app, ["doctor", "--json", *map(str, arguments)], env=environment)
    assert done.exit_code == code, done.output
    return {one["what"]: (one["state"], one["said"]) for one in json.loads(done.stdout)["findings"]}


def test_where_all_is_well_nothing_fails(folder):
    told = found("--store", "index.db")
    assert {state for state, _ in told.values()} == {"ok"}
    assert told["index"][1].startswith("1 document, 1 passage") and "quotes" in told["language model"][1]
    assert "index.db" in CliRunner().invoke(app, ["doctor", "--store", "index.db"]).stdout


def test_what_is_not_there_fails_and_says_how_to_make_it(folder):
    told = found("--store", "nothing.db", code=3)
    assert told["index"][0] == "failed" and "equipoise index" in told["index"][1]
    (folder / "index.db").write_bytes(b"SQLite format 3\0" + b"\0" * 200)
    assert found("--store", "index.db", code=3)["index"][0] == "failed"


def test_an_index_that_others_may_read_or_that_is_empty_is_to_be_looked_at(folder):
    (folder / "index.db").chmod(0o644)
    assert "chmod 600" in found("--store", "index.db")["files"][1]
    with Store.open(folder / "empty.db", create=True) as store:
        store.bind_encoder(EmbeddedEncoder())
    assert found("--store", "empty.db")["index"] == ("look", "empty.db is empty: run  equipoise index FOLDER")


def test_an_endpoint_is_asked_once_and_what_it_says_is_told(folder, server):
    at = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-secret"}
    assert found("--store", "index.db", **at)["language model"][0] == "ok"
    assert "harbour" not in json.dumps([request.body for request in server.received])
    before = len(server.received)
    assert "not asked" in found("--store", "index.db", "--offline", **at)["language model"][1]
    assert len(server.received) == before
    server.says.append(Say(404, error("no such model")))
    state, said = found("--store", "index.db", code=3, **at)["language model"]
    assert state == "failed" and "check the model's name" in said and "sk-secret" not in said


def test_settings_that_cannot_be_read_are_all_that_is_told(folder):
    (folder / "equipoise.toml").write_text("[retrieval]\nkay = 3\n")
    told = found(code=3)
    assert list(told) == ["settings"] and "kay" in told["settings"][1]


def test_settings_that_wait_for_consent_are_named(folder):
    (folder / "equipoise.toml").write_text('[model]\nbase_url = "http://127.0.0.1:9/v1"\n')
    state, said = found("--store", "index.db", code=3)["settings"]
    assert state == "failed" and "model.base_url" in said and "config trust" in said
