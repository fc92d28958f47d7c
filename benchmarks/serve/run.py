"""What the server costs without a language model, and which rate it holds.

    python benchmarks/serve/run.py --passages 10000 --seconds 30 --workers 1 2 --reader without with

Each pair of workers and reader takes the place of its rows in results.jsonl as soon as it is measured; table.md is made
from them. The load comes from the same machine, which pays for both sides.
"""

import argparse
import json
import os
import platform
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from load import Measured, load, wait_until_ready

from equipoise.core.types import Document
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.text.support import common_words

HERE = Path(__file__).resolve().parent
RATES = (1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 50, 60, 80, 120)
TRIES = 2
"""Of a rate that is missed: half a minute is short, and a machine is never quite idle."""
HELD_MS = 250.0
ONE_BY_ONE = 100
SEED = 1


class RandomVectors:
    """Unit vectors under the name of the real encoder: what is measured does not depend on where they point."""

    def __init__(self) -> None:
        real = EmbeddedEncoder()
        self.name, self.dimensions = real.name, real.dimensions
        self._random = np.random.default_rng(SEED)

    def encode(self, texts: list[str]) -> np.ndarray:
        """One for each text."""
        rows = self._random.normal(size=(len(texts), self.dimensions)).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def made(path: Path, passages: int) -> list[str]:
    """A store of at least so many passages; questions of words that stand in it."""
    chance, words = random.Random(SEED), sorted(common_words())
    words = [word for word in words if len(word) > 3][:8000]
    questions: list[str] = []
    encoder = RandomVectors()
    with Store.open(path, create=True) as store:
        store.bind_encoder(encoder)
        while store.counts().passages < passages:
            first = store.counts().documents
            documents = []
            for number in range(first, first + 50):
                sentences = [" ".join(chance.choices(words, k=14)).capitalize() + "." for _ in range(200)]
                text = "\n\n".join(" ".join(sentences[at : at + 10]) for at in range(0, len(sentences), 10))
                documents.append(Document(f"{number:016x}", text, f"doc{number}.txt", f"Document {number}"))
                questions.append(
                    "Where is " + " ".join(chance.choice(sentences).rstrip(".").lower().split()[2:8]) + "?"
                )
            store.add_documents(prepare(documents, encoder))
        store.optimize()
        print(f"{store.counts().passages:,} passages", flush=True)
    return questions


@contextmanager
def server(path: Path, workers: int, reader: str) -> Iterator[tuple[int, int]]:
    """(port, process id) of a server that is ready."""
    command = [sys.executable, str(HERE / "server.py"), str(path), str(workers), reader]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = int(process.stdout.readline()) if process.stdout else 0
            wait_until_ready(port)
            yield port, process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def megabytes(pid: int) -> float:
    """Memory of a process and its children, what they share counted once (PSS)."""
    total = 0
    for process in [pid, *_children(pid)]:
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        total += next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total / 1000


def processor_seconds(pid: int) -> float:
    """Processor time that a process and its children have taken so far."""
    ticks = 0
    for each in [pid, *_children(pid)]:
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])  # utime and stime
    return ticks / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[int]:
    children = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                children.append(int(stat.parent.name))
        except OSError:
            continue
    return children


def _row(kind: str, measured: Measured, **about: object) -> dict[str, object]:
    return about | {
        "what": kind,
        "n": len(measured.seconds),
        "p50_ms": round(measured.quantile(0.5), 1),
        "p95_ms": round(measured.quantile(0.95), 1),
        "statuses": measured.statuses,
        "load_average": _load_average(),
    }


def measure(
    path: Path, questions: list[str], *, workers: int, reader: str, seconds: float
) -> Iterator[dict[str, object]]:
    """The rows of one server."""
    about = {"workers": workers, "reader": reader}
    with server(path, workers, reader) as (port, pid):
        load(port, "/v1/ask", questions, rate=2, seconds=4)
        for kind, address in (("null", "/null"), ("ask", "/v1/ask"), ("null", "/null")):
            if reader == "without" or kind == "null":
                before = processor_seconds(pid)
                measured = load(port, address, questions, rate=20, seconds=seconds)
                spent = processor_seconds(pid) - before
                yield _row(f"{kind} at 20 a second", measured, **about) | {
                    "processor_ms": round(1000 * spent / len(measured.seconds), 1)
                }
        if reader == "without":
            yield _row("ask, one at a time: the server's own part", _own_part(port, questions), **about)
        yield about | {"what": "memory", "megabytes": round(megabytes(pid))}
        yield about | {"what": "highest rate"} | _highest(port, questions, seconds / 2)


