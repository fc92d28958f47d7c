"""Making a store in a database, bringing an older one up to date, and what is made once there is an encoder."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql

from equipoise.core.addresses import StoreUrl
from equipoise.core.errors import StoreError
from equipoise.core.types import Trust
from equipoise.corpus.nearest import EXACT_UP_TO
from equipoise.corpus.postgres import rows, words
from equipoise.corpus.postgres.connections import DatabaseAddress, Link
from equipoise.corpus.postgres.schema import MIGRATIONS, VERSION
from equipoise.corpus.postgres.searching import index_of, within

MOST_DIMENSIONS = 2_000
"""Of a vector in pgvector's HNSW graph. Longer ones are searched exactly."""


def prepare(link: Link, address: DatabaseAddress, url: StoreUrl, *, create: bool, read_only: bool) -> None:
    """Make the store where there is none, and run the migrations that it lacks. Raises StoreError."""
    version = _version(link, address.name)
    if version is None and not create:
        raise StoreError(f"there is no store at {url}: make one with  equipoise index FOLDER --store URL")
    if version is not None and version > VERSION:
        raise StoreError(
            f"the store {url} has version {version}, this equipoise reads {VERSION}: update equipoise"
        )
    if version == VERSION:
        return
    if read_only:
        raise StoreError(
            f"the store {url} has version {version}, older than {VERSION}: run  equipoise index  on it"
        )
    with _alone(link):
        try:
            link.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFile) as error:
            raise StoreError(
                f"the database of the store {url} has no pgvector: let an administrator run  CREATE EXTENSION vector"
            ) from error
        with link.transaction():
            link.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"{address.name}:write",))
            _migrate(link, address.name)
    register_vector(link)


@contextmanager
def _alone(link: Link) -> Iterator[None]:
    """One process at a time; a transaction that begins inside sees what those before have made."""
    link.execute("SELECT pg_advisory_lock(hashtextextended('equipoise:migrations', 0))")
    try:
        yield
    finally:
        if not link.closed:
            link.execute("SELECT pg_advisory_unlock(hashtextextended('equipoise:migrations', 0))")


def _version(link: Link, name: str) -> int | None:
    """How many migrations were run; None where there is no such store."""
    if rows.scalar(link, "SELECT to_regclass(%s) IS NULL", f"{name}.migrations"):
        return None
    return int(rows.scalar(link, "SELECT coalesce(max(version), 0) FROM migrations"))


def _migrate(link: Link, name: str) -> None:
    """Those that nobody has run meanwhile, in one transaction."""
    link.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(name)))
    link.execute(
        "CREATE TABLE IF NOT EXISTS migrations (version integer PRIMARY KEY, run timestamptz NOT NULL DEFAULT now())"
    )
    done = rows.scalar(link, "SELECT coalesce(max(version), 0) FROM migrations")
    for version, statements in enumerate(MIGRATIONS[done:], done + 1):
        for statement in statements:
            link.execute(statement)
        link.execute("INSERT INTO migrations (version) VALUES (%s)", (version,))


def bind(link: Link, meta: Mapping[str, str]) -> None:
    """Record the encoder of an empty store; nothing happens where there are documents."""
    if rows.scalar(link, "SELECT count(*) FROM documents"):
        return
    for key, value in meta.items():
        link.execute(
            "INSERT INTO meta VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )
    for trust in Trust:
        link.execute(f"DROP INDEX IF EXISTS {index_of(trust)}".encode())
    link.execute(f"ALTER TABLE vectors ALTER COLUMN vector TYPE vector({int(meta['dimensions'])})".encode())


def index_vectors(link: Link, name: str) -> None:
    """Make the graph for approximate search of each partition that has so many passages; writers go on meanwhile."""
    lock = f"{name}:graph"
    many = [trust for trust in Trust if words.kept_size(link, trust)[0] > EXACT_UP_TO]
    if not many or rows.dimensions(link) > MOST_DIMENSIONS:
        return
    if not rows.scalar(link, "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", lock):
        return  # another one makes them
    try:
        for trust in many:
            _index_vectors(link, trust)
    finally:
        rows.scalar(link, "SELECT pg_advisory_unlock(hashtextextended(%s, 0))", lock)


def _index_vectors(link: Link, trust: Trust) -> None:
    """Make the graph of a partition, unless it is there."""
    index = index_of(trust)
    row = link.execute(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", (index,)
    ).fetchone()
    if row == (False,):  # whoever made it was killed
        link.execute(f"DROP INDEX CONCURRENTLY {index}".encode())
    if row != (True,):
        ask = f"CREATE INDEX CONCURRENTLY {index} ON vectors USING hnsw (vector vector_ip_ops) WHERE {within(trust)}"
        link.execute(ask.encode())
