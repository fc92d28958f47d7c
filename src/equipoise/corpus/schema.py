"""The form of the store file, and how a connection to it is opened.

files      one row for each indexed file: how it looked when it was read
documents  the texts, with their blocks and what may be quoted; `path` is empty for documents that came from no file;
           `metadata` (`core.metadata.packed`) has an index, so that filters need not read the texts
passages   offsets into a document's text; the text itself is stored once, in documents
vectors    one little-endian float32 blob for each document, rows in the order of its passages
words_*    full text search, one for each partition; holds no text, so a deletion must name the words it takes out
meta       the encoder's name and dimensions

Document numbers and passage ids grow together: sorted by one is sorted by the other. They also say which partition a
document belongs to (`corpus.scope`).
"""

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path

from equipoise.core.addresses import Place
from equipoise.core.errors import StoreError
from equipoise.core.types import Trust
from equipoise.corpus.fulltext import words_of
from equipoise.corpus.keywords import TOKENIZER
from equipoise.corpus.places import has_working_folder
from equipoise.corpus.record_types import Damage
from equipoise.text import visible

APPLICATION_ID = 0x45515053  # "EQPS"
VERSION = 5
"""Increase it also if `pieces.word_text` changes the words of a passage: the index deletes passages by their words."""

_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE files (path TEXT PRIMARY KEY, sha256 TEXT NOT NULL, size INTEGER NOT NULL,"
    " mtime_ns INTEGER NOT NULL, trust TEXT NOT NULL, root TEXT NOT NULL, author TEXT NOT NULL,"
    " metadata TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE documents (number INTEGER PRIMARY KEY, doc_id TEXT NOT NULL UNIQUE,"
    " path TEXT REFERENCES files(path), source TEXT NOT NULL, title TEXT NOT NULL, trust TEXT NOT NULL,"
    " author TEXT NOT NULL, metadata TEXT NOT NULL,"
    " sentences BLOB NOT NULL, pages BLOB NOT NULL, blocks BLOB NOT NULL, text TEXT NOT NULL)",
    "CREATE INDEX documents_of_file ON documents(path)",
    "CREATE INDEX metadata_of_documents ON documents(metadata)",
    "CREATE TABLE passages (passage_id INTEGER PRIMARY KEY,"
    " document INTEGER NOT NULL REFERENCES documents(number), start INTEGER NOT NULL, end INTEGER NOT NULL)",
    "CREATE INDEX passages_of_document ON passages(document)",
    "CREATE TABLE vectors (document INTEGER PRIMARY KEY REFERENCES documents(number),"
    " first INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL)",
    *(
        f"CREATE VIRTUAL TABLE {words_of(trust)} USING fts5(text, content='', tokenize='{TOKENIZER}')"
        for trust in Trust
    ),
)
_PRAGMAS = (
    "synchronous = NORMAL",  # with the write-ahead log: safe against a kill, a power cut may lose the newest
    "foreign_keys = ON",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "temp_store = MEMORY",
    "cache_size = -65536",  # KiB
)


def connect(path: Path, *, create: bool, read_only: bool, timeout: float) -> sqlite3.Connection:
    """An open, checked connection in autocommit mode. Raises StoreError."""
    exists = _is_file(path)
    if not create and not exists:
        raise StoreError(f"there is no store at {path}: make one with  equipoise index FOLDER")
    with mapped(path):
        if create and not read_only:
            _make_folder(path)
        first, *others = _uris(path, create=create, read_only=read_only)
        try:
            return _opened(first, path, create=create and not read_only, timeout=timeout)
        except sqlite3.OperationalError as error:
            if not others or _code(error) not in {"CANTOPEN", "READONLY"}:
                raise
        return _opened(others[0], path, create=False, timeout=timeout)


