import sqlite3
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from equipoise.core.errors import CorpusError, StoreError
from equipoise.core.types import Document, Passage, Trust
from equipoise.corpus import fulltext, keywords
from equipoise.corpus.indexing import prepare
from equipoise.corpus.record_types import FileRecord, IndexEntry
from equipoise.corpus.store import Store
from hashed_words import HashedWords
from verified import verified


def document(doc_id, text, **more):
    return Document(doc_id, text, f"{doc_id}.txt", **more)


def entries(*documents):
    return prepare(documents, HashedWords())


def record(path="a.txt", **more):
    return FileRecord(
        path, **{"sha256": "00", "size": 1, "mtime_ns": 1, "trust": Trust.TRUSTED, "root": "."} | more
    )


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "store.db", create=True) as opened:
        opened.bind_encoder(HashedWords())
        yield opened


@contextmanager
def scratch(*documents):
    """A store of its own for one example of a property test."""
    with TemporaryDirectory() as folder, Store.open(Path(folder) / "s.db", create=True) as opened:
        opened.bind_encoder(HashedWords())
        opened.add_documents(entries(*documents))
        yield opened


ANIMALS = (
    document("cats", "Cats sleep most of the day. They hunt at night.", title="On cats"),
    document("dogs", "Dogs bark at strangers. A dog needs a walk.", pages=(0, 24)),
    document("owls", "Owls hunt at night, in silence."),
)


class TestReading:
    def test_subjects_are_the_titles_of_the_longest_trusted_documents(self, store):
        long = "Foxes sleep in a hole all day and come out at night. " * 60
        store.add_documents(
            entries(
                *ANIMALS,
                document("foxes", long, title="On foxes"),
                document("spam", 3 * long, title="Buy this", trust=Trust.UNTRUSTED),
            )
        )
        assert store.subjects(5) == ("On foxes", "On cats")
        assert store.subjects(1) == ("On foxes",)

    def test_a_document_comes_back_as_it_was(self, store):
        store.add_documents(entries(*ANIMALS))
        dogs = store.document("dogs")
        assert (dogs.text, dogs.trust, dogs.pages) == (ANIMALS[1].text, Trust.TRUSTED, (0, 24))
        assert dogs.sentences == ((0, 23), (24, 43))
        assert store.documents(["owls", "cats"])["cats"].title == "On cats"
        assert store.doc_ids() == ("cats", "dogs", "owls")

    def test_passages_carry_their_text(self, store):
        store.add_documents(entries(*ANIMALS))
        dogs = Passage(
            2,
            "dogs",
            0,
            43,
            ANIMALS[1].text,
            "",
            "dogs.txt",
            paragraph=1,
            sentences=((0, 23), (24, 43)),
            readings=(((0, 23),), ((24, 43),)),
        )
        assert replace(store.passages([2])[0], page=None) == dogs
        assert [p.doc_id for p in store.passages([3, 1])] == ["owls", "cats"]
        assert store.passages_of("cats") == (store.passages([1])[0],)

    @settings(deadline=None)
    @given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1), st.data())
    def test_a_passage_is_the_slice_of_its_document(self, text, data):
        start = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(start + 1, len(text)))
        with scratch() as store:
            store.add_documents(
                [IndexEntry(document("d", text), ((start, end),), HashedWords().encode(["x"]))]
            )
            assert store.passages([1])[0].text == text[start:end]
            assert store.document("d").text == text


class TestVectors:
    def test_own_changes_and_those_of_another_connection_are_seen(self, store):
        store.add_documents(entries(ANIMALS[0]))
        first = store.partition(Trust.TRUSTED).matrix()
        assert store.partition(Trust.TRUSTED).matrix()[1] is first[1]
        store.add_documents(entries(ANIMALS[1]))
        assert store.partition(Trust.TRUSTED).matrix()[0].tolist() == [1, 2]
        with Store.open(store.path) as other:
            other.remove_documents(["cats"])
        assert store.partition(Trust.TRUSTED).matrix()[0].tolist() == [2]

    @pytest.mark.parametrize(
        "vectors", [np.ones((2, 32), np.float32), np.ones((1, 5), np.float32), np.full((1, 32), np.nan)]
    )
    def test_vectors_that_do_not_fit_are_refused_and_nothing_is_kept(self, store, vectors):
        with pytest.raises(CorpusError, match="vectors of shape"):
            store.add_documents([*entries(ANIMALS[0]), IndexEntry(ANIMALS[1], ((0, 4),), vectors)])
        assert store.counts().documents == 0


