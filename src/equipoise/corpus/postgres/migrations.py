"""The tables of a store in Postgres, and how older ones are brought up to date.

A store is a schema of its own (`?store=NAME`, else "equipoise"), so that one database may hold several. The tables
are those of the store file (`corpus.schema`) but for
vectors    one row for each passage that has a vector; a document is `embedded` once all of its have
postings   where each term stands in each passage, for BM25; `terms` in how many passages of each partition
partitions how many passages and tokens each has
state      one row: a token that every change replaces
migrations which of MIGRATIONS were run
runs, pages, turns  what is remembered of sources (`corpus.sources.memory`)

Which partition a document, a passage, a vector or a posting belongs to, its number says (`corpus.scope`).

Here stores are made, older ones brought up to date, and what needs an encoder is made once there is one.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
from equipoise.corpus.postgres.searching import index_of, within

MIGRATIONS: tuple[tuple[LiteralString, ...], ...] = (
    (
        'CREATE TABLE meta (key text COLLATE "C" PRIMARY KEY, value text NOT NULL)',
        'CREATE TABLE files (path text COLLATE "C" PRIMARY KEY, sha256 text NOT NULL, size bigint NOT NULL,'
        " mtime_ns bigint NOT NULL, trust text NOT NULL, root text NOT NULL)",
        'CREATE TABLE documents (number bigint PRIMARY KEY, doc_id text COLLATE "C" NOT NULL UNIQUE,'
        ' path text COLLATE "C" REFERENCES files(path), source text NOT NULL, title text NOT NULL,'
        " trust text NOT NULL, sentences bytea NOT NULL, pages bytea NOT NULL, blocks bytea NOT NULL,"
        " text text NOT NULL, first bigint NOT NULL, count bigint NOT NULL, embedded boolean NOT NULL)",
        "CREATE INDEX documents_of_file ON documents(path)",
        "CREATE INDEX documents_waiting ON documents(number) WHERE NOT embedded",
        "CREATE TABLE passages (passage_id bigint PRIMARY KEY, document bigint NOT NULL REFERENCES documents(number),"
        ' start integer NOT NULL, "end" integer NOT NULL, length integer NOT NULL)',
        "CREATE INDEX passages_of_document ON passages(document)",
        "CREATE TABLE vectors (passage_id bigint PRIMARY KEY REFERENCES passages(passage_id), vector vector NOT NULL)",
        'CREATE TABLE postings (term text COLLATE "C", passage_id bigint, positions integer[] NOT NULL,'
        " PRIMARY KEY (term, passage_id))",
        'CREATE TABLE terms (term text COLLATE "C" PRIMARY KEY, passages bigint NOT NULL)',
        "CREATE TABLE state (token uuid NOT NULL, passages bigint NOT NULL, tokens bigint NOT NULL)",
        "INSERT INTO state VALUES (gen_random_uuid(), 0, 0)",
    ),
    (
        # Documents that anybody may have written go behind those of the owner, in their order.
        "UPDATE files SET trust = 'untrusted' WHERE trust <> 'trusted'",
        "UPDATE documents SET trust = 'untrusted' WHERE trust <> 'trusted'",
        "ALTER TABLE passages DROP CONSTRAINT passages_document_fkey",
        "ALTER TABLE vectors DROP CONSTRAINT vectors_passage_id_fkey",
        "DROP INDEX IF EXISTS vectors_nearest",
        "UPDATE vectors v SET passage_id = v.passage_id + 1099511627776 FROM passages p, documents d"
        " WHERE p.passage_id = v.passage_id AND d.number = p.document AND d.trust = 'untrusted'",
        "UPDATE postings o SET passage_id = o.passage_id + 1099511627776 FROM passages p, documents d"
        " WHERE p.passage_id = o.passage_id AND d.number = p.document AND d.trust = 'untrusted'",
        "UPDATE passages p SET passage_id = p.passage_id + 1099511627776, document = p.document + 1099511627776"
        " FROM documents d WHERE d.number = p.document AND d.trust = 'untrusted'",
        "UPDATE documents SET number = number + 1099511627776, first = first + 1099511627776"
        " WHERE trust = 'untrusted'",
        "ALTER TABLE passages ADD FOREIGN KEY (document) REFERENCES documents(number)",
        "ALTER TABLE vectors ADD FOREIGN KEY (passage_id) REFERENCES passages(passage_id)",
        "DROP TABLE terms",
        'CREATE TABLE terms (trust text COLLATE "C", term text COLLATE "C", passages bigint NOT NULL,'
        " PRIMARY KEY (trust, term))",
        "INSERT INTO terms SELECT CASE WHEN passage_id > 1099511627776 THEN 'untrusted' ELSE 'trusted' END, term,"
        " count(*) FROM postings GROUP BY 1, 2",
        'CREATE TABLE partitions (trust text COLLATE "C" PRIMARY KEY, passages bigint NOT NULL,'
        " tokens bigint NOT NULL)",
        "INSERT INTO partitions SELECT part.trust, count(passage_id), coalesce(sum(length), 0)"
        " FROM (VALUES ('trusted', 0), ('untrusted', 1099511627776), ('held', 2199023255552)) AS part(trust, below)"
        " LEFT JOIN passages ON passage_id > below AND passage_id <= below + 1099511627776 GROUP BY part.trust",
        "ALTER TABLE state DROP COLUMN passages, DROP COLUMN tokens",
        "UPDATE state SET token = gen_random_uuid()",
        "ALTER TABLE files ADD COLUMN author text NOT NULL DEFAULT ''",
        "ALTER TABLE documents ADD COLUMN author text NOT NULL DEFAULT ''",
    ),
    (
        "ALTER TABLE files ADD COLUMN metadata text NOT NULL DEFAULT '{}'",
        "ALTER TABLE documents ADD COLUMN metadata text NOT NULL DEFAULT '{}'",
        "CREATE INDEX metadata_of_documents ON documents USING gin ((metadata::jsonb) jsonb_path_ops)",
    ),
    (
        'CREATE TABLE runs (source text COLLATE "C" PRIMARY KEY, run text NOT NULL)',
        'CREATE TABLE pages (source text COLLATE "C", address text COLLATE "C", seen text NOT NULL,'
        " PRIMARY KEY (source, address))",
        'CREATE TABLE turns (source text COLLATE "C" PRIMARY KEY, asked integer NOT NULL, running integer NOT NULL,'
        " tried double precision NOT NULL, tries integer NOT NULL, said text NOT NULL)",
    ),
)
"""Each brings a store from the version that is its place in this list to the next."""
VERSION = len(MIGRATIONS)


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
