"""Several indexers fill one store in Postgres and are killed at random; what they leave is what a single one makes."""

import argparse
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "unit")]

from equipoise.corpus.indexing import index  # noqa: E402
from equipoise.corpus.store import open_store  # noqa: E402
from hashed_words import HashedWords  # noqa: E402
from postgres_server import Cluster  # noqa: E402
from processes import ENVIRONMENT  # noqa: E402
from verified import verified  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--indexers", type=int, default=4)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    wanted = parser.parse_args()
    with TemporaryDirectory() as name, Cluster() as cluster:
        folder = Path(name) / "files"
        write(folder, wanted.documents)
        with open_store(Path(name) / "alone.db", create=True) as alone:
            index([folder], alone, HashedWords())
            kills, embedded = shared(cluster.primary.url(), folder, wanted)
            with open_store(cluster.primary.url()) as store:
                verified(store)
                equal = held(store) == held(alone)
                counts = store.counts()
    print(
        f"{wanted.indexers} indexers, {kills} killed: {counts.documents} documents, {counts.passages} passages, "
        f"{counts.pending} without vectors; the {wanted.indexers} that ended embedded {embedded}; "
        f"{'equal to' if equal else 'NOT'} what one makes"
    )
    sys.exit(0 if equal and not counts.pending else 1)


def write(folder, number):
    folder.mkdir()
    rng = random.Random(1)
    for n in range(number):
        rooms = " ".join(f"Room {rng.randrange(9999)} holds lamp {n}." for _ in range(rng.randrange(1, 60)))
        (folder / f"{n:05}.txt").write_text(f"# Part {n}\n\n{rooms}\n")


def shared(url, folder, wanted):
    """Run them to their end, killing some on the way; how many were killed, and what those that ended embedded."""
    rng = random.Random(wanted.seed)
    command = [sys.executable, str(TESTS / "stores" / "indexer.py"), url, str(folder)]
    running = [begun(command) for _ in range(wanted.indexers)]
    kills = 0
    while kills < wanted.kills and all(process.poll() is None for process in running):
        time.sleep(rng.uniform(0.5, 3))
        place = rng.randrange(len(running))
        running[place].send_signal(signal.SIGKILL)
        running[place].wait()
        running[place] = begun(command)
        kills += 1
    said = [process.communicate()[0].split() for process in running]
    return kills, sum(int(words[0]) for words in said if words)


def begun(command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)


def held(store):
    """Documents by id, with their passages and vectors: the order in which they came is that of the indexers."""
    contents = {}
    for numbered in store.numbered():
        vectors = None if numbered.entry.vectors is None else numbered.entry.vectors.tobytes()
        contents[numbered.entry.document.doc_id] = (
            numbered.entry.document.text,
            numbered.entry.spans,
            vectors,
        )
    return contents


if __name__ == "__main__":
    main()
