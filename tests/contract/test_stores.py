"""What every Store promises, over every kind of store there is, each a real one."""

import threading
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equipoise.core.errors import CorpusError, StoreError
from equipoise.core.types import Trust
from equipoise.corpus import copying, keywords
from equipoise.corpus.record_types import Counts, IndexEntry
from equipoise.corpus.scope import first
from equipoise.corpus.store import open_store
from hashed_words import HashedWords
from stores_here import KINDS, cluster, document, entries, new_place, record, unembedded  # noqa: F401
from verified import verified

DOGS = first(Trust.UNTRUSTED)
"""The first number that an untrusted document or passage has."""
ODD = [
    "", '"', "a\0b", "\ud800 lone", "🦉🦉 night", "हिन्दी में night", "night " * 20_000, "x" * 4_000,
    'NEAR("a" "b", 5) AND NOT text:* OR ^x + {a b} : -', " ".join(f"w{n}" for n in range(5_000)), "what is it",
]  # fmt: skip


ANIMALS = (
    document("cats", "Cats sleep most of the day. They hunt at night.", title="On cats"),
    document(
        "dogs",
        "Dogs bark at strangers. A dog needs a walk.",
        trust=Trust.UNTRUSTED,
        pages=(0, 24),
        author="rex",
    ),
    document("owls", "Owls hunt at night, in silence. हिन्दी में लिखा।"),
)


def parts(store):
    return [store.partition(trust) for trust in Trust]


def trusted(store):
    return store.partition(Trust.TRUSTED)


def found(store, query, k):
    """What words find, in each partition."""
    return [part.bm25(query, k) for part in parts(store)]


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def place(kind, new_place):  # noqa: F811
    return new_place(kind)


@pytest.fixture
def store(place):
    with open_store(place, create=True) as opened:
        opened.bind_encoder(HashedWords())
        yield opened


@pytest.fixture
def filled(store):
    store.replace_file(record(), entries(*ANIMALS[:2]))
    store.add_documents(entries(ANIMALS[2]))
    return store


class TestReading:
    def test_documents_come_back_as_they_were(self, filled):
        dogs = filled.document("dogs")
        assert (dogs.text, dogs.trust, dogs.pages) == (ANIMALS[1].text, Trust.UNTRUSTED, (0, 24))
        assert (dogs.author, dogs.written_by, filled.document("cats").written_by) == (
            "rex",
            "rex",
            "cats.txt",
        )
        assert dogs.sentences == ((0, 23), (24, 43))
        assert filled.documents(["owls", "cats"])["cats"].title == "On cats"
        assert filled.doc_ids() == ("cats", "owls", "dogs")
        assert [doc.doc_id for doc in filled.listing()] == ["cats", "owls", "dogs"]
        assert filled.unfiled() == ("owls",)
        assert (filled.file_of("cats"), filled.file_of("owls"), filled.file_of("none\0")) == (
            "a.txt",
            None,
            None,
        )
        assert filled.files() == {"a.txt": record()}
        assert (filled.file("a.txt"), filled.file("b.txt")) == (record(), None)
        assert filled.subjects(5) == ("On cats",)
        assert filled.counts() == Counts(1, 3, 3, 0, 2)
        assert filled.encoder_name() == "hashed-words"

    def test_passages_are_slices_in_the_order_asked_for(self, filled):
        assert [passage.doc_id for passage in filled.passages([2, 1])] == ["owls", "cats"]
        assert filled.passages([DOGS])[0].text == ANIMALS[1].text
        assert filled.passages_of("cats") == (filled.passages([1])[0],)
        assert filled.passages_of("none") == ()
        assert [place.doc_id for place in filled.places([DOGS, DOGS])] == ["dogs", "dogs"]

    def test_unknown_names_are_errors(self, filled):
        with pytest.raises(CorpusError, match="no document 'none'"):
            filled.document("none")
        with pytest.raises(CorpusError, match="no document 'none'"):
            filled.documents(["cats", "none"])
        with pytest.raises(CorpusError, match="no passage 7"):
            filled.passages([7])
        with pytest.raises(CorpusError, match="no document"):
            filled.set_trust(["cats", "none"], Trust.UNTRUSTED)
        assert filled.document("cats").trust is Trust.TRUSTED

    def test_a_snapshot_does_not_see_what_others_write_meanwhile(self, filled, place):
        with open_store(place) as other:
            with filled.snapshot():
                before = filled.counts()
                other.add_documents(entries(document("bats", "Bats fly.")))
                assert filled.counts() == before
                assert trusted(filled).bm25("bats", 5) == []
                assert len(trusted(filled).matrix()[0]) == 2
            assert [i for i, _ in trusted(filled).bm25("bats", 5)] == [3]
            assert filled.counts().documents == 4

    def test_a_digest_is_of_what_is_held(self, filled, new_place):  # noqa: F811
        with open_store(new_place("sqlite"), create=True) as other:
            other.bind_encoder(HashedWords())
            other.replace_file(record(), entries(*ANIMALS[:2]))
            assert other.digest() != filled.digest()
            other.add_documents(entries(ANIMALS[2]))
            assert other.digest() == filled.digest()
        verified(filled)


