"""The protocol of sources, by one that is nothing but a dictionary."""

import pytest

from equipoise.core.errors import CorpusError, UnreadableFile
from equipoise.core.types import Trust
from equipoise.corpus.files import LeftOut, Original
from equipoise.corpus.roots import Gone
from equipoise.corpus.sources.source import COMMENTS, Item, ItemPart
from equipoise.corpus.sources.syncing import sync
from equipoise.corpus.store import Store
from equipoise.corpus.workers import Readers
from hashed_words import HashedWords


class Texts:
    """Texts by their names, their lengths and contents their marks."""

    address = "texts://house"

    def __init__(self, readers):
        self.readers, self.texts, self.notes, self.bad = readers, {}, {}, set()
        self.failed, self.left_out, self.read_names = [], [], []

    def items(self, known):
        self.failed, self.left_out = [], [LeftOut("texts://house/x", "it is left out")]
        for name, text in self.texts.items():
            if name in self.bad:
                self.failed.append(UnreadableFile(f"{self.address}/{name}", "it is bad today"))
            else:
                yield Item(f"{self.address}/{name}", text + self.notes.get(name, ""))

    def read(self, item):
        name = item.address.rpartition("/")[2]
        self.read_names.append(name)
        made = []
        for text, ending in ((self.texts[name], ""), (self.notes.get(name), COMMENTS)):
            if text:
                original = Original(item.address, "text.txt", text.encode)
                made.append(
                    ItemPart(self.readers.read("text.txt", text.encode()), original, len(text), ending)
                )
        return made

    def gone(self, known):
        there = {f"{self.address}/{name}" for name in self.texts}
        return [key for key in known if key.removesuffix(COMMENTS) not in there]


@pytest.fixture
def texts():
    with Readers(1) as readers:
        yield Texts(readers)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "index.db", create=True) as opened:
        yield opened


def numbers(report):
    return (report.added, report.changed, report.unchanged, report.removed)


def test_only_what_is_new_or_changed_is_read_and_what_is_gone_goes(texts, store):
    encoder = HashedWords()
    texts.texts = {f"t{number}": f"Text {number} is about tea." for number in range(12)}
    assert numbers(sync(texts, store, encoder)) == (12, 0, 0, 0)
    texts.read_names = []
    texts.texts["t1"] = "Text 1 is about milk."
    del texts.texts["t2"]
    report = sync(texts, store, encoder)
    assert numbers(report) == (0, 1, 10, 1) and texts.read_names == ["t1"]
    assert [str(left) for left in report.left_out] == ["texts://house/x: it is left out"]
    texts.bad = {"t1", "t3"}
    report = sync(texts, store, encoder)
    assert numbers(report) == (0, 0, 9, 0) and len(report.failed) == 2
    assert len(store.listing()) == 11


def test_nearly_all_gone_at_once_stays_until_told(texts, store):
    encoder = HashedWords()
    texts.texts = {f"t{number}": f"Text {number} is about tea." for number in range(12)}
    sync(texts, store, encoder)
    texts.texts = {"t0": texts.texts["t0"]}
    assert "11 of 12" in str(sync(texts, store, encoder).left_out)
    assert sync(texts, store, encoder, gone=Gone.KEEP).removed == 0
    assert sync(texts, store, encoder, gone=Gone.DROP).removed == 11


def test_what_others_wrote_is_untrusted_and_by_one_author(texts, store):
    texts.texts, texts.notes = {"a": "Tea is hot."}, {"a": "Tea is cold."}
    sync(texts, store, HashedWords())
    found = {one.source: store.document(one.doc_id) for one in store.listing()}
    own, other = found["texts://house/a"], found["texts://house/a#comments"]
    assert (own.trust, own.author) == (Trust.TRUSTED, texts.address)
    assert (other.trust, other.author) == (Trust.UNTRUSTED, "texts://house/a#comments")


def test_one_run_of_a_source_at_a_time_and_an_empty_one_is_said(texts, store, monkeypatch):
    with pytest.raises(CorpusError, match="nothing could be read at texts://house"):
        sync(texts, store, HashedWords())
    texts.texts = {"a": "Tea is hot."}
    with monkeypatch.context() as patch:
        patch.setattr(type(store), "claim", lambda store, name: name != "source texts://house")
        with pytest.raises(CorpusError, match="another process"):
            sync(texts, store, HashedWords())
    assert sync(texts, store, HashedWords()).added == 1
