"""Sites into one store in Postgres by one, two and four workers, and by one process into a file.

    python benchmarks/workers/run.py [--sites 8] [--pages 40] [--rounds 3]

Made sites on the loopback and a Postgres of the script's own (the extra `stores-test`). Workers are `equipoise worker`,
each held to one processor, as the process that reads into a file is; the clock starts when they wait and all sites are
asked for, and stops when each page is in the index with its vectors. All ways follow one another in each round, so that
what else runs on the machine meets each; compare ratios. A line for each run goes to results.jsonl.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from equipoise.apps.known_sources import known
from equipoise.core.settings import Settings
from equipoise.corpus.sources.memory import Memory
from equipoise.corpus.store import open_store

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "sites"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from run import PROGRAM, made

from postgres_server import Cluster, Server
from site_server import Site, serving

TICK = os.sysconf("SC_CLK_TCK")


def used_by_children() -> float:
    """Processor seconds of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def used_by(server: Server) -> float:
    """Processor seconds of a database and of its processes, those that have ended too."""
    first = int((server.data / "postmaster.pid").read_text().split()[0])
    total = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = int(stat.parent.name), stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if first in (pid, int(rest[1])):
            total += sum(map(int, rest[11:15] if pid == first else rest[11:13])) / TICK
    return total


def held_to(row: int) -> list[str]:
    """What a command begins with that may use one processor only."""
    every = sorted(os.sched_getaffinity(0))
    return ["taskset", "--cpu-list", str(every[row % len(every)])]


@contextmanager
def workers(number: int, folder: str, address: str) -> Iterator[None]:
    """So many, all of them waiting."""
    environment = os.environ | {"EQUIPOISE_STORE_PATH": address}
    command = [sys.executable, "-c", PROGRAM, "worker"]
    running = [
        subprocess.Popen(
            [*held_to(row), *command], cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
        )
        for row in range(number)
    ]
    try:
        for process in running:
            if "keeping" not in (said := process.stderr.readline()):
                raise RuntimeError(said)
        yield
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.communicate(timeout=60)


def by_workers(number: int, sites: list[Site], folder: str, server: Server, name: str) -> dict[str, object]:
    """Figures of one run."""
    address = server.url(name)
    chosen = Settings.model_validate({"store": {"path": address}, "sources": {"listed": listed(sites)}})
    open_store(chosen.store.path, create=True).close()
    before, base = used_by_children(), used_by(server)
    with workers(number, folder, address), Memory(chosen.store.path) as memory:
        began = time.monotonic()
        for one in known(chosen):
            memory.ask(one.address)
        with open_store(chosen.store.path) as store:
            while any(one.run is None or one.turn.tries for one in known(chosen)) or store.pending():
                time.sleep(0.5)  # seldom: what looks is work for the database, too
            seconds = time.monotonic() - began
            documents = store.counts().documents
    return figures(
        f"{number} workers", documents, seconds, used_by_children() - before, used_by(server) - base
    )


def by_file(sites: list[Site], folder: str, name: str) -> dict[str, object]:
    """Figures of one process that reads all into a file."""
    before, began = used_by_children(), time.monotonic()
    environment = os.environ | {"EQUIPOISE_STORE_PATH": f"{folder}/{name}.db"}
    command = [*held_to(0), sys.executable, "-c", PROGRAM, "sources", "sync"]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    seconds = time.monotonic() - began
    with open_store(f"{folder}/{name}.db") as store:
        documents = store.counts().documents
    return figures("a file, one process", documents, seconds, used_by_children() - before, 0.0)


def figures(way: str, documents: int, seconds: float, used: float, database: float) -> dict[str, object]:
    """A line of results; half of the documents are comments below pages."""
    pages = documents / 2
    return {
        "way": way,
        "pages": pages,
        "seconds": round(seconds, 1),
        "pages_a_second": round(pages / seconds, 2),
        "cpu_s_workers": round(used, 1),
        "cpu_s_database": round(database, 1),
        "load": round(os.getloadavg()[0], 1),
    }


def listed(sites: list[Site]) -> list[dict[str, object]]:
    """As settings have them."""
    return [{"address": f"http://localhost:{site.port}/", "allow": ["localhost"]} for site in sites]


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=8)
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    rows = []
    with TemporaryDirectory() as folder, ExitStack() as stack, Cluster() as cluster:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        os.environ["XDG_CONFIG_HOME"] = f"{folder}/config"
        sites = [stack.enter_context(serving()) for _ in range(given.sites)]
        for site in sites:
            made(site, given.pages)
            for page in site.pages.values():
                page.body = page.body.replace(
                    site.address.encode(), f"http://localhost:{site.port}/".encode()
                )
        config = Path(folder) / "config" / "equipoise" / "config.toml"
        config.parent.mkdir(parents=True)
        tables = (
            f'[[sources]]\naddress = "{one["address"]}"\nallow = ["localhost"]\n' for one in listed(sites)
        )
        config.write_text("\n".join(tables))
        for number in range(given.rounds):
            for way in (0, 1, 2, 4):
                name = f"r{number}w{way}"
                row = (
                    by_workers(way, sites, folder, cluster.primary, name)
                    if way
                    else by_file(sites, folder, name)
                )
                rows.append(row | {"cores": os.cpu_count()})
                print(json.dumps(rows[-1]), flush=True)
    with (Path(__file__).parent / "results.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    for way in dict.fromkeys(row["way"] for row in rows):
        each = [row["pages_a_second"] for row in rows if row["way"] == way]
        print(f"{way}: {statistics.median(each)} pages a second (median of {len(each)}: {each})")


if __name__ == "__main__":
    main()
