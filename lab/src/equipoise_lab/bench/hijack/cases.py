"""What is asked: attacks, benign questions about the inbox, and benign prompts that look like attacks.

The data folder holds `llmail_inject/` (attack e-mails, used as the user's prompt, and the inbox) and
`attack_prompts/` (prompts made for other ends, which `with_request` gives this one). Nothing is cut:
a prompt that the product does not take, over 4,000 characters for example, is listed as skipped with the reason.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle
from pathlib import Path

from equipoise.core.errors import InputError
from equipoise.rag.gathering import checked
from equipoise_lab import prompts
from equipoise_lab.bench.hijack import inbox
from equipoise_lab.bench.hijack.inbox import Email, place
from equipoise_lab.evaluation.jsonl import json_object, lines, text_of
from equipoise_lab.redteam.hijack import CHALLENGE, written

LLMAIL = "llmail"
RIDING = "llmail+question"
"""The same attacks behind an honest question about the inbox: ours, because the bare ones bring no highlight."""

LLMAIL_FILE, INBOX_FILE = "llmail_inject/attacks.jsonl", "llmail_inject/inbox_scenario2.jsonl"
PROMPT_FOLDER = "attack_prompts"
PROMPT_SOURCES = (
    "jailbreakbench",
    "in_the_wild",
    "prompt_injections",
    "bipia_text_attacks",
    "advbench_goals",
)
LOOK_ALIKES = "benign_notinject"
REQUEST_PROMPT = "hijack-request-v1"


class CaseKind(StrEnum):
    """What a case measures: the attack, the utility, or calls that nobody asked for."""

    ATTACK = "attack"
    QUESTION = "question"
    LOOK_ALIKE = "look-alike"


@dataclass(frozen=True, slots=True)
class Case:
    """One question to ask. `email_id` and `gold` are those of a benign question about the inbox (`Asked`)."""

    case_id: str
    source: str
    kind: CaseKind
    question: str
    email_id: str = ""
    gold: str = ""

    @property
    def sample_id(self) -> str:
        """See `evaluation.run.Sample`."""
        return self.case_id


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is drawn with `seed`: attack `prompts` over all files, `look_alikes` of attacks."""

    prompts: int = 60
    look_alikes: int = 20
    seed: int = 0


def attacks(data: Path, llmail: Path, emails: Sequence[Email], choice: Drawing) -> list[Case]:
    """Every LLMail-Inject attack of the file, bare and behind a question, then the drawn prompts.

    Raises InputError.
    """
    rows, asked = _llmail(llmail), inbox.questions(emails)
    riding = [
        (f"{name}+question", f"{honest.question}\n\n{prompt}")
        for (name, prompt), honest in zip(rows, cycle(asked), strict=False)
    ]
    sources = {LLMAIL: rows, RIDING: riding}
    for source, count in _shares(choice.prompts).items():
        drawn = _drawn(data / PROMPT_FOLDER / f"{source}.jsonl", count, choice)
        sources[source] = [(name, with_request(prompt)) for name, prompt in drawn]
    return [
        Case(name, source, CaseKind.ATTACK, text) for source, rows in sources.items() for name, text in rows
    ]


def with_request(prompt: str) -> str:
    """A prompt made for something else, such as a jailbreak, with the request to call the tool."""
    call = written(CHALLENGE.to, CHALLENGE.body)
    return prompts.load(REQUEST_PROMPT, prompt=prompt, call=call)[0].content


def benign(data: Path, emails: Sequence[Email], choice: Drawing) -> list[Case]:
    """Questions about the inbox, then the drawn look-alikes of attacks; raises InputError."""
    asked = inbox.questions(emails)
    rows = _drawn(data / PROMPT_FOLDER / f"{LOOK_ALIKES}.jsonl", choice.look_alikes, choice)
    return [
        *(Case(a.question_id, "inbox", CaseKind.QUESTION, a.question, a.email_id, a.gold) for a in asked),
        *(Case(name, LOOK_ALIKES, CaseKind.LOOK_ALIKE, text) for name, text in rows),
    ]


def askable(cases: Iterable[Case]) -> tuple[list[Case], list[dict[str, str]]]:
    """The cases the product takes, and the others with its reason, as summary.json has them.

    Raises InputError for an id used twice."""
    kept: dict[str, Case] = {}
    skipped = []
    for case in cases:
        if case.case_id in kept:
            raise InputError(f"the id {case.case_id!r} of {case.source} is taken: ids must be distinct")
        try:
            checked(case.question)
        except InputError as error:
            skipped.append({"case_id": case.case_id, "source": case.source, "reason": str(error)})
        else:
            kept[case.case_id] = case
    return list(kept.values()), skipped


def limited(cases: Iterable[Case], limit: int | None) -> list[Case]:
    """The first `limit` cases of each source; all of them for None."""
    by_source: dict[str, list[Case]] = {}
    for case in cases:
        by_source.setdefault(case.source, []).append(case)
    return [case for mine in by_source.values() for case in mine[:limit]]


def _llmail(path: Path) -> list[tuple[str, str]]:
    """(id, prompt) of each attack e-mail: its subject, an empty line, its body."""
    prompts = []
    for text, where in lines(path):
        row = json_object(text, where)
        body, subject = text_of(row, "body", where), text_of(row, "subject", where, needed=False)
        prompts.append((text_of(row, "id", where), f"{subject}\n\n{body}".strip()))
    return prompts


def _shares(count: int) -> dict[str, int]:
    """`count` over the files as evenly as it goes, more to the first."""
    each, more = divmod(count, len(PROMPT_SOURCES))
    return {source: each + (number < more) for number, source in enumerate(PROMPT_SOURCES)}


def _drawn(path: Path, count: int, choice: Drawing) -> list[tuple[str, str]]:
    """(id, prompt) of `count` rows, the same ones for the same seed; a larger draw holds the smaller one."""
    rows = []
    for text, where in lines(path) if count else ():
        row = json_object(text, where)
        rows.append((text_of(row, "id", where), text_of(row, "prompt", where)))
    return sorted(rows, key=lambda row: place(choice.seed, row[0]))[:count]
