"""A Git repository behind `git http-backend`: what changes, what is refused, and where no request goes."""

import shutil

import pytest

from equipoise.core.errors import CorpusError
from equipoise.core.types import Trust
from equipoise.corpus.sources.guard import Allowed, Forbidden
from equipoise.corpus.sources.opening import sync_source
from equipoise.corpus.store import Store
from git_server import repository
from hashed_words import HashedWords

pytest.importorskip("dulwich")
pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="there is no git")


@pytest.fixture
def repo(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with repository(tmp_path) as made:
        yield made


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "index.db", create=True) as opened:
        yield opened


def test_what_is_new_changed_the_same_and_gone(repo, store, monkeypatch):
    monkeypatch.setenv("TOKEN", "hush")
    (repo.work / "link.txt").symlink_to("/etc/hostname")
    repo.commit(**{f"t{number}": f"Text {number} is about tea." for number in range(4)})
    encoder = HashedWords()
    chosen = repo.chosen(options={"username": "x", "password": "env:TOKEN", "branch": "main"})
    assert sync_source(chosen, store, encoder).added == 4
    assert sync_source(chosen, store, encoder).unchanged == 4 and encoder.encoded == 4
    repo.commit(t1="Text 1 is about milk.", t2=None)
    report = sync_source(chosen, store, encoder)
    assert (report.changed, report.unchanged, report.removed) == (1, 2, 1) and encoder.encoded == 5
    assert {one.trust for one in store.listing()} == {Trust.UNTRUSTED}
    assert set(repo.server.asked) == {"Basic eDpodXNo"}
    repo.commit(**{f"t{number}": None for number in (0, 1, 3)})
    with pytest.raises(CorpusError, match="--prune"):
        sync_source(chosen, store, encoder)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"allow": ()}, "allow it by name"),
        ({"options": {"branch": "none"}}, "no branch none"),
        ({"path": "/none.git"}, "NotGitRepository"),
        ({"path": "/away/team/.git"}, "it leads away, to 127.0.0.2"),
    ],
)
def test_what_cannot_be_had_is_said_and_nothing_changes(repo, store, more, why):
    repo.server.away = "http://127.0.0.2:1"
    repo.commit(t="Text.")
    with pytest.raises(CorpusError, match=why):
        sync_source(repo.chosen(**more), store, HashedWords())
    assert not store.listing()


def test_each_connection_goes_to_an_address_that_was_checked():
    from equipoise.corpus.sources.git_worker import pools

    answers = iter([["127.0.0.1"], ["10.0.0.1"]])  # a name that means something else a moment later
    manager = pools("http://git.example/x", Allowed(("127.0.0.1",)), lambda host, port: next(answers))
    with pytest.raises(Exception, match="refused"):
        manager.request("GET", "http://git.example:80/x", retries=False)
    for address in ("http://git.example/x", "http://other.example/", "http://git.example:81/"):
        with pytest.raises(Forbidden):
            manager.request("GET", address, retries=False)
    with pytest.raises(Exception, match="https"):
        manager.request("GET", "https://git.example/x", retries=False)
