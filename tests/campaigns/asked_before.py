"""Does the time that an answer takes tell one key what another key has asked?

    python tests/campaigns/asked_before.py --tries 40 --seed 7

A server of its own with the models of the package, over examples/sqlite. In each try key A asks a question, in half of
them the one that key B asks next, twice. B calls those "asked before" whose first answer took the least time beside the
second one: half of the tries, which by chance is right for half of them. Prints how many were right, and the median of
first by second in both halves. Linux only. Exits with 1 where more are right than chance explains (one in a hundred).
"""

import argparse
import json
import random
import sys
import time
from math import comb
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent))

from server_process import Caller, Server

from equipoise.apps.server.book import Book, folder_of
from equipoise.apps.server.keys import Keys
from equipoise.rag.library import Library

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "examples" / "sqlite"
SUBJECTS = (
    "WAL mode", "AUTOINCREMENT", "a corrupt database file", "isolation", "the size of a page", "a read-only database",
    "fsync", "the rowid", "a checkpoint", "a network filesystem", "file locks", "an expression tree", "the journal",
    "a serverless engine", "client/server databases", "embedded devices", "the number of columns", "a JOIN of tables",
    "the length of a string", "releases",
)  # fmt: skip
FORMS = (
    "What do the documents say about {}?",
    "When does one need {}?",
    "Who decides about {}?",
    "Why does SQLite care for {}?",
)
MOST = len(SUBJECTS) * len(FORMS) * 2 // 3
"""Every second try takes one question more."""


def served(folder):
    """A server over an index in `folder`, and the secrets of two keys."""
    store = folder / "index.db"
    with Library.create(store) as library:
        library.index(DOCS)
    keys = Keys(Book(folder_of(store)))
    secrets = [keys.create(name)[1] for name in ("a", "b")]
    return Server(Path(__file__).with_name("one_server.py"), store), secrets


def seconds(caller, secret, question):
    """How long the answer took."""
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    start = time.perf_counter()
    reply = caller.ask("POST", "/v1/ask", json.dumps({"question": question}), headers)
    assert reply.status == 200, reply.body
    return time.perf_counter() - start


def by_chance(right, tries):
    """The probability of as many right guesses or more where half of the tries are called right by chance."""
    half = tries // 2
    ways = sum(
        comb(half, n) * comb(tries - half, half - n)
        for n in range(half + 1)
        if 2 * n + tries - 2 * half >= right
    )
    return ways / comb(tries, half)


def main():
    """Ask, guess, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tries", type=int, default=40, help=f"at most {MOST}")
    parser.add_argument("--seed", type=int, default=7)
    chosen = parser.parse_args()
    if chosen.tries > MOST:
        parser.error(f"--tries is at most {MOST}: so many questions there are")
    numbers = random.Random(chosen.seed)
    every = [form.format(subject) for subject in SUBJECTS for form in FORMS]
    numbers.shuffle(every)
    questions, others = every[: chosen.tries], every[chosen.tries :]
    asked = set(numbers.sample(questions, chosen.tries // 2))
    with TemporaryDirectory() as folder:
        server, (first, second) = served(Path(folder))
        caller, ratios = Caller(server.port), {}
        for question in questions:
            seconds(caller, first, question if question in asked else others.pop())
            ratios[question] = seconds(caller, second, question) / seconds(caller, second, question)
        caller.close()
        server.terminate()
    told = set(sorted(questions, key=ratios.__getitem__)[: len(asked)])
    right = sum((question in told) is (question in asked) for question in questions)
    halves = [
        [ratios[question] for question in questions if (question in asked) is before]
        for before in (True, False)
    ]
    print(
        f"{right} of {chosen.tries} told right; first by second answer: {median(halves[0]):.2f} where the other "
        f"key had asked, {median(halves[1]):.2f} where not"
    )
    sys.exit(by_chance(right, chosen.tries) < 0.01)


if __name__ == "__main__":
    main()
