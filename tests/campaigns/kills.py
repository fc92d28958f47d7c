"""A campaign of kills: index a folder while the process is killed again and again, and look at what is left.

    python tests/campaigns/kills.py --kills 100 --seed 7

Each kill is SIGKILL, at a point drawn by the seed: a step of a transaction, between two files, any moment (after
a drawn number of milliseconds), or a worker process instead of the indexing one. After each the store must
verify and hold every file that was reported as written, and at most the one in work besides; no worker may be
left; the next run must go on. Whenever all files are in, the store must equal one that nobody disturbed.
Linux only. Exits with 1 where anything does not hold.
"""

import argparse
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from equipoise.core.types import Trust
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from hashed_words import HashedWords
from held import Held, children
from verified import verified

FILES = 40
STEPS = ("begin", "documents", "passages", "words", "vectors", "commit", "embedded")
KINDS = ("step", "between files", "any moment", "worker")


def make_folder(folder, chance):
    """Files of several types and sizes, the same for the same seed."""
    for number in range(FILES):
        lines = [
            f"Sentence {n} of file {number} says {chance.random()}." for n in range(chance.randint(1, 300))
        ]
        suffix = ("md", "txt", "html", "csv")[number % 4]
        text = "\n".join(lines)
        if suffix == "csv":
            text = "number,sentence\n" + "\n".join(f"{n},{line}" for n, line in enumerate(lines))
        place = folder / f"d{number % 3}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"f{number:02}.{suffix}").write_text(f"<p>{text}</p>" if suffix == "html" else text)


def contents(path):
    """What a store holds, whatever the order it came in."""
    with Store.open(path, read_only=True) as store:
        verified(store)
        ids, matrix = store.partition(Trust.TRUSTED).matrix()
        rows = {}
        for passage, vector in zip(store.passages(ids), matrix, strict=True):
            rows[passage.doc_id, passage.start] = (passage, vector.tobytes())
        documents = store.documents(store.doc_ids())
        plain = {key: (p.end, p.text, p.title, vector) for key, (p, vector) in rows.items()}
        return documents, plain, store.files()


class Campaign:
    def __init__(self, folder, stores, chance):
        self.folder = folder
        self.stores = stores
        self.chance = chance
        self.counts = Counter()
        self.kinds = Counter()
        self.problems = []
        self.undisturbed = stores / "undisturbed.db"
        with Store.open(self.undisturbed, create=True) as store:
            index(folder, store, HashedWords())
            self.digest = store.digest()
        self.contents = contents(self.undisturbed)
        self.round = 0
        self.begin_round()

    def begin_round(self):
        self.round += 1
        self.path = self.stores / f"round{self.round}.db"
        self.kept = 0

    def expect(self, holds, what):
        self.counts["checks"] += 1
        if not holds:
            self.problems.append(what)
            print("PROBLEM:", what, flush=True)

    def kill_once(self):
        kind = self.chance.choice(KINDS)
        self.kinds[kind] += 1
        getattr(self, kind.replace(" ", "_"))()

    def step(self):
        self.held_at(f"{self.chance.choice(STEPS)}:{self.chance.randint(1, 4)}")

    def between_files(self):
        self.held_at(f"{self.chance.choice(('file', 'written'))}:{self.chance.randint(1, 4)}")

    def held_at(self, point):
        """Kill the process at a point it stops at; it ends by itself where too few files are left."""
        with Held(self.folder, self.path, point) as process:
            reached = process.next()
            if reached == point:
                self.counts["workers that ended with their parent"] += process.kill()
                self.counts["kills"] += 1
        self.look(process.wrote, {0}, ended=reached != point)

    def any_moment(self):
        """Kill the process after a time, wherever it is."""
        with Held(self.folder, self.path) as process:
            time.sleep(self.chance.uniform(0.2, 2.5))
            ended = process.process.poll() is not None
            self.counts["workers that ended with their parent"] += process.kill()
            self.counts["kills"] += not ended
        self.look(process.wrote, {0, 1}, ended=ended)

    def worker(self):
        """Kill the workers under a process, in a copy of the store: their files fail, the rest and a rerun do not."""
        copy = self.stores / "copy.db"
        for part in self.stores.glob("copy.db*"):
            part.unlink()
        if self.path.exists():
            with Store.open(self.path) as store:
                store._connection.execute("VACUUM INTO ?", (str(copy),))
        point = f"file:{self.chance.randint(2, 5)}"
        with Held(self.folder, copy, point) as process:
            process.next()
            for pid in children(process.process.pid):
                os.kill(pid, signal.SIGKILL)
                self.counts["workers killed"] += 1
                self.counts["kills"] += 1
            said = process.end()
        self.counts["files that failed with their worker"] += int(said.split()[-1])
        self.expect(
            said.startswith("done"), f"an index run ended with {said!r} after its workers were killed"
        )
        with Store.open(copy, create=True) as store:
            index(self.folder, store, HashedWords())
        self.expect(contents(copy) == self.contents, "a rerun after killed workers made another store")

    def look(self, wrote, more, *, ended):
        """Check what a kill has left, and go on, in a new store where all files are in.

        The process said of `wrote` files that they were written; so many `more` may be in the store.
        """
        if not self.path.exists():
            self.expect(wrote == 0, "a store is gone")
            return
        with Store.open(self.path, create=True) as store:
            verified(store)
            files = store.counts().files
            for known in store.files():
                self.expect(known in self.contents[2], f"{known} is not of the folder")
            self.expect(
                files - self.kept - wrote in more, f"{self.kept} files and {wrote} new ones, {files} are in"
            )
            self.expect(files == store.counts().documents, "a file without its document")
            self.kept = files
        if files == FILES or ended:
            self.finish()

    def finish(self):
        with Store.open(self.path, create=True) as store:
            index(self.folder, store, HashedWords())
            self.expect(store.digest() == self.digest, "the store differs from an undisturbed one")
        self.counts["stores finished, equal to an undisturbed one"] += 1
        self.begin_round()


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--seed", type=int, default=7)
    chosen = options.parse_args()
    chance = random.Random(chosen.seed)
    with TemporaryDirectory() as made:
        folder, stores = Path(made) / "files", Path(made) / "stores"
        stores.mkdir()
        make_folder(folder, chance)
        campaign = Campaign(folder, stores, chance)
        while campaign.counts["kills"] < chosen.kills:
            campaign.kill_once()
        campaign.finish()
    for name, number in (
        *campaign.kinds.items(),
        *campaign.counts.items(),
        ("problems", len(campaign.problems)),
    ):
        print(f"{number:6} {name}")
    return 1 if campaign.problems else 0


if __name__ == "__main__":
    sys.exit(main())