def _is_file(path: Path) -> bool:
    """True for a regular file, False where there is nothing. Raises StoreError: reading a pipe might wait for ever."""
    try:
        mode = path.stat().st_mode
        path.absolute()
    except (FileNotFoundError, NotADirectoryError) as error:
        if not path.is_absolute() and not has_working_folder():
            raise StoreError(f"the store {path} cannot be found: the current folder is gone") from error
        return False
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StoreError(f"the store {path} cannot be opened ({reason}): give another path") from error
    except ValueError as error:
        raise StoreError("the path of a store cannot hold a zero character: give another path") from error
    if stat.S_ISDIR(mode):
        raise StoreError(f"{path} is a folder: give the path of a store file")
    if not stat.S_ISREG(mode):
        raise StoreError(f"{path} is not a regular file: give the path of a store file")
    return True


@contextmanager
def mapped(path: Path) -> Iterator[None]:
    """Turns every sqlite3.Error and Damage inside it into a StoreError of one sentence."""
    try:
        yield
    except Damage as error:
        raise damaged(path, str(error)) from error
    except UnicodeDecodeError as error:  # SQLite's own message quotes the damage
        raise damaged(path, "its schema is not text") from error
    except sqlite3.Error as error:
        raise StoreError(_sentence(path, error)) from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it is kept or, on any error, nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def damaged(path: Place, reason: str) -> StoreError:
    """The error for a store that holds what it should not."""
    said = visible.title(reason)
    return StoreError(f"the store {path} is damaged ({said}): delete it and index your documents again")


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
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
    if create and not path.exists():
        # SQLite reports an error itself later; the files that it writes beside this one take its mode
        with suppress(OSError):
            path.touch(mode=0o600)
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
        with transaction(connection):
            if _is_blank(connection):
                _make_tables(connection)
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
        older = "delete it and index your documents again, or index them into a new store"
        advice = "update equipoise" if version > VERSION else older
        raise StoreError(f"the store {path} has format {version}, this equipoise reads {VERSION}: {advice}")
    if (objects := _objects(connection)) != (ours := _our_objects()):
        odd = sorted(f"{kind} {name}" for kind, name, _ in objects ^ ours)[0]
        raise Damage(f"its {odd} is missing, or not as equipoise makes it")


def _objects(connection: sqlite3.Connection) -> frozenset[tuple[str, str, str]]:
    """(type, name, statement) of everything in the schema: views and triggers run when somebody reads or writes."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    return frozenset((str(kind), str(name), str(sql)) for kind, name, sql in rows)


@cache
def _our_objects() -> frozenset[tuple[str, str, str]]:
    with closing(sqlite3.connect(":memory:")) as empty:
        _make_tables(empty)
        return _objects(empty)


_SENTENCES = {
    "BUSY LOCKED": "the store {path} is locked by another writer: wait until it is done and try again",
    "NOTADB": "{path} is not an equipoise store: give another path",
    "CORRUPT": "the store {path} is damaged ({error}): delete it and index your documents again",
    "READONLY CANTOPEN PERM AUTH": "the store {path} cannot be opened or written here ({error}): "
    "check the permissions of the file and its folder",
    "IOERR": "the disk of the store {path} failed ({error}): check that it is there and has space",
    "TOOBIG": "something is too large for the store {path} ({error}): split the file it came from",
    "CLOSED": "the store {path} is closed: open it again",
    "FULL": "the disk of the store {path} is full: free some space and try again",
}


def _sentence(path: Path, error: sqlite3.Error) -> str:
    code, said = _code(error), visible.title(str(error))  # SQLite quotes what it cannot read
    for codes, sentence in _SENTENCES.items():
        if code in codes.split():
            return sentence.format(path=path, error=said)
    return f"the store {path} failed ({said}): open it again, and check the file if that does not help"


def _code(error: sqlite3.Error) -> str:
    """The first part of SQLite's name for the error, as in SQLITE_IOERR_WRITE."""
    name: str = getattr(error, "sqlite_errorname", "")
    if not name and "decode to UTF-8" in str(error):  # raised by Python's sqlite3, not by SQLite
        return "CORRUPT"
    if not name and "closed database" in str(error):
        return "CLOSED"
    return name.removeprefix("SQLITE_").split("_")[0]
