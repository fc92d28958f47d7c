"""Replies kept in a file: a benchmark is repeated without a model, and without paying twice."""

import asyncio
import hashlib
import json
import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import TypeAdapter

from equipoise.core.errors import ModelUnavailable
from equipoise.core.protocols import ChatModel, JsonSchema
from equipoise.core.types import ChatOptions, ChatReply, Message
from equipoise.models.control import one_line
from equipoise.models.odds import is_logprob
from equipoise.models.roles import for_role

FORMAT = 1
"""The version of keys and values; part of every key, and the file's `user_version`."""

MOST_CHARACTERS = 16_000_000
"""Most characters of a recorded reply; a longer one is damaged."""

_GET = f"SELECT CASE WHEN length(reply) <= {MOST_CHARACTERS} THEN reply END FROM replies WHERE key = ?"
_STATE = "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version"
_CREATE = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID;
PRAGMA user_version = {FORMAT};
COMMIT;
"""


_REPLY = TypeAdapter(ChatReply)


def request_key(
    name: str, messages: Sequence[Message], schema: JsonSchema | None, options: ChatOptions
) -> str:
    """The sha256 (hex) of the canonical JSON of a request to the model `name`.

    The order of a schema's properties is part of the request: models generate in that order.
    """
    request = {
        "format": FORMAT,
        "model": name,
        "messages": [[m.role, m.content] for m in messages],
        "schema": None if schema is None else json.dumps(dict(schema), separators=(",", ":")),
        "options": {**asdict(options), "temperature": float(options.temperature)},
    }
    canonical = json.dumps(request, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


class ReplayCache:
    """One SQLite file of replies, safe for several threads and processes; written whole or not at all.

    The file is created by the first `put`. Every method raises ModelUnavailable when the file is locked for
    longer than `lock_timeout_s`, is damaged, or is of another format.
    """

    def __init__(self, path: str | Path, *, lock_timeout_s: float = 10.0) -> None:
        self.path = Path(path)
        self._lock_timeout_s = lock_timeout_s
        self._claims: dict[str, Future[ChatReply | None]] = {}
        self._claims_lock = Lock()

    def __repr__(self) -> str:
        return f"ReplayCache({str(self.path)!r})"

    def get(self, key: str) -> ChatReply | None:
        """The recorded reply (0 calls, 1 replayed, the tokens it once cost), None on a miss."""
        if not self.path.exists():
            return None
        rows = self._execute(_GET, (key,))
        if not rows:
            return None
        try:
            return _decoded(rows[0][0])
        except (ValueError, TypeError, RecursionError) as error:
            raise self._unusable("holds a damaged reply", one_line(str(error))) from error

    def put(self, key: str, reply: ChatReply) -> None:
        """Keep `reply`, unless the key has one already: the first one recorded stays."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable("cannot be created", error) from error
        self._execute("INSERT OR IGNORE INTO replies VALUES (?, ?)", (key, _encoded(reply)))

    def claim(self, key: str) -> tuple[bool, "Future[ChatReply | None]"]:
        """Whether the caller is the one to ask the model for `key`, and the future all others wait on."""
        with self._claims_lock:
            if key in self._claims:
                return False, self._claims[key]
            future: Future[ChatReply | None] = Future()
            future.set_running_or_notify_cancel()  # a waiter that is cancelled must not cancel the others
            self._claims[key] = future
            return True, future

    def release(self, key: str) -> None:
        """End the claim on `key`."""
        with self._claims_lock:
            del self._claims[key]

    def _execute(self, statement: str, values: tuple[str, ...]) -> list[Any]:
        """One statement in a connection of its own: nothing is shared between threads, nothing stays open."""
        try:
            with closing(sqlite3.connect(self.path, timeout=self._lock_timeout_s)) as connection, connection:
                self._prepare(connection)
                return connection.execute(statement, values).fetchall()
        except sqlite3.OperationalError as error:
            locked = "locked" in str(error) or "busy" in str(error)
            what = "is locked by another process" if locked else "cannot be opened"
            raise self._unusable(what, error) from error
        except sqlite3.DatabaseError as error:
            raise self._unusable("is damaged or not a replay cache", error) from error

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make an empty file a cache, in one transaction; refuse a file of another kind."""
        version, tables = connection.execute(_STATE).fetchone()
        if version == FORMAT:
            return
        if version or tables:
            raise sqlite3.DatabaseError(f"format {version} instead of {FORMAT}")
        self._write_ahead(connection)
        connection.executescript(_CREATE)

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """Switch the file to a write-ahead log. SQLite does not wait its turn for that by itself."""
        until = time.monotonic() + self._lock_timeout_s
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)
            else:
                return

    def _unusable(self, what: str, error: object) -> ModelUnavailable:
        return ModelUnavailable(
            f"the replay cache {self.path} {what} ({error}): close what holds it, or delete and record again"
        )


class Replayed:
    """A ChatModel that asks `model` only for what `cache` does not hold, and keeps its replies, but no errors."""

    def __init__(self, model: ChatModel, cache: ReplayCache) -> None:
        self._model = model
        self._cache = cache

    @property
    def name(self) -> str:
        """The name of the model inside, so that a replayed run reports as the recorded one."""
        return self._model.name

    def __repr__(self) -> str:
        return f"Replayed({self._model!r}, {self._cache!r})"

    def for_role(self, role: str) -> "Replayed":
        """The model inside in `role`, with the same recorded replies: their key is the whole request."""
        return Replayed(for_role(self._model, role), self._cache)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: JsonSchema | None = None,
        options: ChatOptions = ChatOptions(),
    ) -> ChatReply:
        """The recorded reply, or the model's. Raises ModelUnavailable, or what the model raises."""
        key = request_key(self.name, messages, schema, options)
        while True:
            mine, pending = self._cache.claim(key)
            if mine:
                ask = partial(self._model.complete, messages, schema=schema, options=options)
                return await self._find(key, pending, ask)
            if reply := await asyncio.wrap_future(pending):
                return _as_replayed(reply)
            # the task that was to find it was cancelled: take its place

    async def _find(
        self,
        key: str,
        pending: "Future[ChatReply | None]",
        ask: Callable[[], Awaitable[ChatReply]],
    ) -> ChatReply:
        """The reply from the cache or the model; all who wait get it, or the error, or None if cancelled."""
        try:
            reply = await asyncio.to_thread(self._cache.get, key)
            if reply is None:
                reply = await ask()
                await asyncio.to_thread(self._cache.put, key, reply)
        except Exception as error:
            self._cache.release(key)
            pending.set_exception(error)
            raise
        except BaseException:
            self._cache.release(key)
            pending.set_result(None)
            raise
        self._cache.release(key)
        pending.set_result(reply)
        return reply


def _as_replayed(reply: ChatReply) -> ChatReply:
    return replace(reply, usage=replace(reply.usage, calls=0, replayed=1))


def _encoded(reply: ChatReply) -> str:
    return json.dumps(asdict(reply), separators=(",", ":"))


def _decoded(value: str) -> ChatReply:
    """ValueError, TypeError or RecursionError where `value` is not what `_encoded` makes of a reply."""
    reply = _REPLY.validate_python(json.loads(value))
    for token in reply.logprobs:
        if not all(map(is_logprob, (token.logprob, *(logprob for _, logprob in token.top)))):
            raise ValueError("a log-probability is none")
    return _as_replayed(reply)
