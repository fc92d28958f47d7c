"""A primary killed under load, its replica promoted, and what was seen of it by those who read and wrote."""

import threading
import time
from dataclasses import dataclass, field

from equipoise.core.errors import StoreError
from equipoise.core.types import Document, Trust
from equipoise.corpus.indexing import prepare
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.store import open_store
from hashed_words import HashedWords
from postgres_server import Cluster
from verified import verified

WITHIN_S = 120
"""Ends what hangs."""


@dataclass
class Reader:
    """Asks again and again, at once where it got no answer."""

    place: str
    stop: threading.Event
    reads: int = 0
    failed: int = 0
    in_a_row: int = 0
    most_in_a_row: int = 0
    longest_s: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def run(self):
        vector = HashedWords().encode(["a note about sleep"])[0]
        with open_store(self.place, read_only=True) as store:
            answered = time.monotonic()
            while not self.stop.is_set():
                try:
                    with store.snapshot():
                        ids, hits = (
                            store.partition(Trust.TRUSTED).matrix()[0],
                            store.partition(Trust.TRUSTED).bm25("sleep", 50_000),
                        )
                        nearest = store.passages(
                            i for i, _ in store.partition(Trust.TRUSTED).nearest(vector, 3)
                        )
                        counts = store.counts()
                except StoreError:
                    self.failed += 1
                    self.in_a_row += 1
                    self.most_in_a_row = max(self.most_in_a_row, self.in_a_row)
                    continue
                if not len(ids) == len(hits) == counts.passages or len(nearest) != min(3, len(ids)):
                    self.wrong.append(f"{len(ids)} vectors, {len(hits)} found, {counts}")
                now = time.monotonic()
                self.longest_s, answered = max(self.longest_s, now - answered), now
                self.reads, self.in_a_row = self.reads + 1, 0


@dataclass
class Writer:
    """Puts one file after the other in; `confirmed` are those whose call has returned."""

    place: str
    stop: threading.Event
    confirmed: list[int] = field(default_factory=list)
    error: str = ""

    def run(self):
        number = 0
        try:
            with open_store(self.place) as store:
                while not self.stop.is_set():
                    number += 1
                    text = Document(f"n{number}", f"Note {number} is about sleep.", f"{number}.txt")
                    record = FileRecord(f"{number}.txt", "00", 1, 1, Trust.TRUSTED, ".")
                    store.replace_file(record, prepare([text], HashedWords()))
                    self.confirmed.append(number)
        except StoreError as error:
            self.error = str(error)


@dataclass(frozen=True)
class Outcome:
    """One failover."""

    confirmed: int
    lost: list[int]
    readers: list[Reader]
    writer: Writer


def failover(most_before=30, most_after=30):
    """The primary dies after `most_before` confirmed changes, its replica is promoted after some reads without it, and
    the end is after `most_after` more changes."""
    with Cluster() as cluster:
        with open_store(cluster.primary.url(), create=True) as store:
            store.bind_encoder(HashedWords())
        cluster.replicate(synchronous=True)
        stop = threading.Event()
        writer = Writer(cluster.url(), stop)
        readers = [Reader(cluster.url(), stop) for _ in range(2)]
        threads = [threading.Thread(target=worker.run, daemon=True) for worker in (writer, *readers)]
        for thread in threads:
            thread.start()
        try:
            until(lambda: len(writer.confirmed) >= most_before, writer)
            cluster.primary.kill()
            before = [reader.reads for reader in readers]
            until(lambda: all(r.reads >= n + 10 for r, n in zip(readers, before, strict=True)), writer)
            cluster.replica.promote()
            confirmed = len(writer.confirmed)
            until(lambda: len(writer.confirmed) >= confirmed + most_after, writer)
        finally:
            stop.set()
            for thread in threads:
                thread.join(WITHIN_S)
        with open_store(cluster.url()) as store:
            verified(store)
            kept = set(store.files())
        lost = [number for number in writer.confirmed if f"{number}.txt" not in kept]
        return Outcome(len(writer.confirmed), lost, readers, writer)


def until(reached, writer):
    """Wait for what others do. Raises RuntimeError where it does not come, or the writer has given up."""
    end = time.monotonic() + WITHIN_S
    while not reached():
        if writer.error or time.monotonic() > end:
            raise RuntimeError(writer.error or "it did not come")
        time.sleep(0.01)
