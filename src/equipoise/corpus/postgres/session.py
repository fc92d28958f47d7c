"""Reading and changing a database safely: snapshots, transactions, and what happens when a host is lost."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg

from equipoise.core.addresses import StoreUrl
from equipoise.core.errors import StoreError, StoreLost
from equipoise.corpus.postgres import rows
from equipoise.corpus.postgres.connections import (
    PAUSE_S,
    PRIMARY_WITHIN_S,
    READS,
    WRITES,
    Connections,
    Link,
    mapped,
    parsed,
)

T = TypeVar("T")
CHECK, SNAPSHOT = "SELECT 1", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

_ALIVE = (("tcp_keepalives_idle", 10), ("tcp_keepalives_interval", 5), ("tcp_keepalives_count", 3))
"""Settings by which the database notices within half a minute that a machine is gone, and gives what it claimed to
others; by default it would wait for hours. It notices at once that a process is killed."""


class Session:
    """The connections of one open store. A thread has one at a time."""

    def __init__(self, url: StoreUrl, *, read_only: bool, timeout: float) -> None:
        self.url = url
        self.address = parsed(url)
        self._timeout = timeout if read_only else max(timeout, PRIMARY_WITHIN_S)
        self._read_only = read_only
        self._reads = Connections(url, self.address, READS if read_only else WRITES)
        self._writes = Connections(url, self.address, WRITES) if read_only else self._reads
        self._claims: Link | None = None
        self._after: str | None = None
        self._here = threading.local()

    def close(self) -> None:
        """Close all connections, and let go of what was claimed."""
        if self._claims is not None:
            self._claims.close()
        self._reads.close()
        self._writes.close()

    @contextmanager
    def reading(self) -> Iterator[Link]:
        """A connection in a snapshot; inside another such block of this thread, the same connection."""
        link: Link | None = getattr(self._here, "link", None)
        if link is not None:
            with mapped(self.url):
                yield link
            return
        with mapped(self.url), self._reads.lent(self._timeout, CHECK if self._after else SNAPSHOT) as link:
            if self._after:
                self._catch_up(link, self._after)
                link.execute(SNAPSHOT)
            self._here.link = link
            try:
                yield link
            finally:
                self._here.link = None
                if not link.closed:
                    link.execute("ROLLBACK")

    @contextmanager
    def bare(self, *, at_once: bool = False) -> Iterator[Link]:
        """A connection to the host of reads (`at_once`, without waiting for it), outside any transaction."""
        with mapped(self.url), self._reads.lent(0 if at_once else self._timeout, CHECK) as link:
            yield link

    def rows(self, ask: str, *values: object) -> list[tuple[Any, ...]]:
        """What a statement gives, outside any transaction: it is not a change of the store."""
        with self.bare() as link:
            cursor = link.execute(ask.replace("?", "%s").encode(), values)
            return cursor.fetchall() if cursor.description else []

    def write(self, work: Callable[[Link], T], *, again: bool = True) -> T:
        """One transaction, begun anew where its connection broke; all of it is kept or, on any error, nothing.

        Where it broke while the change was being confirmed nobody knows whether it was kept: then only `work` that may
        be done twice (`again`) is repeated. Raises StoreError, and what `work` raises.
        """
        if self._read_only:
            raise StoreError(f"the store {self.url} was opened to be read: open it to write")
        until = time.monotonic() + PRIMARY_WITHIN_S
        while True:
            try:
                with mapped(self.url), self._writes.lent(until - time.monotonic(), "BEGIN") as link:
                    return self._transaction(link, work, again=again)
            except StoreLost:
                if time.monotonic() >= until:
                    raise
            time.sleep(PAUSE_S)

    def written(self) -> str:
        """A mark of all changes so far."""
        with mapped(self.url), self._writes.lent(self._timeout, CHECK) as link:
            return str(rows.scalar(link, "SELECT pg_current_wal_lsn()::text"))

    def read_after(self, mark: str) -> None:
        """From now on a snapshot has at least the changes made before the mark."""
        self._after = mark or None

    def claim(self, name: str) -> bool:
        """Whether this session got the lock of that name; the lock ends with the connection.

        A lease would have to guess how long a dead indexer is waited for, and a locked row would hold up whoever
        takes that document out.
        """
        with mapped(self.url):
            if self._claims is not None:
                with suppress(psycopg.OperationalError):
                    return self._locks(self._claims, "try_advisory_lock", name)
                self._claims.close()
            self._claims = self._writes.made(PRIMARY_WITHIN_S)
            for setting, seconds in _ALIVE:
                self._claims.execute(f"SET {setting} = {seconds}".encode())
            return self._locks(self._claims, "try_advisory_lock", name)

    def release(self, name: str) -> None:
        """Give a lock back; one that was lost with its connection is gone already."""
        if self._claims is not None:
            with mapped(self.url), suppress(psycopg.OperationalError):
                self._locks(self._claims, "advisory_unlock", name)

    def _locks(self, link: Link, how: str, name: str) -> bool:
        ask = f"SELECT pg_{how}(hashtextextended(%s, 0))"
        return bool(rows.scalar(link, ask, f"{self.address.name}:{name}"))

    def _catch_up(self, link: Link, mark: str) -> None:
        """Wait until the host has replayed what `read_after` asked for."""
        until = time.monotonic() + self._timeout
        ask = "SELECT NOT pg_is_in_recovery() OR pg_last_wal_replay_lsn() >= %s::pg_lsn"
        while not rows.scalar(link, ask, mark):
            if time.monotonic() >= until:
                raise StoreLost(f"a replica of the store {self.url} is behind: ask again")
            time.sleep(PAUSE_S)

    def _transaction(self, link: Link, work: Callable[[Link], T], *, again: bool) -> T:
        """Do `work` in the transaction that has begun on `link`, and commit it."""
        self._here.link = link
        try:
            self._locks(link, "advisory_xact_lock", "write")
            made = work(link)
            link.execute("UPDATE state SET token = gen_random_uuid()")
        except BaseException:
            if not link.closed:
                link.execute("ROLLBACK")
            raise
        finally:
            self._here.link = None
        try:
            link.execute("COMMIT")
        except psycopg.OperationalError as error:
            if again:
                raise
            raise StoreError(
                f"the connection to the store {self.url} was lost while a change was confirmed: "
                "look whether it is there, and repeat it if not"
            ) from error
        return made
