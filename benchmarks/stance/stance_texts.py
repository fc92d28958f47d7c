"""Texts with the side that they take: three collections, whole subjects kept apart for training, choosing, reporting.

A subject is a claim or question with all claims that are nearly the same, over all collections (`subjects`); every
subject lies in one part, so nothing that is reported was trained on in other words.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import numpy as np

from equipoise.core.protocols import Encoder
from equipoise_lab.bench import scripts

Part = Literal["train", "choose", "report"]
SOURCES = ("argkp", "debate", "ebi")
SAME = 0.6
"""Cosine of two claims from which they are one subject."""
PARTS: tuple[Part, ...] = (
    "report",
    "train",
    "train",
    "report",
    "train",
    "choose",
    "report",
    "train",
    "train",
)
"""Parts of subjects, round and round, in the order of their hashes: a third to report, a ninth to choose by."""


@dataclass(frozen=True, slots=True)
class SidedText:
    """One text about one question: `side` from -1 (argues for no) to 1 (for yes); `forms` are other wordings of the
    question with what they do to the side (1 or -1), the question itself first."""

    source: str
    topic: str
    id: str
    text: str
    side: float
    forms: tuple[tuple[str, int], ...]

    @property
    def question(self) -> str:
        """The question as the collection puts it."""
        return self.forms[0][0]


def read(data: Path) -> list[SidedText]:
    """All texts of the three collections that take a side."""
    debate = {row["_id"]: row["text"] for row in scripts.read(data / "debate_passages" / "queries.jsonl")}
    return [
        *_beir(data / "argkp_stance", "argkp"),
        *_beir(data / "debate_passages", "debate"),
        *_ebi(data / "ebi_passages", debate),
    ]


def split(told: Sequence[SidedText], encoder: Encoder) -> dict[str, Part]:
    """The part of every topic: subjects with texts of all three collections are dealt out first, so that each part
    has some of each."""
    by_topic = {one.topic: one for one in told}
    sources = {topic: {one.source for one in told if one.topic == topic} for topic in by_topic}
    asked = {topic: one.question for topic, one in by_topic.items()}
    groups = subjects(asked, encoder)
    kinds: dict[tuple[bool, bool], list[list[str]]] = {}
    for group in groups:
        held = set().union(*(sources[topic] for topic in group))
        kinds.setdefault(("ebi" in held, "argkp" in held), []).append(group)
    parts: dict[str, Part] = {}
    for kind in sorted(kinds, reverse=True):
        for number, group in enumerate(sorted(kinds[kind], key=_hashed)):
            parts |= dict.fromkeys(group, PARTS[number % len(PARTS)])
    return parts


def subjects(asked: Mapping[str, str], encoder: Encoder) -> list[list[str]]:
    """Topics joined where their questions are nearly the same, each group sorted."""
    topics = sorted(asked)
    vectors = encoder.encode([_bare(asked[topic]) for topic in topics])
    near = vectors @ vectors.T >= SAME
    group = list(range(len(topics)))
    for one, other in np.argwhere(np.triu(near, 1)).tolist():
        kept, gone = sorted((group[one], group[other]))
        group = [kept if number == gone else number for number in group]
    made: dict[int, list[str]] = {}
    for topic, number in zip(topics, group, strict=True):
        made.setdefault(number, []).append(topic)
    return list(made.values())


def forms(claim: str) -> tuple[tuple[str, int], ...]:
    """A claim as it stands, as a question, and denied: what each does to the side of a text."""
    bare = claim.strip().rstrip(".?")
    if found := re.match(r"(?i)should (.+)", bare):
        return ((claim, 1),) if "?" in claim else ((bare + "?", 1),)
    if found := re.match(r"(?i)(.+?) should (not )?(.+)", bare):
        who, denied, what = found.groups()
        subject = who[0].lower() + who[1:] if who.split()[0] in ("We", "The", "People", "Children") else who
        sign = -1 if denied else 1
        return (
            (claim, 1),
            (f"Should {subject} {what}?", sign),
            (f"{who} should {what}", sign),
            (f"{who} should not {what}", -sign),
            (f"Should {subject} not {what}?", -sign),
        )
    return ((claim, 1), (f"Is it true that {bare}?", 1), (f"It is not true that {bare}", -1))


def _beir(folder: Path, source: str) -> list[SidedText]:
    claims = {row["_id"]: row["text"] for row in scripts.read(folder / "queries.jsonl")}
    documents = {row["_id"]: row for row in scripts.read(folder / "corpus.jsonl")}
    with (folder / "stance.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [
        SidedText(
            source, row["query-id"], row["corpus-id"], documents[row["corpus-id"]]["text"].strip(),
            float(row["stance"]), forms(claims[row["query-id"]]),
        )
        for row in rows
    ]  # fmt: skip


def _ebi(folder: Path, claims: Mapping[str, str]) -> list[SidedText]:
    made = []
    for row in scripts.read(folder / "passages.jsonl"):
        side = row["stance"] / 2
        if row["kind"] != "synthetic":
            side = 1.0 if row["kind"] == "adv_pos" else -1.0
        if side:
            others = forms(claims[row["query_id"]])
            worded = tuple((text, sign * row["claim_polarity"]) for text, sign in others)
            asked = ((row["question"], 1), *worded)
            made.append(SidedText("ebi", row["query_id"], row["_id"], row["text"], side, asked))
    return made


def _bare(claim: str) -> str:
    """Without the words that all claims have, so that likeness is one of subjects."""
    return re.sub(r"(?i)\b(we|should|ban|abolish|be|the|is|are|do|does|not|to)\b|\?", " ", claim)


def _hashed(group: Sequence[str]) -> str:
    return sha256("\n".join(group).encode()).hexdigest()
