"""Filters that choose documents: a small closed language over their metadata.

A filter is an object, JSON, or a short text, and `as_where` takes any of them:

    team = hr and year >= 2020 and not (status in (draft, "on hold") or secret = true)

    {"and": [{"equal": {"team": "hr"}}, {"range": {"year": [2020, null]}},
             {"not": {"or": [{"in": {"status": ["draft", "on hold"]}}, {"equal": {"secret": true}}]}}]}

A document that lacks a name, or has a value of another kind, fulfils no condition on it, and so it fulfils each `not`.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias

from equipoise.core import metadata as meta
from equipoise.core.errors import InputError
from equipoise.core.metadata import Scalar, token

MOST_CONDITIONS, MOST_VALUES, DEEPEST, LONGEST = 100, 500, 16, 20_000
"""Limits of a filter: its conditions, the values of all of them, levels of brackets, and characters of its text."""


@dataclass(frozen=True, slots=True)
class In:
    """The value is one of `values`."""

    name: str
    values: tuple[Scalar, ...]

    def matches(self, metadata: Mapping[str, Scalar]) -> bool:
        """Whether a document with this metadata is meant."""
        return self.name in metadata and token(metadata[self.name]) in {token(value) for value in self.values}


@dataclass(frozen=True, slots=True)
class Range:
    """The value lies within both bounds, inclusive, and is of their kind; one of them may be None, which is open."""

    name: str
    least: Scalar | None
    most: Scalar | None

    @property
    def tokens(self) -> tuple[meta.Token | None, meta.Token | None]:
        """Both bounds as tokens. An open one stays None for numbers; for texts it is the end of their kind's range."""
        least, most = (None if bound is None else token(bound) for bound in (self.least, self.most))
        kind = str(least if least is not None else most)[:2]
        if isinstance(least, str) or isinstance(most, str):
            return kind if least is None else least, f"{kind}\U0010ffff" if most is None else most
        return least, most

    def matches(self, metadata: Mapping[str, Scalar]) -> bool:
        """Whether a document with this metadata is meant."""
        if self.name not in metadata:
            return False
        value, (least, most) = token(metadata[self.name]), self.tokens
        if isinstance(value, str):
            return isinstance(least, str) and isinstance(most, str) and least <= value <= most
        if isinstance(least, str) or isinstance(most, str):
            return False
        return (least is None or least <= value) and (most is None or value <= most)


