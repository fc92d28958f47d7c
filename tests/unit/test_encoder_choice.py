"""Which encoder reads: by name, by what an index was built with, and what follows for the rest of a pipeline."""

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from equipoise.core.errors import InputError, StoreError
from equipoise.core.protocols import Encoder
from equipoise.core.settings import RetrievalSettings, Settings
from equipoise.core.types import Document, Passage, Query, Trust
from equipoise.corpus import loaders
from equipoise.corpus.indexing import prepare
from equipoise.corpus.record_types import check_meta
from equipoise.corpus.store import Store
from equipoise.models.bge import BgeEncoder
from equipoise.models.crossencoder import CrossEncoder
from equipoise.models.encoder import EmbeddedEncoder, encode_questions, is_e5, is_multilingual
from equipoise.models.mpnet import MpnetEncoder
from equipoise.models.multilingual import MultilingualEncoder
from equipoise.models.pooling import PooledEncoder
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.rag.highlighters import sentence
from equipoise.rag.highlighters.features import FEATURES, features
from equipoise.rag.highlighters.sentence import SentenceHighlighter, calibration
from equipoise.rag.highlighters.sentences import sentences_of
from equipoise.rag.pipeline import Monitor
from equipoise.rag.updating import private_index, update
from hashed_words import HashedWords

FOX, OWL = (
    Document("fox", "The red fox sleeps in the den.", "fox.txt"),
    Document("owl", "Owls hunt.", "owl.txt"),
)


class Apart(HashedWords):
    """Questions are read from their last word to their first, as a language of their own."""

    multilingual = True

    def encode_questions(self, questions):
        return self.encode([question[::-1] for question in questions])


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "index.db", create=True) as opened:
        yield opened


def filled(store, encoder):
    store.bind_encoder(encoder)
    store.add_documents(prepare([FOX, OWL], encoder))
    return store


class TestByName:
    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("auto", EmbeddedEncoder),
            ("minilm", EmbeddedEncoder),
            ("bge-small", BgeEncoder),
            ("mpnet", MpnetEncoder),
            ("multilingual", MultilingualEncoder),
            ("hf/intfloat/multilingual-e5-small", PooledEncoder),
            ("hf/./folder", PooledEncoder),
        ],
    )
    def test_a_name_is_an_encoder_and_loads_nothing(self, name, kind):
        encoder = build.encoder(name)
        assert type(encoder) is kind
        assert encoder.name

    @pytest.mark.parametrize("name", ["", "e5", "hf", "hf/", "Multilingual", "multilingual/x"])
    def test_an_unknown_one_lists_the_names(self, name, tmp_path):
        with pytest.raises(
            InputError, match=r"write auto, minilm, bge-small, mpnet, multilingual or hf/NAME"
        ):
            build.encoder(name)
        with pytest.raises(InputError, match="there is no encoder"):
            update(tmp_path / "index.db", [tmp_path], encoder=name)
        assert not (tmp_path / "index.db").exists()

    def test_names_of_models_say_what_they_are(self):
        assert [is_e5(f"hf/{n}") for n in ("a/e5-base", "a/multilingual-E5-small/", "e5/b", "a/me5", "e51")] == [
            True, True, False, False, False,
        ]  # fmt: skip
        names = ("minilm", "multilingual", "hf/a/b", "hf/a/Multilingual-b")
        assert [is_multilingual(build.encoder(name)) for name in names] == [False, True, False, True]


class TestByTheIndex:
    def test_auto_is_that_of_the_index(self, store):
        assert isinstance(build.encoder("auto", store), EmbeddedEncoder)
        filled(store, HashedWords(384, MultilingualEncoder().name))
        assert isinstance(build.encoder("auto", store), MultilingualEncoder)
        assert isinstance(build.encoder("minilm", store), EmbeddedEncoder)

    def test_an_index_does_not_choose_a_model_to_fetch(self, store):
        """Whoever made the index wrote the name in it; what people are told to type is quoted for the shell."""
        filled(store, HashedWords(name="hf/evil/model; rm -rf ~"))
        with pytest.raises(
            InputError, match=r"give  --encoder 'hf/evil/model; rm -rf ~' , or set retrieval\.encoder"
        ):
            build.encoder("auto", store)
        assert isinstance(build.encoder("hf/evil/model", store), PooledEncoder)

    def test_an_encoder_that_is_none_of_ours_is_refused_with_both_names(self, store):
        filled(store, HashedWords(name="another/older"))
        with pytest.raises(StoreError, match=r"another/older .*let retrieval\.encoder be auto or that one"):
            build.components(Settings(), store)

    def test_documents_on_the_spot_have_an_index_for_each_encoder(self, tmp_path, monkeypatch):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        places = [
            private_index([tmp_path], name) for name in ("auto", "minilm", "multilingual", "hf/a", "hf/b")
        ]
        assert places[0] == places[1] == private_index([tmp_path])
        assert len(set(places)) == 4
        monkeypatch.setattr(loaders, "VERSION", loaders.VERSION + 1)
        assert private_index([tmp_path]) not in places

    def test_documents_on_the_spot_have_another_index_once_the_usual_encoder_is_another(
        self, tmp_path, monkeypatch
    ):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        before = private_index([tmp_path])
        monkeypatch.setattr(EmbeddedEncoder, "name", "all-MiniLM-L6-v2/later")
        assert private_index([tmp_path]) != before


