"""The control budget: how many different inputs one question, or one message, can force on the summarizer.

The summarizer's input is a function of canonical spans and tags, and both can be counted. Nothing is assumed of
retrieval, filter and highlighter: any `retrieval.k` passages may be read together, and any of their sentences picked.
So the count holds for whoever takes all three over; what a real highlighter picks is less. Different spans may still
give the same request, so requests are at most as many.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log2

from equipoise.core.settings import Settings
from equipoise.corpus.store import Store
from equipoise.maths.choices import bits, choices, families
from equipoise.maths.marks import Unit
from equipoise.maths.steps import NO_LIMIT, SetLimits
from equipoise.rag import build
from equipoise.rag.components import resolve
from equipoise.rag.quotable import Quotable, joined_units, quotables
from equipoise.rag.summarizers.llm import asks_only_long
from equipoise.text.spans import SpanPolicy

PROMPT_TOKENS, VOCABULARY = 200, 100_000
"""A free prompt to compare with: so many tokens of a vocabulary of about that size, about 3,300 bits."""
EXTRACTS = 8
"""Extracts in the paper's reference implementation (microsoft/highlight-summarize), each between any two offsets."""
WORST = 5
TAGGING = ("indexed",)
"""The highlighters whose proposals carry tags."""

Progress = Callable[[int, int, str], None]
"""(done, total, what is in work)."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """What of the settings decides which inputs there are. `tags`: a yes or no may cross; `questions` of a message
    are asked at most. `writes`: a language model reads the input; `only_long`: not where it is short."""

    k: int
    policy: SpanPolicy
    tags: bool
    questions: int
    context: bool
    writes: bool
    only_long: bool

    @classmethod
    def of(cls, settings: Settings) -> "Deployment":
        """The deployment that these settings make, with the language model that `auto` finds."""
        resolved = resolve(settings, build.detected_model(settings.model), multilingual=False)
        writes = resolved.summarizer != "extractive"
        return cls(
            settings.retrieval.k,
            build.policy(settings),
            settings.highlight.name in TAGGING,
            settings.question.most if settings.question.split else 1,
            writes and settings.summarize.context == "passage",
            writes,
            writes and asks_only_long(settings),
        )

    @property
    def limits(self) -> SetLimits:
        """What one question may have quoted."""
        policy = self.policy
        longest = policy.max_sentences_per_span
        return SetLimits(
            self.k, policy.max_spans, policy.max_sentences, longest, policy.max_pieces, policy.min_words
        )


@dataclass(frozen=True, slots=True)
class Counted:
    """`sets` are the canonical sets of quotes that one question can force, exact unless `relaxed` says otherwise;
    `question` its inputs, twice as many at most where a yes or no may go with quotes that bear it out; `message` an
    upper bound of the inputs of one message."""

    sets: int
    question: int
    message: int
    relaxed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentBudget:
    """What one question can do with one document alone, and what `EXTRACTS` free extracts of it could (in bits)."""

    source: str
    sentences: int
    question: int
    free_extracts: float


@dataclass(frozen=True, slots=True)
class Change:
    """One setting changed and all others as they are."""

    setting: str
    before: str
    after: str
    counted: Counted


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of a deployment over a store. `worst` are the documents with the largest budgets, largest first."""

    deployment: Deployment
    documents: int
    passages: int
    sentences: int
    counted: Counted
    worst: tuple[DocumentBudget, ...]
    changes: tuple[Change, ...]


def budget(store: Store, settings: Settings, *, progress: Progress = lambda *_: None) -> Budget:
    """The control budget of `settings` over `store`. Raises StoreError, and InputError for limits too wide to count."""
    deployment = Deployment.of(settings)
    with store.snapshot():
        documents = list(_read(store, deployment, progress))
    units = joined_units(whole for whole, _ in documents)
    variants = list(_variants(deployment))
    counts: list[Counted] = []
    for number, (setting, _, _, changed) in enumerate([("this deployment", "", "", deployment), *variants]):
        progress(number, len(variants) + 1, setting)
        counts.append(counted(units, changed))
    changes = [
        Change(*named[:3], counted_then) for named, counted_then in zip(variants, counts[1:], strict=True)
    ]
    worst = sorted((by_itself for _, by_itself in documents), key=lambda each: (-each.question, each.source))[
        :WORST
    ]
    passages = sum(len(whole.passages) for whole, _ in documents)
    return Budget(deployment, len(documents), passages, len(units), counts[0], tuple(worst), tuple(changes))