@dataclass(frozen=True, slots=True)
class And:
    """All of the parts."""

    parts: "tuple[Where, ...]"

    def matches(self, metadata: Mapping[str, Scalar]) -> bool:
        """Whether a document with this metadata is meant."""
        return all(part.matches(metadata) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    """One of the parts, or several."""

    parts: "tuple[Where, ...]"

    def matches(self, metadata: Mapping[str, Scalar]) -> bool:
        """Whether a document with this metadata is meant."""
        return any(part.matches(metadata) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of the part."""

    part: "Where"

    def matches(self, metadata: Mapping[str, Scalar]) -> bool:
        """Whether a document with this metadata is meant."""
        return not self.part.matches(metadata)


Where: TypeAlias = In | Range | And | Or | Not
Given: TypeAlias = Where | str | Mapping[str, object]
"""What may stand for a filter: see the top of this file."""


def as_where(given: Given | None) -> Where | None:
    """The filter that is meant, None for none. Raises InputError that says what is wrong with it."""
    if given is None:
        return None
    if isinstance(given, str):
        made = _Reader(given).whole()
    elif isinstance(given, Mapping):
        made = _of_json(given, 0)
    elif isinstance(given, In | Range | And | Or | Not):
        made = _of_json(to_json(given), 0)
    else:
        raise InputError(
            f"a filter is text, JSON or an object of core.where, not of type {type(given).__name__}"
        )
    conditions = list(_conditions(made))
    values = sum(len(one.values) if isinstance(one, In) else 2 for one in conditions)
    if len(conditions) > MOST_CONDITIONS or values > MOST_VALUES:
        raise InputError(
            f"a filter may have {MOST_CONDITIONS} conditions and {MOST_VALUES} values: write a shorter one"
        )
    return made


def value(text: str) -> Scalar:
    """A value as it stands unquoted in the short text: true or false, a number, a date, else a text. Raises
    InputError."""
    if text in ("true", "false"):
        return text == "true"
    if _NUMBER.fullmatch(text):
        return meta.scalar(float(text) if "." in text else int(text))
    return meta.scalar(text)


def both(one: Where | None, other: Where | None) -> Where | None:
    """The filter for documents that match both; None matches all."""
    return And((one, other)) if one and other else one or other


def in_collection(collection: str) -> Where:
    """The documents of a collection. Raises InputError for a name that cannot be one."""
    return In(meta.COLLECTION, (meta.scalar(collection),))


def to_json(where: Where) -> dict[str, object]:
    """The filter as JSON."""
    match where:
        case In(name, (value,)):
            return {"equal": {name: meta.as_json(value)}}
        case In(name, values):
            return {"in": {name: [meta.as_json(value) for value in values]}}
        case Range(name, least, most):
            bounds = [None if bound is None else meta.as_json(bound) for bound in (least, most)]
            return {"range": {name: bounds}}
        case And(parts):
            return {"and": [to_json(part) for part in parts]}
        case Or(parts):
            return {"or": [to_json(part) for part in parts]}
        case Not(part):
            return {"not": to_json(part)}


def key_of(where: Where | None) -> str:
    """A cache key for a filter; unlike `==`, it tells values of different kinds (1 and true) apart."""
    return "" if where is None else json.dumps(to_json(where), ensure_ascii=False)


def _conditions(where: Where) -> Iterator[In | Range]:
    match where:
        case In() | Range():
            yield where
        case Not(part):
            yield from _conditions(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _conditions(part)


def _of_json(given: object, depth: int) -> Where:
    if not isinstance(given, Mapping) or len(given) != 1 or depth > DEEPEST:
        raise InputError(
            'a filter in JSON has one of "equal", "in", "range", "and", "or", "not", at most 16 deep'
        )
    ((word, inner),) = given.items()
    if word in ("and", "or") and _is_list(inner) and inner:
        parts = tuple(_of_json(part, depth + 1) for part in inner)
        return And(parts) if word == "and" else Or(parts)
    if word == "not":
        return Not(_of_json(inner, depth + 1))
    if word in ("equal", "in", "range") and isinstance(inner, Mapping) and len(inner) == 1:
        ((name, value),) = inner.items()
        if word == "equal":
            return In(meta.name(name), (meta.scalar(value),))
        if word == "in" and _is_list(value) and value:
            return In(meta.name(name), tuple(map(meta.scalar, value)))
        if word == "range" and _is_list(value) and len(value) == 2:
            return _range(name, *value)
    raise InputError(
        f"the filter {str(word)[:40]!r} is not understood: write "
        '{"equal": {"team": "hr"}}, {"in": {"team": ["hr", "it"]}}, {"range": {"year": [2020, null]}}, {"and": [...]}, '
        '{"or": [...]} or {"not": {...}}'
    )


def _is_list(given: object) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str)


def _range(name: object, least: object, most: object) -> Range:
    made = Range(
        meta.name(name),
        None if least is None else meta.scalar(least),
        None if most is None else meta.scalar(most),
    )
    bounds = [bound for bound in (made.least, made.most) if bound is not None]
    if odd := next((bound for bound in bounds if isinstance(bound, str) and _DAY.fullmatch(bound)), None):
        raise InputError(f"{odd!r} {_NO_DAY}")
    kinds = set(map(_kind, bounds))
    if len(kinds) != 1 or bool in kinds:
        raise InputError(
            f"the range of {made.name!r} needs one or two bounds of one kind: numbers, dates or texts"
        )
    return made


def _kind(value: Scalar) -> type:
    return float if type(value) is int else type(value)


_TOKEN = re.compile(
    r"""\s*+(?:(?P<sign>>=|<=|!=|[=(),])|"(?P<quoted>(?:[^"\\]|\\.)*+)"|(?P<word>[^\s=<>!(),"]++))"""
)
_NUMBER = re.compile(r"-?[0-9]{1,16}(?:\.[0-9]{1,16})?")
_NUMERIC = re.compile(r"[-+]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?")
"""What looks like a number, also where it is none for the short text."""
_DAY = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}")
"""What looks like a date: a text of this form is a day that does not exist, or has too few digits."""
_NO_DAY = "in the filter is no date: write a day of the calendar, such as 2024-05-01"
_HOW = "write for example  team = hr and year >= 2020 and not status in (draft, old)"


class _Reader:
    """Reads the short text: "or" binds weakest, then "and", then "not"."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise InputError(f"a filter has at most {LONGEST:,} characters")
        self._tokens: list[tuple[str, str]] = []
        place, text = 0, text.rstrip()
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None:
                raise InputError(f"the filter cannot be read from {text[place : place + 20]!r} on: {_HOW}")
            kind = str(found.lastgroup)
            self._tokens.append((kind, found[kind]))
            place = found.end()
        self._at = 0

    def whole(self) -> Where:
        """The filter of the whole text."""
        made = self._or(0)
        if self._at < len(self._tokens):
            self._fail()
        return made

    def _or(self, depth: int) -> Where:
        return self._several("or", Or, lambda: self._several("and", And, lambda: self._not(depth)))

    def _several(
        self, word: str, kind: "Callable[[tuple[Where, ...]], Where]", read: "Callable[[], Where]"
    ) -> Where:
        parts = [read()]
        while self._took("word", word):
            parts.append(read())
        return kind(tuple(parts)) if len(parts) > 1 else parts[0]

    def _not(self, depth: int) -> Where:
        if depth > DEEPEST:
            raise InputError(f"a filter has at most {DEEPEST} levels of brackets and nots")
        if self._took("word", "not"):
            return Not(self._not(depth + 1))
        if self._took("sign", "("):
            made = self._or(depth + 1)
            self._need(")")
            return made
        return self._condition()

    def _condition(self) -> Where:
        name = meta.name(self._next("word"))
        if self._took("sign", "="):
            return In(name, (self._value(),))
        if self._took("sign", "!="):
            return Not(In(name, (self._value(),)))
        if self._took("sign", ">="):
            return _range(name, self._bound(), None)
        if self._took("sign", "<="):
            return _range(name, None, self._bound())
        if not self._took("word", "in"):
            self._fail()
        self._need("(")
        values = [self._value()]
        while self._took("sign", ","):
            values.append(self._value())
        self._need(")")
        return In(name, tuple(values))

    def _value(self, or_text: str = ", or put quotes around it if it is a text") -> Scalar:
        kind, text = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        self._at += 1
        if kind == "quoted":
            return meta.scalar(re.sub(r"\\(.)", r"\1", text))
        if kind != "word":
            self._at -= 1
            self._fail()
        if isinstance(made := value(text), str) and _DAY.fullmatch(made):
            raise InputError(f"{text!r} {_NO_DAY}{or_text}")
        return made

    def _bound(self) -> Scalar:
        """The value of a range. One that looks like a number and is none would match nothing."""
        made = self._value(or_text="")
        kind, text = self._tokens[self._at - 1]
        if kind == "word" and isinstance(made, str) and _NUMERIC.fullmatch(text):
            raise InputError(
                f"{text[:40]!r} in the filter is no number: write one below 2**53 in digits, such as 2020 or -1.5"
            )
        return made

    def _next(self, kind: str) -> str:
        if self._at >= len(self._tokens) or self._tokens[self._at][0] != kind:
            self._fail()
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _took(self, kind: str, text: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at] == (kind, text):
            self._at += 1
            return True
        return False

    def _need(self, sign: str) -> None:
        if not self._took("sign", sign):
            self._fail()

    def _fail(self) -> None:
        if words := self._value_with_blanks():
            raise InputError(f'the filter needs quotes around a value with blanks: write "{words[:60]}"')
        at = " ".join(text for _, text in self._tokens[self._at : self._at + 3]) or "its end"
        raise InputError(f"the filter is not understood at {at[:40]!r}: {_HOW}")

    def _value_with_blanks(self) -> str:
        """The words from the value before this place on, if that is where a value goes on without quotes."""
        before = " ".join(text for _, text in self._tokens[max(self._at - 3, 0) : self._at - 1])
        if not before.endswith(("=", ",", "in (")) or self._tokens[self._at - 1][0] != "word":
            return ""
        rest = self._tokens[self._at :]
        more = list(takewhile(lambda one: one[0] == "word" and one[1] not in ("and", "or"), rest))
        ends = len(more) == len(rest) or rest[len(more)][1] in ("and", "or", ")", ",")
        return " ".join(text for _, text in [self._tokens[self._at - 1], *more]) if more and ends else ""
