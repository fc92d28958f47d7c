"""Buckets, SFTP, WebDAV and mail on real servers: the same rounds for each."""

from pathlib import Path

import pytest

import remote_servers
from edited_places import told_right
from equipoise.core.errors import CorpusError
from equipoise.core.types import Trust
from equipoise.corpus.sources.opening import sync_source
from equipoise.corpus.store import Store
from hashed_words import HashedWords

pytestmark = pytest.mark.nightly
NEEDS = {"s3": ("obstore",), "webdav": ("webdav4", "wsgidav"), "sftp": ("sshfs",), "imap": ()}
PROGRAMS = {"sftp": "/usr/sbin/sshd", "imap": "/usr/sbin/dovecot"}


@pytest.fixture(params=NEEDS)
def place(request, tmp_path, monkeypatch):
    for name in NEEDS[request.param]:
        pytest.importorskip(name)
    if (program := PROGRAMS.get(request.param)) and not Path(program).exists():
        pytest.skip(f"there is no {program}")
    if request.param == "s3" and not remote_servers.MOTO:
        pytest.skip("there is no moto_server")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("KEY", "SECRET"):
        monkeypatch.setenv(name, remote_servers.SECRET)
    monkeypatch.setenv("KEY_FILE", "")
    folder = tmp_path / "server"
    folder.mkdir()
    with getattr(remote_servers, request.param)(folder) as made:
        yield made


def test_what_is_new_changed_the_same_and_gone(place, tmp_path):
    chosen, there = place
    encoder = HashedWords()
    for number in range(12):
        there.put(f"b%20c{number}.txt", f"Text {number} is about tea.".encode())
    is_mail = chosen.address.startswith("imaps")
    if not is_mail:
        there.put("x.bin", b"1")
    with Store.open(tmp_path / "index.db", create=True) as store:
        rounds = [sync_source(chosen, store, encoder), sync_source(chosen, store, encoder)]
        assert [(one.added, one.unchanged) for one in rounds] == [(12, 0), (0, 12)] and encoder.encoded == 12
        if is_mail:
            assert there.seen == 0
            there.drop("b%20c1.txt")  # a message never changes, another one comes
        there.put("b%20c1.txt", b"Text 1 is all about milk.")
        there.drop("b%20c2.txt")
        report = sync_source(chosen, store, encoder)
        done = (report.added + report.changed, report.unchanged, report.removed)
        assert done == (1, 10, 2 if is_mail else 1) and encoder.encoded == 13
        assert {one.trust for one in store.listing()} == {Trust.UNTRUSTED}
        assert remote_servers.SECRET.encode() not in (tmp_path / "index.db").read_bytes()
    kept = b"".join(path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file())
    assert kept and remote_servers.SECRET.encode() not in kept


def test_500_random_edits_are_told_right(place, tmp_path):
    chosen, there = place

    class Texts:
        def put(self, name, text):
            there.put(f"{name}.txt", text.encode())

        def drop(self, name):
            there.drop(f"{name}.txt")

        def sync(self, store, encoder):
            return sync_source(chosen, store, encoder)

    with Store.open(tmp_path / "index.db", create=True) as store:
        told_right(Texts(), store, HashedWords(), 500, is_fixed=chosen.address.startswith("imaps"))


def test_a_host_of_ones_own_network_is_asked_by_name_only(place, tmp_path):
    chosen, _ = place
    if chosen.address.startswith("s3"):
        pytest.skip("the endpoint is named by its options")
    with (
        Store.open(tmp_path / "index.db", create=True) as store,
        pytest.raises(CorpusError, match="allow it by name"),
    ):
        sync_source(chosen.model_copy(update={"allow": ()}), store, HashedWords())


def test_a_server_that_is_another_one_gets_nothing(place, tmp_path):
    chosen, _ = place
    if not chosen.address.startswith("sftp"):
        pytest.skip("only SSH has keys of hosts")
    other = chosen.options | {"known_hosts": str(tmp_path / "server" / "none")}
    (tmp_path / "server" / "none").write_text("")
    with (
        Store.open(tmp_path / "index.db", create=True) as store,
        pytest.raises(CorpusError, match="not trusted"),
    ):
        sync_source(chosen.model_copy(update={"options": other}), store, HashedWords())
