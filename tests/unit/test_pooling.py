"""Encoders of Hugging Face, by tiny ones that are built here. What needs no torch is in test_encoder_choice."""

import sys

import numpy as np
import pytest

import tiny_encoder
from equipoise.core.errors import InputError, MissingExtra, ModelUnavailable
from equipoise.models.pooling import PASSAGE, QUESTION, PooledEncoder

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'equipoise[hf]'")
transformers = pytest.importorskip(
    "transformers", reason="transformers is not installed: pip install 'equipoise[hf]'"
)

WORDS = f"{tiny_encoder.WORDS} query passage :"


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return PooledEncoder(str(tiny_encoder.save(tmp_path_factory.mktemp("hub") / "plain", WORDS)))


@pytest.fixture(scope="module")
def e5(tmp_path_factory):
    """The same weights under another name."""
    return PooledEncoder(str(tiny_encoder.save(tmp_path_factory.mktemp("hub") / "my-e5-small", WORDS)))


def test_it_is_the_mean_of_the_last_states(plain):
    files = plain._loaded()
    with torch.inference_mode():
        states = files.model(**files.tokenizer("the bridge", return_tensors="pt")).last_hidden_state[0]
    mean = states.mean(dim=0).numpy()
    assert np.allclose(plain.encode(["the bridge"])[0], mean / np.linalg.norm(mean), atol=1e-6)
    assert (plain.dimensions, plain.name) == (32, f"hf/{plain.model}")


def test_a_folder_is_named_by_its_whole_path(tmp_path, monkeypatch):
    """So that an index is not read with a folder of the same name elsewhere."""
    monkeypatch.chdir(tmp_path)
    assert PooledEncoder("./mine").name == f"hf/{tmp_path.resolve() / 'mine'}"
    assert PooledEncoder("some/model").name == "hf/some/model"


def test_the_prefixes_follow_the_name(plain, e5):
    text = ["the bridge of the town"]
    assert np.array_equal(plain.encode(text), plain.encode_questions(text))
    assert np.array_equal(e5.encode(text), plain.encode([PASSAGE + text[0]]))
    assert np.array_equal(e5.encode_questions(text), plain.encode([QUESTION + text[0]]))


def test_a_text_is_read_as_far_as_the_model_has_positions(plain):
    assert np.array_equal(plain.encode(["bridge " * 126]), plain.encode(["bridge " * 5000]))


def test_a_model_that_encodes_no_texts_is_refused(tmp_path):
    tiny_encoder.save(tmp_path)
    config = transformers.T5Config(
        vocab_size=50, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0
    )
    transformers.T5Model(config).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="is no text encoder"):
        PooledEncoder(str(tmp_path)).encode(["a"])


def test_files_that_are_not_there_are_said(tmp_path):
    with pytest.raises(ModelUnavailable, match=r"the encoder model .* cannot be loaded"):
        PooledEncoder(str(tmp_path / "none")).encode(["a"])


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"pip install 'equipoise\[hf\]'"):
        PooledEncoder("any/name").dimensions  # noqa: B018
