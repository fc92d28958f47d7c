"""What is searched and counted in one partition of a store is a function of its documents alone, byte for byte,
whatever stands in the others; over every kind of store, each a real one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from equipoise.core.errors import CorpusError
from equipoise.core.types import Block, BlockKind, Document, Span, Trust
from equipoise.corpus import nearest, sqlite
from equipoise.corpus.record_types import Counts, IndexEntry, PartCounts
from equipoise.corpus.scope import SIZE, bounds, first
from equipoise.corpus.store import open_store
from hashed_words import HashedWords
from stores_here import KINDS, cluster, document, entries, new_place, record, unembedded  # noqa: F401
from verified import verified

TEXTS = (
    "The ferry leaves the harbour at nine in the morning. Dogs travel free.",
    "Trains to the mountains run every hour. A train stops at the harbour.",
    "A refund takes five working days. Write to the office at the harbour.",
    "Die Fähre fährt um neun Uhr ab. Hunde fahren umsonst.",
    "Snow-white sheets are changed on Mondays, at no charge.",
    "The ferry leaves the harbour at nine in the morning. Dogs travel free.",  # a tie
    "रात में नाव नहीं चलती। सुबह नौ बजे चलती है।",
)
QUESTIONS = (
    "When does the ferry leave the harbour?", "Do dogs travel free on the train?", "Fähre um neun", "snow-white sheets",
    "नाव सुबह", "How long does a refnd take at the harbor?", "Is there a casino with gold coins?", "the of and", "",
)  # fmt: skip
KNOWN = {"when": 0, "does": 1, "the": 2, "long": 3, "take": 4, "free": 5}
OTHERS = {trust: [other for other in Trust if other is not trust] for trust in Trust}


def corpus(trust):
    return [document(f"d{n}", text, trust=trust, title=f"Part {n}") for n, text in enumerate(TEXTS)]


def seen(part):
    """Everything that a partition says, to the last bit."""
    ids, matrix = part.matrix()
    spans, authors = part.places(ids.tolist()), part.authors()
    return {
        "counts": part.counts(),
        "ids": ids.tolist(),
        "matrix": matrix.tobytes(),
        "vectors": [
            made.tobytes() for made in part.vectors([*ids.tolist()[::-1], 1, SIZE + 1, 2 * SIZE + 1])
        ],
        "places": spans,
        "documents": part.documents(span.doc_id for span in spans),
        "authors": (authors.ids.tolist(), authors.rows.tolist(), authors.names),
        "sources": part.sources(),
        "holding": [
            held.tolist() for held in part.holding(["ferry", "harbours", "gold", "snow-white", "नाव"])
        ],
        **{f"searched for {question!r}": searched(part, question) for question in QUESTIONS},
    }


def searched(part, question):
    vector = HashedWords().encode([question])[0]
    return (
        [part.bm25(question, k) for k in (1, 3, 50)],
        [part.nearest(vector, k, exact=exact) for k in (1, 3, 50) for exact in (True, False)],
        part.corrections(question, KNOWN),
        part.out_of_corpus(question),
    )


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def made(kind, new_place):  # noqa: F811
    """A function: a new store that is open."""
    opened = []

    def new():
        opened.append(open_store(new_place(kind), create=True))
        opened[-1].bind_encoder(HashedWords())
        return opened[-1]

    yield new
    for store in opened:
        store.close()


@pytest.fixture
def exact_up_to(monkeypatch):
    """A function: search is exact up to so many passages of a partition."""

    def set_to(passages):
        for module in (nearest, sqlite):
            monkeypatch.setattr(module, "EXACT_UP_TO", passages)
        for name in ("tables", "searching"):
            place = f"equipoise.corpus.postgres.{name}"
            module = pytest.importorskip(place, reason="needs the extra postgres")
            monkeypatch.setattr(module, "EXACT_UP_TO", passages)

    return set_to


FOREIGN = ["Le ferry part à neuf heures du matin.", "渡轮上午九点离开港口。", "Паром уходит в девять."]
CROWD = " ".join(f"refn{letter}d" for letter in "abcdefghijklm")
"""Words nearer to a slip of QUESTIONS than the one that is meant, more of them than are looked at."""
STUFFED = ["ferry", "harbour", "नाव", "gold", "refnd"]
ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=60)
PLANTED = st.one_of(
    st.sampled_from([*TEXTS, *FOREIGN, CROWD]),
    st.builds(lambda text: text.replace("harbour", "casino"), st.sampled_from(TEXTS)),
    st.builds(lambda word, times: f"{word} " * times, st.sampled_from(STUFFED), st.integers(1, 300)),
    ANY,
)


class TestWhatOthersWrite:
    @pytest.fixture(params=list(Trust), ids=str)
    def trust(self, request):
        return request.param

    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(planted=st.lists(st.tuples(PLANTED, st.integers(0, len(TEXTS)), st.integers(0, 1)), max_size=12))
    @example(planted=[(CROWD, 0, 0), (TEXTS[2], 3, 0)])
    def test_moves_nothing(self, made, trust, planted):
        with made() as alone, made() as mixed:
            alone.add_documents(entries(*corpus(trust)))
            expected = seen(alone.partition(trust))
            for turn in range(len(TEXTS) + 1):
                for n, (text, when, other) in enumerate(planted):
                    if when == turn:
                        spam = document(f"spam{n}", text, trust=OTHERS[trust][other], author=f"hand{n % 3}")
                        mixed.add_documents(entries(spam) if n % 4 else unembedded(spam))
                mixed.add_documents(entries(*corpus(trust)[turn : turn + 1]))
            assert seen(mixed.partition(trust)) == expected
            names = [doc_id for doc_id in mixed.doc_ids() if doc_id.startswith("spam")]
            mixed.set_trust(names, OTHERS[trust][0])
            assert seen(mixed.partition(trust)) == expected
            mixed.remove_documents(names[::2])
            assert seen(mixed.partition(trust)) == expected
            verified(mixed)

    def test_moves_nothing_where_it_is_many_times_as_much(self, made, trust, exact_up_to):
        alone, mixed = made(), made()
        ours = [
            document(f"n{n}", f"Room {n} has lamp{n % 7} and chair{n % 5}.", trust=trust) for n in range(60)
        ]
        asked, stuffed = "Room 5 has lamp3 and chair2", "lamp3 chair2 ferry harbour " * 40
        near_ones = (ours[n % 60].text if n % 5 == 0 else f"{asked} w{n} v{n * n}" for n in range(200))
        spam = [
            document(f"s{n}", f"{text} {stuffed * (n % 5 == 1)}", trust=OTHERS[trust][n % 2])
            for n, text in enumerate(near_ones)
        ]
        alone.add_documents(entries(*ours))
        for turn in range(3):
            mixed.add_documents(entries(*spam[turn * 60 : turn * 60 + 60]))
            mixed.add_documents(entries(*ours[turn * 20 : turn * 20 + 20]))
        mixed.replace_file(record("spam.txt", trust=OTHERS[trust][0]), entries(*spam[180:]))
        exact = seen(alone.partition(trust))
        assert seen(mixed.partition(OTHERS[trust][0])) != exact  # nothing is remembered from it
        assert seen(mixed.partition(trust)) == exact
        for limit in (60, 59, 10):
            exact_up_to(limit)
            for store in (alone, mixed):
                store.index_vectors()
                store.optimize()
            vector = HashedWords().encode([asked])[0]
            near, wanted = (
                [store.partition(trust).nearest(vector, k) for k in (20, 44)] for store in (mixed, alone)
            )
            assert near == wanted
            assert {i for i, _ in near[1]} <= set(exact["ids"])
            if limit == 60:
                assert seen(mixed.partition(trust)) == exact

    def test_is_not_to_be_had_from_the_partition(self, made):
        store = made()
        store.add_documents(
            entries(document("ours", TEXTS[0]), document("theirs", TEXTS[1], trust=Trust.UNTRUSTED))
        )
        ours, theirs, held = (store.partition(trust) for trust in Trust)
        assert (ours.path, ours.trust, theirs.trust, held.trust) == (store.path, *Trust)
        assert theirs.places([SIZE + 1]) == (Span("theirs", 0, len(TEXTS[1])),)
        assert list(theirs.documents(["theirs"])) == ["theirs"]
        for part, doc_id, passage in ((ours, "theirs", SIZE + 1), (theirs, "ours", 1), (held, "ours", 1)):
            with pytest.raises(CorpusError, match=f"'{doc_id}' is not among the {part.trust} documents"):
                part.documents([doc_id])
            with pytest.raises(
                CorpusError, match=f"passage {passage} is not among the {part.trust} documents"
            ):
                part.places([passage])
            assert part.vectors([passage])[0].tolist() == [False]
        with pytest.raises(CorpusError, match="no passage 7"):
            ours.places([7])
        with pytest.raises(CorpusError, match="no document 'none'"):
            ours.documents(["none"])


WHOLE = Document(
    "whole", "Opening hours\n\nWe open at nine. We close at five.", "w.md", "Opening hours", pages=(0, 15), author="me",
    blocks=(Block(BlockKind.HEADING, 0, 13, 1), Block(BlockKind.PARAGRAPH, 15, 49, under=0)),
)  # fmt: skip


class TestMoving:
    def test_takes_everything_along(self, made):
        store = made()
        store.add_documents(entries(document("a", TEXTS[0]), WHOLE, document("b", TEXTS[1])))
        before, pieces = store.document("whole"), store.passages_of("whole")
        rows = store.partition(Trust.TRUSTED).vectors([piece.passage_id for piece in pieces])[1]
        for trust in (Trust.UNTRUSTED, Trust.HELD, Trust.TRUSTED):
            store.set_trust(["whole"], trust)
            assert store.document("whole") == replace(before, trust=trust)
            moved = store.passages_of("whole")
            low, high = bounds(trust)
            assert all(low <= piece.passage_id <= high for piece in moved)
            assert [replace(piece, passage_id=0) for piece in moved] == [
                replace(piece, passage_id=0, trust=trust) for piece in pieces
            ]
            ids = [piece.passage_id for piece in moved]
            assert np.array_equal(store.partition(trust).vectors(ids)[1], rows)
            assert [len(store.partition(other).bm25("open", 5)) for other in Trust] == [
                len(pieces) if other is trust else 0 for other in Trust
            ]
            verified(store)
        assert store.doc_ids() == ("a", "b", "whole")

    def test_there_and_back_is_as_nothing_for_the_newest(self, made):
        store = made()
        store.add_documents(entries(*corpus(Trust.TRUSTED)))
        before, parts = store.digest(), seen(store.partition(Trust.TRUSTED))
        store.set_trust(["d6", "d5"], Trust.UNTRUSTED)
        assert store.partition(Trust.TRUSTED).counts().documents == 5
        assert store.partition(Trust.UNTRUSTED).matrix()[0].tolist() == [SIZE + 1, SIZE + 2]
        store.set_trust(["d5", "d6"], Trust.TRUSTED)
        assert store.digest() == before
        assert seen(store.partition(Trust.TRUSTED)) == parts
        store.set_trust(["d5", "d6"], Trust.TRUSTED)
        assert store.digest() == before

    def test_leaves_what_was_always_there_alone(self, made):
        moved, never = made(), made()
        ours, theirs = corpus(Trust.TRUSTED), document("spam", TEXTS[0], trust=Trust.HELD)
        moved.add_documents(entries(*ours))
        moved.add_documents(entries(theirs))
        moved.set_trust(["spam"], Trust.TRUSTED)
        assert len(ours) + 1 in [i for i, _ in moved.partition(Trust.TRUSTED).bm25("ferry", 9)]
        moved.set_trust(["spam"], Trust.UNTRUSTED)
        never.add_documents(entries(*ours))
        assert seen(moved.partition(Trust.TRUSTED)) == seen(never.partition(Trust.TRUSTED))

    def test_a_file_moves_with_all_its_documents(self, made):
        store = made()
        store.replace_file(record(), entries(document("a", TEXTS[0]), document("b", TEXTS[1])))
        store.add_documents(entries(document("c", TEXTS[2])))
        store.update_file(record(mtime_ns=2, author="somebody"))
        assert store.doc_ids() == ("a", "b", "c")
        assert store.partition(Trust.TRUSTED).authors().names == ("somebody", "c.txt")
        store.update_file(record(trust=Trust.UNTRUSTED))
        assert store.files() == {"a.txt": record(trust=Trust.UNTRUSTED)}
        assert store.doc_ids() == ("c", "a", "b")
        assert store.counts() == Counts(1, 3, 3, 0, 1)
        assert store.partition(Trust.UNTRUSTED).counts() == PartCounts(2, 2, 0)
        store.set_trust(["b"], Trust.TRUSTED)
        assert store.files()["a.txt"].trust is store.document("b").trust is Trust.TRUSTED
        assert store.doc_ids() == ("c", "b", "a")
        assert (store.file_of("a"), store.unfiled()) == ("a.txt", ("c",))
        store.drop_file("a.txt")
        assert store.counts() == Counts(0, 1, 1, 0, 1)
        verified(store)

    def test_what_has_no_vectors_goes_without(self, made):
        store = made()
        store.replace_file(record(), unembedded(document("a", TEXTS[0])))
        (before,) = store.unembedded([1])
        store.set_trust(["a"], Trust.UNTRUSTED)
        assert store.pending() == [(first(Trust.UNTRUSTED), 1)]
        assert store.partition(Trust.UNTRUSTED).counts() == PartCounts(1, 1, 1)
        vectors = HashedWords().encode([TEXTS[0]])
        store.add_vectors([(before, vectors)])
        assert len(store.pending()) == 1
        (now,) = store.unembedded([first(Trust.UNTRUSTED)])
        store.add_vectors([(now, vectors)])
        assert store.pending() == []
        assert np.array_equal(store.partition(Trust.UNTRUSTED).matrix()[1], vectors)
        verified(store)

    def test_is_whole_or_not_at_all(self, made):
        store = made()
        store.add_documents(entries(document("a", TEXTS[0]), document("b", TEXTS[1])))
        before = store.digest()
        with pytest.raises(CorpusError, match="no document 'none'"):
            store.set_trust(["a", "none"], Trust.UNTRUSTED)
        assert store.digest() == before

    def test_numbers_of_another_partition_are_refused(self, made):
        store = made()
        store.add_documents(entries(document("a", TEXTS[0])))
        (numbered,) = store.numbered()
        spam = replace(numbered.entry.document, doc_id="spam", trust=Trust.UNTRUSTED)
        entry = IndexEntry(spam, numbered.entry.spans, numbered.entry.vectors)
        with pytest.raises(CorpusError, match="a number of the other partition"):
            store.restore([], [replace(numbered, number=2, first=2, entry=entry)])
        assert store.doc_ids() == ("a",)


class TestRenaming:
    def test_changes_nothing_but_id_and_source(self, made):
        store = made()
        store.add_documents(entries(document("a", TEXTS[0]), document("b", TEXTS[1], trust=Trust.UNTRUSTED)))
        for doc_id, trust in (("a", Trust.TRUSTED), ("b", Trust.UNTRUSTED)):
            before, part = store.document(doc_id), store.partition(trust)
            found, rows = part.bm25("harbour", 5), part.matrix()
            store.rename(doc_id, f"{doc_id}2", "new.txt")
            assert store.document(f"{doc_id}2") == replace(before, doc_id=f"{doc_id}2", source="new.txt")
            assert part.bm25("harbour", 5) == found != []
            assert np.array_equal(part.matrix()[1], rows[1])
            assert part.authors().names == ("new.txt",)
            assert [span.doc_id for span in part.places(rows[0])] == [f"{doc_id}2"]
            with pytest.raises(CorpusError, match=f"no document '{doc_id}'"):
                store.document(doc_id)
        verified(store)

    def test_an_unknown_document_and_a_taken_id_are_errors(self, made):
        store = made()
        store.add_documents(entries(document("a", TEXTS[0]), document("b", TEXTS[1], trust=Trust.UNTRUSTED)))
        before = store.digest()
        with pytest.raises(CorpusError, match="no document 'none'"):
            store.rename("none", "c", "c.txt")
        with pytest.raises(CorpusError, match="a document 'b'"):
            store.rename("a", "b", "b.txt")
        assert store.digest() == before
