"""Files and mail of other machines: what is listed, what is said, and what settings may say of them."""

import imaplib
from datetime import UTC, datetime, timedelta

import pytest

from equipoise.core.errors import CorpusError, InputError, SettingsError
from equipoise.core.source_settings import SourceSettings
from equipoise.corpus.limits import LARGEST_FILE
from equipoise.corpus.sources import files, mail
from equipoise.corpus.sources.addresses import root
from equipoise.corpus.sources.source import Unanswered
from equipoise.corpus.store import Store
from hashed_words import HashedWords
from sources_here import here


@pytest.fixture
def place(tmp_path):
    with here("files", tmp_path) as made:
        yield made


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "index.db", create=True) as opened:
        yield opened


def sources(store):
    return sorted(one.source for one in store.listing())


def test_names_that_are_no_part_of_an_address_and_what_is_left_out(place, store):
    for name in ("a#comments", "b/c d", "b/.git/e", ".hidden", "b/f.txt.meta.json", "drafts/g"):
        place.put(name, f"{name} is about tea.")
    place.system.pipe_file("/house/x.bin", b"1")
    report = place.sync(store, HashedWords(), source=place.source(exclude=("/drafts/*",)))
    base = "memory://house/"
    assert sources(store) == [f"{base}a%23comments.txt", f"{base}b/c%20d.txt", f"{base}b/f.txt.meta.json.txt"]
    assert len(report.left_out) == 3 and "(and 1 more)" in str(report.left_out)


def test_a_folder_that_cannot_be_listed_takes_nothing_out(place, store, monkeypatch):
    for number in range(3):
        place.put(f"sub/t{number}", f"Text {number}.")
    place.put("t", "Text.")
    place.sync(store, HashedWords())
    ls = place.system.ls

    def failing(path, **more):
        if path.rstrip("/").endswith("sub"):
            raise PermissionError("the key hush is wrong")
        return ls(path, **more)

    monkeypatch.setattr(place.system, "ls", failing)
    with pytest.raises(CorpusError, match=r"the key \*\*\* is wrong"):
        place.sync(store, HashedWords(), source=place.source(secrets=("hush",)))
    assert len(store.listing()) == 4


def test_a_file_that_was_changed_just_now_is_read_once_more():
    now = datetime.now(UTC)
    assert files._version({"mtime": now}) == files._version({"LastModified": now.isoformat()}) == -1
    assert files._version({"mtime": now.timestamp(), "etag": "of one second"}) == -1
    old = {"modified": now - timedelta(seconds=9)}
    assert files._version(old) == files._version(dict(old)) > 0
    assert files._version({"mtime": "long ago"}) > 0 and files._version({"size": 1}) == -1


def test_a_file_that_cannot_be_read_stays_as_it_was(place, store, monkeypatch):
    monkeypatch.setattr(files, "_JUST_NOW_S", 0)
    for number in range(2):
        place.put(f"t{number}", f"Text {number} is about tea.")
    place.sync(store, HashedWords())
    place.put("t0", "Text 0 is about milk.")
    opened = place.system.open
    monkeypatch.setattr(place.system, "open", lambda *given, **more: opened("/house/none.txt"))
    report = place.sync(store, HashedWords())
    assert len(report.failed) == 1 and report.unchanged == 1 and len(store.listing()) == 2


def test_no_more_than_are_wanted_and_what_is_over_stays(place, store):
    for number in range(4):
        place.put(f"t{number}", f"Text {number}.")
    place.sync(store, HashedWords())
    report = place.sync(store, HashedWords(), source=place.source(most=2))
    assert report.unchanged == 2 and report.removed == 0 and "more than 2 files" in str(report.left_out)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("s3://Papers/docs/", "s3://papers/docs/"),
        ("s3://papers", "s3://papers/"),
        ("sftp://host:22/a/../b", "sftp://host:22/b/"),
        ("webdav://host/a%20b", "webdav://host/a%20b/"),
    ],
)
def test_one_spelling(text, whole):
    assert root(text) == whole == root(whole)


@pytest.mark.parametrize(
    "text",
    [
        "s3://u:p@papers/",
        "s3://papers/?x",
        "file:///etc",
        "memory://x",
        "s3:///x",
        "imaps://h/IN%0d%0aBOX",
        "simplecache::s3://x",
    ],
)
def test_what_is_no_address_of_a_source(text):
    with pytest.raises((InputError, SettingsError, ValueError)):
        SourceSettings(address=text)
        root(text)


def test_what_others_write_is_untrusted_unless_it_is_said():
    assert SourceSettings(address="s3://papers/").trust == "untrusted"
    assert SourceSettings(address="s3://papers/", trust="trusted").trust == "trusted"
    assert SourceSettings(address="https://shop.example/").trust == "trusted"


def test_a_secret_never_stands_in_settings():
    chosen = SourceSettings(address="s3://papers/", options={"secret_access_key": "env:S3", "region": "x"})
    assert chosen.secrets({"S3": "hush"}) == {"secret_access_key": "hush", "region": "x"}
    with pytest.raises(SettingsError, match="S3, which"):
        chosen.secrets({})
    with pytest.raises(ValueError, match="never stands in settings"):
        SourceSettings(address="s3://papers/", options={"secret_access_key": "hush"})


def test_mail_is_taken_as_bytes_and_no_more_than_a_file_may_have():
    link = imaplib.IMAP4_SSL.__new__(mail._Bounded)
    with pytest.raises(imaplib.IMAP4.abort, match="larger than"):
        link.read(LARGEST_FILE + 1)


class Answers:
    """A connection of IMAP that answers what it is told."""

    def __init__(self, *numbers):
        self.numbers, self.asked = numbers, []

    def response(self, name):
        return name, [b"7"]

    def select(self, folder, readonly):
        self.asked.append((folder, readonly))
        return "OK", [b"1"]

    def uid(self, command, *said):
        self.asked.append((command, *said))
        if command == "SEARCH":
            return "OK", [" ".join(map(str, self.numbers)).encode()]
        return ("OK", [None]) if said[0] == "3" else ("OK", [(b"1 (BODY[] {9}", b"Subject: a\r\n\r\nTea.")])


def test_a_message_is_named_by_its_number_and_one_that_goes_meanwhile_is_not_read():
    box = mail.Mailbox("imaps://h/A/", link := Answers(1, 2, 3), 'A "b"', most=2)
    items = list(box.items({}))
    assert [one.key for one in items] == ["imaps://h/A/7/3.eml", "imaps://h/A/7/2.eml"]
    assert link.asked == [('"A \\"b\\""', True), ("SEARCH", "UNDELETED")]
    assert box.read(items[1])[0].content.data.endswith(b"Tea.")
    with pytest.raises(Unanswered):
        box.read(items[0])
    assert "newest 2" in str(box.left_out) and box.gone({"imaps://h/A/7/1.eml": None, "x": None}) == ["x"]
