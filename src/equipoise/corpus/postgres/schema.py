"""The tables of a store in Postgres, and how older ones are brought up to date.

A store is a schema of its own (`?store=NAME`, else "equipoise"), so that one database may hold several. The tables
are those of the store file (`corpus.schema`) but for
vectors    one row for each passage that has a vector; a document is `embedded` once all of its have
postings   where each term stands in each passage, for BM25; `terms` in how many passages
state      one row: a token that every change replaces, and how many passages and tokens there are
migrations which of MIGRATIONS were run
"""

from typing import LiteralString

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
)
"""Each brings a store from the version that is its place in this list to the next."""
VERSION = len(MIGRATIONS)