class TestSearching:
    def test_rows_follow_ascending_passage_ids(self, filled):
        ids, matrix = trusted(filled).matrix()
        assert ids.tolist() == [1, 2]
        expected = HashedWords().encode([f"On cats\n{ANIMALS[0].text}", ANIMALS[2].text, ANIMALS[1].text])
        assert np.array_equal(matrix, expected[:2])
        assert not matrix.flags.writeable
        known, rows = trusted(filled).vectors([2, 9, 1, DOGS, 2])
        assert known.tolist() == [True, False, True, False, True]
        assert np.array_equal(rows, expected[[1, 0, 1]])
        ids, matrix = filled.partition(Trust.UNTRUSTED).matrix()
        assert ids.tolist() == [DOGS]
        assert np.array_equal(matrix, expected[2:])

    def test_an_empty_store(self, store):
        for part in parts(store):
            assert part.matrix()[1].shape == (0, 32)
            assert part.nearest(HashedWords().encode(["x"])[0], 3) == []
            assert part.bm25("cats", 3) == []
            assert (part.sources(), part.authors().names) == ((), ())
            assert [ids.tolist() for ids in part.holding(["cats", ""])] == [[], []]
        assert store.counts() == Counts(0, 0, 0)

    def test_the_nearest_are_those_of_a_file(self, store, new_place):  # noqa: F811
        texts = [document(str(n), f"word{n % 50} word{n % 7} word{n % 3}.") for n in range(200)]
        store.add_documents(entries(*texts))
        with open_store(new_place("sqlite"), create=True) as other:
            other.bind_encoder(HashedWords())
            other.add_documents(entries(*texts))
            for text in ("word3 word1", "word49", "word0 word2 word6"):
                vector = HashedWords().encode([text])[0]
                for k in (0, 1, 5, 40, 300):
                    hits, wanted = (trusted(each).nearest(vector, k, exact=True) for each in (store, other))
                    assert [i for i, _ in hits] == [i for i, _ in wanted]
                    assert [s for _, s in hits] == pytest.approx([s for _, s in wanted], abs=1e-6)

    @pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text)[:20])
    def test_words_find_what_they_find_in_a_file(self, filled, new_place, text):  # noqa: F811
        with open_store(new_place("sqlite"), create=True) as other:
            other.bind_encoder(HashedWords())
            other.add_documents(entries(*ANIMALS))
            for query in (text, f"{text} hunt", f"{text} cats night में"):
                assert found(filled, query, 5) == found(other, query, 5)

    @settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(text=st.text(), at=st.integers(0, 400))
    def test_any_text_is_kept_and_found_as_in_a_file(self, filled, text, at):
        kept = (
            "".join(letter for letter in text if letter != "\0" and not "\ud800" <= letter <= "\udfff") or "x"
        )
        start = min(at, len(kept) - 1)
        made = IndexEntry(document("any", kept), ((start, len(kept)),), HashedWords().encode(["x"]))
        with TemporaryDirectory() as folder, open_store(f"{folder}/s.db", create=True) as other:
            other.bind_encoder(HashedWords())
            other.add_documents([*entries(*ANIMALS), made])
            filled.add_documents([made])
            try:
                assert filled.document("any").text == kept
                assert [passage.text for passage in filled.passages_of("any")] == [kept[start:]]
                for query in (text, kept[start:], f"{text} hunt"):
                    assert found(filled, query, 9) == found(other, query, 9)
            finally:
                filled.remove_documents(["any"])

    def test_common_terms_only_score(self, store, new_place, monkeypatch):  # noqa: F811
        texts = ["apple pie", "pie apple apple", "pie", "apple", "apple tart", *["plum"] * 4]
        documents = entries(*(document(str(n), text) for n, text in enumerate(texts)))
        store.add_documents(documents)
        with open_store(new_place("sqlite"), create=True) as other:
            other.bind_encoder(HashedWords())
            other.add_documents(documents)
            for found_by, scored_by in ((99, 99), (3, 99), (3, 3), (2, 3)):
                monkeypatch.setattr(keywords, "FOUND_BY", found_by)
                monkeypatch.setattr(keywords, "SCORED_BY", scored_by)
                hits = trusted(store).bm25("apple pie plum", 9)
                assert hits == trusted(other).bm25("apple pie plum", 9) != []

    def test_slips_are_corrected(self, filled):
        dogs = filled.partition(Trust.UNTRUSTED)
        assert dogs.corrections("Which strangrs bark?", {"which": 0}) == (("strangrs", "strangers"),)
        assert trusted(filled).corrections("Which strangrs hunt?", {"which": 0}) == ()
        assert trusted(filled).out_of_corpus("Which strangers hunt?") == ("strangers",)

    def test_words_are_held_in_any_form(self, filled):
        filled.add_documents(entries(document("snow", "A snow-white owl. White snow.")))
        held = trusted(filled).holding(["owl", "hunting", "snow-white", "bark", "में", ""])
        assert [ids.tolist() for ids in held] == [[2, 3], [1, 2], [3], [], [2], []]

    def test_scripts_without_spaces_are_searched_by_pairs(self, store):
        texts = ("学生票价十二元。", "冬季停航两个月。", "渡し船は毎朝七時に出ます。")
        store.add_documents(entries(*(document(str(n), text) for n, text in enumerate(texts))))
        questions = ("学生票多少钱?", "冬季停航吗?", "渡し船はいつ出ますか")
        assert [[i for i, _ in trusted(store).bm25(question, 1)] for question in questions] == [[1], [2], [3]]
        assert trusted(store).out_of_corpus("学生船票") == ()
        store.remove_documents(["0"])
        verified(store)

    def test_who_wrote_what(self, filled):
        wrote = trusted(filled).authors()
        assert (wrote.ids.tolist(), wrote.rows.tolist(), wrote.names) == (
            [1, 2],
            [0, 1],
            ("cats.txt", "owls.txt"),
        )
        assert filled.partition(Trust.UNTRUSTED).authors().names == ("rex",)
        assert trusted(filled).sources() == (("cats.txt", "On cats"), ("owls.txt", ""))


