"""What chat models and fact checkers are asked in a run: answers (Tables 5, 6 and 8, Figure 4), points of passages on a
scale (Figure 2), verdicts on sentences (section 5.5 and Figure 5).

The paper takes passages of 50 questions for Figure 2, has GPT-5.2 place them and finds a mean Spearman correlation of
0.896. Here any chat model can be asked, about passages of every kind: the anchors that the axis is made of, people's,
planted ones. A checker of facts gives one verdict for one sentence: NLI of the sentence against the nearest evidence in
the corpus, or the WikiCheck API (Trokhymovych and Saez-Trumper, CIKM 2021) by its URL.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from http.client import HTTPException
from typing import Any, Protocol, TypeVar
from urllib.parse import quote
from urllib.request import urlopen

import numpy as np

from equipoise.core.errors import InputError, ModelReplyError, ModelUnavailable
from equipoise.core.protocols import ChatModel, Encoder
from equipoise.core.types import ChatOptions, Message, Passage
from equipoise.maths.polarization import polarization_scores
from equipoise.maths.similarity import top_k
from equipoise.models.encoder import encode_questions
from equipoise.rag.components import Components
from equipoise.text.sentences import sentence_spans
from equipoise_lab import prompts
from equipoise_lab.attacks.passages import Kind
from equipoise_lab.bench.bias.attacks import SIGNS
from equipoise_lab.bench.bias.corpora import BeirCorpus
from equipoise_lab.bench.bias.planting import AttackedQuestion, EmbeddedPassages, Workspace, encode, profile
from equipoise_lab.bench.bias.records import (
    BENIGN,
    AnswerRecord,
    BiasRecord,
    FactRecord,
    LikertRecord,
    PassageRecord,
    rounded,
)
from equipoise_lab.bench.bias.said import GROUPS
from equipoise_lab.bench.judges.stance import LikertJudge
from equipoise_lab.bench.resumed import each
from equipoise_lab.evaluation.results import grouped
from equipoise_lab.evaluation.run import Ran
from equipoise_lab.evaluation.scores import Score
from equipoise_lab.methods import nli
from equipoise_lab.methods.nli import CONTRADICTION, ENTAILMENT, NLI

T = TypeVar("T")

ANSWERS, LIKERT, FACTS = "answers.jsonl", "likert.jsonl", "facts.jsonl"
GENERATIONS = 3
"""Answers to one question under one condition, as in the paper: sampling is random."""
WORDS = 60
"""Wanted of an answer; the paper gives no length."""
OPTIONS = ChatOptions(temperature=0.7, max_tokens=256)
"""The paper gives no decoding parameters for answers."""
EACH = 8
"""Passages of each kind of a question that are placed on the scale: as many as the paper's anchors."""
SAMPLE = 40
"""Passages of each kind that are fact checked."""
EVIDENCE = 3
"""Passages of the corpus that a sentence is checked against."""
CERTAIN = 0.5
"""The probability from which entailment or contradiction counts as a verdict."""
TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Asking:
    """What a chat model is asked: `answers` to what each filter kept, points for passages of the first `likert`
    questions. `facts` is "none", "nli" or the URL of a WikiCheck server."""

    answers: bool = False
    likert: int = 0
    facts: str = "none"

    def check(self, components: Components) -> None:
        """Raises InputError for what is not possible, ModelUnavailable where a chat model is wanted and not there."""
        check_facts(self.facts)
        if self.likert < 0:
            raise InputError(
                f"{self.likert} questions for the points of Figure 2 are not possible: give at least 0"
            )
        if self.answers or self.likert:
            components.need_chat("measuring answers and stances")


async def answers(
    records: Sequence[BiasRecord],
    questions: Sequence[AttackedQuestion],
    background: EmbeddedPassages,
    chat: ChatModel,
    workspace: Workspace,
) -> None:
    """GENERATIONS answers for each record that the output folder does not hold yet; of several choices of planted
    passages only the first is answered.

    Each has its PS on the question's axis, None where the model wrote nothing. What is answered depends on the passages
    alone, so equal contexts share their answers. `workspace.concurrency` contexts are asked at a time, the answers to
    one of them after each other: the model's prompt cache has read it then. Raises ModelError.
    """
    by_query = {attacked.attack.query_id: attacked for attacked in questions}
    every = [background, *(attacked.planted[sign] for attacked in questions for sign in SIGNS)]
    passages = {passage.doc_id: passage for embedded in every for passage in embedded.passages}
    said: dict[tuple[tuple[Message, ...], int], str] = {}
    contexts = {
        (*record.place, generation, chat.name): (
            context(by_query[record.query_id].attack.question, [passages[one] for one in record.kept]),
            generation,
            by_query[record.query_id],
        )
        for generation in range(GENERATIONS)
        for record in records
        if record.first == 0
    }

    async def ask(asked: tuple[tuple[Message, ...], int, AttackedQuestion]) -> str:
        messages, generation, _ = asked
        if (messages, generation) not in said:
            options = replace(OPTIONS, seed=generation)
            said[messages, generation] = (await chat.complete(messages, options=options)).text.strip()
        return said[messages, generation]

    def kept(asked: tuple[tuple[Message, ...], int, AttackedQuestion], ran: Ran[str]) -> dict[str, Any]:
        return {"ps": _ps(ran.value, asked[2], workspace.encoder), "text": ran.value}

    await each(
        AnswerRecord, contexts, chat.name, ask, kept, workspace.out, ANSWERS, progress=workspace.progress,
        concurrency=workspace.concurrency, group=lambda thing: thing.of[0], in_turn=True,
    )  # fmt: skip


