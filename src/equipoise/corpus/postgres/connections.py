"""Connections to one or several hosts of a database: which is asked, and what happens when one is gone.

Changes go to the host that takes them, reads of a store that is only read to a replica where there is one. An address
may name several hosts (`postgres://user@one,two,three/name`). Connections that broke are dropped, and whoever needs
one gets one to a host that lives.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, LifoQueue
from threading import BoundedSemaphore
from typing import Any, LiteralString
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

import psycopg
from pgvector.psycopg import register_vector
from psycopg import Connection, errors, sql
from psycopg.conninfo import conninfo_to_dict

from equipoise.core.addresses import StoreUrl
from equipoise.core.errors import InputError, StoreError, StoreLost
from equipoise.corpus.record_types import Damage
from equipoise.corpus.schema import damaged
from equipoise.text import visible

Link = Connection[tuple[Any, ...]]
MOST = 16
"""Connections of one store at a time; more callers wait."""
PAUSE_S = 0.05
PRIMARY_WITHIN_S = 60.0
"""Seconds that a change waits for a host that takes it: a failover should be over by then."""
DEFAULT_NAME = "equipoise"
_DEFAULTS = {"connect_timeout": "2", "tcp_user_timeout": "5000", "application_name": "equipoise"}
WRITES, READS, ANY = "read-write", "standby", "any"


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """The connection `options` in an address, as libpq names them, and the `name` of the store in that database."""

    options: dict[str, str]
    name: str

    @property
    def hosts(self) -> int:
        """How many there are to choose among."""
        return self.options.get("host", "").count(",") + 1


def parsed(url: StoreUrl) -> DatabaseAddress:
    """The parts of an address. Raises InputError, which never quotes it: a password may be anywhere in it."""
    try:
        parts = urlsplit(url.address)
        asked = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        name = dict(asked).get("store", DEFAULT_NAME)
        rest = "&".join(f"{quote(k)}={quote(v)}" for k, v in asked if k != "store")
        options = conninfo_to_dict(urlunsplit(parts._replace(query=rest)))
    except (ValueError, psycopg.Error):
        raise InputError(
            "the address of the store cannot be read: write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with what is "
            "special in a password as %XX"
        ) from None
    if not (name.isidentifier() and name.isascii() and len(name) < 60):
        raise InputError("the name after store= is made of letters, digits and _: give another")
    return DatabaseAddress(_DEFAULTS | {key: str(value) for key, value in options.items()}, name.lower())


class Connections:
    """Idle and lent connections for one kind of work: a `target` of WRITES, READS or ANY.

    Not psycopg's pool: it waits a second before it tries again, and its connections cannot prefer a replica.
    """

    def __init__(self, url: StoreUrl, address: DatabaseAddress, target: str) -> None:
        self._url, self._address, self._target = url, address, target
        self._idle: LifoQueue[Link] = LifoQueue()
        self._room = BoundedSemaphore(MOST)
        self._closed = False

    def close(self) -> None:
        """Close the idle ones; those that are lent are closed when they come back."""
        self._closed = True
        with suppress(Empty):
            while True:
                self._idle.get_nowait().close()

    @contextmanager
    def lent(self, within: float, first: LiteralString) -> Iterator[Link]:
        """A connection on which the statement `first` was run, a new one if need be, tried for `within` seconds.

        Raises StoreError.
        """
        with self._room:
            link = self._answering(within, first)
            try:
                yield link
            finally:
                self._take_back(link)

    def _answering(self, within: float, first: LiteralString) -> Link:
        """A connection on which `first` was run: an idle one if its host still answers, else a new one."""
        with suppress(Empty):
            while True:
                link = self._idle.get_nowait()
                with suppress(psycopg.OperationalError):
                    link.execute(first)
                    return link
                link.close()
        link = self.made(within)
        link.execute(first)
        return link

    def made(self, within: float) -> Link:
        """A connection of the caller's own, tried for `within` seconds. Raises StoreError."""
        if self._closed:
            raise StoreError(f"the store {self._url} is closed: open it again")
        until = time.monotonic() + within
        while True:
            try:
                return self._connected()
            except psycopg.OperationalError as error:
                if time.monotonic() >= until or _is_final(error):
                    raise unreachable(self._url, error) from error
            time.sleep(PAUSE_S)

    def _connected(self) -> Link:
        if self._target == WRITES:
            return self._to(WRITES)
        if self._address.hosts > 1:
            with suppress(psycopg.OperationalError):
                return self._to(READS)
        return self._to(ANY)

    def _to(self, target: str) -> Link:
        spread = {"load_balance_hosts": "random"} if target == READS else {}
        options: dict[str, Any] = spread | self._address.options | {"target_session_attrs": target}
        link: Link = psycopg.connect(**options, autocommit=True)
        try:
            path = sql.SQL("SET search_path TO {}, public").format(sql.Identifier(self._address.name))
            link.execute(path)
            # A generic plan expects one row from each range of numbers, and joins 240 documents 240 times.
            link.execute("SET plan_cache_mode = force_custom_plan")
            if link.execute("SELECT 1 FROM pg_type WHERE typname = 'vector'").fetchone():
                register_vector(link)
        except BaseException:
            link.close()
            raise
        return link

    def _take_back(self, link: Link) -> None:
        if self._closed or link.closed or link.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            link.close()
        else:
            self._idle.put(link)


@contextmanager
def mapped(url: StoreUrl) -> Iterator[None]:
    """Turns errors of the database into a StoreError of one sentence; StoreLost where asking again may help."""
    try:
        yield
    except Damage as error:
        raise damaged(url, str(error)) from error
    except (errors.SerializationFailure, errors.DeadlockDetected, errors.QueryCanceled) as error:
        raise StoreLost(f"the store {url} could not be read just then ({_said(error)}): ask again") from error
    except errors.InsufficientPrivilege as error:
        raise StoreError(
            f"the store {url} does not let this user do that ({_said(error)}): grant it"
        ) from error
    except errors.ReadOnlySqlTransaction as error:
        raise StoreLost(f"the store {url} is on a host that only reads now: try again") from error
    except psycopg.OperationalError as error:
        raise StoreLost(f"the connection to the store {url} was lost ({_said(error)}): ask again") from error
    except psycopg.Error as error:
        raise StoreError(f"the store {url} failed ({_said(error)}): open it again") from error


def unreachable(url: StoreUrl, error: psycopg.Error) -> StoreError:
    """The error where no host could be used."""
    return StoreError(
        f"the store {url} cannot be reached ({_said(error)}): check the address, and that the database runs"
    )


def _is_final(error: psycopg.OperationalError) -> bool:
    """Whether trying again is no use: the host answered, and refused who we are or what we ask for."""
    return any(
        word in str(error) for word in ("authentication failed", "does not exist", "no password supplied")
    )


def _said(error: psycopg.Error) -> str:
    lines = str(error.diag.message_primary or error).strip().splitlines()
    return visible.title(lines[-1] if lines else type(error).__name__)
