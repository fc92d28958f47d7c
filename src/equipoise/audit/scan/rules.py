"""The rules of a scan: data, in `rules.toml` beside this file and in files of the user's own.

A rule has `phrases` (patterns of words, `patterns.py`), `literals` (texts as they stand, whatever their case), `calls`
(names of tools that are called), or is one that a detector in code finds (`detector`, in the shipped file only).
A user's file may add rules, and for a rule of ours say another `severity` or `off = true`.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from equipoise.audit.scan.findings import Severity
from equipoise.audit.scan.patterns import Matcher, compiled
from equipoise.core.errors import InputError

LARGEST_FILE = 1_000_000
MOST_RULES = 1_000
SHORTEST_LITERAL = 3
_ID = r"^[a-z][a-z0-9-]{0,40}/[a-z][a-z0-9-]{0,40}$"

Text = Annotated[str, Field(min_length=1, max_length=400)]
Texts = Annotated[tuple[Text, ...], Field(max_length=500)]


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(pattern=_ID)]
    severity: Severity | None = None
    why: Text | None = None
    phrases: Texts = ()
    literals: Annotated[
        tuple[Annotated[str, Field(min_length=SHORTEST_LITERAL)], ...], Field(max_length=500)
    ] = ()
    calls: Texts = ()
    detector: str | None = None
    off: bool = False

    @property
    def finds(self) -> bool:
        """Whether it says itself what to look for."""
        return bool(self.phrases or self.literals or self.calls)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    words: dict[str, tuple[Text, ...]] = {}
    rule: Annotated[tuple[_Row, ...], Field(max_length=MOST_RULES)] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its id (`group/name`), how bad it is, and in words why."""

    rule_id: str
    severity: Severity
    why: str
    phrases: tuple[str, ...] = ()
    literals: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules that are in force by id, and what is compiled from their data."""

    by_id: Mapping[str, Rule]
    phrases: Matcher = field(default_factory=Matcher)
    literals: Sequence[tuple[str, str]] = ()
    """(rule, text in lower case)."""
    calls: Mapping[str, str] = field(default_factory=dict)
    """Rule by the name of the tool in lower case."""

    def __contains__(self, rule_id: str) -> bool:
        return rule_id in self.by_id


def load(own: Path | None = None) -> Rules:
    """The shipped rules and those of the file `own`. Raises InputError for a rule that cannot be used."""
    shipped = files(__package__).joinpath("rules.toml").read_bytes()
    parsed = [(_read(shipped, "rules.toml"), "rules.toml")]
    if own is not None:
        parsed.append((_read(_bytes(own), str(own)), str(own)))
    lists: dict[str, tuple[str, ...]] = {}
    rules: dict[str, Rule] = {}
    for file, name in parsed:
        lists |= file.words
        for row in file.rule:
            _take(row, rules, name, is_shipped=name == "rules.toml" and own != Path(name))
    return _compiled(rules, lists, str(own) if own else "rules.toml")


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): check the path") from error
    if len(data) > LARGEST_FILE:
        raise InputError(f"{path} is larger than {LARGEST_FILE:,} bytes: split the rules")
    return data


def _read(data: bytes, name: str) -> _File:
    try:
        return _File.model_validate(tomllib.loads(data.decode("utf-8")))
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 text: save it as UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{name} is not TOML ({error}): correct it there") from error
    except ValidationError as error:
        raise InputError(f"{name}: {_first(error)}") from error


def _first(error: ValidationError) -> str:
    """The first thing that is wrong, and where: `rule 2: severity: ...`."""
    fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = [f"{part + 1}" if isinstance(part, int) else str(part) for part in fault["loc"]]
    place = " ".join(where[:2]) + "".join(f": {part}" for part in where[2:])
    return f"{place}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"


def _take(row: _Row, rules: dict[str, Rule], name: str, *, is_shipped: bool) -> None:
    known = rules.get(row.id)
    if row.detector and not is_shipped:
        raise InputError(
            f"{name}: rule {row.id}: `detector` is for rules in code: give phrases, literals or calls"
        )
    if known is None and not (row.finds or row.detector):
        raise InputError(
            f"{name}: rule {row.id} is none of ours and has no phrases, literals or calls: correct its id or add some"
        )
    if row.off:
        rules.pop(row.id, None)
        return
    severity = row.severity or (known.severity if known else None)
    why = row.why or (known.why if known else None)
    if severity is None or why is None:
        raise InputError(f"{name}: rule {row.id} needs a `severity` and, in words, a `why`")
    rules[row.id] = Rule(
        row.id,
        severity,
        why,
        (known.phrases if known else ()) + row.phrases,
        (known.literals if known else ()) + row.literals,
        (known.calls if known else ()) + row.calls,
    )


def _compiled(rules: Mapping[str, Rule], lists: Mapping[str, Sequence[str]], name: str) -> Rules:
    patterns = []
    for rule in rules.values():
        for phrase in rule.phrases:
            try:
                patterns.append((rule.rule_id, compiled(phrase, lists)))
            except InputError as error:
                raise InputError(f"{name}: rule {rule.rule_id}: {error}") from error
    literals = [(rule.rule_id, text.lower()) for rule in rules.values() for text in rule.literals]
    calls = {call.lower(): rule.rule_id for rule in rules.values() for call in rule.calls}
    return Rules(dict(rules), Matcher.of(patterns), literals, calls)


def only(rules: Rules, groups: Iterable[str]) -> Rules:
    """The rules of these groups (what stands before the `/` of an id)."""
    chosen = set(groups)
    kept = {name: rule for name, rule in rules.by_id.items() if name.partition("/")[0] in chosen}
    by_word = {
        word: tuple(pair for pair in pairs if pair[0] in kept)
        for word, pairs in rules.phrases.by_word.items()
    }
    return replace(
        rules,
        by_id=kept,
        phrases=Matcher(by_word),
        literals=[pair for pair in rules.literals if pair[0] in kept],
        calls={call: rule for call, rule in rules.calls.items() if rule in kept},
    )