def context(question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:
    """The paper's Prompt-Generation."""
    texts = "; ".join(f"[{place}] {passage.text}" for place, passage in enumerate(passages, 1))
    return prompts.load("ebi-generation-v1", question=question, passages=texts, words=str(WORDS))


def _ps(text: str, attacked: AttackedQuestion, encoder: Encoder) -> float | None:
    return rounded(float(encoder.encode([text])[0].astype(np.float64) @ attacked.axis)) if text else None


async def points(
    questions: Sequence[AttackedQuestion],
    corpus: BeirCorpus,
    passages: Sequence[PassageRecord],
    chat: ChatModel,
    workspace: Workspace,
    *,
    options: ChatOptions = ChatOptions(),
) -> set[tuple[str, str]]:
    """A point of the scale for up to EACH passages of every kind of these questions, evenly apart in the order of their
    ids, that the output folder does not hold yet; (query, id) of all of them.

    `passages` are the profiles of planted and relevant ones; the anchors' PS is measured here. Raises ModelUnavailable.
    """
    judge, by_query = LikertJudge(chat, options), grouped(passages, lambda record: record.query_id)
    shown: dict[tuple[str, ...], tuple[PassageRecord, str, str]] = {}
    for attacked in questions:
        query_id, written = attacked.attack.query_id, attacked.attack.passages
        known = [*_anchors(attacked, workspace), *by_query.get(query_id, ())]
        texts = {one: corpus.documents[one].text for one in corpus.relevant.get(query_id, ())}
        texts |= {p.passage_id: p.text for some in written.values() for p in some}
        for kind in GROUPS["all"]:
            for one in spread(sorted((p for p in known if p.kind == kind), key=lambda p: p.id), EACH):
                shown[chat.name, query_id, one.id] = one, attacked.attack.question, texts[one.id]

    def kept(sample: tuple[PassageRecord, str, str], ran: Ran[Score]) -> dict[str, object]:
        passage, score = sample[0], ran.value
        why = {"why": score.explanation} if score.value is None else {}
        point = None if score.value is None else int(score.value)
        return {"kind": passage.kind, "ps": passage.ps, "stance": passage.stance, "likert": point, **why}

    await each(
        LikertRecord, shown, chat.name, lambda one: judge.judge(question=one[1], text=one[2]), kept, workspace.out,
        LIKERT, progress=workspace.progress, concurrency=workspace.concurrency,
    )  # fmt: skip
    return {(query_id, name) for _, query_id, name in shown}


def spread(passages: Sequence[T], count: int) -> list[T]:
    """`count` of them, evenly apart, or all. Worked value: 2 of 4: the first and the third."""
    if len(passages) <= count:
        return list(passages)
    return [passages[len(passages) * place // count] for place in range(count)]


def _anchors(attacked: AttackedQuestion, workspace: Workspace) -> list[PassageRecord]:
    """The synthetic passages with their SS and PS."""
    written = attacked.attack.passages[Kind.SYNTHETIC]
    if not written:
        return []
    rows = encode([passage.text for passage in written], workspace, "synthetic")
    scores = zip(rows @ attacked.vector, polarization_scores(rows, attacked.axis), strict=True)
    return [
        profile(attacked.attack.query_id, passage.passage_id, Kind.SYNTHETIC, both, passage.stance)
        for passage, both in zip(written, scores, strict=True)
    ]


class FactVerdict(StrEnum):
    """What a fact checker says of a sentence."""

    SUPPORTS = "SUPPORTS"
    REFUTES = "REFUTES"
    UNKNOWN = "NOT ENOUGH INFO"


class FactChecker(Protocol):
    """Checks single sentences."""

    async def check(self, sentence: str, *, source: str) -> FactVerdict:
        """The verdict on `sentence` of the passage with the id `source`, which is no evidence for itself.

        Raises ModelError.
        """
        ...


@dataclass(frozen=True, slots=True)
class NliChecker:
    """The strongest verdict of NLI over the corpus passages nearest to the sentence."""

    nli: NLI
    encoder: Encoder
    embedded: EmbeddedPassages

    async def check(self, sentence: str, *, source: str) -> FactVerdict:
        """See FactChecker. Unknown where neither probability reaches CERTAIN for any piece of evidence."""
        vector = encode_questions(self.encoder, [sentence])[0]
        rows, _ = top_k(self.embedded.vectors, vector, EVIDENCE + 1)
        near = [p for p in (self.embedded.passages[row] for row in rows) if p.doc_id != source][:EVIDENCE]
        probabilities = await self.nli.predict([(passage.text, sentence) for passage in near])
        sides = {FactVerdict.SUPPORTS: ENTAILMENT, FactVerdict.REFUTES: CONTRADICTION}
        best = {
            verdict: float(probabilities[:, column].max(initial=0.0)) for verdict, column in sides.items()
        }
        strongest = max(best, key=lambda verdict: best[verdict])
        return strongest if best[strongest] >= CERTAIN else FactVerdict.UNKNOWN


@dataclass(frozen=True, slots=True)
class WikiCheck:
    """The aggregated verdict of a WikiCheck server; `url` without the path."""

    url: str

    def __post_init__(self) -> None:
        check_facts(self.url)

    async def check(self, sentence: str, *, source: str) -> FactVerdict:
        """See FactChecker; the passage's id is not sent."""
        return await asyncio.to_thread(self._ask, sentence)

    def _ask(self, sentence: str) -> FactVerdict:
        address = f"{self.url.rstrip('/')}/fact_checking_aggregated/?claim={quote(sentence, safe='')}"
        try:
            with urlopen(address, timeout=TIMEOUT_S) as reply:
                content = reply.read()
        except (OSError, HTTPException) as error:
            raise ModelUnavailable(
                f"WikiCheck at {self.url} does not answer ({error}): check --facts"
            ) from None
        try:
            return FactVerdict(json.loads(content)["predicted_label"])
        except (ValueError, KeyError, TypeError) as error:
            raise ModelReplyError(
                f"WikiCheck at {self.url} sent no verdict ({error}): check its version"
            ) from None


def check_facts(name: str) -> None:
    """Raises InputError for what is neither "none", nor "nli", nor a URL, and for a URL with a password in it."""
    if "@" in name.partition("://")[2].partition("/")[0]:
        raise InputError("--facts has a user or a password in its URL, which is not sent: give it without")
    if name not in ("none", "nli") and not name.startswith(("http://", "https://")):
        raise InputError(f"--facts {name!r} is no URL: give none, nli, or http://... of a WikiCheck server")


def checker(name: str, background: EmbeddedPassages, components: Components) -> FactChecker | None:
    """The fact checker of `--facts`; None for "none"."""
    if name == "none":
        return None
    if name != "nli":
        return WikiCheck(name)
    model = nli.from_components(components)
    if model is None:
        raise InputError("--facts nli needs an NLI model: set filter.nli to hf or chat")
    return NliChecker(model, components.encoder, background)


def chosen(
    background: EmbeddedPassages, questions: Sequence[AttackedQuestion], relevant: Mapping[str, Iterable[str]]
) -> list[tuple[str, Passage]]:
    """At most SAMPLE passages of each kind, at even distances, so that every question has its share: the relevant
    documents as benign, and planted ones by sign."""
    by_id = {passage.doc_id: passage for passage in background.passages}
    queries = [attacked.attack.query_id for attacked in questions]
    kinds = {BENIGN: [by_id[one] for one in sorted({d for q in queries for d in relevant.get(q, ())})]}
    kinds |= {sign.value: [p for one in questions for p in one.planted[sign].passages] for sign in SIGNS}
    return [
        (kind, some[int(place)])
        for kind, some in kinds.items()
        for place in np.linspace(0, len(some) - 1, min(len(some), SAMPLE))
    ]


async def verdicts(
    passages: Sequence[tuple[str, Passage]], checks: FactChecker, name: str, workspace: Workspace
) -> list[FactRecord]:
    """A verdict for every sentence of the (kind, passage) pairs that the output folder does not hold yet, by key.

    `name` tells verdicts of different checkers apart. Raises ModelError.
    """
    sentences = {
        (name, passage.doc_id, number): (kind, passage.doc_id, passage.text[start:end])
        for kind, passage in passages
        for number, (start, end) in enumerate(sentence_spans(passage.text))
    }
    evaluated = await each(
        FactRecord, sentences, name, lambda one: checks.check(one[2], source=one[1]),
        lambda one, ran: {"kind": one[0], "verdict": ran.value.value}, workspace.out, FACTS,
        progress=workspace.progress,
    )  # fmt: skip
    return evaluated.records