class TestThePipeline:
    def components(self, store, encoder: Encoder, **retrieval):
        return Components(
            Settings(retrieval=RetrievalSettings(**retrieval)), store, encoder, None, CrossEncoder()
        )

    def test_many_languages_are_not_read_by_a_model_of_english(self, store):
        components = self.components(store, Apart())
        assert isinstance(build.highlight_summarize(components).highlighter, SentenceHighlighter)
        assert build.search(components).reranker is None
        assert build.search(self.components(store, Apart(), rerank=True)).reranker is not None

    def test_one_language_is(self, store):
        assert build.search(self.components(store, HashedWords())).reranker is not None
        assert build.search(self.components(store, HashedWords(), rerank=False)).reranker is None

    @pytest.mark.parametrize("name", ["dense", "hybrid", "bm25"])
    def test_retrieval_encodes_a_question_as_one(self, store, name):
        encoder = Apart()
        components = self.components(filled(store, encoder), encoder, name=name)
        candidates = build.retriever_in(name, components, Trust.TRUSTED).retrieve(Query("red fox"), k=1)
        assert np.array_equal(candidates.query_embedding, encoder.encode(["xof der"])[0])


class TestClues:
    PASSAGE = Passage(1, "fox", 0, len(FOX.text), FOX.text)

    def test_the_question_is_encoded_as_one_and_sentences_as_texts(self):
        encoder = Apart(4096)
        row = features("sleeps fox red", sentences_of([self.PASSAGE]), encoder)[0]
        backwards = features("der xof speels", sentences_of([self.PASSAGE]), encoder)[0]
        place = FEATURES.index("similarity")
        assert row[place] == 0
        assert backwards[place] == pytest.approx(3 / (np.sqrt(3) * 3))  # "the" twice: a length of 3

    def test_a_guess_is_a_question_too(self):
        assert Monitor(Apart(), 0.5).nearest("red fox", ["red fox"]) == pytest.approx(1)

    def test_an_encoder_without_the_ability_reads_all_alike(self):
        assert np.array_equal(encode_questions(HashedWords(), ["red fox"]), HashedWords().encode(["red fox"]))

    def test_function_words_of_german_are_no_shared_words(self):
        text = "Wie werden die Ränder geändert? Das kann ich nicht."
        [first, second] = sentences_of([Passage(1, "r", 0, len(text), text)])
        rows = features("Wie kann ich Ränder ändern?", [first, second], HashedWords())
        assert list(rows[:, FEATURES.index("words")]) == [0.5, 0]


class TestCalibration:
    def test_it_is_the_encoders_own(self):
        fitted = json.loads(files(sentence.__package__).joinpath("sentence.json").read_text("utf-8"))
        assert set(fitted) == {EmbeddedEncoder().name, MultilingualEncoder().name}
        assert {sentence.MINILM, sentence.E5} == set(fitted)
        assert calibration(MultilingualEncoder().name).bias == fitted[sentence.E5]["bias"]

    def test_one_that_was_not_fitted_has_that_of_its_kind(self):
        assert calibration("hashed-words") is not None
        assert calibration("hashed-words").bias == calibration().bias == calibration(sentence.MINILM).bias
        assert calibration("hf/intfloat/e5-base-v2").bias == calibration(sentence.E5).bias

    def test_the_highlighter_takes_it(self, store):
        components = Components(Settings(), store, HashedWords(name=sentence.E5))
        assert SentenceHighlighter.from_components(components).fitted.bias == calibration(sentence.E5).bias


@pytest.mark.parametrize(("kept", "now", "may_be_chosen"), [
    ("m/int8-1", "m/int8-2", False), ("m/int8-1", "n/int8-1", True), ("hf/m/a", "hf/m/b", True)])  # fmt: skip
def test_an_earlier_form_of_the_encoder_cannot_be_chosen_again(kept, now, may_be_chosen):
    stored, given = ({"encoder": name, "dimensions": "384"} for name in (kept, now))
    with pytest.raises(StoreError) as caught:
        check_meta(Path("a.db"), stored, given)
    assert ("retrieval.encoder" in str(caught.value)) is may_be_chosen
    assert str(caught.value).endswith("index into a new store")
