"""Keys: who may ask, who may change documents, how fast and how much a day.

A key is shown once, when it is made; the book holds its SHA-256. Random keys of 256 bits need no slow hash.
"""

import hashlib
import json
import math
import secrets
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hmac import compare_digest

from equipoise.apps.server.book import Book
from equipoise.core.errors import InputError
from equipoise.core.settings import PublicSettings
from equipoise.core.where import Where, as_where, key_of

PREFIX = "eqp_"
BURST = 4
"""A quarter of what a key may ask in a minute it may ask at once."""
MOST_AHEAD = 20
"""Questions of one message at most (`question.most`), which are let in together."""
LONGEST_NAME = 100
VISITOR = "visitor-"
"""How the id of a visitor's key begins; a keyed hash follows, of an address that is kept nowhere."""
READS = 20
"""A visitor may read so many times as often as ask."""
_COLUMNS = "key_id, name, scope, rate, questions, tokens, created, revoked, where_json"


class Scope(StrEnum):
    """What a key opens: questions, or everything."""

    ASK = "ask"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Key:
    """`rate` is in questions a minute, `questions` and `tokens` are budgets of a day; 0 is no limit. `where` says which
    documents there are for the key; None: all. A visitor's key is `within` the one of all visitors: what it spends
    counts there, too."""

    key_id: str
    name: str
    scope: Scope
    rate: int = 0
    questions: int = 0
    tokens: int = 0
    created: str = ""
    revoked: str = ""
    where: Where | None = None
    within: "Key | None" = None

    @property
    def is_admin(self) -> bool:
        """Whether it opens everything."""
        return self.scope is Scope.ADMIN

    @property
    def is_visitor(self) -> bool:
        """Whether it stands for somebody without a key."""
        return self.within is not None

    @property
    def reading(self) -> "Key":
        """The key by which a visitor's reading is counted: it has a rate alone, of its own."""
        return replace(
            self,
            key_id=f"{self.key_id}-reads",
            rate=self.rate * READS,
            questions=0,
            tokens=0,
            within=self.within and self.within.reading,
        )

    @property
    def counted(self) -> "tuple[Key, ...]":
        """All keys whose limits apply: this one and those that it is `within`."""
        return (self,) if self.within is None else (self, *self.within.counted)


def visitors(limits: PublicSettings) -> Key:
    """The key that stands for all visitors together."""
    spend = (limits.all_rate, limits.all_questions, limits.all_tokens)
    return Key(f"{VISITOR}all", "visitors", Scope.ASK, *spend, where=as_where(limits.where))


OWNER = Key("local", "this machine", Scope.ADMIN)
"""The key of whoever asks a server without keys, which only this machine can reach."""


