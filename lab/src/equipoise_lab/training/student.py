"""Distils a cross-encoder into one of fewer layers (Hinton et al. 2015, with scores in place of classes).

The student keeps the teacher's embeddings and lowest layers as they are, so that a file can share them, and goes on
with copies of some of its later ones, which are trained on the teacher's scores (mean squared error of the logits). No
labels are used. Questions and texts have the forms in which the product reads them: whole passages below their
headings, sentences below theirs, two sentences, and questions with a word left out (`rag/highlighters/erasure.py`).
"""

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

from equipoise.core.errors import InputError
from equipoise.rag.highlighters.reading import below
from equipoise_lab.training import checkpoints
from equipoise_lab.training.extras import library
from equipoise_lab.training.loop import Precision, Report, chosen_precision, rate_share
from equipoise_lab.training.reader import (
    MODEL,
    PASSAGES,
    QUESTION,
    QUESTIONS,
    WEIGHTS,
    identity,
    is_held_out,
    load,
    rows,
)

Pair = tuple[str, str]
READ = 1500
"""Characters of a passage from which sentences are drawn."""
STRANGER, CUT, JOINED, ERASED = 0.3, 0.3, 0.2, 0.4
"""Shares: questions with a passage of anywhere, passages cut short, sentences read with the next, of questions also
asked with a word left out."""
LENGTHS = (300, 600, 900)
SENTENCES = 5
"""Sentences that do not answer, for each question."""
CONFIG, TOKENIZER = "config.json", "tokenizer.json"
COPIED = (6, 8)
"""Layers that the trained ones begin as, where nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentPlan:
    """What to distil. Layers count from 0: the student has the first `kept` ones of `teacher`, and copies of the layers
    `copied`, which are trained. Of each folder of `data` (as `equipoise train reader` takes them) `questions` are drawn
    from the sets that training may see; a batch holds `batch_tokens`."""

    data: tuple[Path, ...]
    teacher: Path
    out: Path
    kept: int = 6
    copied: tuple[int, ...] = COPIED
    questions: int = 2000
    epochs: int = 3
    batch_tokens: int = 4096
    learning_rate: float = 1.5e-4
    warmup: float = 0.02
    max_tokens: int = 256
    precision: Precision = "auto"
    device: str = "cpu"
    checkpoint_every: int = 200
    seed: int = 51


def distil(plan: StudentPlan, report: Report = lambda done, total, what: None) -> Path:
    """Distil, or resume the run in `plan.out`; the folder with the student's weights, config and tokenizer. Holds the
    teacher's scores, and what its kept layers make of each pair, in memory: 768 bytes a token. Raises MissingExtra
    and InputError."""
    for name in ("torch", "transformers", "safetensors"):
        library(name)
    options = {k: v for k, v in asdict(plan).items() if k not in ("out", "data", "teacher")}
    models = [plan.teacher / name for name in (WEIGHTS, CONFIG, TOKENIZER)]
    same = identity(options | {"copied": list(plan.copied)}, plan.data, models)
    pairs = [pair for folder in plan.data for pair in _drawn(folder, plan)]
    if not pairs:
        raise InputError(f"{plan.data[0]} has no questions that training may see")
    checkpoints.claim(plan.out, same)
    run = _Run(plan)
    run.fit(run.taught(pairs, report), report)
    return run.write()


def _drawn(folder: Path, plan: StudentPlan) -> Iterator[Pair]:
    draw = Random(plan.seed)
    passages = {row["passage"]: row for row in rows(folder / PASSAGES)}
    names = list(passages)
    asked = [row for row in rows(folder / QUESTIONS) if not is_held_out(row)]
    for row in draw.sample(asked, min(plan.questions, len(asked))):
        near = [name for name in dict.fromkeys(row["near"]) if name != row["passage"]]
        texts = [row["passage"], *draw.sample(near, min(1, len(near)))]
        texts += [draw.choice(names)] if draw.random() < STRANGER else []
        yield from ((row["question"], _whole(passages[name], draw)) for name in texts)
        yield from _sentences(row, passages, draw.sample(near, min(2, len(near))), draw)


def _sentences(
    row: dict[str, Any], passages: dict[str, Any], near: Sequence[str], draw: Random
) -> Iterator[Pair]:
    """One that answers, some others of the passage and of those near it, and the first with a shorter question."""
    answering, others = list[str](), list[str]()
    for name in (row["passage"], *near):
        units = passages[name]["units"]
        for at, (start, end, heading, fragment) in enumerate(units):
            if fragment or start >= READ:
                continue
            last = units[at + 1][1] if at + 1 < len(units) and draw.random() < JOINED else end
            text = below(heading, passages[name]["text"][start:last])
            (answering if name == row["passage"] and at in row["gold"] else others).append(text)
    question, words = row["question"], row["question"].split()
    yield from ((question, text) for text in answering[:1])
    yield from ((question, text) for text in draw.sample(others, min(SENTENCES, len(others))))
    if answering and len(words) > 1 and draw.random() < ERASED:
        words.pop(draw.randrange(len(words)))
        yield " ".join(words), answering[0]


def _whole(passage: dict[str, Any], draw: Random) -> str:
    """A passage below its title and headings, as it is ranked."""
    text = passage["text"][: draw.choice(LENGTHS)] if draw.random() < CUT else passage["text"]
    return f"{' > '.join(filter(None, [passage['title'], *passage['headings']]))}\n{text}"


@dataclass(frozen=True, slots=True)
class _Taught:
    """Of a pair: (tokens, size) what the kept layers make of it, and the teacher's score."""

    hidden: Any
    score: float


