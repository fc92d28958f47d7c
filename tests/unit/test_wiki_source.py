"""A wiki into an index, by the API of MediaWiki as a small server here speaks it; tests/unit/test_real_wiki.py asks a
real one."""

import pytest

from equipoise.core.errors import CorpusError, InputError
from equipoise.core.types import Trust
from equipoise.corpus.store import Store
from hashed_words import HashedWords
from site_server import Page, serving
from small_wiki import SmallWiki

SYSOP = [{"type": "edit", "level": "sysop", "expiry": "infinity", "cascade": True}]


@pytest.fixture
def wiki(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with serving() as site:
        made = SmallWiki(site)
        for number in range(5):
            made.put(f"Tea {number}", f"Tea number {number} is green.")
        made.put("Rules", "Only clerks write this.", SYSOP)
        yield made


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "index.db", create=True) as opened:
        yield opened


def held(store):
    return {store.document(one.doc_id).text: one.trust for one in store.listing()}


def test_pages_are_listed_read_changed_and_taken_out(wiki, store):
    encoder = HashedWords()
    assert wiki.sync(store, encoder).added == 6 and set(held(store).values()) == {Trust.UNTRUSTED}
    (one,) = (one for one in store.listing() if one.title == "Tea 1")
    assert one.source == f"{wiki.address}Tea_1" and str(one.metadata["date"]) == "2024-05-01"
    wiki.parsed.clear()
    assert wiki.sync(store, encoder).unchanged == 6 and not wiki.parsed
    wiki.put("Tea 1", "Tea number 1 is black.")
    wiki.pages["Tea 9"] = wiki.pages.pop("Tea 2")
    del wiki.pages["Tea 3"]
    report = wiki.sync(store, encoder)
    assert (report.added, report.changed, report.unchanged, report.removed) == (1, 1, 3, 2)
    assert "Tea number 1 is black." in held(store) and len(held(store)) == 5


def test_a_page_whose_templates_changed_and_that_looks_the_same_is_not_embedded(wiki, store):
    encoder = HashedWords()
    wiki.sync(store, encoder)
    before = encoder.encoded
    wiki.put("Tea 1", "Tea number 1 is green.")
    assert wiki.sync(store, encoder).unchanged == 6 and encoder.encoded == before


def test_pages_that_only_one_group_may_edit_are_trusted_where_settings_say_so(wiki, store):
    wiki.put("Half", "Anybody writes its templates.", [{"type": "edit", "level": "sysop"}])
    wiki.put("Member", "Anybody with an account.", [SYSOP[0] | {"level": "autoconfirmed"}])
    wiki.put("Moved", "Only its name is kept.", [SYSOP[0] | {"type": "move"}])
    wiki.sync(store, options={"protected": "sysop"})
    assert {text for text, trust in held(store).items() if trust is Trust.TRUSTED} == {
        "Only clerks write this."
    }
    wiki.pages["Rules"]["protection"] = []
    assert wiki.sync(store, options={"protected": "sysop"}).relabelled == 1
    assert set(held(store).values()) == {Trust.UNTRUSTED}
    wiki.sync(store, trust="trusted")
    assert set(held(store).values()) == {Trust.TRUSTED}


def test_a_list_that_breaks_off_changes_nothing(wiki, store):
    wiki.sync(store)
    del wiki.pages["Tea 0"]
    wiki.broken_from = 2
    with pytest.raises(CorpusError, match="status 500"):
        wiki.sync(store)
    assert len(held(store)) == 6


def test_what_is_no_wiki_is_said(wiki, store):
    wiki.site.made = lambda path: Page(b"<html>", is_marked=False)
    with pytest.raises(CorpusError, match="no API of a MediaWiki"):
        wiki.sync(store)
    wiki.site.made = lambda path: Page(b'{"error": {"info": "You need read permission"}}', is_marked=False)
    with pytest.raises(CorpusError, match="says: You need read permission"):
        wiki.sync(store)
    for odd in ({"user": "x"}, {"namespaces": "main"}, {"protected": ""}):
        with pytest.raises(InputError, match="options of a wiki"):
            wiki.sync(store, options=odd)


@pytest.mark.parametrize("place", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"])
def test_a_wiki_on_a_forbidden_address_is_not_asked(wiki, store, place):
    with pytest.raises(CorpusError):
        wiki.sync(store, allow=(), resolve=lambda host, port: [place])
    assert not wiki.site.asked


def test_a_redirect_to_elsewhere_is_not_followed(wiki, store):
    wiki.site.made = lambda path: Page(b"", 302, {"Location": "http://169.254.169.254/"}, is_marked=False)
    with pytest.raises(CorpusError, match="leads to"):
        wiki.sync(store)
    assert len(wiki.site.asked) == 1
