"""The form of the store file, and how a connection to it is opened.

files      one row for each indexed file: how it looked when it was read
documents  the texts; `path` is empty for documents that came from no file
passages   offsets into a document's text; the text itself is stored once, in documents
vectors    one little-endian float32 blob for each document, rows in the order of its passages
words      full text search; holds no text, so a deletion must name the words it takes out
meta       the encoder's name and dimensions

Document numbers and passage ids grow together: sorted by one is sorted by the other.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from equipoise.core.errors import StoreError

APPLICATION_ID = 0x45515053  # "EQPS"
VERSION = 1
TOKENIZER = "porter unicode61 remove_diacritics 2"

_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE files (path TEXT PRIMARY KEY, sha256 TEXT NOT NULL, size INTEGER NOT NULL,"
    " mtime_ns INTEGER NOT NULL, trust TEXT NOT NULL, root TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE documents (number INTEGER PRIMARY KEY, doc_id TEXT NOT NULL UNIQUE,"
    " path TEXT REFERENCES files(path), source TEXT NOT NULL, title TEXT NOT NULL, trust TEXT NOT NULL,"
    " sentences BLOB NOT NULL, pages BLOB NOT NULL, text TEXT NOT NULL)",
    "CREATE INDEX documents_of_file ON documents(path)",
    "CREATE TABLE passages (passage_id INTEGER PRIMARY KEY,"
    " document INTEGER NOT NULL REFERENCES documents(number), start INTEGER NOT NULL, end INTEGER NOT NULL)",
    "CREATE INDEX passages_of_document ON passages(document)",
    "CREATE TABLE vectors (document INTEGER PRIMARY KEY REFERENCES documents(number),"
    " first INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL)",
    f"CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='{TOKENIZER}')",
)
_PRAGMAS = (
    "synchronous = NORMAL",  # with the write-ahead log: safe against a kill, a power cut may lose the newest
    "foreign_keys = ON",
    "trusted_schema = OFF",
    "temp_store = MEMORY",
    "cache_size = -65536",  # KiB
)


def connect(path: Path, *, create: bool, read_only: bool, timeout: float) -> sqlite3.Connection:
    """An open, checked connection in autocommit mode. Raises StoreError."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder: give the path of a store file")
    if not create and not path.exists():
        raise StoreError(f"there is no store at {path}: make one with  equipoise index FOLDER")
    with mapped(path):
        if create and not read_only:
            _make_folder(path)
        first, *others = _uris(path, create=create, read_only=read_only)
        try:
            return _opened(first, path, create=create and not read_only, timeout=timeout)
        except sqlite3.OperationalError as error:
            if not others or not error.sqlite_errorname.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
                raise
        return _opened(others[0], path, create=False, timeout=timeout)


@contextmanager
def mapped(path: Path) -> Iterator[None]:
    """Turns every sqlite3.Error inside it into a StoreError of one sentence."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_sentence(path, error)) from error


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StoreError(
            f"the folder of the store {path} cannot be made ({reason}): choose another"
        ) from error


def _uris(path: Path, *, create: bool, read_only: bool) -> list[str]:
    """What to try in turn: WAL needs a side file, so in a read-only folder only `immutable` opens."""
    base = path.absolute().as_uri()
    if not read_only:
        return [f"{base}?mode={'rwc' if create else 'rw'}"]
    log = path.with_name(path.name + "-wal")
    at_rest = not log.exists() or log.stat().st_size == 0
    return [f"{base}?mode=ro", f"{base}?mode=ro&immutable=1"] if at_rest else [f"{base}?mode=ro"]


def _opened(uri: str, path: Path, *, create: bool, timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False
    )
    try:
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        _prepare(connection, path, create=create)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, *, create: bool) -> None:
    if create and _is_blank(connection):
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _is_blank(connection):
                _make_tables(connection)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    _check(connection, path)


def _is_blank(connection: sqlite3.Connection) -> bool:
    tables: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return tables == 0


def _make_tables(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _check(connection: sqlite3.Connection, path: Path) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID:
        raise StoreError(f"{path} is not an equipoise store: give another path, or make a store there first")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        advice = "update equipoise" if version > VERSION else "index your documents into a new store"
        raise StoreError(f"the store {path} has format {version}, this equipoise reads {VERSION}: {advice}")


_SENTENCES = {
    "BUSY LOCKED": "the store {path} is locked by another writer: wait until it is done and try again",
    "NOTADB": "{path} is not an equipoise store: give another path",
    "CORRUPT": "the store {path} is damaged ({error}): delete it and index your documents again",
    "READONLY CANTOPEN PERM AUTH": "the store {path} cannot be opened or written here ({error}): "
    "check the permissions of the file and its folder",
    "FULL": "the disk of the store {path} is full: free some space and try again",
}


def _sentence(path: Path, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorname", "").removeprefix("SQLITE_").split("_")[0]
    for codes, sentence in _SENTENCES.items():
        if code in codes.split():
            return sentence.format(path=path, error=error)
    return f"the store {path} failed ({error}): open it again, and check the file if that does not help"
