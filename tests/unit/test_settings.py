from pathlib import Path

import pytest

from equipoise.core import settings
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
