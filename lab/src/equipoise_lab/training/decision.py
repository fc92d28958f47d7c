"""Trains the decision: whether the best windows that were found, read together, answer the question.

Low-rank changes to the upper layers of the reader. Near misses that somebody wrote can be told by the question's words
alone ("how much", "how many"), and that is what a model learns first. So the loss is that of its logit and of a
logistic model of these words together (a product of experts, Clark et al. 2019, arXiv 1909.03683, section 3.2), and
most questions are also read with windows that lack their answer, or asked with one word changed. Questions for cells
and for bounds, which people rarely wrote, are asked of leaflets of our own.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.core.errors import InputError
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag.highlighters.deciding import BEST
from equipoise.rag.highlighters.evidence import SAYING_NOTHING
from equipoise.text.tokens import STOP_WORDS, WORD, words
from equipoise_lab.maths.statistics import logistic
from equipoise_lab.training import checkpoints, leaflets
from equipoise_lab.training.asked import ask
from equipoise_lab.training.extras import library
from equipoise_lab.training.loop import Precision, Report, chosen_precision
from equipoise_lab.training.lora import adapt, learnt
from equipoise_lab.training.reader import QUESTION, WEIGHTS, run_of
from equipoise_lab.training.updates import Updates, padded

ADAPTER, ASKED = "adapter.safetensors", "asked.jsonl"
OTHERS, SWAPPED = 0.15, 0.6
"""Shares of questions also read with the windows of another one, and asked with another word in place of one that the
answer has."""
LIKE = (0.35, 0.65)
"""Cosine of a word with the one in its place: of the same kind, and not the same."""
FOLDS, LEAST, RIDGE = 5, 3, 1.0
"""Of the words' model: parts that its logits are held out from, questions that have a word, and its ridge."""
LOGITS = 0.3
"""What is left of the reader's logits before training: they were those of a ranking."""
STEADY = 0.2
"""Learning rate of pooler and classifier, as a share."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the text that is read for it, and whether that answers; `said` is the logit of this label by the
    question's words alone."""

    question: str
    text: str
    answered: bool
    said: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPlan:
    """What to train. `base` is a folder with the reader's weights as floats; of each folder of `data` (as `equipoise
    train reader` takes them) so many `questions` are asked of the sets that training may see, and so many more of
    `leaflets`. The highest `layers` layers get changes."""

    data: tuple[Path, ...]
    base: Path
    out: Path
    questions: int = 4000
    leaflets: int = 1200
    layers: int = 6
    epochs: int = 2
    batch: int = 16
    learning_rate: float = 5e-4
    warmup: float = 0.08
    max_tokens: int = 256
    precision: Precision = "auto"
    device: str = "cpu"
    checkpoint_every: int = 100
    seed: int = 61


def train_decision(plan: DecisionPlan, report: Report = lambda done, total, what: None) -> Path:
    """Train, or resume the run in `plan.out`; the file with what was learnt. Raises MissingExtra and InputError."""
    checkpoints.claim(plan.out, run_of(plan, plan.base / WEIGHTS))
    asked = [row for folder in plan.data for row in ask(folder, plan.out / ASKED, plan.questions, report)]
    draw = Random(plan.seed)
    examples = made_of([*asked, *leaflets.questions(plan.leaflets, draw)], draw)
    if len(examples) < plan.batch:
        raise InputError(f"the data has {len(examples)} texts to train on: --batch {plan.batch} needs more")
    run = _Run(plan)
    run.fit(examples, report)
    library("safetensors.torch").save_file(learnt(run.bert), plan.out / ADAPTER)
    return plan.out / ADAPTER


def made_of(asked: Sequence[dict[str, Any]], draw: Random) -> list[Example]:
    """The examples of all questions, with what their words say."""
    examples, sets, likes = [], [], _likes([row["question"] for row in asked])
    for row in asked:
        made = [*_read(row, draw.choice(asked), draw), *_swapped(row, likes, draw)]
        examples += made
        sets += [row["set"]] * len(made)
    said = by_words([e.question for e in examples], [e.answered for e in examples], sets)
    return [Example(e.question, e.text, e.answered, v) for e, v in zip(examples, said.tolist(), strict=True)]


def _read(row: dict[str, Any], other: dict[str, Any], draw: Random) -> Iterator[Example]:
    """The question with its best windows, with others, and with those of another question."""
    gold, rest = ([w for w in row["windows"] if w["gold"] is held] for held in (True, False))
    if row["answerable"] and gold:
        yield _example(row["question"], _with(gold[0], row["windows"], draw), answered=True)
    if rest and (gold or not row["answerable"]):
        yield _example(row["question"], rest[:BEST], answered=False)
    if other["set"] != row["set"] and other["windows"] and draw.random() < OTHERS:
        yield _example(row["question"], other["windows"][:BEST], answered=False)


def _with(wanted: dict[str, Any], windows: Sequence[dict[str, Any]], draw: Random) -> list[dict[str, Any]]:
    """The best windows, `wanted` among them where none of them is gold."""
    best = list(windows[:BEST])
    if not any(window["gold"] for window in best):
        best = [*best[:-1], wanted]
        draw.shuffle(best)
    return best


def _swapped(row: dict[str, Any], likes: Mapping[str, Sequence[str]], draw: Random) -> Iterator[Example]:
    """A near miss: the question with a word of the same kind in place of one that its answer has, and nothing else."""
    gold = [window for window in row["windows"] if window["gold"]]
    if not gold or draw.random() >= SWAPPED:
        return
    there, every = (set(words(" ".join(w["text"] for w in some))) for some in (gold[:1], row["windows"]))
    told = [
        match for match in WORD.finditer(row["question"]) if match.group().casefold() in there & likes.keys()
    ]
    if told:
        match = draw.choice(told)
        other = draw.choice(likes[match.group().casefold()])
        if other not in every:
            asked = row["question"][: match.start()] + other + row["question"][match.end() :]
            yield _example(asked, _with(gold[0], row["windows"], draw), answered=False)


