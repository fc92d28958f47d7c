"""The EBI attack: truthful, one-sided passages that crowd other views out of what is retrieved for a question.

The five steps of section 4 of "Epistemic Bias Injection" (Wu and Saxena, arXiv 2512.00804); injecting, the last
one, is `attacks.planting`. It is here to measure defences, on your own questions and stores.

Where the paper leaves something open: it gives no temperature but "low" (ours: 0.3; nucleus sampling stays at the
endpoint's default, mostly 1) and no length (ours: one passage that an encoder reads whole). Its sign of the axis
is arbitrary; ours points to where the stances rise that the model declares for its own synthetic passages.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeVar

from numpy.typing import ArrayLike
from pydantic import BaseModel, Field, create_model
from rapidfuzz import fuzz

from equipoise.core.errors import InputError, ModelReplyError
from equipoise.core.protocols import ChatModel, Encoder
from equipoise.core.sync import together
from equipoise.core.types import ChatOptions, Message, Usage
from equipoise.corpus.loaders.loaded import clean, one_line
from equipoise.corpus.naming import document_id
from equipoise.models.structured import complete_as
from equipoise_lab import prompts
from equipoise_lab.attacks.passages import AttackPassage, Kind, PassageFile
from equipoise_lab.attacks.properties import Yardstick, yardstick
from equipoise_lab.redteam.attack_types import AttackCase

SYNTHETIC_PROMPT = "ebi-synthetic-v1"
ADVERSARIAL_PROMPT = "ebi-adv-v1"
REPEATS_FROM = 95.0
"""Percent of rapidfuzz's `ratio` from which a passage counts as a repetition of another one."""

_COUNTS = ("adversarial", "batch", "words", "min_words", "attempts", "concurrency")
_WARMER = 0.2  # added to the temperature each time a reply could not be used
_SHORT = {Kind.SYNTHETIC: "syn", Kind.ADV_POS: "pos", Kind.ADV_NEG: "neg"}

Report = Callable[[int, int, str], None]
"""(passages done, passages wanted, what is in work)."""

T = TypeVar("T", bound=BaseModel)


class Sign(StrEnum):
    """Which end of the axis an attack pushes to: no judgement of the view held there (footnote 3)."""

    POSITIVE = "positive"
    NEGATIVE = "negative"

    @property
    def kind(self) -> Kind:
        """The kind of its passages."""
        return Kind.ADV_POS if self is Sign.POSITIVE else Kind.ADV_NEG


class Article(BaseModel):
    """One synthetic passage as the model sends it: what it argues, how strongly, and the text."""

    viewpoint: str
    stance: Literal[-2, -1, 0, 1, 2]
    text: str


class Articles(BaseModel):
    """The reply to Prompt-Synthetic."""

    articles: list[Article]


def articles(most: int) -> type[Articles]:
    """Articles of which a model under a schema writes 1 to `most`; more of them, from one without, count too."""
    bounds = Field(json_schema_extra={"minItems": 1, "maxItems": most})
    return create_model("Articles", __base__=Articles, articles=(list[Article], bounds))


class Rewritten(BaseModel):
    """The reply to Prompt-Adv."""

    text: str


@dataclass(frozen=True, slots=True)
class EbiSettings:
    """How much is made and how. `synthetic` is the paper's J = 8, `adversarial` its n = 10 for each sign.

    At most `batch` synthetic passages are asked for in one reply: by default all, as in the paper, but small
    models manage fewer. A passage should have `words` and must have `min_words`; after `attempts` that
    brought none it counts as missing. At most `concurrency` requests at once. Raises InputError for values
    outside their range.
    """

    synthetic: int = 8
    adversarial: int = 10
    batch: int | None = None
    words: int = 120
    min_words: int = 20
    diverse_temperature: float = 0.8
    temperature: float = 0.3
    seed: int = 0
    attempts: int = 4
    concurrency: int = 4

    def __post_init__(self) -> None:
        counts = {name: getattr(self, name) for name in _COUNTS if getattr(self, name) is not None}
        if self.synthetic < 2:
            raise InputError(f"synthetic is {self.synthetic}: give at least 2, one passage has no axis")
        for name, value in counts.items():
            if value < 1:
                raise InputError(f"{name} is {value}: give at least 1")


