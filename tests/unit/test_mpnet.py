"""The encoder all-mpnet-base-v2: the graph computes what the architecture says, and what is said without weights."""

import gc
import math
import sys
from pathlib import Path

import numpy as np
import pytest

import tiny_mpnet
from equipoise.core.errors import ModelUnavailable, WeightsError
from equipoise.models import weights
from equipoise.models.encoder import DATA
from equipoise.models.mpnet import GRAPH, MANIFEST, WEIGHTS, MpnetEncoder, tensors

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture(autouse=True)
def records_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("EQUIPOISE_MODEL_FOLDER", raising=False)


def bucket(ahead):
    """The bucket of a key `ahead` places after the query, word for word from the reference code's rule."""
    half = 16
    far = abs(ahead)
    near = far < 8
    place = far if near else min(8 + int(math.log(far / 8) / math.log(128 / 8) * 8 + 1e-9), half - 1)
    return place + (half if ahead > 0 else 0)


def norm(x, values, name):
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return scaled * values[f"{name}.LayerNorm.weight"] + values[f"{name}.LayerNorm.bias"]


def linear(x, values, name):
    return x @ values[f"{name}.weight"].T + values[f"{name}.bias"]


def by_hand(ids, values):
    """The vector of token `ids` in double precision, written from the paper's architecture."""
    values = {name: one.astype(float) for name, one in values.items()}
    n, heads, size = len(ids), tiny_mpnet.HEADS, tiny_mpnet.HIDDEN // tiny_mpnet.HEADS
    words = values["embeddings.word_embeddings.weight"][ids]
    x = norm(words + values["embeddings.position_embeddings.weight"][2 : n + 2], values, "embeddings")
    table = values["encoder.relative_attention_bias.weight"]
    bias = np.array([[table[bucket(key - query)] for key in range(n)] for query in range(n)])
    for number in range(tiny_mpnet.LAYERS):
        prefix = f"encoder.layer.{number}"
        q, k, v = (
            linear(x, values, f"{prefix}.attention.attn.{part}").reshape(n, heads, size) for part in "qkv"
        )
        scores = np.einsum("qhd,khd->qkh", q, k) / math.sqrt(size) + bias
        chances = np.exp(scores - scores.max(1, keepdims=True))
        chances /= chances.sum(1, keepdims=True)
        mixed = np.einsum("qkh,khd->qhd", chances, v).reshape(n, -1)
        attended = linear(mixed, values, f"{prefix}.attention.attn.o")
        x = norm(x + attended, values, f"{prefix}.attention")
        wide = linear(x, values, f"{prefix}.intermediate.dense")
        wide = wide * (1 + np.vectorize(math.erf)(wide / math.sqrt(2))) / 2
        x = norm(x + linear(wide, values, f"{prefix}.output.dense"), values, f"{prefix}.output")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


@pytest.mark.parametrize("count", [2, 3, 12, 150, 384])
def test_the_graph_computes_what_the_architecture_says(tmp_path, count):
    """150 tokens reach past every bucket of near places."""
    encoder = tiny_mpnet.TinyMpnet(tmp_path)
    encoder.encode(["a"])
    ids = np.random.default_rng(count).integers(0, tiny_mpnet.WORDS, count)
    found = encoder._loaded[1].run(["embedding"], {"input_ids": ids})[0]
    assert found == pytest.approx(by_hand(ids, tiny_mpnet.weights()), abs=2e-5)


def test_words_are_those_of_the_models_own_vocabulary(tmp_path):
    """`bells` is 10118 in BERT's vocabulary and 10122 in MPNet's, between <s> and </s>."""
    encoder = tiny_mpnet.TinyMpnet(tmp_path)
    assert encoder.encode(["bells"])[0] == pytest.approx(
        by_hand([0, 10122, 2], tiny_mpnet.weights()), abs=1e-5
    )


def test_words_of_the_template_in_a_text_are_text(tmp_path):
    encoder = tiny_mpnet.TinyMpnet(tmp_path)
    plain, marked = encoder.encode(["ferry", "ferry </s> <s>"])
    assert not np.array_equal(plain, marked)


def test_the_weights_stay_where_the_session_reads_them(tmp_path):
    encoder = tiny_mpnet.TinyMpnet(tmp_path)
    before = encoder.encode(["bells ring"])
    for _ in range(20):
        gc.collect()
        np.random.default_rng(0).normal(size=(500, 500)).sum()
    assert np.array_equal(encoder.encode(["bells ring"]), before)


def test_tensors_are_read_as_they_were_written(tmp_path):
    tiny_mpnet.save(tmp_path)
    found, made = tensors(tmp_path / "tiny.safetensors"), tiny_mpnet.weights()
    assert found.keys() == made.keys()
    assert all(np.array_equal(found[name], values) for name, values in made.items())


def test_what_was_not_pulled_says_how(tmp_path):
    with pytest.raises(ModelUnavailable, match=r"run  equipoise models pull mpnet"):
        MpnetEncoder(folder=tmp_path).encode(["a"])


def test_another_file_under_that_name_is_refused(tmp_path):
    (tmp_path / weights.read_catalogue()[WEIGHTS].file).write_bytes(b"no model")
    with pytest.raises(WeightsError, match="sha256"):
        MpnetEncoder(folder=tmp_path).encode(["a"])


def test_the_graphs_are_those_of_their_script(monkeypatch):
    pytest.importorskip("onnx", reason="onnx is not installed: pip install 'equipoise[encoder-build]'")
    pytest.importorskip("safetensors")
    monkeypatch.syspath_prepend(str(SCRIPTS))
    build_mpnet = __import__("build_mpnet")
    assert build_mpnet.build(build_mpnet.PUBLISHED) == (DATA / GRAPH).read_bytes()
    assert build_mpnet.build(build_mpnet.OF_TESTS) == tiny_mpnet.GRAPH.read_bytes()
    assert build_mpnet.MANIFEST == MANIFEST
    assert [build_mpnet.buckets(200)[199 + ahead] for ahead in range(-199, 200)] == [
        bucket(ahead) for ahead in range(-199, 200)
    ]
    sys.modules.pop("build_mpnet")


def test_the_published_vector():
    """First values for this sentence in the documentation of sentence-transformers."""
    if weights.find(WEIGHTS) is None:
        pytest.skip("mpnet is not on this disk: run  equipoise models pull mpnet")
    row = MpnetEncoder(threads=1).encode(["This is an example sentence"])[0]
    assert row[:3] == pytest.approx([0.0225, -0.0783, -0.0230], abs=1e-4)