class TestKeywords:
    def test_bm25_by_hand(self, store):
        """Robertson's formula with k1 = 1.2, b = 0.75 and idf = ln((N - n + 0.5) / (n + 0.5)), as in FTS5."""
        texts = ["red apple", "green apple pie", "blue sky", "grey sea", "white snow"]
        store.add_documents(entries(*(document(str(n), text) for n, text in enumerate(texts))))
        idf = np.log((5 - 2 + 0.5) / (2 + 0.5))
        mean = 11 / 5
        expected = [idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * length / mean)) for length in (2, 3)]
        hits = store.partition(Trust.TRUSTED).bm25("apple", 10)
        assert [i for i, _ in hits] == [1, 2]
        assert [s for _, s in hits] == pytest.approx(expected)

    def test_stems_accents_and_case_do_not_matter(self, store):
        store.add_documents(
            entries(document("a", "The Café serves pancakes."), document("b", "Nothing here."))
        )
        assert [i for i, _ in store.partition(Trust.TRUSTED).bm25("CAFE pancake?", 5)] == [1]

    def test_stop_words_count_only_alone(self, store):
        store.add_documents(entries(document("a", "What is it?"), document("b", "Penguins swim.")))
        assert [i for i, _ in store.partition(Trust.TRUSTED).bm25("what is a penguin", 5)] == [2]
        assert [i for i, _ in store.partition(Trust.TRUSTED).bm25("what is", 5)] == [1]

    def test_equal_scores_come_in_the_order_of_ids(self, store):
        store.add_documents(
            entries(*(document(str(n), "same words") for n in range(9)), document("x", "other"))
        )
        assert [i for i, _ in store.partition(Trust.TRUSTED).bm25("words", 4)] == [1, 2, 3, 4]

    def test_titles_are_searched(self, store):
        store.add_documents(entries(document("a", "They purr.", title="Cats"), document("b", "They bark.")))
        assert [i for i, _ in store.partition(Trust.TRUSTED).bm25("cats", 5)] == [1]

    @example('"')
    @example('NEAR("a" "b", 5) AND NOT text:* OR ^x + {a b} : -')
    @example("a\0b")
    @example("\ud800 lone")
    @example("🦉🦉 night")
    @example("हिन्दी में night")
    @example("night " * 200_000)
    @example(" ".join(f"w{n}" for n in range(100_000)))
    @settings(deadline=None)
    @given(st.text())
    def test_no_text_is_an_error(self, text):
        with scratch(*ANIMALS) as store:
            hits = store.partition(Trust.TRUSTED).bm25(text, 3)
            assert len(hits) <= 3
            assert all(score >= 0 for _, score in hits)
            if "night" in text.split():
                assert {i for i, _ in hits} == {1, 3}

    def test_common_terms_only_score_and_the_most_common_do_not_even_that(self, store, monkeypatch):
        texts = ["apple pie", "pie apple apple", "pie", "apple", "apple tart", "plum", "plum", "plum", "plum"]
        store.add_documents(entries(*(document(str(n), text) for n, text in enumerate(texts))))
        assert {i for i, _ in store.partition(Trust.TRUSTED).bm25("apple pie", 9)} == {1, 2, 3, 4, 5}
        plain = dict(store.partition(Trust.TRUSTED).bm25("apple pie", 9))
        monkeypatch.setattr(keywords, "FOUND_BY", 3)  # pie is in three passages, apple in four
        assert dict(store.partition(Trust.TRUSTED).bm25("apple pie", 9)) == pytest.approx(
            {i: plain[i] for i in (1, 2, 3)}
        )
        monkeypatch.setattr(keywords, "SCORED_BY", 3)
        assert store.partition(Trust.TRUSTED).bm25("apple pie", 9) == store.partition(Trust.TRUSTED).bm25(
            "pie", 9
        )
        monkeypatch.setattr(keywords, "FOUND_BY", 2)
        assert store.partition(Trust.TRUSTED).bm25("apple pie", 9) == store.partition(Trust.TRUSTED).bm25(
            "pie", 9
        )

    def test_common_terms_of_a_large_index_are_counted_once_for_each_state_of_it(self, store, monkeypatch):
        store.add_documents(entries(*(document(str(n), "apple pie" if n else "plum") for n in range(5))))
        plain = store.partition(Trust.TRUSTED).bm25("apple plum", 9)
        monkeypatch.setattr(fulltext, "MANY", 5)
        monkeypatch.setattr(fulltext, "FOUND_BY", 2)
        store.add_documents(entries(document("again", "apple")))
        store.remove_documents(["again"])
        asked = []
        store._connection.set_trace_callback(asked.append)
        assert store.partition(Trust.TRUSTED).bm25("apple plum", 9) == plain
        assert store.partition(Trust.TRUSTED).bm25("plum", 9) == plain[:1]
        assert [said.rpartition(" ")[2] for said in asked if "SELECT doc FROM" in said] == ["'plum'"] * 2
        store.add_documents(entries(*(document(f"new {n}", "apple") for n in range(9))))
        monkeypatch.setattr(keywords, "FOUND_BY", 12)
        assert [i for i, _ in store.partition(Trust.TRUSTED).bm25("apple plum", 99)] == [1]

    @pytest.mark.parametrize(
        ("query", "words"),
        [
            ("What is the Capital of France?", ["capital", "france"]),
            ("to be or not to be", ["to", "be", "or", "not"]),
            ('"a-b" NEAR(c_d)', ["b", "near", "c", "d"]),
            ("x " * 9 + "x" * 100, ["x", "x" * 64]),
            ("\u0301 ?! \0", []),
        ],
    )
    def test_the_words_of_a_query(self, query, words):
        assert keywords.terms(query) == words

    def test_removed_documents_leave_no_words(self, store):
        store.add_documents(entries(*ANIMALS))
        before = store.partition(Trust.TRUSTED).bm25("hunt night", 9)
        store.add_documents(entries(document("bats", "Bats hunt at night too.")))
        assert len(store.partition(Trust.TRUSTED).bm25("hunt night", 9)) == 3
        store.remove_documents(["bats"])
        assert store.partition(Trust.TRUSTED).bm25("hunt night", 9) == before


