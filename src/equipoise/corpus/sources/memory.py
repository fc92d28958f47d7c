"""What is remembered of sources between two runs, in the user's folder for state: marks that save reading a page again,
where its links led, how the last run ended and by which settings. Losing it costs one full reading, and nothing of the
index."""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import platformdirs

from equipoise.core.addresses import Place
from equipoise.core.errors import StoreError


@dataclass(frozen=True, slots=True)
class Seen:
    """A page as it was seen: what the server calls this version of it, the fingerprint of what was read, where its
    links led, how many runs in a row nothing has led to it, and a hash of all that it was read from."""

    etag: str = ""
    modified: str = ""
    fingerprint: str = ""
    links: tuple[str, ...] = ()
    missing: int = 0
    body: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """What is sent so that the page is not sent again."""
        return {"etag": self.etag, "last-modified": self.modified}


@dataclass(frozen=True, slots=True)
class Run:
    """The last run of a source: when it began (seconds since 1970), its error, documents met, by which selectors and
    loaders (`how`), and the settings as JSON."""

    began: float = 0.0
    error: str = ""
    met: int = 0
    how: str = ""
    settings: str = ""


class Memory:
    """The file of an index; close it, or use it in a `with` block."""

    def __init__(self, store: Place, *, create: bool = True) -> None:
        """That of the index at `store`; where there is none and none is created, nothing is remembered."""
        path = _path(store)
        try:
            if create:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            where = path if create or path.exists() else ":memory:"
            self._link = sqlite3.connect(where, isolation_level=None, timeout=30)
            with self._errors():
                self._link.execute("PRAGMA journal_mode = WAL")
                self._link.execute("PRAGMA synchronous = NORMAL")
                self._link.execute("CREATE TABLE IF NOT EXISTS runs (source TEXT PRIMARY KEY, run TEXT)")
                self._link.execute(
                    "CREATE TABLE IF NOT EXISTS pages"
                    " (source TEXT, address TEXT, seen TEXT, PRIMARY KEY (source, address))"
                )
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{path}, which remembers sites, cannot be used ({error}): delete it") from error

    def pages(self, source: str) -> dict[str, Seen]:
        """What is remembered of the pages of a source."""
        with self._errors():
            rows = self._link.execute(
                "SELECT address, seen FROM pages WHERE source = ?", (source,)
            ).fetchall()
        return {address: _seen(text) for address, text in rows}

    def keep(self, source: str, address: str, seen: Seen) -> None:
        """Remember a page."""
        with self._errors():
            self._link.execute(
                "INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", (source, address, json.dumps(asdict(seen)))
            )

    def forget(self, source: str, address: str) -> None:
        """Forget a page."""
        with self._errors():
            self._link.execute("DELETE FROM pages WHERE source = ? AND address = ?", (source, address))

    def run(self, source: str) -> Run | None:
        """The last run of a source, None before the first."""
        with self._errors():
            row = self._link.execute("SELECT run FROM runs WHERE source = ?", (source,)).fetchone()
        return Run(**json.loads(row[0])) if row else None

    def runs(self) -> list[tuple[str, Run]]:
        """The last run of every source, by address."""
        with self._errors():
            rows = self._link.execute("SELECT source, run FROM runs ORDER BY source").fetchall()
            return [(source, Run(**json.loads(text))) for source, text in rows]

    def drop(self, source: str) -> None:
        """Forget a source."""
        with self._errors():
            self._link.execute("DELETE FROM pages WHERE source = ?", (source,))
            self._link.execute("DELETE FROM runs WHERE source = ?", (source,))

    def ran(self, source: str, run: Run) -> None:
        """Remember a run."""
        with self._errors():
            self._link.execute("INSERT OR REPLACE INTO runs VALUES (?, ?)", (source, json.dumps(asdict(run))))

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise StoreError(f"what is remembered of sites cannot be used ({error}): delete it") from error

    def close(self) -> None:
        """Close the file."""
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _path(store: Place) -> Path:
    """In the user's own folder: beside an index that came with a folder of somebody else could stand which hosts to ask
    with which secret."""
    place = os.path.realpath(store) if isinstance(store, Path) else str(store)
    name = hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return Path(platformdirs.user_state_dir("equipoise", appauthor=False)) / "sources" / f"{name}.db"


def _seen(text: str) -> Seen:
    fields: dict[str, Any] = json.loads(text)
    return Seen(**fields | {"links": tuple(fields["links"])})