def _likes(questions: Sequence[str]) -> dict[str, list[str]]:
    """For each word of several questions others of its kind, by the package's encoder."""
    counts, silent = (
        Counter(w for q in questions for w in dict.fromkeys(words(q))),
        STOP_WORDS | SAYING_NOTHING,
    )
    known = [word for word, n in counts.items() if n >= LEAST and len(word) > LEAST and word not in silent]
    if not known:
        return {}
    vectors = EmbeddedEncoder().encode(known)
    made: dict[str, list[str]] = {}
    for word, near in zip(known, vectors @ vectors.T, strict=True):
        order = [n for n in np.argsort(-near)[:60].tolist() if LIKE[0] < near[n] < LIKE[1]]
        if order:
            made[word] = [known[n] for n in order[:10]]
    return made


def _example(question: str, windows: Sequence[dict[str, Any]], *, answered: bool) -> Example:
    lines: list[str] = []
    for window in windows:
        lines += [line for line in window["text"].split("\n") if line not in lines]
    return Example(question, "\n".join(lines), answered)


def by_words(questions: Sequence[str], answered: Sequence[bool], sets: Sequence[str]) -> NDArray[np.float64]:
    """(n,) logits of `answered` by a logistic model of words and pairs of words of the question, each fitted on the
    other parts of the sets."""
    told = [_terms(question) for question in questions]
    counts = Counter(term for terms in told for term in terms)
    columns = {term: n for n, term in enumerate(t for t, count in counts.items() if count >= LEAST)}
    places = [(row, columns[t]) for row, terms in enumerate(told) for t in terms if t in columns]
    rows, cols = zip(*places, strict=True) if places else ((), ())
    x = library("scipy.sparse").csr_matrix(
        (np.ones(len(rows)), (rows, cols)), shape=(len(told), max(1, len(columns)))
    )
    y = np.array(answered, np.float64)
    part = np.array([int(sha256(name.encode()).hexdigest(), 16) % FOLDS for name in sets])
    logits = np.zeros(len(told))
    for fold in set(part.tolist()):
        fitted = logistic(x[part != fold], y[part != fold], weight=1.0, ridge=RIDGE / 2)
        logits[part == fold] = x[part == fold] @ fitted[1:] + fitted[0]
    return logits


def _terms(question: str) -> list[str]:
    """Each once, in an order that is the same in every process: a run that goes on must learn the same."""
    said = words(question)
    return list(dict.fromkeys([*said, *(" ".join(pair) for pair in pairwise(said))]))


class _Run:
    """The model and where its training stands."""

    def __init__(self, plan: DecisionPlan) -> None:
        self.torch, self.plan = library("torch"), plan
        self.tokenizer = library("tokenizers").Tokenizer.from_file(str(plan.base / "tokenizer.json"))
        self.tokenizer.enable_truncation(plan.max_tokens)
        self.precision = chosen_precision(plan.precision, plan.device)
        self.torch.manual_seed(plan.seed)
        bert = library("transformers").BertForSequenceClassification.from_pretrained(plan.base)
        total = len(bert.bert.encoder.layer)
        self.bert = adapt(bert, range(max(0, total - plan.layers), total), LOGITS).to(plan.device).eval()
        slow = [v for name, v in bert.named_parameters() if v.requires_grad and name.endswith((".a", ".b"))]
        steady = [*bert.bert.pooler.parameters(), *bert.classifier.parameters()]
        self.optimizer = self.torch.optim.AdamW(
            [{"params": slow, "share": 1.0}, {"params": steady, "share": STEADY}], weight_decay=0.01
        )
        self.trained = [*slow, *steady]
        parts = {"module": self.bert, "optimizer": self.optimizer}
        self.updates = Updates(plan.out, plan.device, plan.checkpoint_every, **parts)

    def fit(self, examples: Sequence[Example], report: Report) -> None:
        """All epochs, from where the run stands."""
        read = self.tokenizer.encode_batch(
            [(" ".join(e.question.split()[:QUESTION]), e.text) for e in examples]
        )
        lengths = [len(pair.ids) for pair in read]
        batches = [batch for n in range(self.plan.epochs) for batch in self._shuffled(lengths, n)]
        self.updates.follow(
            batches,
            lambda batch, share: self._update([read[n] for n in batch], [examples[n] for n in batch], share),
            self.plan.warmup,
            report,
        )

    def _shuffled(self, lengths: Sequence[int], epoch: int) -> list[list[int]]:
        """Batches of texts of like length, in any order."""
        draw, size = Random(self.plan.seed + epoch), self.plan.batch
        order = sorted(range(len(lengths)), key=lambda n: lengths[n] + 24 * draw.random())
        batches = [order[at : at + size] for at in range(0, len(order), size)]
        draw.shuffle(batches)
        return batches

    def _update(self, pairs: Sequence[Any], examples: Sequence[Example], share: float) -> float:
        torch = self.torch
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.learning_rate * share * group["share"]
        with torch.autocast(self.plan.device, torch.bfloat16, enabled=self.precision == "bf16"):
            logits = self.bert(**padded(pairs, self.plan.device)).logits[:, 0].float()
        said = torch.tensor([e.said for e in examples], device=self.plan.device)
        wanted = torch.tensor([float(e.answered) for e in examples], device=self.plan.device)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits + said, wanted)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.trained, 1.0)
        self.optimizer.step()
        return float(loss.detach())
