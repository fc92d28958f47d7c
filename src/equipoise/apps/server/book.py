"""The server's own database, the book: one SQLite file beside the index with keys, their spending, answers, and jobs.

Several processes may have it open. A process that is killed at any moment loses nothing that a call has returned from.
"""

import hashlib
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any
from urllib.parse import parse_qs, urlsplit

import platformdirs

from equipoise.apps.server.sharing import protect
from equipoise.core.addresses import Place
from equipoise.core.closing import Closing
from equipoise.core.errors import StoreError
from equipoise.corpus.schema import transaction

FOLDER = ".server"
"""Suffix of the folder beside the index: `index.db` has `index.server`."""

_TABLES = """
CREATE TABLE IF NOT EXISTS keys (
    key_id TEXT PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, scope TEXT NOT NULL,
    rate INTEGER NOT NULL, questions INTEGER NOT NULL, tokens INTEGER NOT NULL,
    created TEXT NOT NULL, revoked TEXT NOT NULL DEFAULT '', where_json TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS rates (key_id TEXT PRIMARY KEY, due REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spent (
    key_id TEXT NOT NULL, day TEXT NOT NULL, questions INTEGER NOT NULL, tokens INTEGER NOT NULL,
    PRIMARY KEY (key_id, day)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, job_id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, trust TEXT NOT NULL,
    state TEXT NOT NULL, error TEXT NOT NULL DEFAULT '', done INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL DEFAULT 0, documents TEXT NOT NULL DEFAULT '[]', tries INTEGER NOT NULL DEFAULT 0,
    created TEXT NOT NULL, ended TEXT NOT NULL DEFAULT '', author TEXT NOT NULL DEFAULT '',
    collection TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS findings (doc_id TEXT PRIMARY KEY, found TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (
    number INTEGER PRIMARY KEY AUTOINCREMENT, answer_id TEXT NOT NULL UNIQUE, key_id TEXT NOT NULL, at TEXT NOT NULL,
    question_hash TEXT NOT NULL, question TEXT NOT NULL, reason TEXT NOT NULL, spans TEXT NOT NULL,
    tokens INTEGER NOT NULL, rating INTEGER NOT NULL DEFAULT 0, comment TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS answers_by_question ON answers (question_hash);
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


def folder_of(store: Place) -> Path:
    """The folder for the server's own files: beside an index that is a file, else in the user's data folder."""
    if isinstance(store, Path):
        return store.with_suffix(FOLDER)
    inside = parse_qs(urlsplit(store.address).query).get("store", [])  # which of a database's stores it is
    name = hashlib.sha256(" ".join([str(store), *inside]).encode()).hexdigest()[:16]
    return Path(platformdirs.user_data_dir("equipoise", appauthor=False)) / "servers" / f"{name}{FOLDER}"


class Book(Closing):
    """An open book; close it, or use it in a `with` block. Each method raises StoreError where the file fails."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "server.db"
        self._lock = RLock()
        with self._mapped():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._connection = sqlite3.connect(
                self.path, timeout=10.0, isolation_level=None, check_same_thread=False
            )
            protect(self.path)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(_TABLES)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def rows(self, ask: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Execute a statement; returns its rows."""
        with self._lock, self._mapped():
            return self._connection.execute(ask, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all of it is kept or, on any error, nothing."""
        with self._lock, self._mapped(), transaction(self._connection):
            yield

    def keep(self) -> None:
        """Let everything that was written outlive a power cut too."""
        number = os.open(self.path.with_name(self.path.name + "-wal"), os.O_RDONLY)
        try:
            os.fsync(number)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written ({error.strerror})") from error
        finally:
            os.close(number)

    def secret(self, name: str) -> bytes:
        """A random secret of this book, made when it is first asked for."""
        with self.writing():
            fresh = secrets.token_hex(32)
            self.rows("INSERT OR IGNORE INTO meta VALUES (?, ?)", (name, fresh))
            [(value,)] = self.rows("SELECT value FROM meta WHERE name = ?", (name,))
        return bytes.fromhex(str(value))

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"the server's book {self.path} failed ({error}): check the file and its folder"
            ) from error