class TestWriting:
    def test_a_file_keeps_its_content_when_its_replacement_fails(self, store):
        store.replace_file(record(), entries(ANIMALS[0]))
        before = store.digest()
        with pytest.raises(CorpusError, match="zero character"):
            store.replace_file(
                record(sha256="11"), [IndexEntry(document("d", "a\0b"), (), np.empty((0, 32), np.float32))]
            )
        assert store.digest() == before

    def test_trust_is_changed_without_touching_anything_else(self, store):
        store.replace_file(record(), entries(ANIMALS[0]))
        store.update_file(record(trust=Trust.UNTRUSTED))
        assert store.document("cats").trust is Trust.UNTRUSTED
        assert store.files()["a.txt"].trust is Trust.UNTRUSTED

    def test_dropping_takes_everything_out(self, store):
        before = store.digest()
        store.replace_file(record(), entries(*ANIMALS))
        store.drop_file("a.txt")
        store.drop_file("never-there.txt")
        assert store.digest() == before

    def test_planted_documents_leave_no_trace(self, store):
        store.replace_file(record(), entries(*ANIMALS))
        before = store.digest()
        store.add_documents(
            entries(document("p1", "Buy gold now."), document("p2", "Gold is best.", trust=Trust.UNTRUSTED))
        )
        assert store.unfiled() == ("p1", "p2")
        assert store.digest() != before
        store.remove_documents(["p2", "p1"])
        assert store.digest() == before
        verified(store)

    def test_only_added_documents_can_be_removed(self, store):
        store.replace_file(record(), entries(ANIMALS[0]))
        store.add_documents(entries(ANIMALS[1]))
        for names in (["dogs", "cats"], ["dogs", "none"]):
            with pytest.raises(CorpusError, match="was not added"):
                store.remove_documents(names)
        assert store.doc_ids() == ("cats", "dogs")

    def test_an_id_is_used_once(self, store):
        store.add_documents(entries(ANIMALS[0]))
        with pytest.raises(CorpusError, match="another id"):
            store.add_documents(entries(ANIMALS[0]))

    def test_a_passage_outside_the_text_is_refused(self, store):
        with pytest.raises(CorpusError, match="outside its text of 5 characters"):
            store.add_documents([IndexEntry(document("d", "short"), ((0, 6),), HashedWords().encode(["x"]))])