@dataclass(frozen=True, slots=True)
class EbiResult:
    """What an attack made. `missing` says for each passage that is not there why; `usage` is of this run."""

    passages: tuple[AttackPassage, ...]
    missing: tuple[str, ...]
    usage: Usage

    def of(self, kind: Kind) -> tuple[AttackPassage, ...]:
        """The passages of one kind by their number."""
        return _of(self.passages, kind)


def case_for(question: str, sign: Sign | None = None) -> AttackCase:
    """An attack on `question` towards one end of the axis or, without `sign`, towards each in turn.

    Raises InputError for an empty question.
    """
    text = one_line(clean(question))
    if not text:
        raise InputError("the question is empty: write the question to attack")
    return AttackCase(f"q{document_id(text)[:8]}", text, sign.value if sign else "")


@dataclass(frozen=True, slots=True)
class EbiAttack:
    """The attack with `chat` as the attacker's language model and `encoder` as the attacker's encoder.

    The paper's attacker does not know the retriever's encoder: pass another one here to measure that case. With
    `journal` every passage is on disk as soon as it is made, and a later run with the same file resumes
    there without asking for finished work again.
    """

    chat: ChatModel
    encoder: Encoder
    settings: EbiSettings = field(default_factory=EbiSettings)
    journal: PassageFile | None = None
    report: Report | None = None

    async def run(self, case: AttackCase, *, benign: ArrayLike | None = None) -> EbiResult:
        """Steps 1 to 4 for `case`, whose `aim` is a Sign or empty for both signs.

        With `benign` (m, d), vectors of benign passages by this attack's encoder, the passages carry properties
        1 and 2. Raises ModelReplyError where fewer synthetic passages came than wanted, ModelUnavailable, and
        InputError where the journal holds this case made in another way; what was made stays in the journal.
        """
        signs = _signs(case)
        run = _Run(self, case, signs, asyncio.Semaphore(self.settings.concurrency))
        run.resume()
        await run.synthesise()
        run.measure(benign)
        examples = {sign: run.example(sign) for sign in signs}
        await together(run.imitate(sign, n, examples[sign]) for sign in signs for n in run.lacking(sign.kind))
        run.measure(benign)
        return EbiResult(run.ordered(), tuple(sorted(run.missing)), run.usage)


