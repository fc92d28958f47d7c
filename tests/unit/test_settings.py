from pathlib import Path

import pytest

from equipoise.core import settings, tomlfile
from equipoise.core.errors import SettingsError


def load(folder: Path, flags=None, **environment):
    return settings.load(flags, folder=folder, environment=environment)


def test_layers_override_in_order_and_remember_where_a_value_came_from(tmp_path):
    (tmp_path / "equipoise.toml").write_text("[retrieval]\nk = 3\ncandidates = 9\n")
    layered = load(tmp_path, {"retrieval.k": 7}, EQUIPOISE_RETRIEVAL_K="4", EQUIPOISE_HIGHLIGHT_MIN_WORDS="2")
    assert (layered.settings.retrieval.k, layered.origin["retrieval.k"].layer) == (7, "flag")
    assert layered.settings.retrieval.candidates == 9
    assert str(layered.origin["retrieval.candidates"]) == str(tmp_path / "equipoise.toml")
    assert layered.settings.highlight.min_words == 2
    assert str(layered.origin["highlight.min_words"]) == "EQUIPOISE_HIGHLIGHT_MIN_WORDS"
    assert "store.path" not in layered.origin


def test_a_flag_that_is_none_does_not_override(tmp_path):
    assert load(tmp_path, {"retrieval.k": None}, EQUIPOISE_RETRIEVAL_K="4").settings.retrieval.k == 4


@pytest.mark.parametrize(
    ("text", "environment", "said"),
    [
        ("[retrieval]\nkk = 3\n", {}, "retrieval.kk"),
        ("[retreival]\nk = 3\n", {}, "retreival.k"),
        ("k = 3\n", {}, "outside a section"),
        ("[retrieval\n", {}, "equipoise.toml"),
        ("[retrieval]\nk = 0\n", {}, "retrieval.k"),
        ("", {"EQUIPOISE_RETRIEVAL_KK": "1"}, "EQUIPOISE_RETRIEVAL_KK"),
        ("", {"EQUIPOISE_RETRIEVAL_K": "many"}, "EQUIPOISE_RETRIEVAL_K: retrieval.k"),
    ],
)
def test_bad_settings_are_named(tmp_path, text, environment, said):
    (tmp_path / "equipoise.toml").write_text(text)
    with pytest.raises(SettingsError, match=said.replace(".", r"\.")):
        load(tmp_path, **environment)


def test_a_secret_never_prints(tmp_path):
    layered = load(tmp_path, EQUIPOISE_MODEL_API_KEY="sk-canary")
    assert layered.settings.model.api_key.get_secret_value() == "sk-canary"
    assert "sk-canary" not in repr(layered) + str(layered.rows())
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, {"model.api_key": ["sk-canary"]})
    assert "sk-canary" not in str(caught.value)


NUMBERS = [
    (key, field)
    for key, field in ((key, settings._field(key)) for key in settings.keys())  # noqa: SIM118
    if "int" in str(field.annotation) or "float" in str(field.annotation)
]
BEYOND = [
    1e9,
    "1e9",
    10**9,
    10**400,
    0x10**5000,
    -(10**9),
    float("nan"),
    float("inf"),
    "nan",
    "-inf",
    True,
    False,
]


@pytest.mark.parametrize("key", [key for key, _ in NUMBERS])
@pytest.mark.parametrize("value", BEYOND, ids=lambda value: str(value)[:9] if value != 0x10**5000 else "vast")
def test_every_number_has_bounds(tmp_path, key, value):
    """A new numeric setting without bounds fails here."""
    with pytest.raises(SettingsError, match=key.replace(".", r"\.")):
        load(tmp_path, {key: value})


@pytest.mark.parametrize(
    "text", ["nan", "inf", "1e400", "true", "0x" + "f" * 5000, '"9e9"', "[1]", "{a = 1}"]
)
def test_numbers_of_a_file_have_the_same_bounds(tmp_path, text):
    (tmp_path / "equipoise.toml").write_text(f"[filter]\nbins = {text}\n")
    with pytest.raises(SettingsError, match=r"filter\.bins"):
        load(tmp_path)