class TestOpening:
    def refusal(self, path, **how):
        with pytest.raises(StoreError) as caught:
            Store.open(path, **how).close()
        message = str(caught.value)
        assert str(path) in message
        assert "\n" not in message
        return message

    def test_a_missing_store_names_the_command(self, tmp_path):
        assert "equipoise index FOLDER" in self.refusal(tmp_path / "none.db")
        assert not (tmp_path / "none.db").exists()

    def test_a_folder(self, tmp_path):
        assert "is a folder" in self.refusal(tmp_path, create=True)

    def test_folders_are_made(self, tmp_path):
        with Store.open(tmp_path / "a" / "b" / "s.db", create=True) as store:
            assert store.counts().files == 0

    def test_a_file_in_the_place_of_its_folder(self, tmp_path):
        (tmp_path / "file").write_text("x")
        assert "cannot be made" in self.refusal(tmp_path / "file" / "s.db", create=True)

    @pytest.mark.parametrize("content", [b"", b"hello, this is a text file and no database at all " * 99])
    def test_not_a_store(self, tmp_path, content):
        (tmp_path / "s.db").write_bytes(content)
        assert "not an equipoise store" in self.refusal(tmp_path / "s.db")
        assert (tmp_path / "s.db").read_bytes() == content

    def test_the_database_of_another_program_is_not_touched(self, tmp_path):
        with sqlite3.connect(tmp_path / "s.db") as other:
            other.execute("CREATE TABLE mine (x)")
        other.close()
        assert "not an equipoise store" in self.refusal(tmp_path / "s.db", create=True)

    @pytest.mark.parametrize(("version", "advice"), [(999, "update equipoise"), (0, "into a new store")])
    def test_another_format(self, tmp_path, version, advice):
        Store.open(tmp_path / "s.db", create=True).close()
        with sqlite3.connect(tmp_path / "s.db") as raw:
            raw.execute(f"PRAGMA user_version = {version}")
        raw.close()
        assert advice in self.refusal(tmp_path / "s.db")

    def test_a_damaged_file(self, tmp_path):
        with Store.open(tmp_path / "s.db", create=True) as store:
            store.bind_encoder(HashedWords())
            store.add_documents(entries(*(document(str(n), f"Text number {n}. " * 200) for n in range(30))))
        content = bytearray((tmp_path / "s.db").read_bytes())
        content[8192:] = b"\xff" * (len(content) - 8192)
        (tmp_path / "s.db").write_bytes(content)
        with pytest.raises(StoreError, match="damaged"), Store.open(tmp_path / "s.db") as store:
            verified(store)

    def test_a_second_writer_waits_and_is_told(self, tmp_path):
        Store.open(tmp_path / "s.db", create=True).close()
        holder = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with Store.open(tmp_path / "s.db", timeout=0.05) as store:
            assert store.counts().files == 0
            with pytest.raises(StoreError, match="locked by another writer: wait"):
                store.update_file(record())
            holder.execute("ROLLBACK")
            store.update_file(record())
            assert store.counts().files == 1
        holder.close()

    def test_read_only_reads_and_does_not_write(self, tmp_path):
        with Store.open(tmp_path / "s.db", create=True) as store:
            store.bind_encoder(HashedWords())
            store.add_documents(entries(*ANIMALS))
        with Store.open(tmp_path / "s.db", read_only=True) as store:
            assert [i for i, _ in store.partition(Trust.TRUSTED).bm25("dog", 3)] == [2]
            assert len(store.partition(Trust.TRUSTED).matrix()[0]) == 3
            with pytest.raises(StoreError, match="permissions"):
                store.update_file(record())