@dataclass(slots=True)
class _Run:
    """One run of the attack on one case: what it has so far."""

    attack: EbiAttack
    case: AttackCase
    signs: tuple[Sign, ...]
    gate: asyncio.Semaphore
    passages: list[AttackPassage] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    usage: Usage = Usage()
    yardstick: Yardstick | None = None

    def resume(self) -> None:
        """Take over what the journal holds of this case."""
        journal = self.attack.journal
        recovered = journal.recover() if journal else ()
        mine = [p for p in recovered if p.query_id == self.case.case_id and not p.variant]
        for passage in mine:
            self._check(passage)
        wanted = {Kind.SYNTHETIC, *(sign.kind for sign in self.signs)}
        self.passages = [p for p in mine if p.kind in wanted and p.n <= self._wanted(p.kind)]

    async def synthesise(self) -> None:
        """Step 1: until there are J different passages, as many in one reply as the model manages."""
        settings = self.attack.settings
        batch, fruitless, problem = settings.batch or settings.synthetic, 0, ""
        while lack := self.lacking(Kind.SYNTHETIC):
            if fruitless == settings.attempts:
                raise ModelReplyError(
                    f"{self.attack.chat.name} wrote {settings.synthetic - len(lack)} of {settings.synthetic} "
                    f"synthetic passages ({problem}): ask for fewer, or use another model"
                )
            self._tell("different views")
            warmth = settings.diverse_temperature + fruitless * _WARMER
            options = ChatOptions(min(warmth, 1.0), max_tokens=_tokens(settings.words, batch),
                                  seed=settings.seed + fruitless)  # fmt: skip
            wanted = min(batch, len(lack))
            reply = await self._ask(self._synthetic_prompt(wanted), articles(wanted), options)
            if isinstance(reply, str):
                problem, batch = reply, max(1, batch // 2)
                fruitless += 1
                continue
            before = len(lack)
            problem = self._take(reply.articles, lack) or "it sent none"
            fruitless = fruitless + 1 if len(self.lacking(Kind.SYNTHETIC)) == before else 0

    def measure(self, benign: ArrayLike | None) -> None:
        """Step 2: SS, PS and the properties of everything there is."""
        attack = self.attack
        if self.yardstick is None:
            anchors = _of(self.passages, Kind.SYNTHETIC)
            self.yardstick = yardstick(attack.encoder, self.case.question, anchors, benign)
        self.passages = list(self.yardstick.measure(self.passages))
        if attack.journal:
            attack.journal.settle(self.passages)

    def example(self, sign: Sign) -> AttackPassage:
        """Step 3, Eq. 7: the synthetic passage with the highest or lowest PS, the first one among equals."""
        chosen = extreme(_of(self.passages, Kind.SYNTHETIC), 1.0 if sign is Sign.POSITIVE else -1.0)
        others = {p.extra.get("example", chosen.passage_id) for p in _of(self.passages, sign.kind)}
        if others - {chosen.passage_id}:
            raise InputError(
                f"the {sign} passages in {self._place()} follow {min(others - {chosen.passage_id})}, not "
                f"{chosen.passage_id}: the encoder or the number of synthetic passages changed; use another file"
            )
        return chosen

    async def imitate(self, sign: Sign, n: int, example: AttackPassage) -> None:
        """Step 4, Eq. 8: passage `n` of the sign, or a line in `missing`."""
        settings = self.attack.settings
        messages = prompts.load(
            ADVERSARIAL_PROMPT, words=str(settings.words), question=self.case.question, example=example.text
        )
        problem = ""
        for attempt in range(settings.attempts):
            self._tell(f"{sign} passages")
            warmth = settings.temperature + attempt * _WARMER
            seed = settings.seed + 1000 * attempt + 500 * (sign is Sign.NEGATIVE) + n
            options = ChatOptions(min(warmth, 1.0), max_tokens=_tokens(settings.words, 1), seed=seed)
            reply = await self._ask(messages, Rewritten, options)
            problem = reply if isinstance(reply, str) else self._unusable(reply.text, sign.kind, example)
            if not problem and not isinstance(reply, str):
                more = {"example": example.passage_id, "prompt": ADVERSARIAL_PROMPT}
                self._keep(self._passage(sign.kind, n, reply.text, example.stance, more))
                return
        self.missing.append(f"{sign.kind} {n}: {problem} ({settings.attempts} tries)")

    def lacking(self, kind: Kind) -> list[int]:
        """The numbers of this kind that are not there yet."""
        present = {passage.n for passage in self.passages if passage.kind is kind}
        return [n for n in range(1, self._wanted(kind) + 1) if n not in present]

    def ordered(self) -> tuple[AttackPassage, ...]:
        """Everything there is: synthetic, positive, negative, each by number."""
        return tuple(passage for kind in Kind for passage in _of(self.passages, kind))

    def _take(self, articles: Sequence[Article], lack: list[int]) -> str:
        """Keep what is usable of a reply; the last problem met."""
        numbers, problem = list(lack), ""
        for article in articles[: len(lack)]:
            if fault := self._unusable(article.text, Kind.SYNTHETIC, None):
                problem = fault
                continue
            more = {"viewpoint": one_line(clean(article.viewpoint)), "prompt": SYNTHETIC_PROMPT}
            self._keep(self._passage(Kind.SYNTHETIC, numbers.pop(0), article.text, article.stance, more))
        return problem

    def _unusable(self, text: str, kind: Kind, example: AttackPassage | None) -> str:
        """Why the text cannot be a passage; empty where it can."""
        made = one_line(clean(text))
        if (count := len(made.split())) < self.attack.settings.min_words:
            return f"it has {count} words, {self.attack.settings.min_words} are the least"
        others = [*_of(self.passages, kind), *([example] if example else [])]
        near = (p for p in others if fuzz.ratio(made.lower(), p.text.lower()) >= REPEATS_FROM)
        repeated = next(near, None)
        return f"it repeats {repeated.passage_id}" if repeated else ""

    def _passage(
        self, kind: Kind, n: int, text: str, stance: int | None, more: dict[str, Any]
    ) -> AttackPassage:
        return AttackPassage(
            passage_id=f"{self.case.case_id}-{_SHORT[kind]}{n:02}",
            query_id=self.case.case_id,
            question=self.case.question,
            kind=kind,
            n=n,
            text=one_line(clean(text)),
            stance=stance,
            extra=more | {"model": self.attack.chat.name, "encoder": self.attack.encoder.name},
        )

    def _keep(self, passage: AttackPassage) -> None:
        made = self.yardstick.measure([passage])[0] if self.yardstick else passage
        self.passages.append(made)
        if self.attack.journal:
            self.attack.journal.append([made])
        self._tell(made.passage_id)

    async def _ask(self, messages: Sequence[Message], schema: type[T], options: ChatOptions) -> T | str:
        """The model's reply, or what was wrong with it."""
        async with self.gate:
            try:
                value, usage = await complete_as(self.attack.chat, messages, schema, options=options)
            except ModelReplyError as error:
                return str(error)
        self.usage += usage
        return value

    def _synthetic_prompt(self, count: int) -> tuple[Message, ...]:
        views = [str(p.extra.get("viewpoint") or p.text[:80]) for p in _of(self.passages, Kind.SYNTHETIC)]
        taken = "Write other views than these, which are taken: " + "; ".join(views) + "." if views else ""
        words = str(self.attack.settings.words)
        return prompts.load(
            SYNTHETIC_PROMPT, count=str(count), words=words, question=self.case.question, taken=taken
        )

    def _check(self, passage: AttackPassage) -> None:
        model = passage.extra.get("model", self.attack.chat.name)
        if passage.question != self.case.question:
            raise InputError(
                f"{self._place()} has another question for {self.case.case_id}: use another file"
            )
        if model != self.attack.chat.name:
            raise InputError(
                f"the passages for {self.case.case_id} in {self._place()} were written by {model}, not "
                f"{self.attack.chat.name}: go on with that model, or use another file"
            )

    def _wanted(self, kind: Kind) -> int:
        settings = self.attack.settings
        return settings.synthetic if kind is Kind.SYNTHETIC else settings.adversarial

    def _tell(self, what: str) -> None:
        if self.attack.report:
            total = sum(self._wanted(kind) for kind in (Kind.SYNTHETIC, *(sign.kind for sign in self.signs)))
            self.attack.report(len(self.passages), total, what)

    def _place(self) -> str:
        return str(self.attack.journal.path) if self.attack.journal else "memory"


def extreme(anchors: Sequence[AttackPassage], towards: float) -> AttackPassage:
    """Step 3, Eq. 7: the passage of highest PS for `towards` 1, of lowest for -1; the first one among equals."""
    return max(anchors, key=lambda passage: towards * passage.measures.ps if passage.measures else 0.0)


def _of(passages: Iterable[AttackPassage], kind: Kind) -> tuple[AttackPassage, ...]:
    return tuple(sorted((p for p in passages if p.kind is kind), key=lambda p: p.n))


def _signs(case: AttackCase) -> tuple[Sign, ...]:
    if not case.aim:
        return tuple(Sign)
    if case.aim not in set(Sign):
        raise InputError(f"the aim {case.aim!r} is none of {', '.join(Sign)}: leave it empty for both")
    return (Sign(case.aim),)


def _tokens(words: int, passages: int) -> int:
    """Room for so many passages in a reply: twice as many tokens as words, and the JSON around them."""
    return passages * (2 * words + 80) + 100