def _read(
    store: Store, deployment: Deployment, progress: Progress
) -> Iterator[tuple[Quotable, DocumentBudget]]:
    total = store.counts().documents
    for number, whole in enumerate(quotables(store)):
        progress(number, total, whole.document.source)
        count = counted(whole.units, replace(deployment, questions=1)).question
        free = free_extracts(len(whole.document.text))
        light = replace(whole, document=replace(whole.document, text="", sentences=(), blocks=()), spans=())
        yield light, DocumentBudget(whole.document.source, len(whole.units), count, free)


def counted(units: Sequence[Unit], deployment: Deployment) -> Counted:
    """The inputs that a deployment over these units lets one question and one message choose among."""
    quotes = choices(units, deployment.limits)
    question = quotes.total * (1 + deployment.tags)
    message = question if deployment.questions == 1 else _of_a_message(units, deployment)
    return Counted(quotes.total, question, message, quotes.relaxed)


def _of_a_message(units: Sequence[Unit], deployment: Deployment) -> int:
    """An upper bound: one limit of sentences and spans holds for all its questions together, each of which reads k
    passages; what each may quote of its own is not counted closer. A text that occurs several times may be quoted from
    another place by each question. Where short spans may be dropped, sentences count that no question is left with."""
    most = deployment.questions
    limits = replace(deployment.limits, passages=deployment.k * most, pieces=NO_LIMIT)
    times = Counter(unit.text for unit in units)
    unused = any(unit.words < deployment.policy.min_words for unit in units)
    groups = range(0 if unused else 1, most + 1)
    if len(times) == len(units):
        sizes = Counter[int]()
        for (_, _, sentences), count in choices(units, limits).counts.items():
            sizes[sentences] += count
        by_groups = [sum(n * (2**i - (not unused)) ** size for size, n in sizes.items()) for i in groups]
    else:
        weights = [[(1 + times[unit.text]) ** i - (not unused) for unit in units] for i in groups]
        by_groups = [choices(units, limits, weights=each).total for each in weights]
    unions = by_groups.pop(0) if unused else 0
    return families(by_groups, tags=1 + deployment.tags, unions=unions)


def _variants(now: Deployment) -> Iterator[tuple[str, str, str, Deployment]]:
    """(setting, value, other value, the deployment with it) of every change that says something."""
    policy = now.policy
    for name in ("max_spans", "max_sentences", "max_sentences_per_span", "max_pieces"):
        value = getattr(policy, name)
        for other in sorted({value // 2, 1} - {0, value}, reverse=True):
            yield (
                f"highlight.{name}",
                str(value),
                str(other),
                replace(now, policy=replace(policy, **{name: other})),
            )
    other = 1 if policy.min_words > 1 else 6
    shorter = replace(policy, min_words=other)
    yield "highlight.min_words", str(policy.min_words), str(other), replace(now, policy=shorter)
    if now.k > 1:
        yield "retrieval.k", str(now.k), "1", replace(now, k=1)
    if now.questions > 1:
        yield "question.split", "true", "false", replace(now, questions=1)
    if now.tags:
        yield "highlight.name", "indexed, with tags", "another, without", replace(now, tags=False)
    if now.writes:
        context = ("passage", "none") if now.context else ("none", "passage")
        yield "summarize.context", *context, replace(now, context=not now.context)


def free_prompt() -> float:
    """Bits of a prompt of PROMPT_TOKENS tokens."""
    return PROMPT_TOKENS * log2(VOCABULARY)


def free_extracts(characters: int) -> float:
    """Bits of EXTRACTS extracts of any length, in any order, from a text of so many characters.

    Worked value: 6,000 characters, 8 extracts: 8 * log2(6,000 * 6,001 / 2) = 193 bits.
    """
    return EXTRACTS * bits(characters * (characters + 1) // 2)
