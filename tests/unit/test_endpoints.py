"""A key goes to the endpoint it was configured for, and nowhere else: a real server says what it received."""

import asyncio

import pytest

from chat_server import ChatServer
from equipoise.core import consent, endpoints, settings
from equipoise.core.errors import ModelUnavailable, SettingsError
from equipoise.core.settings import ModelSettings
from equipoise.core.types import Message
from equipoise.models.openai import NO_KEY, OPENAI_URL
from equipoise.rag import build

A, B = "sk-of-a", "sk-of-b"


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    (tmp_path / "clone").mkdir()
    return tmp_path


@pytest.fixture
def sent(home):
    """A function: what a server receives as key with these layers. SERVER in a value is its address."""

    def received(*, user="", project="", flags=None, llm="openai/m", **environment):
        with ChatServer() as server:
            own, folder = home / "config.toml", home / "clone"
            own.write_text(user.replace("SERVER", server.url))
            (folder / "equipoise.toml").write_text(project.replace("SERVER", server.url))
            variables = {name: value.replace("SERVER", server.url) for name, value in environment.items()}
            asked = settings.project_file(folder)
            if asked.needed:
                consent.give(asked.needed)
            given = {key: value.replace("SERVER", server.url) for key, value in (flags or {}).items()}
            layered = settings.load(
                {"model.llm": llm} | given, folder=folder, environment=variables, own_file=own
            )
            chat = build.chat_model(layered.settings.model, variables)
            asyncio.run(chat.complete([Message("user", "hi")]))
            [got] = server.received
            return got.headers.get("api-key") or got.headers["authorization"].removeprefix("Bearer ")

    return received


USER = f'[model]\nbase_url = "http://a.example/v1"\napi_key = "{A}"\n'
BOTH = f'[model]\nbase_url = "SERVER"\napi_key = "{A}"\n'
URL = '[model]\nbase_url = "SERVER"\n'


@pytest.mark.parametrize(
    ("layers", "key"),
    [
        ({"user": BOTH}, A),
        ({"user": URL, "EQUIPOISE_MODEL_API_KEY": B}, B),
        ({"user": BOTH, "EQUIPOISE_MODEL_API_KEY": B}, B),
        ({"user": BOTH, "EQUIPOISE_MODEL_BASE_URL": "SERVER/"}, A),
        ({"user": USER, "EQUIPOISE_MODEL_BASE_URL": "SERVER"}, NO_KEY),
        ({"user": USER, "flags": {"model.base_url": "SERVER"}}, NO_KEY),
        ({"user": USER, "flags": {"model.base_url": "SERVER", "model.api_key": B}}, B),
        ({"EQUIPOISE_MODEL_API_KEY": A, "flags": {"model.base_url": "SERVER"}}, NO_KEY),
        ({"user": USER, "project": URL}, NO_KEY),
        ({"project": URL, "EQUIPOISE_MODEL_API_KEY": A}, NO_KEY),
        ({"project": URL, "OPENAI_API_KEY": A}, NO_KEY),
        ({"project": URL, "OPENAI_API_KEY": A, "OPENAI_BASE_URL": "http://a.example/v1"}, NO_KEY),
        ({"user": USER, "project": BOTH.replace(A, B)}, B),
        ({"project": BOTH, "EQUIPOISE_MODEL_BASE_URL": "SERVER/x"}, NO_KEY),
        ({"project": BOTH, "EQUIPOISE_MODEL_BASE_URL": "SERVER"}, NO_KEY),
        ({"OPENAI_BASE_URL": "SERVER", "OPENAI_API_KEY": A}, A),
        ({"OPENAI_BASE_URL": "SERVER", "OPENAI_API_KEY": A, "EQUIPOISE_MODEL_API_KEY": B}, B),
        ({"OPENAI_BASE_URL": "http://a.example", "OPENAI_API_KEY": A, "user": URL}, NO_KEY),
        ({"EQUIPOISE_MODEL_BASE_URL": "SERVER", "OPENAI_API_KEY": A}, NO_KEY),
        ({"EQUIPOISE_MODEL_BASE_URL": "SERVER", "OPENAI_BASE_URL": "SERVER/", "OPENAI_API_KEY": A}, A),
        ({"EQUIPOISE_MODEL_BASE_URL": "SERVER", "AZURE_OPENAI_API_KEY": A}, NO_KEY),
    ],
)
def test_which_key_arrives(sent, layers, key):
    assert sent(**layers) == key


@pytest.mark.parametrize(
    ("layers", "key"),
    [
        ({"AZURE_OPENAI_ENDPOINT": "SERVER", "AZURE_OPENAI_API_KEY": A, "OPENAI_API_KEY": B}, A),
        ({"AZURE_OPENAI_ENDPOINT": "SERVER", "AZURE_OPENAI_API_KEY": A, "EQUIPOISE_MODEL_API_KEY": B}, B),
        ({"user": BOTH, "AZURE_OPENAI_ENDPOINT": "https://x.example", "AZURE_OPENAI_API_KEY": B}, A),
    ],
)
def test_which_key_arrives_at_azure(sent, layers, key):
    assert sent(llm="azure/m", OPENAI_API_VERSION="2024-10-21", **layers) == key


def test_azure_without_a_key_of_its_own_says_so(sent):
    with pytest.raises(ModelUnavailable, match=r"model\.api_key beside it"):
        sent(llm="azure/m", OPENAI_API_VERSION="1", user=URL, AZURE_OPENAI_API_KEY=A)


@pytest.mark.parametrize("layer", ["user", "project"])
def test_a_file_names_the_endpoint_beside_its_key(sent, layer):
    with pytest.raises(SettingsError, match=r"write model\.base_url beside it"):
        sent(**{layer: f'[model]\napi_key = "{A}"\n'}, OPENAI_BASE_URL="SERVER")


def test_a_key_that_is_left_behind_is_told(home):
    own = home / "config.toml"
    own.write_text(USER)
    loaded = settings.load(
        environment={"EQUIPOISE_MODEL_BASE_URL": "http://b.example"}, own_file=own, folder=home
    )
    assert loaded.settings.model.api_key is None
    assert loaded.left_behind["model.api_key"].place == str(own)


def test_a_program_that_builds_its_settings_gives_both(home):
    given = ModelSettings(base_url="http://a.example/v1", api_key=A)
    assert endpoints.openai(given, {"OPENAI_API_KEY": B}).secret == A
    alone = ModelSettings(base_url="http://a.example/v1")
    assert endpoints.openai(alone, {"OPENAI_API_KEY": B}).secret is None
    assert endpoints.openai(ModelSettings(base_url=f"{OPENAI_URL}/"), {"OPENAI_API_KEY": B}).secret == B


def test_openai_is_called_the_same_in_both_rooms():
    assert endpoints.OPENAI == OPENAI_URL