class TestWriting:
    def test_a_file_is_replaced_as_a_whole(self, filled):
        filled.replace_file(record(sha256="11"), entries(document("bats", "Bats fly.")))
        assert filled.doc_ids() == ("owls", "bats")
        assert filled.file_of("bats") == "a.txt"
        assert filled.files() == {"a.txt": record(sha256="11")}
        assert found(filled, "cats", 5) == [[], [], []]
        verified(filled)

    def test_nothing_is_kept_of_a_change_that_fails(self, filled):
        before = filled.digest()
        bad = IndexEntry(document("d", "a\0b"), (), np.empty((0, 32), np.float32))
        for change in (
            lambda: filled.replace_file(record(sha256="11"), [*entries(document("bats", "Bats fly.")), bad]),
            lambda: filled.add_documents([*entries(document("bats", "Bats fly.")), *entries(ANIMALS[0])]),
            lambda: filled.remove_documents(["owls", "cats"]),
            lambda: filled.add_documents([IndexEntry(document("d", "short"), ((0, 6),))]),
            lambda: filled.add_documents(
                [IndexEntry(document("d", "short"), ((0, 5),), np.ones((1, 32), np.float32))]
            ),
        ):
            with pytest.raises(CorpusError):
                change()
            assert filled.digest() == before
        verified(filled)

    def test_what_is_taken_out_leaves_no_trace(self, filled):
        before = filled.digest()
        filled.add_documents(entries(document("p1", "Buy gold now."), document("p2", "Gold is best.")))
        filled.replace_file(record("b.txt"), entries(document("bats", "Bats fly.")))
        assert filled.digest() != before
        filled.remove_documents(["p2", "p1"])
        filled.drop_file("b.txt")
        filled.drop_file("never-there.txt")
        assert filled.digest() == before
        verified(filled)

    def test_another_encoder_is_refused_once_there_are_documents(self, store):
        store.bind_encoder(HashedWords(16, "other"))
        store.bind_encoder(HashedWords())
        store.add_documents(entries(ANIMALS[0]))
        with pytest.raises(StoreError, match=r"built with hashed-words \(32 dimensions\), not other \(16"):
            store.bind_encoder(HashedWords(16, "other"))
        with pytest.raises(StoreError, match="index into a new store"):
            store.check_encoder(HashedWords(16))

    def test_threads_may_share_a_store(self, filled):
        wrong = []

        def read():
            for _ in range(20):
                if [i for i, _ in trusted(filled).bm25("owl", 3)] != [2] or len(
                    trusted(filled).matrix()[0]
                ) != 2:
                    wrong.append(1)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


