"""Settings from a folder above, and the file that `init` writes."""

import os
import re
import tomllib
from pathlib import Path

import pytest

from equipoise.apps.config import commented
from equipoise.core import settings
from equipoise.core.errors import SettingsError
from equipoise.core.settings import Settings

KEYS = settings.keys()


@pytest.fixture
def below(tmp_path, monkeypatch):
    """A folder two levels below the one with the settings file."""
    inner = tmp_path / "handbook" / "chapters"
    inner.mkdir(parents=True)
    (tmp_path / settings.FILE_NAME).write_text("[retrieval]\nk = 8\n", "utf-8")
    monkeypatch.chdir(inner)
    return inner


def load():
    return settings.load(environment={})


def test_the_nearest_file_upwards_counts_and_the_index_is_kept_beside_it(below, tmp_path):
    loaded = load()
    assert loaded.settings.retrieval.k == 8
    assert loaded.settings.store.path == tmp_path / ".equipoise" / "index.db"
    (below.parent / settings.FILE_NAME).write_text("[retrieval]\nk = 3\n[store]\npath = 'own.db'\n", "utf-8")
    loaded = load()
    assert (loaded.settings.retrieval.k, loaded.settings.store.path) == (3, below.parent / "own.db")
    (below / settings.FILE_NAME).write_text("", "utf-8")
    assert load().settings == Settings()


def test_a_file_above_needs_the_same_consent(below, tmp_path):
    (tmp_path / settings.FILE_NAME).write_text("[model]\nbase_url = 'http://elsewhere.example'\n", "utf-8")
    with pytest.raises(SettingsError, match=re.escape(str(tmp_path / settings.FILE_NAME))):
        load()


def test_an_index_above_that_is_a_link_elsewhere_is_refused(below, tmp_path, tmp_path_factory):
    (tmp_path / ".equipoise").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    with pytest.raises(SettingsError, match="leads out of this folder"):
        load()


@pytest.mark.parametrize("theirs", ["folder", "file"])
def test_what_belongs_to_somebody_else_does_not_count(below, tmp_path, monkeypatch, theirs):
    other = tmp_path if theirs == "folder" else tmp_path / settings.FILE_NAME
    owned = settings._owned
    monkeypatch.setattr(settings, "_owned", lambda path: path != other and owned(path))
    assert load().settings == Settings()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
def test_owners_are_told_apart(tmp_path, monkeypatch):
    assert settings._owned(tmp_path)
    assert not settings._owned(tmp_path / "none")
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    assert not settings._owned(tmp_path)


def test_nothing_is_looked_for_above_the_home_folder(below, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(below.parent))
    assert settings._nearest(below, settings.FILE_NAME) == below
    monkeypatch.setenv("HOME", str(tmp_path))
    assert settings._nearest(below, settings.FILE_NAME) == tmp_path


def test_init_writes_every_default_commented(tmp_path, run):
    code, out, _ = run("init")
    assert (code, "equipoise.toml is written" in out) == (0, True)
    text = Path(settings.FILE_NAME).read_text("utf-8")
    assert load().settings == Settings()
    bare = re.sub(r"(?m)^# (\w+ = )", r"\1", text)
    assert Settings.model_validate(tomllib.loads(bare)) == Settings()
    named = re.findall(r"(?m)^(?:#|##) (\w+)(?: = | is not set)", text)
    assert named == [key.partition(".")[2] for key in KEYS]
    code, _, err = run("init")
    assert (code, "here already" in err) == (2, True)
    assert Path(settings.FILE_NAME).read_text("utf-8") == text == commented()
