"""Attack passages, and the JSON Lines file they are kept in.

One object a line: `_id`, `query_id`, `question`, `kind` (`synthetic`, `adv_pos`, `adv_neg`), `n` (from 1 within
its kind), `stance` (-2..2 towards "yes" to the question, null where unknown), `claim_polarity` (1 or -1), `text`;
where measured also `ss`, `ps`, `property_1` and `property_2`. Other fields are kept as they are.

These passages exist to measure defences, on your own corpora.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from equipoise.core.errors import InputError, UnreadableFile

VARIANT = "variant"
"""The extra field that names how a passage was made from another one."""

_MEASURES = ("ss", "ps", "property_1", "property_2")
_SURROGATE = re.compile("[\ud800-\udfff]")
_KNOWN = {"_id", "query_id", "question", "kind", "n", "stance", "claim_polarity", "text", *_MEASURES}


class Kind(StrEnum):
    """What a passage is for: an anchor of the axis, or an attack towards one of its ends."""

    SYNTHETIC = "synthetic"
    ADV_POS = "adv_pos"
    ADV_NEG = "adv_neg"


@dataclass(frozen=True, slots=True)
class Measures:
    """SS and PS of a passage; properties 1 and 2 (section 3), None where there was nothing to compare with."""

    ss: float
    ps: float
    property_1: bool | None = None
    property_2: bool | None = None


@dataclass(frozen=True, slots=True)
class AttackPassage:
    """One passage of an attack. `extra` holds every further field of its line."""

    passage_id: str
    query_id: str
    question: str
    kind: Kind
    n: int
    text: str
    stance: int | None = None
    claim_polarity: int = 1
    measures: Measures | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def variant(self) -> str:
        """How it was made from another passage; empty for an original."""
        return str(self.extra.get(VARIANT, ""))


class _Bad(ValueError):
    """What is wrong with a line, as the end of a sentence."""


def to_line(passage: AttackPassage) -> str:
    """The passage as one JSON object with a line end."""
    row: dict[str, Any] = {
        "_id": passage.passage_id,
        "query_id": passage.query_id,
        "question": passage.question,
        "kind": passage.kind.value,
        "n": passage.n,
        "stance": passage.stance,
        "claim_polarity": passage.claim_polarity,
        "text": passage.text,
    }
    if passage.measures:
        row |= {name: getattr(passage.measures, name) for name in _MEASURES}
    return json.dumps(row | dict(passage.extra), ensure_ascii=False) + "\n"


def read_passages(path: Path) -> tuple[AttackPassage, ...]:
    """Every passage of the file, in its order; blank lines are skipped.

    Raises UnreadableFile that names the file, the line and what is wrong with it: not JSON, a field missing or
    of the wrong type, an `_id` used twice, two passages with one place, one `query_id` with two questions.
    """
    passages: list[AttackPassage] = []
    seen: dict[object, int] = {}
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            passage = _parsed(line)
            _check_new(passage, passages, seen)
        except _Bad as error:
            raise UnreadableFile(str(path), f"line {number} {error}; correct or remove it") from None
        seen[passage.passage_id] = seen[_place(passage)] = number
        passages.append(passage)
    return tuple(passages)


@dataclass(frozen=True, slots=True)
class Journal:
    """The file an attack writes its passages to as they are made; an interrupted attack resumes from it. One writer at
    a time."""

    path: Path

    def recover(self) -> tuple[AttackPassage, ...]:
        """The passages written so far, none for a new file. Half a last line, left by a kill, is cut off.

        Raises UnreadableFile for any other broken line, InputError where the file cannot be written.
        """
        if not self.path.exists():
            return ()
        text = _text(self.path)
        whole, _, rest = text.rpartition("\n")
        if rest.strip():
            self._replace(text + "\n" if _is_whole(rest) else whole + "\n" * bool(whole))
        return read_passages(self.path)

    def append(self, passages: Iterable[AttackPassage]) -> None:
        """Write the passages at the end; they are with the operating system when this returns."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8", newline="\n") as file:
                file.write("".join(to_line(passage) for passage in passages))
        except OSError as error:
            raise _cannot_write(self.path, error) from error

    def settle(self, passages: Sequence[AttackPassage]) -> None:
        """Put `passages` in the place of those in the file with their ids, in one step; others stay."""
        newer = {passage.passage_id: passage for passage in passages}
        old = self.recover()
        new = tuple(newer.get(passage.passage_id, passage) for passage in old)
        if new != old:
            self._replace("".join(to_line(passage) for passage in new))

    def _replace(self, text: str) -> None:
        beside = self.path.with_name(self.path.name + ".new")
        try:
            beside.write_text(text, "utf-8", newline="\n")
            os.replace(beside, self.path)  # noqa: PTH105 - named for what it promises: one step
        except OSError as error:
            raise _cannot_write(self.path, error) from error


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableFile(str(path), f"the file cannot be read ({reason}); check the path") from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(str(path), "this is not UTF-8 text; give a JSON Lines file") from error


