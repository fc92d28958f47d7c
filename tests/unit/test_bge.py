"""The encoder bge-small without its weights: what is said, and what `models use` makes of it."""

import pytest

from equipoise.core.errors import ModelUnavailable, WeightsError
from equipoise.models import weights
from equipoise.models.bge import WEIGHTS, BgeEncoder
from equipoise.rag.updating import update


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """A user who has pulled nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("EQUIPOISE_MODEL_FOLDER", str(tmp_path / "models"))
    return tmp_path


def test_what_was_not_pulled_says_how(empty):
    with pytest.raises(ModelUnavailable, match=r"run  equipoise models pull bge-small"):
        BgeEncoder().encode(["a"])


def test_nothing_is_indexed_without_the_weights(empty):
    (empty / "note.md").write_text("The mill was sold in 1812.\n", "utf-8")
    with pytest.raises(ModelUnavailable):
        update(empty / "index.db", [empty / "note.md"], encoder="bge-small")


def test_another_file_under_that_name_is_refused(empty):
    (empty / "models").mkdir()
    (empty / "models" / weights.read_catalogue()[WEIGHTS].file).write_bytes(b"no model")
    with pytest.raises(WeightsError, match="sha256"):
        BgeEncoder().encode(["a"])
