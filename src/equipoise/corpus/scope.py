"""Which documents a search is over, as a condition in SQL: those of one trust, or those of them that a filter matches.

Every statement of a partition has the condition, so what is counted, scored, corrected or remembered within a filter is
what a store gives that holds these documents alone.

A store has a partition for each `Trust`, told apart by numbers: each numbers its documents and passages by itself, from
`first` on, so a number tells its partition, and what is in one partition never changes the numbers of another.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from equipoise.core.metadata import Token, token
from equipoise.core.types import Document, Trust
from equipoise.core.where import And, In, Not, Or, Range, Where, key_of

SIZE = 1 << 40
"""How many numbers each partition has; it holds fewer documents, and fewer passages."""
_FIRST = {Trust.TRUSTED: 1, Trust.UNTRUSTED: SIZE + 1, Trust.HELD: 2 * SIZE + 1}


def first(trust: Trust) -> int:
    """The lowest number of a document or passage in the partition."""
    return _FIRST[trust]


def bounds(trust: Trust) -> tuple[int, int]:
    """The lowest and the highest number of the partition, for SQL's BETWEEN."""
    return first(trust), first(trust) + SIZE - 1


def trust_of(number: int) -> Trust:
    """The partition that a number of a document or passage belongs to."""
    return next(trust for trust in reversed(Trust) if number >= _FIRST[trust] or trust is Trust.TRUSTED)


class Sql(NamedTuple):
    """A condition, and the values of its placeholders, in order."""

    text: str
    values: tuple[object, ...]


class SqlDialect(NamedTuple):
    """The SQL of a kind of database: its placeholder (`place`), a metadata value as `text` or as `number` (null for
    another kind; both take the name twice, written as `path`), and that a column is `among` the rows of a query."""

    place: str
    text: str
    number: str
    path: str
    among: str


SQLITE = SqlDialect(
    "?",
    "CASE json_type(metadata, ?) WHEN 'text' THEN json_extract(metadata, ?) END",
    "CASE WHEN json_type(metadata, ?) IN ('integer', 'real') THEN json_extract(metadata, ?) END",
    '$."{}"',
    "{} IN ({})",
)
POSTGRES = SqlDialect(
    "%s",
    "CASE jsonb_typeof(metadata::jsonb -> %s::text) WHEN 'string' THEN metadata::jsonb ->> %s::text END COLLATE \"C\"",
    "CASE jsonb_typeof(metadata::jsonb -> %s::text) WHEN 'number' THEN (metadata::jsonb ->> %s::text)::float8 END",
    "{}",
    "{} = ANY(ARRAY({}))",  # one by one from the index; IN joins the whole partition, in twice the time
)


@dataclass(frozen=True, slots=True)
class DocumentScope:
    """The documents of `trust` that `where` matches; None: all of them."""

    trust: Trust
    where: Where | None = None

    @property
    def name(self) -> str:
        """A cache key, equal only for equal scopes."""
        return f"{self.trust} {key_of(self.where)}"

    def has(self, document: Document) -> bool:
        """Whether the document is in the scope."""
        return document.trust is self.trust and (self.where is None or self.where.matches(document.metadata))

    def documents(self, column: str, dialect: SqlDialect) -> Sql:
        """The condition that `column` is the number of a document in the scope."""
        if self.where is None:
            return self._numbered(column, dialect)
        return self._found(column, dialect, "number FROM documents", meant_by(self.where, dialect))

    def passages(self, column: str, dialect: SqlDialect) -> Sql:
        """The condition that `column` is the id of a passage of a document in the scope."""
        if self.where is None:
            return self._numbered(column, dialect)
        return self._found(column, dialect, "passage_id FROM passages", self.documents("document", dialect))

    def _numbered(self, column: str, dialect: SqlDialect) -> Sql:
        """The condition that `column` is a number of the partition."""
        return Sql(f"{column} BETWEEN {dialect.place} AND {dialect.place}", bounds(self.trust))

    def _found(self, column: str, dialect: SqlDialect, what: str, meant: Sql) -> Sql:
        """The condition that `column` is a number of the partition and among `what` of rows that `meant` selects."""
        numbered = self._numbered(column, dialect)
        among = dialect.among.format(column, f"SELECT {what} WHERE {meant.text}")
        return Sql(f"{numbered.text} AND {among}", (*numbered.values, *meant.values))


def meant_by(where: Where, dialect: SqlDialect) -> Sql:
    """The condition that `where` matches a row of `documents`; it is never null."""
    match where:
        case In(name, values):
            return _any_of(name, [token(value) for value in values], dialect)
        case Range():
            least, most = where.tokens
            return _between(where.name, least, most, dialect)
        case Not(part):
            inner = meant_by(part, dialect)
            return Sql(f"NOT ({inner.text})", inner.values)
        case And(parts):
            return _joined(" AND ", parts, dialect)
        case Or(parts):
            return _joined(" OR ", parts, dialect)


def _joined(word: str, parts: Sequence[Where], dialect: SqlDialect) -> Sql:
    inner = [meant_by(part, dialect) for part in parts]
    return Sql(
        f"({word.join(one.text for one in inner)})", tuple(value for one in inner for value in one.values)
    )


def _any_of(name: str, tokens: Sequence[Token], dialect: SqlDialect) -> Sql:
    if dialect is POSTGRES:  # containment, which the index of the column answers
        places = " OR ".join(["metadata::jsonb @> %s::jsonb"] * len(tokens))
        return Sql(f"({places})", tuple(json.dumps({name: one}) for one in tokens))
    parts = [
        _compared(name, dialect, side, f"IN ({', '.join([dialect.place] * len(some))})", some)
        for side, some in (
            (dialect.text, [one for one in tokens if isinstance(one, str)]),
            (dialect.number, [one for one in tokens if not isinstance(one, str)]),
        )
        if some
    ]
    return Sql(
        f"({' OR '.join(part.text for part in parts)})", tuple(v for part in parts for v in part.values)
    )


def _between(name: str, least: Token | None, most: Token | None, dialect: SqlDialect) -> Sql:
    side = dialect.text if isinstance(least, str) else dialect.number
    parts = [
        _compared(name, dialect, side, f"{sign} {dialect.place}", [bound])
        for sign, bound in ((">=", least), ("<=", most))
        if bound is not None
    ]
    return Sql(
        f"({' AND '.join(part.text for part in parts)})", tuple(v for part in parts for v in part.values)
    )


def _compared(name: str, dialect: SqlDialect, side: str, how: str, values: Sequence[Token]) -> Sql:
    path = dialect.path.format(name)
    return Sql(f"((({side}) {how}) IS TRUE)", (path, path, *values))