def _cannot_write(path: Path, error: OSError) -> InputError:
    reason = error.strerror or type(error).__name__
    return InputError(f"{path} cannot be written ({reason}): choose another file with --out")


def _is_whole(line: str) -> bool:
    try:
        _parsed(line)
    except _Bad:
        return False
    return True


def _check_new(passage: AttackPassage, earlier: list[AttackPassage], seen: Mapping[object, int]) -> None:
    if passage.passage_id in seen:
        raise _Bad(f"has the _id {passage.passage_id!r} of line {seen[passage.passage_id]}")
    if _place(passage) in seen:
        raise _Bad(
            f"is {passage.kind} number {passage.n} of {passage.query_id!r}, as line {seen[_place(passage)]}"
        )
    same = next((other for other in reversed(earlier) if other.query_id == passage.query_id), passage)
    if same.question != passage.question:
        raise _Bad(f"gives query_id {passage.query_id!r} another question than a line before")


def _place(passage: AttackPassage) -> tuple[str, ...]:
    return passage.query_id, passage.kind.value, str(passage.n), passage.variant


def _parsed(line: str) -> AttackPassage:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _Bad(f"is not valid JSON ({error})") from None
    if not isinstance(row, dict):
        raise _Bad(f"holds a {type(row).__name__}, not a JSON object")
    words = {name: _words(row, name) for name in ("_id", "query_id", "question", "kind", "text")}
    if words["kind"] not in set(Kind):
        raise _Bad(f"has the kind {words['kind']!r}, which is none of {', '.join(Kind)}")
    return AttackPassage(
        passage_id=words["_id"],
        query_id=words["query_id"],
        question=words["question"],
        kind=Kind(words["kind"]),
        n=_integer(row, "n", range(1, 1_000_000)),
        text=words["text"],
        stance=None if row.get("stance") is None else _integer(row, "stance", range(-2, 3)),
        claim_polarity=_integer({"claim_polarity": 1} | row, "claim_polarity", range(-1, 2, 2)),
        measures=_measures(row),
        extra={name: value for name, value in row.items() if name not in _KNOWN},
    )


def _words(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise _Bad(f"has no text in {name!r}")
    if _SURROGATE.search(value):
        raise _Bad(f"has half a surrogate pair in {name!r}")
    return value


def _integer(row: Mapping[str, Any], name: str, allowed: range) -> int:
    value = row.get(name)
    if type(value) is not int or value not in allowed:
        bounds = f"{allowed[0]} or {allowed[-1]}" if len(allowed) == 2 else f"{allowed[0]} to {allowed[-1]}"
        raise _Bad(f"has {value!r} in {name!r}, which must be an integer, {bounds}")
    return value


def _measures(row: Mapping[str, Any]) -> Measures | None:
    if all(row.get(name) is None for name in _MEASURES):
        return None
    return Measures(
        _cosine(row, "ss"), _cosine(row, "ps"), _verdict(row, "property_1"), _verdict(row, "property_2")
    )


def _cosine(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1.001 <= value <= 1.001:
        raise _Bad(f"has {value!r} in {name!r}, which must be a number, -1 to 1")
    return float(value)


def _verdict(row: Mapping[str, Any], name: str) -> bool | None:
    value = row.get(name)
    if value is not None and type(value) is not bool:
        raise _Bad(f"has {value!r} in {name!r}, which must be true, false or null")
    return value