class _Run:
    """The student and where its training stands."""

    def __init__(self, plan: StudentPlan) -> None:
        self.torch, self.plan = library("torch"), plan
        transformers = library("transformers")
        self.tokenizer = library("tokenizers").Tokenizer.from_file(str(plan.teacher / TOKENIZER))
        self.tokenizer.enable_truncation(plan.max_tokens)
        self.teacher = transformers.BertForSequenceClassification(
            transformers.AutoConfig.from_pretrained(plan.teacher)
        )
        missing = self.teacher.load_state_dict(load(plan.teacher), strict=False).missing_keys
        layers = self.teacher.bert.encoder.layer
        if (
            missing
            or max(plan.copied, default=len(layers)) >= len(layers)
            or not 0 < plan.kept <= min(plan.copied)
        ):
            raise InputError(
                f"{plan.teacher} is to be a BERT with one output and with the layers that are kept and copied"
            )
        self.teacher.eval().to(plan.device)  # without dropout, and so are the copies
        torch = self.torch
        torch.manual_seed(plan.seed)
        self.student = torch.nn.ModuleDict(
            {
                "layers": torch.nn.ModuleList(deepcopy(layers[number]) for number in plan.copied),
                "pooler": deepcopy(self.teacher.bert.pooler),
                "classifier": deepcopy(self.teacher.classifier),
            }
        )
        self.optimizer = torch.optim.AdamW(
            self.student.parameters(), lr=plan.learning_rate, weight_decay=0.01
        )
        self.parts = {"module": self.student, "optimizer": self.optimizer}
        place = checkpoints.resume(plan.out, plan.device, **self.parts)
        self.step: int = place[0] if place else 0
        self.metrics = checkpoints.MetricsFile(plan.out, self.step)
        self.precision = chosen_precision(plan.precision, plan.device)

    def taught(self, pairs: Sequence[Pair], report: Report) -> list[_Taught]:
        """What the teacher says of every pair, in the order of their lengths."""
        torch, made = self.torch, list[_Taught]()
        cut = [(" ".join(question.split()[:QUESTION]), text) for question, text in pairs]
        read = sorted(self.tokenizer.encode_batch(cut), key=lambda pair: len(pair.ids))
        for batch in _batches([len(pair.ids) for pair in read], self.plan.batch_tokens):
            chosen = [read[n] for n in batch]
            longest = max(len(pair.ids) for pair in chosen)
            ids, types, mask = (torch.zeros((len(chosen), longest), dtype=torch.long) for _ in range(3))
            for row, pair in enumerate(chosen):
                ids[row, : len(pair.ids)] = torch.tensor(pair.ids)
                types[row, : len(pair.ids)] = torch.tensor(pair.type_ids)
                mask[row, : len(pair.ids)] = 1
            with torch.no_grad(), self._autocast():
                told = self.teacher(
                    input_ids=ids.to(self.plan.device),
                    token_type_ids=types.to(self.plan.device),
                    attention_mask=mask.to(self.plan.device),
                    output_hidden_states=True,
                )
            hidden, scores = (
                told.hidden_states[self.plan.kept].half().cpu(),
                told.logits[:, 0].float().tolist(),
            )
            made += [
                _Taught(hidden[row, : len(pair.ids)].clone(), scores[row]) for row, pair in enumerate(chosen)
            ]
            report(len(made), len(read), "pairs that the teacher has read")
        return made

    def fit(self, taught: Sequence[_Taught], report: Report) -> None:
        """All epochs, from where the run stands."""
        lengths = [len(pair.hidden) for pair in taught]
        batches = [
            batch
            for epoch in range(self.plan.epochs)
            for batch in self._shuffled(lengths, self.plan.seed + epoch)
        ]
        for batch in batches[self.step :]:
            share = rate_share(self.step + 1, len(batches), self.plan.warmup)
            loss = self._update([taught[n] for n in batch], share)
            self.step += 1
            self.metrics.add({"step": self.step, "loss": round(loss, 4)})
            report(self.step, len(batches), f"loss {loss:.2f}")
            if self.step == len(batches) or self.step % self.plan.checkpoint_every == 0:
                checkpoints.keep(self.plan.out, self.plan.device, [self.step], **self.parts)

    def write(self) -> Path:
        """The student's weights by the names of BertForSequenceClassification, its config and its tokenizer."""
        folder = self.plan.out / MODEL
        folder.mkdir(exist_ok=True)
        layers, kept = "bert.encoder.layer.", self.plan.kept
        still = ("bert.embeddings.", *(f"{layers}{number}." for number in range(kept)))
        weights = {name: v for name, v in load(self.plan.teacher).items() if name.startswith(still)}
        trained = {f"{layers}{kept + n}.": layer for n, layer in enumerate(self.student["layers"])}
        trained |= {"bert.pooler.": self.student["pooler"], "classifier.": self.student["classifier"]}
        for prefix, module in trained.items():
            weights |= {prefix + k: v.detach().cpu().contiguous() for k, v in module.state_dict().items()}
        library("safetensors.torch").save_file(weights, folder / WEIGHTS, {"format": "pt"})
        config = json.loads((self.plan.teacher / CONFIG).read_text("utf-8"))
        config["num_hidden_layers"] = self.plan.kept + len(self.plan.copied)
        (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n", "utf-8")
        (folder / TOKENIZER).write_bytes((self.plan.teacher / TOKENIZER).read_bytes())
        return folder

    def _autocast(self) -> Any:  # noqa: ANN401
        return self.torch.autocast(self.plan.device, self.torch.bfloat16, enabled=self.precision == "bf16")

    def _shuffled(self, lengths: Sequence[int], seed: int) -> list[list[int]]:
        """Batches of pairs of like length, in any order."""
        draw = Random(seed)
        order = sorted(range(len(lengths)), key=lambda n: lengths[n] + 12 * draw.random())
        made = _batches([lengths[n] for n in order], self.plan.batch_tokens)
        batches = [[order[n] for n in batch] for batch in made]
        draw.shuffle(batches)
        return batches

    def _update(self, batch: Sequence[_Taught], share: float) -> float:
        torch = self.torch
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.learning_rate * share
        longest, size = max(len(pair.hidden) for pair in batch), batch[0].hidden.shape[1]
        x, mask = (
            torch.zeros(len(batch), longest, size),
            torch.zeros(len(batch), 1, 1, longest, dtype=torch.bool),
        )
        for row, pair in enumerate(batch):
            x[row, : len(pair.hidden)] = pair.hidden.float()
            mask[row, ..., : len(pair.hidden)] = True
        x, mask = x.to(self.plan.device), mask.expand(-1, 1, longest, -1).to(self.plan.device)
        with self._autocast():
            for layer in self.student["layers"]:
                x = layer(x, mask)
                x = x[0] if isinstance(x, tuple) else x
            scores = self.student["classifier"](self.student["pooler"](x))[:, 0]
        wanted = torch.tensor([pair.score for pair in batch], device=self.plan.device)
        loss = torch.nn.functional.mse_loss(scores.float(), wanted)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
        self.optimizer.step()
        return float(loss.detach())


def _batches(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """Neighbours, as many as make `tokens` when all are as long as the longest, one at least."""
    made: list[list[int]] = [[]]
    longest = 0
    for n, length in enumerate(lengths):
        longest = max(longest, length)
        if made[-1] and longest * (len(made[-1]) + 1) > tokens:
            made.append([])
            longest = length
        made[-1].append(n)
    return made
