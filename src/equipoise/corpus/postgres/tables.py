"""The tables of a store in Postgres.

A store is a schema of its own (`?store=NAME`, else "equipoise"), so that one database may hold several. The tables
are those of the store file (`corpus.schema`) but for
vectors    one row for each passage that has a vector; a document is `embedded` once all its passages have one
postings   where each term stands in each passage, for BM25; `terms` in how many passages of each partition
partitions how many passages and tokens each has
state      one row: a token that every change replaces
migrations one row: the version of these tables
runs, pages, turns  what is remembered of sources (`corpus.sources.memory`)

The number of a document, a passage, a vector or a posting tells its partition (`corpus.scope`).

This module makes the tables, and once an encoder is known the type of its vectors and the graphs over them.
"""

from collections.abc import Mapping
from typing import LiteralString

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql

from equipoise.core.addresses import StoreUrl
from equipoise.core.errors import StoreError
from equipoise.core.types import Trust
from equipoise.corpus.nearest import EXACT_UP_TO
from equipoise.corpus.postgres import rows, words
from equipoise.corpus.postgres.connections import DatabaseAddress, Link
from equipoise.corpus.postgres.searching import has_graph, index_of, within

VERSION = 4
TABLES: tuple[LiteralString, ...] = (
    'CREATE TABLE meta (key text COLLATE "C" PRIMARY KEY, value text NOT NULL)',
    'CREATE TABLE files (path text COLLATE "C" PRIMARY KEY, sha256 text NOT NULL, size bigint NOT NULL,'
    " mtime_ns bigint NOT NULL, trust text NOT NULL, root text NOT NULL, author text NOT NULL, metadata text NOT NULL)",
    'CREATE TABLE documents (number bigint PRIMARY KEY, doc_id text COLLATE "C" NOT NULL UNIQUE,'
    ' path text COLLATE "C" REFERENCES files(path), source text NOT NULL, title text NOT NULL,'
    " trust text NOT NULL, author text NOT NULL, metadata text NOT NULL, sentences bytea NOT NULL,"
    " pages bytea NOT NULL, blocks bytea NOT NULL, text text NOT NULL, first bigint NOT NULL, count bigint NOT NULL,"
    " embedded boolean NOT NULL)",
    "CREATE INDEX documents_of_file ON documents(path)",
    "CREATE INDEX documents_waiting ON documents(number) WHERE NOT embedded",
    "CREATE INDEX metadata_of_documents ON documents USING gin ((metadata::jsonb) jsonb_path_ops)",
    "CREATE TABLE passages (passage_id bigint PRIMARY KEY, document bigint NOT NULL REFERENCES documents(number),"
    ' start integer NOT NULL, "end" integer NOT NULL, length integer NOT NULL)',
    "CREATE INDEX passages_of_document ON passages(document)",
    "CREATE TABLE vectors (passage_id bigint PRIMARY KEY REFERENCES passages(passage_id), vector vector NOT NULL)",
    'CREATE TABLE postings (term text COLLATE "C", passage_id bigint, positions integer[] NOT NULL,'
    " PRIMARY KEY (term, passage_id))",
    'CREATE TABLE terms (trust text COLLATE "C", term text COLLATE "C", passages bigint NOT NULL,'
    " PRIMARY KEY (trust, term))",
    'CREATE TABLE partitions (trust text COLLATE "C" PRIMARY KEY, passages bigint NOT NULL, tokens bigint NOT NULL)',
    "INSERT INTO partitions VALUES ('trusted', 0, 0), ('untrusted', 0, 0), ('held', 0, 0)",
    "CREATE TABLE state (token uuid NOT NULL)",
    "INSERT INTO state VALUES (gen_random_uuid())",
    'CREATE TABLE runs (source text COLLATE "C" PRIMARY KEY, run text NOT NULL)',
    'CREATE TABLE pages (source text COLLATE "C", address text COLLATE "C", seen text NOT NULL,'
    " PRIMARY KEY (source, address))",
    'CREATE TABLE turns (source text COLLATE "C" PRIMARY KEY, asked integer NOT NULL, running integer NOT NULL,'
    " tried double precision NOT NULL, tries integer NOT NULL, said text NOT NULL)",
    "CREATE TABLE migrations (version integer PRIMARY KEY)",
    "INSERT INTO migrations VALUES (4)",
)

MOST_DIMENSIONS = 2_000
"""Most dimensions of a vector in pgvector's HNSW graph; longer vectors are searched exactly."""


def prepare(link: Link, address: DatabaseAddress, url: StoreUrl, *, create: bool) -> None:
    """Make the store where there is none. Raises StoreError, also for one of another version."""
    version = _version(link, address.name)
    if version is None and not create:
        raise StoreError(f"there is no store at {url}: make one with  equipoise index FOLDER --store URL")
    if version is None:
        version = _made(link, address, url)
    if version != VERSION:
        advice = "update equipoise" if version > VERSION else "index your documents into a new store"
        raise StoreError(f"the store {url} has version {version}, this equipoise reads {VERSION}: {advice}")


def _version(link: Link, name: str) -> int | None:
    """The version of the store with this name; None where there is no such store."""
    if rows.scalar(link, "SELECT to_regclass(%s) IS NULL", f"{name}.migrations"):
        return None
    return int(rows.scalar(link, "SELECT max(version) FROM migrations"))


def _made(link: Link, address: DatabaseAddress, url: StoreUrl) -> int:
    """Make the tables, unless another process has meanwhile; returns the version of those that are there then."""
    link.execute("SELECT pg_advisory_lock(hashtextextended('equipoise:migrations', 0))")
    try:
        link.execute("CREATE EXTENSION IF NOT EXISTS vector")
        with link.transaction():
            if (version := _version(link, address.name)) is None:
                link.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(address.name)))
                for statement in TABLES:
                    link.execute(statement)
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFile) as error:
        raise StoreError(
            f"the database of the store {url} has no pgvector: let an administrator run  CREATE EXTENSION vector"
        ) from error
    finally:
        if not link.closed:
            link.execute("SELECT pg_advisory_unlock(hashtextextended('equipoise:migrations', 0))")
    register_vector(link)
    return version or VERSION


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
    """Make the graph of each partition with more than EXACT_UP_TO passages; writers can go on meanwhile."""
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
    index, is_there = index_of(trust), has_graph(link, trust)
    if is_there is None:
        link.execute(f"DROP INDEX CONCURRENTLY {index}".encode())
    if not is_there:
        ask = f"CREATE INDEX CONCURRENTLY {index} ON vectors USING hnsw (vector vector_ip_ops) WHERE {within(trust)}"
        link.execute(ask.encode())
