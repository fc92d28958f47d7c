"""`equipoise models`: which model answers is the user's choice, and is told."""

import tomllib
from pathlib import Path

import pytest

from chat_server import ChatServer
from equipoise.core import tomlfile
from equipoise.core.errors import SettingsError
from equipoise.models import hashes, weights
from equipoise.rag import chats

TOWN = "The ferry across the bay leaves at seven in the morning and at five in the afternoon."


def own_file(folder):
    return folder / "config" / "equipoise" / "config.toml"


@pytest.fixture
def pulled(run, tmp_path):
    """The default local model's file, as empty as it is long, with the record of an earlier check."""
    entry = weights.read_catalogue()[chats.DEFAULT_LOCAL]
    path = weights.default_folder() / entry.file
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(entry.size)
    hashes.remember(path, entry.sha256)
    return path


def test_list_names_every_model(run):
    code, out, _ = run("models", "list")
    assert code == 0
    assert "qwen2.5-coder-1.5b" in out


@pytest.mark.parametrize("name", ["none", "auto", "openai/gpt-4.1-mini"])
def test_use_is_kept_in_the_users_own_settings(run, tmp_path, name):
    code, out, err = run("models", "use", name)
    assert (code, err) == (0, "")
    assert str(own_file(tmp_path)) in "".join(out.split("\n"))
    assert tomllib.loads(own_file(tmp_path).read_text()) == {"model": {"llm": name}}
    assert own_file(tmp_path).stat().st_mode & 0o077 == 0
    assert name in run("config", "show")[1]


@pytest.mark.parametrize("name", [chats.DEFAULT_LOCAL, f"local/{chats.DEFAULT_LOCAL}", "local"])
def test_use_of_a_local_model_says_what_it_costs(run, pulled, tmp_path, name):
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed: pip install 'equipoise[local]'")
    code, out, err = run("models", "use", name)
    assert (code, err) == (0, "")
    assert "seconds to minutes" in out
    kept = tomllib.loads(own_file(tmp_path).read_text())["model"]["llm"]
    assert kept == ("local" if name == "local" else f"local/{chats.DEFAULT_LOCAL}")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("magic", "magic"),
        ("azure/", "azure/DEPLOYMENT"),
        ("", "there is no"),
        (chats.DEFAULT_LOCAL, "models pull"),
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_is_kept(run, tmp_path, name, said):
    code, _, err = run("models", "use", name)
    assert code in {2, 3}
    assert said in err
    assert not own_file(tmp_path).exists()


def test_local_weights_are_not_taken_by_themselves(run, pulled, tmp_path):
    (tmp_path / "town.txt").write_text(TOWN)
    code, out, err = run("ask", "When does the ferry leave?", "--docs", "town.txt")
    assert code == 0
    assert "seven in the morning" in out
    assert "answering with" not in err


def test_an_endpoint_that_is_found_is_named_without_its_password(run, tmp_path, monkeypatch):
    (tmp_path / "town.txt").write_text(TOWN)
    with ChatServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url.replace("//", "//me:secret@"))
        _, _, err = run("ask", "When does the ferry leave?", "--docs", "town.txt")
    assert (
        f"answering with {chats.DEFAULT_OPENAI} at {server.url.replace('//', '//***@')}; question and passages are sent"
        in err
    )
    assert "secret" not in err


class TestWithValue:
    """One setting changed in a file that a person wrote."""

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("", '[model]\nllm = "none"\n'),
            ("[retrieval]\nk = 3", '[retrieval]\nk = 3\n\n[model]\nllm = "none"\n'),
            ('[model]\nllm = "auto" # mine\nslots = 2\n', '[model]\nllm = "none"\nslots = 2\n'),
            (
                "[ model ] # mine\nslots = 2\n[retrieval]\n",
                '[ model ] # mine\nllm = "none"\nslots = 2\n[retrieval]\n',
            ),
        ],
    )
    def test_the_rest_stays_as_it_stands(self, before, after):
        assert tomlfile.with_value(before.encode(), "model", "llm", "none", Path("f")).decode() == after

    @pytest.mark.parametrize(
        "odd",
        [
            'model = { llm = "auto" }',
            '["model"]\nllm = "auto"',
            '[model]\nslots = 2\n"llm" = "a"',
            'model.llm = "a"',
        ],
    )
    def test_an_odd_file_is_left_alone(self, odd):
        with pytest.raises(SettingsError, match=r"write llm = \"none\" under \[model\]"):
            tomlfile.with_value(odd.encode(), "model", "llm", "none", Path("f"))
