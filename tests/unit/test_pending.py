"""Between words and vectors: what is searched, said and filtered meanwhile, and how a run goes on."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from equipoise.core.errors import CorpusError, InputError, ModelUnavailable
from equipoise.core.settings import Settings
from equipoise.core.types import Document, Query, Trust
from equipoise.corpus import vectors
from equipoise.corpus.embedding import AT_A_TIME
from equipoise.corpus.indexing import index, prepare
from equipoise.corpus.record_types import FileRecord, IndexEntry
from equipoise.corpus.store import Store
from equipoise.rag import others
from equipoise.rag.build import FILTERS, RETRIEVERS, make, retriever_in
from equipoise.rag.components import Components
from equipoise.rag.library import Library
from equipoise.rag.retrieval import DenseRetriever, HybridRetriever, candidates
from hashed_words import HashedWords
from verified import verified

QUESTION = "Which ferry leaves the harbour at nine?"
TEXTS = {
    f"{name}.txt": f"{text} It is said of the ferry and the harbour, number {number}."
    for number, (name, text) in enumerate(
        {
            "nine": "The ferry leaves the harbour at nine.",
            "late": "The ferry was late on Monday.",
            "gulls": "Gulls sit at the harbour.",
            "price": "A ticket is three euros.",
            "fog": "Fog came at nine.",
            "bikes": "Bikes travel free at nine.",
        }.items()
    )
}


class Away(HashedWords):
    """An encoder that is gone after `calls` calls."""

    def __init__(self, calls: int = 0) -> None:
        super().__init__()
        self.calls = calls

    def encode(self, texts):
        if self.calls == 0:
            raise ModelUnavailable("the encoder is away")
        self.calls -= 1
        return super().encode(texts)


def begun(path, docs, *, calls=0, trust=Trust.TRUSTED):
    """A store as a run leaves it whose encoder was there for `calls` calls."""
    with Store.open(path, create=True) as store, pytest.raises(ModelUnavailable):
        index(docs, store, Away(calls), trust=trust)


@pytest.fixture
def docs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return Path("docs")


@pytest.fixture
def pending(docs, tmp_path):
    begun(tmp_path / "index.db", docs, trust=Trust.UNTRUSTED)
    with Store.open(tmp_path / "index.db", create=True) as store:
        assert store.counts().pending == store.counts().passages == len(TEXTS)
        yield store


def half(store):
    """Give the first three documents their vectors."""
    group = store.unembedded([number for number, _ in store.pending()[:3]])
    made = prepare([document.entry.document for document in group], HashedWords())
    store.add_vectors([(document, entry.vectors) for document, entry in zip(group, made, strict=True)])


class TestRetrieval:
    @pytest.mark.parametrize("name", RETRIEVERS)
    @pytest.mark.parametrize("some", [False, True], ids=["none has vectors", "three have vectors"])
    def test_words_find_what_has_no_vector_and_its_vector_is_the_one_it_will_have(
        self, pending, docs, name, some
    ):
        if some:
            half(pending)
        retriever = retriever_in(name, Components(Settings(), pending, HashedWords()), Trust.UNTRUSTED)
        retrieved = retriever.retrieve(Query(QUESTION), k=20)
        assert {passage.source for passage in retrieved.passages} == {f"docs/{name}" for name in TEXTS}
        assert (np.diff(retrieved.scores) <= 0).all()
        index(docs, pending, HashedWords(), trust=Trust.UNTRUSTED)
        ids, matrix = pending.partition(Trust.UNTRUSTED).matrix()
        numbers = [passage.passage_id for passage in retrieved.passages]
        assert np.array_equal(retrieved.embeddings, matrix[np.searchsorted(ids, numbers)])

    def test_scores_of_the_dense_retriever_are_cosines_with_or_without_stored_vectors(self, pending, docs):
        retriever = DenseRetriever(pending.partition(Trust.UNTRUSTED), HashedWords())
        half(pending)
        before = retriever.retrieve(Query(QUESTION), k=4)
        index(docs, pending, HashedWords(), trust=Trust.UNTRUSTED)
        after = retriever.retrieve(Query(QUESTION), k=4)
        assert [p.source for p in before.passages] == [p.source for p in after.passages]
        assert np.allclose(before.scores, after.scores, atol=1e-6)

    @pytest.mark.parametrize(
        "name", [name for name in others.known("filter", FILTERS) if name != "smart"]
    )  # that one has NLI besides
    def test_filters_see_all_vectors(self, pending, docs, name):
        """What a filter takes out must not depend on how far indexing is: it gets the same candidates."""
        components = Components(Settings(), pending, HashedWords())
        chosen = make("filter", FILTERS, name, components)
        half(pending)
        retrieved = HybridRetriever(pending.partition(Trust.UNTRUSTED), HashedWords()).retrieve(
            Query(QUESTION), k=20
        )
        early = asyncio.run(chosen.filter(Query(QUESTION), retrieved, k=3))
        index(docs, pending, HashedWords(), trust=Trust.UNTRUSTED)
        ids, matrix = pending.partition(Trust.UNTRUSTED).matrix()
        numbers = [passage.passage_id for passage in retrieved.passages]
        stored = replace(retrieved, embeddings=matrix[np.searchsorted(ids, numbers)])
        late = asyncio.run(chosen.filter(Query(QUESTION), stored, k=3))
        assert [p.source for p in early.kept.passages] == [p.source for p in late.kept.passages]
        assert early.flagged == late.flagged

    def test_a_retriever_without_an_encoder_is_told_instead_of_given_less(self, pending):
        with pytest.raises(CorpusError, match=r"6 of the passages found in .* have no vectors yet"):
            candidates(
                pending.partition(Trust.UNTRUSTED),
                pending.partition(Trust.UNTRUSTED).bm25("ferry", 20),
                np.ones(32, np.float32),
            )

    def test_an_encoder_that_fails_on_a_candidate_is_said(self, pending):
        class Stumbling(HashedWords):
            def encode(self, texts):
                if any("Fog" in text for text in texts):
                    raise ValueError("no fog")
                return super().encode(texts)

        with pytest.raises(CorpusError, match="failed on its text"):
            HybridRetriever(pending.partition(Trust.UNTRUSTED), Stumbling()).retrieve(Query(QUESTION), k=20)


class TestGoingOn:
    def test_only_what_has_no_vectors_is_embedded(self, docs, tmp_path):
        many = "\n".join(
            f"Row {n} of the ferry is a sentence of some length, as others are." for n in range(9_000)
        )
        (docs / "a_long_one.txt").write_text(many)
        begun(tmp_path / "a.db", docs, calls=2)
        with Store.open(tmp_path / "a.db") as store:
            counts = store.counts()
            assert (
                counts.pending == counts.passages > 2 * AT_A_TIME
            )  # a document gets all of its vectors or none
        long = -(-(counts.passages - len(TEXTS)) // AT_A_TIME)
        begun(tmp_path / "a.db", docs, calls=long)
        with Store.open(tmp_path / "a.db") as store:
            assert store.counts().pending == len(TEXTS)
            encoder, steps = HashedWords(), []
            report = index(docs, store, encoder, progress=steps.append)
            assert (report.unchanged, report.added, encoder.encoded) == (len(TEXTS) + 1, 0, len(TEXTS))
            assert (steps[-1].embedded, steps[-1].passages) == (len(TEXTS), len(TEXTS))
            verified(store)
            digest = store.digest()
        with Store.open(tmp_path / "b.db", create=True) as whole:
            index(docs, whole, HashedWords())
            assert whole.digest() == digest

    def test_another_folder_indexed_later_takes_the_rest_along(self, pending, tmp_path):
        (tmp_path / "more").mkdir()
        (tmp_path / "more" / "b.txt").write_text("Boats.")
        index("more", pending, HashedWords())
        assert pending.counts().pending == 0

    def test_a_document_that_changed_meanwhile_waits_for_vectors_of_its_own(self, pending, docs):
        number, _ = pending.pending()[-1]
        group = pending.unembedded([number])
        made = prepare([document.entry.document for document in group], HashedWords())
        record = next(record for record in pending.files().values() if record.path == group[0].path)
        other = replace(group[0].entry.document, text="Quite another text.", sentences=(), blocks=())
        pending.replace_file(record, [IndexEntry(other, ((0, len(other.text)),))])
        assert pending.pending()[-1][0] == number  # the same number, and yet not the same text
        pending.add_vectors([(group[0], made[0].vectors)])
        pending.drop_pending(group[0])
        assert [document.entry.document.text for document in pending.unembedded([number])] == [
            "Quite another text."
        ]

    def test_vectors_that_do_not_fit_are_refused(self, pending):
        group = pending.unembedded([number for number, _ in pending.pending()])
        for rows in (np.ones((1, 32)), np.ones((1, 5)), np.full((1, 32), np.nan)):
            with pytest.raises(CorpusError, match="length 1 are wanted"):
                pending.add_vectors([(group[0], rows.astype(np.float32))])
        assert pending.counts().pending == len(TEXTS)

    def test_groups_of_documents_hold_about_as_many_passages(self):
        assert list(vectors._groups([(1, 5), (2, 6), (3, 1)], 10)) == [[1, 2], [3]]
        assert list(vectors._groups([], 10)) == []


class TestBlame:
    class Stumbling(HashedWords):
        def encode(self, texts):
            if any("poison" in text for text in texts):
                raise ValueError("poison")
            return super().encode(texts)

    def test_it_falls_on_the_file_alone_and_takes_all_of_it_out(self, docs, tmp_path):
        rows = [{"_id": str(n), "text": f"Row {n}{' is poison' if n == 1 else ''}."} for n in range(3)]
        (docs / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
        with Store.open(tmp_path / "a.db", create=True) as store:
            report = index(docs, store, self.Stumbling())
            assert [error.path for error in report.failed] == ["docs/rows.jsonl"]
            assert "ValueError: poison" in report.failed[0].reason
            assert (report.added, report.documents) == (len(TEXTS), len(TEXTS))
            assert (store.counts().pending, store.partition(Trust.UNTRUSTED).bm25("Row", 5)) == (0, [])
            verified(store)
            (docs / "rows.jsonl").write_text(json.dumps(rows[0]))
            assert index(docs, store, self.Stumbling()).added == 1

    def test_a_file_of_an_earlier_run_is_named_too(self, docs, tmp_path):
        (docs / "bad.txt").write_text("It is poison.")
        begun(tmp_path / "a.db", docs)
        with Store.open(tmp_path / "a.db") as store:
            report = index(docs, store, self.Stumbling())
            assert ([error.path for error in report.failed], report.unchanged) == (
                ["docs/bad.txt"],
                len(TEXTS),
            )

    def test_a_document_from_no_file_is_never_taken_out_silently(self, pending):
        (added,) = prepare([Document("p", "It is poison.", "p")], HashedWords())
        pending.add_documents([replace(added, vectors=None)])
        with pytest.raises(CorpusError, match="ValueError: poison"):
            vectors.make(pending, self.Stumbling(), lambda _step: None)
        assert "p" in pending.doc_ids()

    def test_an_empty_file_record_without_passages_waits_for_nothing(self, tmp_path):
        with Store.open(tmp_path / "a.db", create=True) as store:
            store.bind_encoder(HashedWords())
            store.replace_file(FileRecord("a", "00", 1, 1, Trust.UNTRUSTED, "."), [])
            assert (store.pending(), store.counts().pending) == ([], 0)


class TestWhatIsSaid:
    @pytest.fixture
    def unfinished(self, docs, run):
        assert run("index", "docs", "--store", "i.db")[0] == 0
        with Store.open(Path("i.db")) as store:
            for path, record in store.files().items():
                if "nine" in path or "fog" in path:
                    (number,) = [document for document in store.listing() if document.path == path]
                    document = store.document(number.doc_id)
                    spans = tuple((p.start, p.end) for p in store.passages_of(number.doc_id))
                    store.replace_file(record, [IndexEntry(document, spans)])

    SAID = "2 of 6 passages have no vectors yet: found by words alone"

    def test_ask_and_search_say_how_many_have_no_vectors_and_answer(self, unfinished, run):
        for command in ("search", "ask"):
            code, out, err = run(command, QUESTION, "--store", "i.db", "--json")
            assert (code, self.SAID in err) == (0, True)
            assert "leaves the harbour at nine" in json.loads(out)["passages"][0]["text"]

    def test_status_counts_them_until_a_run_is_through(self, unfinished, run):
        status = json.loads(run("status", "--store", "i.db", "--json")[1])
        assert (status["passages"], status["passages_without_vectors"]) == (6, 2)
        assert run("index", "docs", "--store", "i.db")[0] == 0
        status = json.loads(run("status", "--store", "i.db", "--json")[1])
        assert status["passages_without_vectors"] == 0
        assert "no vectors" not in run("search", "ferry", "--store", "i.db")[2]

    def test_python_knows_too(self, unfinished):
        with Library.open("i.db") as library:
            assert library.pending() == (2, 6)

    def test_documents_are_listed_with_all_their_passages(self, unfinished, run):
        documents = json.loads(run("documents", "list", "--store", "i.db", "--json")[1])["documents"]
        assert [document["passages"] for document in documents] == [1] * 6


def test_a_wrong_path_still_makes_no_vectors(pending):
    with pytest.raises(InputError):
        index("", pending, HashedWords())
