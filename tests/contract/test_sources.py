"""What holds for every source, a folder among them: one run over it leaves an index that says what is there."""

import pytest

from edited_places import told_right
from equipoise.core.errors import CorpusError
from equipoise.core.types import Trust
from equipoise.corpus.roots import Gone
from equipoise.corpus.store import Store
from hashed_words import HashedWords
from sources_here import KINDS, here


@pytest.fixture(params=KINDS)
def place(request, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with here(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def texts(tmp_path):
    with here("texts", tmp_path) as made:
        yield made


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "index.db", create=True) as opened:
        yield opened


def numbers(report):
    return (report.added, report.changed, report.unchanged, report.removed)


def held(store):
    """The texts of the index."""
    return sorted(store.document(one.doc_id).text for one in store.listing())


def filled(place, count=12):
    for number in range(count):
        place.put(f"t{number}", f"Text {number} is about tea.")


def test_only_what_is_new_or_changed_is_embedded_and_what_is_gone_goes(place, store):
    encoder = HashedWords()
    filled(place)
    assert numbers(place.sync(store, encoder)) == (12, 0, 0, 0)
    before = encoder.encoded
    assert numbers(place.sync(store, encoder)) == (0, 0, 12, 0) and encoder.encoded == before
    place.put("t1", "Text 1 is about milk.")
    place.put("t12", "Text 12 is about sugar.")
    place.drop("t2")
    assert numbers(place.sync(store, encoder)) == (1, 1, 10, 1) and encoder.encoded == before + 2
    texts = {f"Text {number} is about tea." for number in range(12) if number not in (1, 2)}
    assert set(held(store)) == texts | {"Text 1 is about milk.", "Text 12 is about sugar."}


def test_what_is_put_there_again_as_it_was_is_not_embedded_again(place, store):
    encoder = HashedWords()
    filled(place, 2)
    place.sync(store, encoder)
    before = encoder.encoded
    place.put("t1", "Text 1 is about tea.")
    assert numbers(place.sync(store, encoder)) == (0, 0, 2, 0) and encoder.encoded == before


def test_a_run_that_ends_half_way_changes_nothing_that_it_did_not_see(place, store):
    encoder = HashedWords()
    filled(place, 6)
    place.sync(store, encoder)
    for number in range(5):
        place.put(f"t{number}", f"Text {number} is about milk.")
    place.drop("t5")

    def ends(step):
        if step.file == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        place.sync(store, encoder, progress=ends)
    texts = held(store)
    assert len(texts) == 6 and sum("milk" in text for text in texts) == 2
    assert place.sync(store, encoder).removed == 1
    assert held(store) == [f"Text {number} is about milk." for number in range(5)]


def test_an_empty_answer_does_not_empty_the_index_until_told(place, store):
    encoder = HashedWords()
    filled(place)
    place.sync(store, encoder)
    for number in range(12):
        place.drop(f"t{number}")
    with pytest.raises(CorpusError, match="--prune"):
        place.sync(store, encoder)
    assert len(store.listing()) == 12
    with pytest.raises(CorpusError):
        place.sync(store, encoder, gone=Gone.KEEP)
    assert len(store.listing()) == 12
    assert place.sync(store, encoder, gone=Gone.DROP).removed == 12
    assert not store.listing()


@pytest.mark.parametrize("edits", [60, pytest.param(500, marks=pytest.mark.nightly)])
def test_random_edits_are_told_right(place, store, edits):
    told_right(place, store, HashedWords(), edits)


def test_another_trust_is_that_of_every_document(place, store):
    filled(place, 2)
    place.sync(store, HashedWords(), trust=Trust.UNTRUSTED)
    assert {one.trust for one in store.listing()} == {Trust.UNTRUSTED}
    assert place.sync(store, HashedWords()).relabelled == 2
    assert {one.trust for one in store.listing()} == {Trust.TRUSTED}


def test_a_judge_is_given_the_bytes_also_of_what_has_not_changed(place, store):
    seen = []

    def judge(original, documents, trust):
        seen.append(original.data())
        return trust

    filled(place, 2)
    place.sync(store, HashedWords(), judge=judge)
    place.sync(store, HashedWords(), trust=Trust.UNTRUSTED, judge=judge)
    assert len(seen) == 4 and all(b"tea" in data for data in seen)


def test_what_cannot_be_listed_stays_as_it_was(texts, store):
    encoder = HashedWords()
    filled(texts)
    texts.sync(store, encoder)
    texts.source.bad = {"t1", "t3"}
    report = texts.sync(store, encoder)
    assert numbers(report) == (0, 0, 10, 0) and len(report.failed) == 2
    assert len(store.listing()) == 12


def test_nearly_all_gone_at_once_stays_until_told(texts, store):
    encoder = HashedWords()
    filled(texts)
    texts.sync(store, encoder)
    texts.source.texts = {"t0": texts.source.texts["t0"]}
    assert "11 of 12" in str(texts.sync(store, encoder).left_out)
    assert texts.sync(store, encoder, gone=Gone.KEEP).removed == 0
    assert texts.sync(store, encoder, gone=Gone.DROP).removed == 11


def test_what_others_wrote_is_untrusted_and_by_one_author(texts, store):
    texts.put("a", "Tea is hot.")
    texts.source.notes = {"a": "Tea is cold."}
    texts.sync(store, HashedWords())
    found = {one.source: store.document(one.doc_id) for one in store.listing()}
    own, other = found["texts://house/a"], found["texts://house/a#comments"]
    assert (own.trust, own.author) == (Trust.TRUSTED, "texts://house")
    assert (other.trust, other.author) == (Trust.UNTRUSTED, "texts://house/a#comments")


def test_one_run_of_a_source_at_a_time_and_an_empty_one_is_said(texts, store, monkeypatch):
    with pytest.raises(CorpusError, match="nothing could be read at texts://house"):
        texts.sync(store, HashedWords())
    texts.put("a", "Tea is hot.")
    with monkeypatch.context() as patch:
        patch.setattr(type(store), "claim", lambda store, name: name != "source texts://house")
        with pytest.raises(CorpusError, match="another process"):
            texts.sync(store, HashedWords())
    assert texts.sync(store, HashedWords()).added == 1