def test_slots_times_context_is_bounded(tmp_path):
    assert load(tmp_path, {"model.context": 8192, "model.slots": 32})
    with pytest.raises(SettingsError, match=r"model\.slots"):
        load(tmp_path, {"model.context": 262_144, "model.slots": 2})


@pytest.mark.parametrize(
    "key", ["store.path", "filter.name", "model.folder", "model.base_url", "model.replay"]
)
@pytest.mark.parametrize("value", ["a\0b", "x" * 5000])
def test_text_has_no_nul_and_an_end(tmp_path, key, value):
    with pytest.raises(SettingsError, match=f"flag: {key}".replace(".", r"\.")):
        load(tmp_path, {key: value})


def test_the_users_file_is_below_the_folders_and_the_environment(tmp_path):
    own = tmp_path / "config.toml"
    own.write_text("[retrieval]\nk = 9\ncandidates = 30\n[filter]\nname = 'mmr'\n")
    (tmp_path / "equipoise.toml").write_text("[retrieval]\nk = 3\n")
    loaded = settings.load(folder=tmp_path, environment={"EQUIPOISE_FILTER_NAME": "none"}, own_file=own)
    assert (loaded.settings.retrieval.k, loaded.settings.retrieval.candidates) == (3, 30)
    assert loaded.settings.filter.name == "none"
    assert [loaded.origin[key].layer for key in ("retrieval.k", "retrieval.candidates", "filter.name")] == [
        "project", "user", "environment",
    ]  # fmt: skip


def test_the_users_file_may_say_where_to(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    settings.user_file().parent.mkdir()
    settings.user_file().write_text("[model]\nbase_url = 'http://a.example'\napi_key = 'k'\nfolder = '/w'\n")
    monkeypatch.chdir(tmp_path)
    assert settings.load().settings.model.base_url == "http://a.example"
    assert load(tmp_path).settings.model.base_url is None  # an environment of one's own has no user's file


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://me:hush@host/v1", "http://***@host/v1"),
        ("http://me:p@ss/w?rd://x@host:1/v1?key=canary#f", "http://***@host:1/v1?***"),
        ("me:hush@host", "***@host"),
        ("http://[half:hush@host", "http://***@host"),
        ("http://host/v1", "http://host/v1"),
    ],
)
def test_passwords_in_addresses_never_print(tmp_path, address, shown):
    loaded = load(tmp_path, EQUIPOISE_MODEL_BASE_URL=address)
    [row] = [value for key, value, _ in loaded.rows() if key == "model.base_url"]
    assert row == shown
    assert "hush" not in repr(loaded) + str(loaded.settings)


def test_a_hostile_key_is_named_in_one_short_line(tmp_path):
    (tmp_path / "equipoise.toml").write_text(f'[retrieval]\n"\\u001b[2J\\n{"x" * 9000}" = 1\n')
    with pytest.raises(SettingsError) as caught:
        load(tmp_path)
    assert "\x1b" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    with pytest.raises(SettingsError) as caught:
        load(tmp_path / "none", **{f"EQUIPOISE_\x1b[2J{'x' * 9000}": "1"})
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_settings_file_that_is_a_dangling_link_is_an_error(tmp_path):
    (tmp_path / "equipoise.toml").symlink_to(tmp_path / "gone.toml")
    with pytest.raises(SettingsError, match="link to nothing"):
        tomlfile.read(tmp_path / "equipoise.toml")


def test_an_empty_path_of_the_environment_is_named(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EQUIPOISE_STORE_PATH", "")
    with pytest.raises(SettingsError, match=r"EQUIPOISE_STORE_PATH.*the path is empty"):
        settings.load({})


def test_the_address_of_a_webhook_is_kept_secret_and_is_an_address(tmp_path):
    loaded = load(tmp_path, EQUIPOISE_SERVE_WEBHOOK="https://hooks.example/T0/canary")
    assert "canary" not in repr(loaded) + str(loaded.rows())
    with pytest.raises(SettingsError, match="no address"):
        load(tmp_path, EQUIPOISE_SERVE_WEBHOOK="ftp://hooks.example/")
