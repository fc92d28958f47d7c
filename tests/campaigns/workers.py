"""Workers keep several sites fresh in one store in Postgres and are killed at random while the sites are edited; after
each round the index holds every page as it is, once, with its vectors."""

import argparse
import multiprocessing
import os
import random
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "unit")]

from equipoise.apps import fresh  # noqa: E402
from equipoise.apps.known_sources import known  # noqa: E402
from equipoise.corpus.sources import memory  # noqa: E402
from equipoise.corpus.store import open_store  # noqa: E402
from hashed_words import HashedWords  # noqa: E402
from keeper import is_done, settings  # noqa: E402
from postgres_server import Cluster  # noqa: E402
from site_server import serving  # noqa: E402
from verified import verified  # noqa: E402

START = multiprocessing.get_context("fork")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=6)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--each", type=int, default=8, help="Kills between two edits of the sites.")
    parser.add_argument("--seed", type=int, default=7)
    print(campaign(**vars(parser.parse_args())))


def campaign(*, sites, pages, workers, kills, each, seed):
    """Raises AssertionError where a page is lost, doubled or old; what was done, in words."""
    rng, killed, rounds = random.Random(seed), 0, 0
    with TemporaryDirectory() as name, ExitStack() as stack, Cluster() as cluster:
        os.environ["XDG_STATE_HOME"] = name
        places = [Edited(stack.enter_context(serving()), pages, rng) for _ in range(sites)]
        chosen = settings(cluster.primary.url(), [place.address for place in places])
        with open_store(chosen.store.path, create=True) as store:
            store.bind_encoder(HashedWords())
        while killed < kills or not rounds:
            most = min(kills, killed + each)
            running = [begun(chosen) for _ in range(workers)]
            while not all(is_done(one) and not one.turn.asked for one in known(chosen)):
                if killed < most and (row := whose(chosen, running, rng)) is not None:
                    os.kill(running[row].pid, signal.SIGKILL)
                    running[row].join()
                    running[row], killed = begun(chosen), killed + 1
                time.sleep(0.1)
            for process in running:
                process.kill()
                process.join()
            check(chosen, places)
            rounds += 1
            for place in places:
                place.edit(rng)
                with memory.Memory(chosen.store.path) as remembered:
                    remembered.ask(place.address)
        with open_store(chosen.store.path) as store:
            documents = store.counts().documents
    return (
        f"{workers} workers, {sites} sites of {pages} pages, {rounds} rounds, {killed} killed: "
        f"{documents} documents, none lost, none doubled, none old"
    )


def whose(chosen, running, rng):
    """A worker that reads a site, some moments after it has begun to; now and then any. None while none reads."""
    if rng.random() < 0.02:
        return rng.randrange(len(running))
    said = " ".join(one.turn.said for one in known(chosen))
    there = [row for row, process in enumerate(running) if f" {process.pid}" in said]
    if not there:
        return None
    time.sleep(rng.uniform(0, 1.0))
    return rng.choice(there)


class Edited:
    """A site, and the texts that an index of it has to hold."""

    def __init__(self, site, pages, rng):
        self.site, self.number = site, 0
        self.address = f"http://localhost:{site.port}/"
        self.texts = {}
        for _ in range(pages):
            self.put(rng)
        self.link()

    def put(self, rng, path=None):
        self.number += 1
        path = path or f"/{self.number}"
        self.texts[path] = " ".join(f"Room {rng.randrange(9999)} holds tea {self.number}." for _ in range(20))
        self.site.put(path, f"<main><p>{self.texts[path]}</p></main>", marked=self.number % 2 == 0)

    def link(self):
        links = "".join(f'<a href="{path}">x</a>' for path in self.texts)
        self.site.put("/", f"<p>Start.</p>{links}", marked=False)

    def edit(self, rng):
        """A fifth changes, some go, and as many come."""
        for path in rng.sample(sorted(self.texts), len(self.texts) // 5):
            if rng.random() < 0.3:
                del self.texts[path], self.site.pages[path]
                self.put(rng)
            else:
                self.put(rng, path)
        self.link()


def begun(chosen):
    """A worker, forked: importing everything would take longer than its work."""
    process = START.Process(target=work, args=(chosen,), daemon=False)
    process.start()
    return process


def work(chosen):
    memory.RETRY_S, fresh._TELL_S = 0.01, 0.05
    encoder = HashedWords()
    with open_store(chosen.store.path) as store, memory.Memory(chosen.store.path) as remembered:
        turns = fresh.Turns(chosen, remembered, lambda _: encoder, store=store)
        while True:
            if not turns.next():
                time.sleep(0.05)


def check(chosen, places):
    """The index holds what is there, and nothing else."""
    with open_store(chosen.store.path) as store:
        verified(store)
        documents = [store.document(one) for one in store.doc_ids()]
        wanted = {
            place.address + path.lstrip("/"): text for place in places for path, text in place.texts.items()
        }
        starts = {place.address for place in places}
        there = {one.source: one.text for one in documents if one.source not in starts}
        assert there == wanted, sorted(there.items() ^ wanted.items())[:4]
        assert len(documents) == len(wanted) + len(places) and store.counts().pending == 0


if __name__ == "__main__":
    main()
