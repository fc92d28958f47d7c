"""What is remembered of sources between two runs: ETags and fingerprints, which save reading a page again, where its
links led, how and with which settings the last run ended, and whose turn it is. Losing it costs one full reading only.

It is in the user's folder for state and, for a store in Postgres, in that database, shared by all machines that keep
the store fresh. The settings of a source stay in the folder: whoever may write to the database must not choose which
host is asked with which secret.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from equipoise.core.addresses import Place, StoreUrl
from equipoise.core.closing import Closing
from equipoise.core.errors import StoreError

if TYPE_CHECKING:
    from equipoise.corpus.postgres.session import Session

RETRY_S = 15.0
"""Half of the time until a source that failed is tried again; twice as long each time, up to two hours."""
_DOUBLED = 9
_DEATHS = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """A page as it was seen: its ETag and Last-Modified, the fingerprint of what was read, where its links led, in how
    many runs in a row it was missing, and a hash of all that it was read from (`answers.hash_of`)."""

    etag: str = ""
    modified: str = ""
    fingerprint: str = ""
    links: tuple[str, ...] = ()
    missing: int = 0
    body: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """The marks for a conditional request, as `Fetcher.get` takes them."""
        return {"etag": self.etag, "last-modified": self.modified}


@dataclass(frozen=True, slots=True)
class Run:
    """The last run of a source: when it began (seconds since 1970), its error, documents met, a hash of how pages
    are read (`how`), and the settings as JSON."""

    began: float = 0.0
    error: str = ""
    met: int = 0
    how: str = ""
    settings: str = ""


@dataclass(frozen=True, slots=True)
class SourceTurn:
    """Whether a source was asked for, whether it is being read, when that was last begun (`tried`), how often since it
    last went well (`tries`), and how far it is, and by whom (`said`)."""

    asked: bool = False
    running: bool = False
    tried: float = 0.0
    tries: int = 0
    said: str = ""

    def is_resting(self, now: float) -> bool:
        """Whether it failed so recently that it is not tried again yet. If the process that read it died, and not for
        the third time, another may begin at once."""
        if self.running and self.tries < _DEATHS:
            return False
        return self.tries > 0 and now < self.tried + RETRY_S * 2 ** min(self.tries, _DOUBLED)


_TABLES = (
    "CREATE TABLE IF NOT EXISTS runs (source TEXT PRIMARY KEY, run TEXT)",
    "CREATE TABLE IF NOT EXISTS pages (source TEXT, address TEXT, seen TEXT, PRIMARY KEY (source, address))",
    "CREATE TABLE IF NOT EXISTS turns (source TEXT PRIMARY KEY, asked INTEGER NOT NULL, running INTEGER NOT NULL,"
    " tried DOUBLE PRECISION NOT NULL, tries INTEGER NOT NULL, said TEXT NOT NULL)",
)
_KEEP_RUN = "INSERT INTO runs VALUES (?, ?) ON CONFLICT (source) DO UPDATE SET run = excluded.run"
Ask = Callable[..., list[tuple[Any, ...]]]
"""Carries out a statement with its values; the rows that it gives."""


class Memory(Closing):
    """What is remembered of the sources of an index; close it, or use it in a `with` block. One thread at a time."""

    def __init__(self, store: Place, *, create: bool = True) -> None:
        """Opens the memory of the index at `store`; if there is none, and none is created, nothing is kept."""
        path = _path(store)
        try:
            if create:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            where = path if create or path.exists() else ":memory:"
            self._link = sqlite3.connect(where, isolation_level=None, timeout=30, check_same_thread=False)
            with self._errors():
                self._link.execute("PRAGMA journal_mode = WAL")
                self._link.execute("PRAGMA synchronous = NORMAL")
                for table in _TABLES:
                    self._link.execute(table)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{path}, which remembers sites, cannot be used ({error}): delete it") from error
        self._shared = _shared(store) if isinstance(store, StoreUrl) else None
        self._all: Ask = self._shared.rows if self._shared else self._here

    def pages(self, source: str) -> dict[str, Seen]:
        """What is remembered of the pages of a source."""
        rows = self._all("SELECT address, seen FROM pages WHERE source = ?", source)
        with self._errors():
            return {address: _seen(text) for address, text in rows}

    def keep(self, source: str, address: str, seen: Seen) -> None:
        """Remember a page."""
        self._all(
            "INSERT INTO pages VALUES (?, ?, ?) ON CONFLICT (source, address) DO UPDATE SET seen = excluded.seen",
            source,
            address,
            json.dumps(asdict(seen)),
        )

    def forget(self, source: str, address: str) -> None:
        """Forget a page."""
        self._all("DELETE FROM pages WHERE source = ? AND address = ?", source, address)

    def run(self, source: str) -> Run | None:
        """The last run of a source, None before the first."""
        rows = self._all("SELECT run FROM runs WHERE source = ?", source)
        with self._errors():
            return Run(**json.loads(rows[0][0])) if rows else None

    def runs(self) -> list[tuple[str, Run]]:
        """The last run of every source, by address; the settings are those of this machine's last run."""
        ask = "SELECT source, run FROM runs ORDER BY source"
        with self._errors():
            found = {source: Run(**json.loads(text)) for source, text in self._all(ask)}
            if self._shared:
                here = {source: Run(**json.loads(text)) for source, text in self._here(ask)}
                for source, run in found.items():
                    found[source] = replace(run, settings=here.get(source, Run()).settings)
        return list(found.items())

    def drop(self, source: str) -> None:
        """Forget a source."""
        for ask in (self._here, self._all):
            for table in ("pages", "runs", "turns"):
                ask(f"DELETE FROM {table} WHERE source = ?", source)

    def ran(self, source: str, run: Run) -> None:
        """Remember a run."""
        self._here(_KEEP_RUN, source, json.dumps(asdict(run)))
        if self._shared:
            self._all(_KEEP_RUN, source, json.dumps(asdict(replace(run, settings=""))))

    def turns(self) -> dict[str, SourceTurn]:
        """The turn of every source that was ever asked for, or read by a server or worker."""
        rows = self._all("SELECT source, asked, running, tried, tries, said FROM turns")
        return {
            source: SourceTurn(bool(asked), bool(running), tried, tries, said)
            for source, asked, running, tried, tries, said in rows
        }

    def turn(self, source: str, turn: SourceTurn) -> None:
        """Remember whose turn it is."""
        self._all(
            "INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (source) DO UPDATE SET asked = excluded.asked,"
            " running = excluded.running, tried = excluded.tried, tries = excluded.tries, said = excluded.said",
            *(source, int(turn.asked), int(turn.running), turn.tried, turn.tries, turn.said),
        )

    def ask(self, source: str) -> None:
        """Have a source read as soon as somebody can; again, where it is being read now."""
        self._all(
            "INSERT INTO turns VALUES (?, 1, 0, 0, 0, '') ON CONFLICT (source) DO UPDATE SET asked = 1, tries = 0",
            source,
        )

    def ended(self, source: str, *, well: bool) -> None:
        """Note that nobody reads a source any more; `well` resets its tries."""
        more = ", tries = 0" if well else ""
        self._all(f"UPDATE turns SET running = 0, said = ''{more} WHERE source = ?", source)

    def tell(self, source: str, said: str) -> None:
        """Note how far the reading of a source has got."""
        self._all("UPDATE turns SET said = ? WHERE source = ?", said, source)

    def _here(self, ask: str, *values: object) -> list[tuple[Any, ...]]:
        with self._errors():
            return self._link.execute(ask, values).fetchall()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise StoreError(f"what is remembered of sites cannot be used ({error}): delete it") from error

    def close(self) -> None:
        """Close the file, and the connection."""
        self._link.close()
        if self._shared:
            self._shared.close()


def _shared(url: StoreUrl) -> "Session | None":
    """The database, None where its store is not made yet."""
    from equipoise.corpus.postgres.session import Session  # noqa: PLC0415 - an extra

    session = Session(url, read_only=False, timeout=5.0)
    try:
        if session.rows("SELECT to_regclass('turns') IS NOT NULL") == [(True,)]:
            return session
    except BaseException:
        session.close()
        raise
    session.close()
    return None


def _path(store: Place) -> Path:
    """The file, in the user's own folder: beside the index, in a folder that came from somebody else, it could say
    which hosts to ask with which secret."""
    place = os.path.realpath(store) if isinstance(store, Path) else str(store)
    name = hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return Path(platformdirs.user_state_dir("equipoise", appauthor=False)) / "sources" / f"{name}.db"


def _seen(text: str) -> Seen:
    fields: dict[str, Any] = json.loads(text)
    return Seen(**fields | {"links": tuple(fields["links"])})