def _own_part(port: int, questions: list[str]) -> Measured:
    """What an answer takes beside the stages of its pipeline, which it names itself."""
    measured = Measured()
    connection = HTTPConnection("127.0.0.1", port)
    for question in questions[:ONE_BY_ONE]:
        begin = time.perf_counter()
        body = json.dumps({"question": question})
        connection.request("POST", "/v1/ask", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = json.loads(response.read())
        measured.seconds.append(time.perf_counter() - begin - sum(answer["timings"].values()))
        measured.statuses[response.status] = measured.statuses.get(response.status, 0) + 1
    return measured


def _highest(port: int, questions: list[str], seconds: float) -> dict[str, object]:
    """The highest of RATES that is held with a p95 below HELD_MS and every answer a 200; 0 where none is."""
    held: dict[str, object] = {"rate": 0}
    for rate in RATES:
        for _ in range(TRIES):
            measured = load(port, "/v1/ask", questions, rate=rate, seconds=seconds)
            p95 = measured.quantile(0.95)
            if is_held := p95 <= HELD_MS and set(measured.statuses) == {200}:
                break
        if not is_held:
            return held | {"next": rate, "next_p95_ms": round(p95, 1), "load_average": _load_average()}
        held = {"rate": rate, "p95_ms": round(p95, 1), "n": len(measured.seconds)}
    return held | {"load_average": _load_average()}


def _load_average() -> float:
    return round(os.getloadavg()[0], 1)


def table(rows: list[dict[str, object]], passages: int) -> str:
    """The results as a page."""
    lines = [
        "# What the server costs",
        "",
        f"`make bench-serve`: {passages:,} passages, no language model, 50 connections, load and server on the same "
        f"{os.cpu_count()} processors, Python {platform.python_version()}. Where the load average is above 1 others "
        "were at work too: then only processor times, and the null route of the same server, say something.",
        "",
        "| workers | reader | what | n | p50 ms | p95 ms | processor ms each | load average after |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        head = f"| {row['workers']} | {row['reader']} |"
        if row["what"] == "memory":
            lines.append(f"{head} memory: {row['megabytes']} MB | | | | | |")
        elif row["what"] == "highest rate":
            then = f"; at {row['next']}: {row['next_p95_ms']} ms" if "next" in row else ""
            said = f"highest rate with p95 under {HELD_MS:.0f} ms: {row['rate']} a second{then}"
            lines.append(
                f"{head} {said} | {row.get('n', '')} | | {row.get('p95_ms', '')} | | {row.get('load_average', '')} |"
            )
        else:
            times = f"{row['n']} | {row['p50_ms']} | {row['p95_ms']} | {row.get('processor_ms', '')}"
            lines.append(f"{head} {row['what']} | {times} | {row['load_average']} |")
    return "\n".join(lines) + "\n"


def kept(rows: list[dict[str, object]], passages: int) -> None:
    """Write `rows`, of one pair, in the place of those it had before."""
    place = HERE / "results.jsonl"
    before = [json.loads(line) for line in place.read_text().splitlines()] if place.exists() else []
    pair = _pair(rows[0])
    every = sorted([row for row in before if _pair(row) != pair] + rows, key=_pair)
    place.write_text("".join(json.dumps(row) + "\n" for row in every))
    (HERE / "table.md").write_text(table(every, passages))


def _pair(row: dict[str, object]) -> tuple[int, bool]:
    return int(str(row["workers"])), row["reader"] == "with"


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--reader", nargs="+", choices=("without", "with"), default=["without", "with"])
    wanted = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index.db"
        questions = made(path, wanted.passages)
        for workers in wanted.workers:
            for reader in wanted.reader:
                rows = []
                for row in measure(path, questions, workers=workers, reader=reader, seconds=wanted.seconds):
                    print(json.dumps(row), flush=True)
                    rows.append(row)
                kept(rows, wanted.passages)


if __name__ == "__main__":
    main()
