"""The questions of `questions/SET.jsonl`, read strictly."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sets import HERE

from equipoise.core.errors import InputError
from equipoise_lab.evaluation.jsonl import json_object, lines

ANSWERED = ("plain", "vague", "misspelt", "one_word", "follow_up", "several_documents")
UNANSWERED = ("none", "near_miss")
_FIELDS = frozenset(
    {"id", "set", "question", "kind", "answerable", "gold", "files", "before", "absent", "vague"}
)
_NESTED = re.compile(r"[*+}]\)*[*+{]|\([^()]*[*+][^()]*\)[*+{]")
"""A repeated repeat, which may make a search take for ever."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question on one set. `gold` are patterns: a passage that one of them matches answers it.

    For kind `several_documents` each pattern is one part of the answer. `before` are the earlier questions of a
    follow-up. `absent` are patterns that nothing in the set may match, for questions without an answer. `vague` are
    those of that kind, and others that name little of what they ask for.
    """

    id: str
    set: str
    question: str
    kind: str
    answerable: bool
    gold: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    vague: bool = False

    def matches(self, text: str) -> int:
        """How many of the gold patterns match somewhere in `text`."""
        return sum(pattern(one).search(text) is not None for one in self.gold)


def pattern(source: str) -> re.Pattern[str]:
    """The compiled pattern: case is ignored, a space stands for any white space, also none (PDF loses it)."""
    return re.compile(source.replace(" ", r"\s*"), re.IGNORECASE)


def load(name: str, folder: Path = HERE / "questions") -> tuple[Question, ...]:
    """The questions of a set. Raises InputError with file and line for a row that is not one."""
    return tuple(
        _question(json_object(text, where), name, where) for text, where in lines(folder / f"{name}.jsonl")
    )


def _question(row: dict, name: str, where: str) -> Question:
    if fault := _fault(row, name):
        raise InputError(f"{where}: {fault}: fix the row")
    fields = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return Question(**{"vague": row["kind"] == "vague"} | fields)


def _fault(row: dict, name: str) -> str:
    """What is wrong with a row, empty if nothing is."""
    unknown, missing = set(row) - _FIELDS, {"id", "set", "question", "kind", "answerable"} - set(row)
    if unknown or missing:
        return f"unknown {sorted(unknown)}, missing {sorted(missing)} fields"
    if row["set"] != name:
        return f"the set is {row['set']!r}, not the file's"
    if row["kind"] not in ANSWERED + UNANSWERED or (row["kind"] in ANSWERED) != row["answerable"]:
        return f"kind {row['kind']!r} does not go with answerable {row['answerable']}"
    has_gold = bool(row.get("gold")), bool(row.get("files"))
    if has_gold != (row["answerable"], row["answerable"]):
        return "gold patterns and files belong to a question with an answer, and to no other"
    if (row["kind"] == "follow_up") != bool(row.get("before")):
        return "a follow-up, and only that, has questions before it"
    vague = "" if row.get("vague", True) is True else "vague is true or left out"
    return vague or _bad_pattern([*row.get("gold", ()), *row.get("absent", ())])


def _bad_pattern(sources: Iterable[str]) -> str:
    for source in sources:
        try:
            pattern(source)
        except re.error as error:
            return f"the pattern {source!r} is not a regular expression ({error})"
        if _NESTED.search(source):
            return f"the pattern {source!r} repeats a repeat"
    return ""
