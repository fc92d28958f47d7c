"""What a question costs without a language model: in a process, on the command line, and how many a server holds.

    python benchmarks/speed/questions.py [--data data] [--set own-a] [--questions 40] [--beside CHECKOUT/src]

Asks questions of `field_questions` or `manual_questions` over the documents of their set, each version in processes of
its own that take turns (--rounds), and prints processor seconds: of a question (median, 95%), of `equipoise ask` in a
new process, and of the whole index. Processor time hardly depends on what else the machine does; --rates asks a
server so many questions a second for --seconds each and prints the time that 95% of the answers took at most, which
does. Without --data the documents are examples/sqlite. Writes the page --page beside this file.
"""

import argparse
import http.client
import json
import os
import resource
import socket
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from equipoise_lab.bench import scripts
from equipoise_lab.bench.tables import grid

HERE = Path(__file__).resolve().parent
ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = (
    "How large can a database be?",
    "Can two processes write at the same time?",
    "What does PRAGMA journal_mode do?",
    "Is it free for commercial use?",
    "How do I make a full text index?",
)
ASK = """
import json, sys, time
from equipoise import Library
asked, took = json.load(sys.stdin), []
with Library.open(sys.argv[1]) as library:
    library.ask(asked[0])
    for question in asked:
        began = time.process_time()
        library.ask(question)
        took.append(time.process_time() - began)
print(json.dumps(took))
"""
INDEX = """
import sys
from pathlib import Path
from equipoise import Library
with Library.create(sys.argv[2]) as library:
    library.index(Path(sys.argv[1]))
"""
RUN = "from equipoise.apps.cli import program; program()"
WHAT = ("indexing", "question: median", "95%", "mean", "ask in a new process: median")
PATIENCE_S = 120
AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Version:
    """A checkout's `src`, and the store that it made in `folder`."""

    source: str
    folder: Path

    @property
    def store(self) -> Path:
        """Its index."""
        return self.folder / "index.db"

    @property
    def environment(self) -> dict[str, str]:
        """That of its processes, whose modules are compiled once, as where they are installed."""
        own = {"PYTHONPATH": self.source, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
        return os.environ | own | {"PYTHONPYCACHEPREFIX": str(self.folder / "compiled")}

    def python(self, code: str, *given: object, said: str = "") -> tuple[str, float]:
        """What a program prints, and the processor seconds that it and its children took."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-c", code, *map(str, given)]
        done = subprocess.run(
            command,
            input=said,
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def at_rate(self, asked: list[str], rate: float, seconds: float) -> float:
        """The time within which 95% of the questions were answered, asked at even distances. Raises RuntimeError."""
        made = self.python(RUN, "keys", "create", "bench", "--rate", 0, "--store", self.store, "--json")[0]
        secret = json.loads(made)["key"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-c", RUN, "serve", "--store", str(self.store), "--port", str(port)]
        with subprocess.Popen(
            command, env=self.environment, cwd=self.folder, stderr=subprocess.DEVNULL
        ) as server:
            try:
                _ready(port)
                _one(port, secret, asked[0])
                with ThreadPoolExecutor(AT_ONCE) as pool:
                    waiting, began = [], time.monotonic()
                    for n in range(int(rate * seconds)):
                        time.sleep(max(0.0, began + n / rate - time.monotonic()))
                        waiting.append(pool.submit(_one, port, secret, asked[n % len(asked)]))
                    took = [one.result() for one in waiting]
            finally:
                server.terminate()
        return float(np.quantile(took, 0.95))


def _ready(port: int) -> None:
    last = time.monotonic() + PATIENCE_S
    while time.monotonic() < last:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == http.HTTPStatus.OK:
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise RuntimeError("the server did not get ready")


def _one(port: int, secret: str, question: str) -> float:
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/ask", json.dumps({"question": question}), headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    if response.status != http.HTTPStatus.OK:
        raise RuntimeError(f"the server answered {response.status}: ask fewer a second")
    return time.monotonic() - began


def rows_of(data: Path, wanted: str) -> tuple[list[scripts.Row], list[scripts.Row]]:
    """The questions of a set and its passages; none where there is no such set."""
    for of in ("field_questions", "manual_questions"):
        passages = [
            row
            for row in scripts.read(data / of / "passages.jsonl.xz")
            if row["passage"].rpartition(":")[0] == wanted
        ]
        if passages:
            break
    return [row for row in scripts.read(data / of / "questions.jsonl.xz") if row["set"] == wanted], passages


def answers(question: scripts.Row, passage: scripts.Row) -> list[str]:
    """The units of its passage that answer a question."""
    return [passage["text"][slice(*passage["units"][n][:2])] for n in question["gold"]]


def documents(passages: list[scripts.Row], folder: Path) -> None:
    """The documents that passages are of, as files in a new folder."""
    folder.mkdir()
    texts = defaultdict(list)
    for row in passages:
        texts[row["document"]].append(
            "\n\n".join([*(f"# {title}" for title in row["headings"][-1:]), row["text"]])
        )
    for name, parts in texts.items():
        (folder / f"{name}.md").write_text("\n\n".join(parts), "utf-8")


def versions(folder: Path, beside: Path | None) -> list[Version]:
    """This checkout and the other one, each with a folder for its store."""
    sources = {"here": ROOT / "src"} | ({"beside": beside} if beside else {})
    made = [Version(str(source.resolve()), folder / name) for name, source in sources.items()]
    for one in made:
        one.folder.mkdir()
    return made


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--set", default="own-a")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rates", type=float, nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--page", default="questions.md", help="the file beside this one that it writes")
    given = parser.parse_args()
    with TemporaryDirectory() as place:
        where, asked = ROOT / "examples" / "sqlite", list(QUESTIONS)
        if given.data:
            rows, passages = rows_of(given.data, given.set)
            where, asked = Path(place) / "docs", [row["question"] for row in rows]
            documents(passages, where)
        step = max(1, len(asked) // given.questions)
        asked = asked[::step][: given.questions]
        compared = versions(Path(place), given.beside)
        indexed = [one.python(INDEX, where, one.store)[1] for one in compared]
        took: list[list[list[float]]] = [[] for _ in compared]
        cold: list[list[float]] = [[] for _ in compared]
        for _ in range(given.rounds):
            for one, questions, new in zip(compared, took, cold, strict=True):
                questions.append(json.loads(one.python(ASK, one.store, said=json.dumps(asked))[0]))
                new += [
                    one.python(RUN, "ask", question, "--store", one.store, "--llm", "none", "--json")[1]
                    for question in asked[:3]
                ]
        costs = [
            [indexed[n], np.median(best), np.quantile(best, 0.95), best.mean(), np.median(cold[n])]
            for n, best in enumerate(np.array(each).min(axis=0) for each in took)
        ]
        within = [[one.at_rate(asked, rate, given.seconds) for rate in given.rates] for one in compared]
    names = [one.folder.name for one in compared]
    page = table([[*row, *late] for row, late in zip(costs, within, strict=True)], names, given, len(asked))
    (HERE / given.page).write_text(page, "utf-8")
    print(page)


def table(rows: list[list[float]], names: list[str], given: argparse.Namespace, questions: int) -> str:
    """The page: a line for each version, and their ratio."""
    head = ["", *WHAT, *(f"95% at {rate:g} a second" for rate in given.rates)]
    lines = [(name, *(f"{value:.2f}" for value in row)) for name, row in zip(names, rows, strict=True)]
    if len(rows) > 1:
        lines.append(("ratio", *(f"{mine / theirs:.2f}" for mine, theirs in zip(*rows, strict=True))))
    of = f"{given.set} of {given.data.name}" if given.data else "examples/sqlite"
    said = f"{questions} questions over {of}, no language model, {given.rounds} turns; {scripts.machine()}."
    return f"{said} Seconds of processor time; at a rate, seconds until 95% were answered.\n\n{grid(head, lines)}\n"


if __name__ == "__main__":
    main()
