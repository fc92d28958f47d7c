"""A settings file in a folder may choose how, never where to, until the user consents."""

import json
import os
import shlex
import stat

import pytest

import equipoise
from chat_server import ChatServer
from equipoise.core import consent, guarded, settings
from equipoise.core.errors import SettingsError
from equipoise.core.section import Section
from equipoise.rag.library import Library

QUESTION = "When does the office open?"
OFFICE = "The office opens at half past eight in the morning."


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cloned folder, and a user without settings, keys or consents."""
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    clone = tmp_path / "clone"
    clone.mkdir()
    monkeypatch.chdir(clone)
    return clone


def write(root, section, **values):
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    (root / "equipoise.toml").write_text("\n".join([f"[{section}]", *lines, ""]))


def trust(folder):
    consent.give(settings.project_file(folder).needed)


def every_field():
    names = settings.keys()
    return [(key, settings._field(key)) for key in names]


class TestDecisions:
    def test_every_setting_that_may_name_a_place_has_a_decision(self):
        """A new Path, URL, secret or name without a marker fails here (and needs consent until then)."""
        assert [key for key, field in every_field() if guarded.decision(field) is None] == []

    def test_a_field_without_a_decision_needs_consent(self, tmp_path):
        class New(Section):
            place: str = ""
            size: int = 3

        fields = New.model_fields
        assert guarded.needs_consent(fields["place"], "anything", tmp_path)
        assert not guarded.needs_consent(fields["size"], 5, tmp_path)

    def test_what_says_where_to(self, tmp_path):
        closed = {key for key, field in every_field() if guarded.needs_consent(field, "/elsewhere", tmp_path)}
        assert closed == {
            "store.path", "filter.name", "filter.nli", "highlight.name", "highlight.qa_model",
            "model.llm", "model.base_url", "model.api_key", "model.api_version", "model.folder", "model.replay",
            "page.examples", "page.logo", "page.name", "page.note", "page.texts", "page.welcome",
            "public.ask", "public.challenge", "public.documents", "public.origins", "public.proxies", "public.secret",
            "public.where",
            "question.contact", "question.reply", "retrieval.encoder", "serve.group", "serve.originals",
            "serve.url", "serve.webhook",
            "sources.listed",
        }  # fmt: skip


GUARDED = [
    ("model", "base_url", "http://evil.example/v1"),
    ("model", "api_key", "sk-theirs"),
    ("model", "api_version", "2024-10-21"),
    ("model", "folder", "weights"),
    ("model", "replay", "../replies.db"),
    ("model", "replay", "/tmp/replies.db"),
    ("model", "llm", "openai/gpt-4.1"),
    ("model", "llm", "azure/theirs"),
    ("model", "llm", "auto"),
    ("store", "path", "../other/index.db"),
    ("store", "path", "/var/lib/index.db"),
    ("store", "path", "link/index.db"),
    ("store", "path", "loop/index.db"),
    ("store", "path", "."),
    ("store", "path", ["list"]),
    ("highlight", "qa_model", "./forged"),
    ("filter", "nli", "hf/./forged"),
    ("retrieval", "encoder", "hf/./forged"),
    ("retrieval", "encoder", "hf/evil/model"),
]


@pytest.mark.parametrize(("section", "name", "value"), GUARDED)
def test_where_to_is_refused_with_file_key_and_the_next_step(folder, tmp_path, section, name, value):
    (folder / "link").symlink_to(tmp_path)
    (folder / "loop").symlink_to("loop")
    write(folder, section, **{name: value})
    with pytest.raises(SettingsError) as caught:
        settings.load()
    said = str(caught.value)
    assert str(folder / "equipoise.toml") in said
    assert f"{section}.{name}" in said
    assert "equipoise config trust" in said
    assert "sk-theirs" not in said
    assert list(settings.survey().waiting) == [f"{section}.{name}"]


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [
        ("store", "path", "data/index.db"),
        ("store", "path", "inner/index.db"),
        ("model", "replay", "replies.db"),
        ("model", "llm", "none"),
        ("model", "llm", "local/qwen2.5-coder-1.5b"),
        ("filter", "nli", "none"),
        ("filter", "name", "biasdef"),
        ("highlight", "name", "sentence"),
        ("retrieval", "k", 3),
        ("retrieval", "encoder", "multilingual"),
        ("retrieval", "encoder", "minilm"),
    ],
)
def test_how_and_what_stays_inside_needs_no_consent(folder, section, name, value):
    (folder / "data").mkdir()
    (folder / "inner").symlink_to("data")
    write(folder, section, **{name: value})
    loaded = settings.load()
    assert str(getattr(getattr(loaded.settings, section), name)) == str(value)
    assert loaded.origin[f"{section}.{name}"].layer == "project"


def test_consent_covers_this_content_at_this_place(folder, tmp_path):
    write(folder, "model", folder="/their/weights")
    trust(folder)
    assert str(settings.load().settings.model.folder) == "/their/weights"
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "equipoise.toml").write_bytes((folder / "equipoise.toml").read_bytes())
    with pytest.raises(SettingsError, match="needs your consent"):
        settings.load(folder=copy)
    with (folder / "equipoise.toml").open("a") as file:
        file.write("# changed\n")
    with pytest.raises(SettingsError, match="needs your consent"):
        settings.load()


def test_consent_covers_where_a_link_led_when_it_was_shown(folder, tmp_path):
    (folder / "link").symlink_to(tmp_path / "first")
    write(folder, "store", path="link/index.db")
    trust(folder)
    assert settings.load()
    (folder / "link").unlink()
    (folder / "link").symlink_to(tmp_path / "second")
    with pytest.raises(SettingsError, match="needs your consent"):
        settings.load()


def test_the_record_is_the_users_alone_and_damage_is_no_consent(folder, tmp_path):
    write(folder, "model", folder="/their/weights")
    trust(folder)
    [record] = (tmp_path / "state" / "equipoise" / "trusted").iterdir()
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    kept = json.loads(record.read_text())
    assert kept["path"] == str(folder / "equipoise.toml")
    assert len(kept["sha256"]) == 64
    for damaged in (b"", b"\xff", b"[" * 100_000, b"{}", b"true"):
        record.write_bytes(damaged)
        assert settings.survey().waiting
    assert consent.withdraw(folder / "equipoise.toml")
    assert not consent.withdraw(folder / "equipoise.toml")


def test_a_link_where_the_index_is_kept_by_default_is_not_followed_out(folder, tmp_path):
    (folder / ".equipoise").symlink_to(tmp_path)
    with pytest.raises(SettingsError, match=r"leads out of this folder.*--store"):
        settings.load()
    assert settings.survey().waiting == {}  # to look is always possible
    chosen = tmp_path / "mine.db"
    assert settings.load({"store.path": chosen}).settings.store.path == chosen


def test_a_relative_path_of_a_file_stands_in_its_folder(folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    write(other, "store", path="data/index.db")
    assert settings.load(folder=other).settings.store.path == other / "data" / "index.db"


class TestNothingHappens:
    """Without consent nothing is sent, written or loaded, through the command line or a program."""

    @pytest.fixture
    def evil(self, folder, monkeypatch):
        (folder / "office.txt").write_text(OFFICE)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
        with ChatServer() as server:
            write(folder, "model", base_url=server.url)
            yield server

    @pytest.mark.parametrize(
        "arguments",
        [
            ("ask", QUESTION, "--docs", "office.txt"),
            ("ask", QUESTION),
            ("chat",),
            ("index", "office.txt"),
            ("ebi", "craft", "--question", QUESTION),
            ("models", "pull", "qwen2.5-coder-1.5b"),
            ("bench", "qa", "--dataset", "squad2"),
            ("bench", "hijack", "--data", "."),
        ],
    )
    def test_commands_refuse(self, evil, folder, tmp_path, run_here, arguments):
        code, out, err = run_here(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("equipoise: ")
        assert err.count("\n") == 1
        assert "equipoise config trust" in err
        assert evil.received == []
        assert sorted(p.name for p in folder.iterdir()) == ["equipoise.toml", "office.txt"]
        assert not (tmp_path / "cache").exists()

    def test_programs_are_refused_too(self, evil, folder, tmp_path):
        with pytest.raises(SettingsError, match="consent"):
            equipoise.ask(QUESTION, docs=[folder / "office.txt"])
        with pytest.raises(SettingsError, match="consent"):
            Library.open()
        assert evil.received == []
        assert not (tmp_path / "cache").exists()


class TestCommands:
    def test_look_consent_use_and_take_back(self, folder, run_here):
        (folder / "office.txt").write_text(OFFICE)
        with ChatServer() as server:
            write(
                folder,
                "model",
                base_url=server.url.replace("http://", "http://me:pass@"),
                api_key="sk-theirs",
            )
            code, out, err = run_here("config", "show")
            assert (code, err) == (0, "")
            assert "model.base_url" in out
            assert "waits for your consent" in out
            code, out, _ = run_here("config", "trust")
            assert code == 0
            assert f"***@127.0.0.1:{server.url.rsplit(':', 1)[1]}" in out
            assert "sk-theirs" not in out
            assert "pass" not in out
            code, out, _ = run_here("config", "show")
            assert "waits" not in out
            assert "sk-theirs" not in out
            assert "me:pass" not in out
            assert run_here("ask", QUESTION, "--docs", "office.txt", "--highlighter", "indexed")[0] in (0, 3)
            assert server.received
        code, out, _ = run_here("config", "untrust")
        assert code == 0
        assert run_here("config", "untrust")[0] == 0
        assert run_here("ask", QUESTION)[0] == 2

    def test_a_path_can_be_given(self, folder, tmp_path, run_here, monkeypatch):
        write(folder, "model", folder="/their/weights")
        monkeypatch.chdir(tmp_path)
        assert run_here("config", "trust", "clone")[0] == 0
        assert settings.load(folder=folder)
        assert run_here("config", "untrust", "clone/equipoise.toml")[0] == 0
        with pytest.raises(
            SettingsError, match=f"config trust {shlex.quote(str(folder / 'equipoise.toml'))}"
        ):
            settings.load(folder=folder)

    @pytest.mark.parametrize(
        ("text", "said"),
        [(None, "there is no"), ("[model]\nbase_url = 5\n", "model.base_url"), ("[", "equipoise.toml")],
    )
    def test_what_cannot_be_trusted_is_one_line(self, folder, run_here, text, said):
        if text:
            (folder / "equipoise.toml").write_text(text)
        code, out, err = run_here("config", "trust")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err
        assert not settings_are_trusted(folder)

    def test_a_file_that_needs_none_gets_none(self, folder, run_here):
        write(folder, "retrieval", k=3)
        code, out, _ = run_here("config", "trust")
        assert code == 0
        assert "nothing that needs consent" in out


def settings_are_trusted(folder):
    record = consent._record(str(folder / "equipoise.toml"))
    return record.exists()


def test_no_record_is_made_in_the_folder_itself(folder):
    write(folder, "model", folder="/their/weights")
    trust(folder)
    assert os.listdir(folder) == ["equipoise.toml"]  # noqa: PTH208