class OverLimit(Exception):
    """A key is over a limit: which one (`code`), and in how many seconds it may ask again."""

    def __init__(self, said: str, code: str, retry_after: int) -> None:
        super().__init__(said)
        self.code = code
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys in a book."""

    book: Book

    def create(
        self,
        name: str,
        scope: Scope = Scope.ASK,
        *,
        rate: int = 0,
        questions: int = 0,
        tokens: int = 0,
        where: Where | None = None,
    ) -> tuple[Key, str]:
        """A new key and its secret, which nobody can read again. Raises InputError."""
        if where is not None and scope is Scope.ADMIN:
            raise InputError(
                "a key with the scope admin sees all documents: give filters to keys with the scope ask"
            )
        if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise InputError(f"a key needs a name of at most {LONGEST_NAME} letters, for example  website")
        secret = PREFIX + secrets.token_urlsafe(32)
        limits = (rate, questions, tokens)
        made = Key(secrets.token_hex(4), name, scope, *limits, _now(), where=where)
        self.book.rows(
            f"INSERT INTO keys ({_COLUMNS}, digest) VALUES (?, ?, ?, ?, ?, ?, ?, '', ?, ?)",
            (made.key_id, name, scope.value, *limits, made.created, key_of(where), _digest(secret)),
        )
        return made, secret

    def all(self) -> tuple[Key, ...]:
        """Every key ever made, oldest first."""
        return tuple(map(_read, self.book.rows(f"SELECT {_COLUMNS} FROM keys ORDER BY created, rowid")))

    def exist(self) -> bool:
        """Whether a key was ever created: from then on nobody gets in without one."""
        return bool(self.book.rows("SELECT 1 FROM keys LIMIT 1"))

    def revoke(self, key_id: str) -> None:
        """Revoke the key. Raises InputError for an unknown one."""
        changed = self.book.rows(
            "UPDATE keys SET revoked = ? WHERE key_id = ? AND revoked = '' RETURNING key_id", (_now(), key_id)
        )
        if not changed:
            raise InputError(f"there is no key {key_id!r} to revoke: run  equipoise keys list")

    def find(self, secret: str) -> Key | None:
        """The key with this secret; None for a wrong one and a revoked one."""
        digest = _digest(secret)
        rows = self.book.rows(f"SELECT {_COLUMNS}, digest FROM keys WHERE digest = ?", (digest,))
        if not rows or not compare_digest(str(rows[0][-1]), digest):
            return None
        key = _read(rows[0][:-1])
        return None if key.revoked else key

    def admit(self, key: Key, now: float | None = None, *, questions: int = 1, tokens: int = 0) -> None:
        """Count the questions of one message of `key`, and `tokens` that are put aside until it is answered. Raises
        OverLimit where it is over its rate or a budget."""
        moment = time.time() if now is None else now
        if key is OWNER:
            return
        with self.book.writing():
            if key.within and self.spent(key.within, moment) == (0, 0):
                self._forget_visitors(moment)
            for one in key.counted:
                self._check_budgets(one, moment, questions, tokens)
                if one.rate:
                    self._check_rate(one, moment, questions)
            self._add(key, moment, questions=questions, tokens=tokens)

    def give_back(self, key: Key, now: float | None = None, *, questions: int = 1, tokens: int = 0) -> None:
        """Take back the count of questions that were never begun, or turned out to be none."""
        if questions or tokens:
            self._spend(key, now, questions=-questions, tokens=-tokens)

    def charge(self, key: Key, tokens: int, now: float | None = None) -> None:
        """Count the tokens of an answer; negative if more were put aside than it needed."""
        if tokens:
            self._spend(key, now, tokens=tokens)

    def spent(self, key: Key, now: float | None = None) -> tuple[int, int]:
        """Questions and tokens of today (UTC)."""
        day = _day(time.time() if now is None else now)
        rows = self.book.rows(
            "SELECT questions, tokens FROM spent WHERE key_id = ? AND day = ?", (key.key_id, day)
        )
        return (int(rows[0][0]), int(rows[0][1])) if rows else (0, 0)

    def _spend(self, key: Key, now: float | None, *, questions: int = 0, tokens: int = 0) -> None:
        if key is OWNER:
            return
        with self.book.writing():
            self._add(key, time.time() if now is None else now, questions=questions, tokens=tokens)

    def _add(self, key: Key, moment: float, *, questions: int = 0, tokens: int = 0) -> None:
        for one in key.counted:
            self.book.rows(
                "INSERT INTO spent VALUES (?, ?, max(?, 0), max(?, 0)) ON CONFLICT DO UPDATE SET"
                " questions = max(questions + ?, 0), tokens = max(tokens + ?, 0)",
                (one.key_id, _day(moment), questions, tokens, questions, tokens),
            )

    def _forget_visitors(self, moment: float) -> None:
        """Delete what visitors spent on earlier days; called once a day."""
        self.book.rows(f"DELETE FROM spent WHERE key_id LIKE '{VISITOR}%' AND day < ?", (_day(moment),))
        self.book.rows(f"DELETE FROM rates WHERE key_id LIKE '{VISITOR}%' AND due < ?", (moment,))

    def _check_budgets(self, key: Key, moment: float, more: int, aside: int) -> None:
        questions, tokens = self.spent(key, moment)
        for limit, used, what in (
            (key.questions, questions + more, "questions"),
            (key.tokens, tokens + max(min(aside, key.tokens), 1), "tokens"),
        ):
            if limit and used > limit:
                whose = "here" if key.key_id.startswith(VISITOR) else "of this key"
                raise OverLimit(
                    f"The daily budget of {what} {whose} is used up; it starts again at 00:00 UTC.",
                    "insufficient_quota",
                    _until_midnight(moment),
                )

    def _check_rate(self, key: Key, moment: float, questions: int) -> None:
        """The generic cell rate algorithm: `due` is when all that was asked would be even with the rate."""
        rows = self.book.rows("SELECT due FROM rates WHERE key_id = ?", (key.key_id,))
        due = float(rows[0][0]) if rows else 0.0
        interval = 60.0 / key.rate
        ahead = interval * (max(key.rate // BURST, 1) - 1)
        if due > moment + ahead + MOST_AHEAD * interval:  # nobody is let in so far ahead: the clock was wrong
            due = moment
        if due - moment > ahead:
            wait = math.ceil(due - moment - ahead)
            who = "Visitors" if key.key_id.startswith(VISITOR) else "This key"
            raise OverLimit(
                f"{who} may ask {key.rate} questions a minute.", "rate_limit_exceeded", max(wait, 1)
            )
        self.book.rows(
            "INSERT INTO rates VALUES (?, ?) ON CONFLICT DO UPDATE SET due = excluded.due",
            (key.key_id, max(due, moment) + questions * interval),
        )


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _read(row: tuple[object, ...]) -> Key:
    key_id, name, scope, rate, questions, tokens, created, revoked, where = row
    limits = (int(str(rate)), int(str(questions)), int(str(tokens)))
    within = as_where(json.loads(str(where))) if where else None
    return Key(str(key_id), str(name), Scope(str(scope)), *limits, str(created), str(revoked), within)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).date().isoformat()


def _until_midnight(moment: float) -> int:
    now = datetime.fromtimestamp(moment, UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return max(math.ceil((midnight - now).total_seconds()), 1)
