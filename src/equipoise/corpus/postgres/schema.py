"""The tables of a store in Postgres, and how older ones are brought up to date.

A store is a schema of its own (`?store=NAME`, else "equipoise"), so that one database may hold several. The tables
are those of the store file (`corpus.schema`) but for
vectors    one row for each passage that has a vector; a document is `embedded` once all of its have
postings   where each term stands in each passage, for BM25; `terms` in how many passages of each partition
partitions how many passages and tokens each has
state      one row: a token that every change replaces
migrations which of MIGRATIONS were run

Which partition a document, a passage, a vector or a posting belongs to, its number says (`corpus.scope`).
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
)
"""Each brings a store from the version that is its place in this list to the next."""
VERSION = len(MIGRATIONS)
