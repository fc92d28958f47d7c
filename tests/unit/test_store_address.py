"""A store at an address: taken wherever a file is, asked consent for, and never shown with its password."""

import json
import subprocess
import sys

import pytest

from equipoise.core import settings
from equipoise.core.addresses import StoreUrl, place
from equipoise.core.errors import InputError, MissingExtra, SettingsError
from equipoise.core.settings import Settings, StoreSettings
from equipoise.corpus.store import open_store
from equipoise.rag.library import Library
from processes import ENVIRONMENT
from stores_here import cluster, new_place  # noqa: F401

SECRET = "postgres://reader:hunter2@db.example:5433/docs?sslmode=require"


def test_what_has_a_scheme_is_an_address():
    assert place("postgres://h/d") == StoreUrl("postgres://h/d")
    assert place("a/b.db").name == "b.db"
    assert Settings(store=StoreSettings(path="PostgreSQL://h/d")).store.path == StoreUrl("PostgreSQL://h/d")
    with pytest.raises(InputError, match="no kind of store 'mysql'"):
        open_store("mysql://h/d")


def test_settings_take_it_from_everywhere_but_a_folder_without_consent(tmp_path):
    environment = {"EQUIPOISE_STORE_PATH": SECRET}
    layered = settings.load(folder=tmp_path, environment=environment)
    assert layered.settings.store.path == StoreUrl(SECRET)
    assert (
        settings.load({"store.path": StoreUrl(SECRET)}, environment={}).settings.store.path.address == SECRET
    )
    (tmp_path / "equipoise.toml").write_text(f'[store]\npath = "{SECRET}"\n')
    with pytest.raises(SettingsError, match=r"sets store\.path, which needs your consent"):
        settings.load(folder=tmp_path, environment={})
    with pytest.raises(SettingsError, match="no such kind of store"):
        settings.load({"store.path": place("mysql://h/d")}, environment={})


def test_no_password_is_shown(tmp_path):
    shown = "postgres://***@db.example:5433/docs?***"
    chosen = Settings(store=StoreSettings(path=SECRET))
    layered = settings.load(folder=tmp_path, environment={"EQUIPOISE_STORE_PATH": SECRET})
    (row,) = (row for row in layered.rows() if row[0] == "store.path")
    assert row[1] == str(chosen.store.path) == shown
    (tmp_path / "equipoise.toml").write_text(f'[store]\npath = "{SECRET}"\n')
    waiting = settings.survey(folder=tmp_path, environment={}).waiting
    assert waiting == {"store.path": shown}
    everything = f"{chosen!r} {chosen} {chosen.model_dump()} {chosen.model_dump_json()} {layered!r} {row}"
    assert "hunter2" not in everything


@pytest.mark.parametrize("library", ["psycopg", "pgvector"])
def test_a_missing_extra_is_named(monkeypatch, library):
    for name in [name for name in sys.modules if name.startswith(("equipoise.corpus.postgres", library))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=r"equipoise\[postgres\]"):
        open_store("postgres://h/d")


def test_qdrant_is_no_kind_of_store():
    with pytest.raises(InputError, match="no kind of store 'qdrant'"):
        open_store("qdrant://h/d")


def test_files_need_no_database_library(tmp_path):
    program = "import sys, equipoise.corpus.store as s; s.open_store(sys.argv[1], create=True).close();" + (
        "sys.exit(any(name in sys.modules for name in s.LIBRARIES))"
    )
    command = [sys.executable, "-c", program, ":memory:.db"]
    assert subprocess.run(command, env=ENVIRONMENT, check=False, cwd=tmp_path).returncode == 0


@pytest.fixture
def there(new_place, tmp_path, monkeypatch):  # noqa: F811
    """An address, and a folder with two files, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "ferry.txt").write_text("The ferry leaves the harbour at nine in the morning.")
    (tmp_path / "docs" / "train.txt").write_text("The train to the mountains runs every hour.")
    return new_place("postgres").address


def test_commands_take_an_address(there, run, tmp_path):
    for _ in range(2):
        code, out, err = run("index", "docs", "--store", there)
        assert (code, "2 documents, 2 passages in postgres://***@" in out) == (0, True), err
    assert "2 unchanged" in out
    code, out, _ = run("search", "ferry", "--store", there, "--json")
    assert (code, "ferry.txt" in out) == (0, True)
    code, out, _ = run("ask", "When does the ferry leave?", "--llm", "none", "--store", there, "--json")
    assert (code, "nine" in json.loads(out)["answer"]) == (0, True)
    code, out, _ = run("documents", "list", "--store", there, "--json")
    assert len(json.loads(out)["documents"]) == 2
    code, out, _ = run("status", "--store", there, "--json")
    assert json.loads(out)["index"].startswith("postgres://***@")
    code, out, err = run("store", "copy", there, "copy.db")
    assert (code, "2 documents, 2 passages in copy.db" in out) == (0, True), err
    assert run("documents", "remove", "train.txt", "--store", there)[0] == 0
    code, out, _ = run("index", "docs", "--store", "copy.db")
    assert (code, "2 unchanged" in out) == (0, True)
    assert run("store", "copy", there, there)[0] == 2


def test_a_library_takes_an_address(there):
    with Library.create(there) as library:
        library.index("docs")
    with Library.open(there) as library:
        assert "nine" in library.ask("When does the ferry leave?").text
