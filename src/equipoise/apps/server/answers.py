"""Past answers, for the operator: how each question ended, its spans, and how whoever asked rated it.

A question is stored as a keyed hash, with its text only under `serve.trace`. Nothing that answers reads this.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from equipoise.apps.server.book import Book
from equipoise.apps.server.keys import VISITOR, Key

MOST = 100_000
"""Answers that are kept; the oldest go."""
COMMENTS = 5
"""The newest ones of a question that are shown."""
LONGEST_COMMENT = 1_000
_SINCE = "SELECT * FROM answers WHERE at >= ?"
_COUNTED = (
    "SELECT question_hash, question, reason, spans, at, max(number) AS number, count(*) AS asked,"
    " sum(reason != '') AS refused, sum(rating > 0) AS up, sum(rating < 0) AS down"
    f" FROM ({_SINCE}) GROUP BY question_hash"
)
"""SQLite takes bare columns beside one max() from the row with the maximum: here the newest answer."""


class View(StrEnum):
    """Which questions: those whose last answer was none, those rated down, or those asked most."""

    UNANSWERED = "unanswered"
    WORST = "worst"
    ASKED = "asked"


_CHOSEN = {
    View.UNANSWERED: "WHERE reason != '' ORDER BY refused DESC, number DESC",
    View.WORST: "WHERE down > 0 ORDER BY down DESC, up, number DESC",
    View.ASKED: "ORDER BY asked DESC, number DESC",
}


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question, however often it was asked. `question` is null where no text is kept (`serve.trace`); `reason` and
    `spans` are those of its newest answer, `reason` empty where that is one; `refused`, `up` and `down` count its
    answers."""

    question_hash: str
    question: str | None
    asked: int
    refused: int
    up: int
    down: int
    last: str
    reason: str
    spans: list[tuple[str, int, int]]
    comments: list[str]


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers in a book."""

    book: Book

    def add(
        self,
        answer_id: str,
        key: Key,
        question: dict[str, str],
        reason: str,
        spans: Sequence[Any],
        tokens: int,
    ) -> None:
        """Keep one; `question` as the audit log has it, `reason` empty where there is an answer."""
        key_id = key.counted[-1].key_id  # all visitors have one id here
        with self.book.writing():
            [(number,)] = self.book.rows(
                "INSERT INTO answers (answer_id, key_id, at, question_hash, question, reason, spans, tokens)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
                (
                    answer_id,
                    key_id,
                    _at(0),
                    question["question_hash"],
                    question.get("question", "").encode("utf-8", "replace").decode(),
                    reason,
                    json.dumps(spans),
                    tokens,
                ),
            )
            self.book.rows("DELETE FROM answers WHERE number <= ?", (number - MOST,))

    def rate(self, answer_id: str, key: Key, rating: int, comment: str) -> bool:
        """Keep a rating by `key`; False if this key has no such answer."""
        rated = self.book.rows(
            "UPDATE answers SET rating = ?, comment = ? WHERE answer_id = ? AND key_id = ? RETURNING number",
            (rating, comment.encode("utf-8", "replace").decode(), answer_id, key.counted[-1].key_id),
        )
        return bool(rated)

    def questions(self, view: View, days: int, most: int) -> list[AskedQuestion]:
        """The questions of the last `days`, as `view` has them in order."""
        ask = (
            "SELECT question_hash, nullif(question, ''), asked, refused, up, down, at, reason, spans"
            f" FROM ({_COUNTED}) {_CHOSEN[view]} LIMIT ?"
        )
        rows = self.book.rows(ask, (_at(days), most))
        names = [each.name for each in fields(AskedQuestion)]
        return [
            AskedQuestion(
                **dict(zip(names, row, strict=False))
                | {"spans": json.loads(row[-1]), "comments": self._comments(row[0], days)}
            )
            for row in rows
        ]

    def spent(self, days: int) -> list[tuple[str, str, int, int]]:
        """(day, key, questions, tokens) of the last `days`, the newest first; visitors are one key."""
        return self.book.rows(
            "SELECT day, key_id, questions, tokens FROM spent WHERE day >= ?"
            f" AND (key_id NOT LIKE '{VISITOR}%' OR key_id = '{VISITOR}all') ORDER BY day DESC, key_id",
            (_at(days)[:10],),
        )

    def _comments(self, question_hash: str, days: int) -> list[str]:
        rows = self.book.rows(
            f"SELECT comment FROM ({_SINCE}) WHERE question_hash = ? AND comment != '' ORDER BY number DESC LIMIT ?",
            (_at(days), question_hash, COMMENTS),
        )
        return [str(comment) for (comment,) in rows]


def _at(days: int) -> str:
    """The moment so many days ago, in the form that is kept."""
    return (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
