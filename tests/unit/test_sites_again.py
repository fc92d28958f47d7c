"""A site read again: what is asked for beside what, and what is not parsed a second time."""

import threading
import time

import pytest

from equipoise.corpus.sources.fetching import CONNECTIONS
from equipoise.corpus.store import Store
from equipoise.corpus.workers import Readers
from hashed_words import HashedWords
from site_server import Page, serving


@pytest.fixture
def site():
    with serving() as made:
        for number in range(12):
            made.put(f"/p{number}", f"<p>Page {number} is about tea.</p>", marked=False)
        made.map([f"/p{number}" for number in range(12)])
        made.put("/", "<p>A shop.</p>", marked=False)
        yield made


@pytest.fixture
def at_once(site):
    """How many requests ran beside each other, one entry for each page."""
    lock, running, seen = threading.Lock(), [0], []

    def made(path):
        page = pages.get(path)
        with lock:
            running[0] += 1
            seen.append(running[0])
        time.sleep(0.05)
        with lock:
            running[0] -= 1
        return page

    pages, site.pages = site.pages, {}
    site.made = made
    return seen


def test_a_few_pages_at_once_and_no_more(site, at_once, tmp_path):
    with Store.open(tmp_path / "index.db", create=True) as store:
        assert site.sync(store, HashedWords()).added == 13
    assert 1 < max(at_once) <= CONNECTIONS


@pytest.mark.parametrize("why", ["it is busy", "it says so", "you say so"])
def test_one_after_the_other_where_the_site_wants_that(site, at_once, tmp_path, why):
    delay = 0.01 if why == "you say so" else 0.0
    if why == "it says so":
        site.put("/robots.txt", "User-agent: *\nCrawl-delay: 0.01\n", kind="text/plain", marked=False)
    if why == "it is busy":
        pages, busy = site.made, iter([Page(b"", 503, {"Retry-After": "0"}, is_marked=False)])
        site.made = lambda path: next(busy, None) or pages(path)
    with Store.open(tmp_path / "index.db", create=True) as store:
        site.sync(store, HashedWords(), delay=delay)
    assert max(at_once) == 1


def test_what_comes_as_it_was_is_not_parsed_again(site, tmp_path, monkeypatch):
    parsed, page = [], Readers.page
    monkeypatch.setattr(Readers, "page", lambda *given, **more: parsed.append(1) or page(*given, **more))
    with Store.open(tmp_path / "index.db", create=True) as store:
        site.sync(store, HashedWords())
        parsed.clear()
        assert site.sync(store, HashedWords()).unchanged == 13 and not parsed
        site.put("/p3", "<p>Page 3 is about tea.</p>", marked=False, X_Robots_Tag="noindex")
        assert site.sync(store, HashedWords()).removed == 1 and len(parsed) == 1
