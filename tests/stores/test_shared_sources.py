"""Several workers keep one index in Postgres fresh: each source is read by one, what a killed one had by another."""

import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

from equipoise.apps import fresh
from equipoise.apps.known_sources import known, known_to
from equipoise.core.errors import CorpusError
from equipoise.corpus.sources import memory
from equipoise.corpus.sources.memory import Memory
from equipoise.corpus.sources.opening import sync_source
from equipoise.corpus.store import open_store
from hashed_words import HashedWords
from keeper import settings
from processes import ENVIRONMENT, TESTS
from site_server import serving
from stores_here import cluster, new_place  # noqa: F401
from verified import verified

SITES, PAGES = 3, 8


@pytest.fixture
def place(new_place, monkeypatch, tmp_path):  # noqa: F811
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    url = new_place("postgres")
    with open_store(url, create=True) as store:
        store.bind_encoder(HashedWords())
    return url


@pytest.fixture
def sites():
    with ExitStack() as stack:
        made = [stack.enter_context(serving()) for _ in range(SITES)]
        for number, site in enumerate(made):
            links = "".join(f'<a href="/{page}">{page}</a>' for page in range(PAGES))
            site.put("/", f"<p>Shop {number}.</p>{links}")
            for page in range(PAGES):
                site.put(f"/{page}", f"<p>Shop {number} sells tea {page}.</p>")
        yield made


def addresses(sites):
    return [f"http://localhost:{site.port}/" for site in sites]


def worker(place, sites):
    command = [sys.executable, str(TESTS / "keeper.py"), place.address, *addresses(sites)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)


def texts(place):
    with open_store(place) as store:
        assert store.counts().pending == 0
        verified(store)
        return sorted(store.document(one).text for one in store.doc_ids())


def turns(place, sites, store=None):
    chosen = settings(place.address, addresses(sites))
    return fresh.Turns(chosen, Memory(place), lambda _: HashedWords(), store=store)


def test_two_read_each_source_once(place, sites):
    both = [worker(place, sites), worker(place, sites)]
    embedded = [int(one.communicate(timeout=120)[0]) for one in both]
    assert len(texts(place)) == SITES * (PAGES + 1) and sum(embedded) == SITES * (PAGES + 1)
    assert all(site.asked.count(f"/{page}") == 1 for site in sites for page in range(PAGES))


def test_what_a_killed_worker_had_is_read_by_another(place, sites):
    sites[0].made = lambda path: time.sleep(600) if path == "/never" else None
    sites[0].put("/", sites[0].pages["/"].body.decode().replace("</body>", '<a href="/never">x</a></body>'))
    dead = worker(place, sites[:1])
    while "/never" not in sites[0].asked:
        time.sleep(0.01)
    one = turns(place, sites[:1])
    assert known_to(one.memory, one.settings)[0].turn.running and not one.next()  # it is claimed
    dead.kill()
    dead.wait()
    sites[0].made = None
    while not one.next():
        time.sleep(0.01)
    assert len(texts(place)) == PAGES + 1
    assert not known_to(one.memory, one.settings)[0].turn.running


def test_the_command_reads_what_is_asked_for_and_ends_when_told(new_place, sites, run, tmp_path):  # noqa: F811
    place = new_place("postgres")
    (tmp_path / "config" / "equipoise").mkdir(parents=True)
    listed = f'[[sources]]\naddress = "{addresses(sites)[0]}"\nallow = ["localhost"]\n'
    (tmp_path / "config" / "equipoise" / "config.toml").write_text(listed)
    more = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state")}
    program = "from equipoise.apps.cli import program; program()"
    command = [sys.executable, "-c", program, "worker", "--store", place.address]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT | more) as process:
        assert "1 source" in process.stderr.readline()
        with Memory(place) as remembered:
            remembered.ask(addresses(sites)[0])
            while remembered.run(addresses(sites)[0]) is None:
                time.sleep(0.05)
        process.terminate()
        assert process.wait(timeout=60) == 0
    assert len(texts(place)) == PAGES + 1
    assert run("worker")[0] == 2  # a file


def test_a_worker_embeds_what_another_has_read(place, sites):
    class Fails(HashedWords):
        def encode(self, texts):
            raise KeyboardInterrupt

    chosen = settings(place.address, addresses(sites[:1]), every="")
    with open_store(place) as store:
        with pytest.raises(KeyboardInterrupt):
            sync_source(chosen.sources.listed[0], store, Fails())
        assert store.counts().pending == PAGES + 1
        other = fresh.Turns(chosen, Memory(place), lambda _: HashedWords(), store=store)
        assert other.next() and store.counts().pending == 0 and not other.next()


def test_what_is_remembered_is_shared_but_for_by_which_settings(place, sites, monkeypatch, tmp_path):
    one = turns(place, sites[:1])
    assert one.next() and not one.next()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other machine"))
    chosen = settings(place.address, addresses(sites[:1]))
    there = known(chosen)[0]
    assert there.run.met == PAGES + 1 and not there.is_due
    sites[0].asked.clear()
    other = turns(place, sites[:1])
    other.memory.ask(there.address)
    assert other.next() and f"/{PAGES - 1}" in sites[0].asked
    assert [run.settings for _, run in Memory(place).runs()] != [""]
    assert all("localhost" not in text for (text,) in other.memory._all("SELECT run FROM runs"))


def test_one_that_is_being_read_is_not_read_by_a_command_and_stays_as_it_was(place, sites):
    one = turns(place, sites[:1])
    with open_store(place) as store:
        assert store.claim(f"source {addresses(sites)[0]}")
        with open_store(place) as other, pytest.raises(CorpusError, match="by another process"):
            sync_source(one.settings.sources.listed[0], other, HashedWords())
        assert one.memory.run(addresses(sites)[0]) is None and not one.next()


def test_a_machine_that_is_gone_is_found_out(place):
    with open_store(place) as store:
        assert store.claim("source x")
        ask = "SELECT current_setting('tcp_keepalives_idle'), inet_client_addr() IS NULL"
        assert store._session._claims.execute(ask).fetchone() in (("10", False), ("0", True))


def test_what_failed_rests_longer_each_time(monkeypatch):
    monkeypatch.setattr(memory, "RETRY_S", 1.0)
    assert not memory.SourceTurn().is_resting(0)
    assert [memory.SourceTurn(tried=100, tries=n).is_resting(103) for n in (1, 2, 3)] == [False, True, True]
    died = [memory.SourceTurn(tried=100, tries=n, running=True).is_resting(100) for n in (1, 2, 3)]
    assert died == [False, False, True]