class TestVectorsThatComeLater:
    def test_words_find_what_has_none_yet(self, store):
        store.replace_file(record(), unembedded(*ANIMALS))
        assert store.pending() == [(1, 1), (2, 1), (DOGS, 1)]
        assert store.counts() == Counts(1, 3, 3, 3, 2)
        assert [i for i, _ in trusted(store).bm25("owl", 3)] == [2]
        assert trusted(store).vectors([1, 2])[0].tolist() == [False, False]
        documents = store.unembedded([1, 2, 9])
        assert [doc.entry.document.doc_id for doc in documents] == ["cats", "owls"]
        store.add_vectors([(documents[1], entries(ANIMALS[2])[0].vectors)])
        assert store.pending() == [(1, 1), (DOGS, 1)]
        assert trusted(store).matrix()[0].tolist() == [2]
        store.index_vectors()
        store.optimize()
        verified(store)

    def test_what_has_changed_since_stays_without(self, store):
        store.replace_file(record(), unembedded(ANIMALS[0]))
        (pending,) = store.unembedded([1])
        store.replace_file(record(), unembedded(document("cats", "Cats are gone.")))
        store.add_vectors([(pending, entries(ANIMALS[0])[0].vectors)])
        store.drop_pending(pending)
        assert store.counts() == Counts(1, 1, 1, 1, 1)
        (now,) = store.unembedded([number for number, _ in store.pending()])
        store.drop_pending(now)
        assert store.counts() == Counts(0, 0, 0)

    def test_work_that_is_claimed_is_given_back(self, store):
        assert store.claim("work")
        store.release("work")
        assert store.claim("work")
        store.release("work")


class TestOpening:
    def test_one_that_is_only_read(self, filled, place):
        with open_store(place, read_only=True) as reader:
            reader.read_after(filled.written())
            assert reader.counts() == filled.counts()
            with pytest.raises(StoreError):
                reader.update_file(record())

    def test_a_missing_one_names_the_command(self, place):
        with pytest.raises(StoreError, match="equipoise index FOLDER"):
            open_store(place)
        with pytest.raises(StoreError, match="equipoise index FOLDER"):
            open_store(place, read_only=True)

    def test_a_closed_one_says_so(self, place):
        store = open_store(place, create=True)
        store.close()
        with pytest.raises(StoreError, match="open it again"):
            store.counts()


class TestCopying:
    @pytest.mark.parametrize("to", KINDS)
    def test_a_copy_is_equal_and_goes_on_where_it_was(self, filled, new_place, to, monkeypatch):  # noqa: F811
        filled.add_documents(entries(document("mice", "Mice hide at night.", author="me")))
        filled.remove_documents(["owls"])  # leaves a number out
        filled.replace_file(record("b.txt", author="us"), unembedded(document("bats", "Bats fly.")))
        filled.add_documents(entries(ANIMALS[2]))
        monkeypatch.setattr(copying, "AT_A_TIME", 1)
        with open_store(new_place(to), create=True) as target:
            with pytest.raises(KeyboardInterrupt):
                copying.copy(filled, target, interrupt)
            assert 0 < target.counts().documents < filled.counts().documents
            made = copying.copy(filled, target)
            assert made == copying.digest(filled) == copying.digest(target)
            assert target.listing()[0].doc_id == filled.listing()[0].doc_id
            assert found(target, "hunt night", 9) == found(filled, "hunt night", 9)
            for ours, theirs in zip(parts(target), parts(filled), strict=True):
                assert np.array_equal(ours.matrix()[1], theirs.matrix()[1])
            assert target.pending() == filled.pending() != []
            verified(target)
            target.add_documents(entries(document("more", "One more.")))
            with pytest.raises(StoreError, match="holds more than"):
                copying.copy(filled, target)


def interrupt(done, _total, _what):
    if done == 2:
        raise KeyboardInterrupt
