"""Distils the reader into a model of fewer layers that ranks passages (Hinton et al. 2015, with scores for classes).

It keeps the reader's embeddings and lowest layers as they are, so that a file can share them, and goes on
with copies of some of its later ones, which are trained on its scores (mean squared error of the logits). No labels are
used. It learns what it is to do: of the passages that lie beside a question's own one, the reader's score of each.
"""

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import Any

from equipoise.core.errors import InputError
from equipoise.core.types import Document, Passage
from equipoise.corpus import loaders
from equipoise.corpus.indexing import cut
from equipoise.corpus.pieces import passage_at, search_text
from equipoise.models.crossencoder import READER
from equipoise_lab.evaluation.results import Lines
from equipoise_lab.training import checkpoints
from equipoise_lab.training.extras import library
from equipoise_lab.training.loop import Precision, Report, chosen_precision
from equipoise_lab.training.reader import (
    MODEL,
    OWN,
    PASSAGES,
    QUESTION,
    QUESTIONS,
    WEIGHTS,
    is_held_out,
    load,
    rows,
    run_of,
)
from equipoise_lab.training.updates import Updates, padded

Taught = tuple[str, str, float]
"""A question, a text, and what the reader says of them."""
RANKED = 8
"""Passages of a question that are learnt from."""
SHORT, MISTYPED, OF_A_ROW, FOLLOWING = 0.2, 0.1, 0.1, 0.1
"""Shares: questions of which two or three words are asked, questions with a wrong letter, questions for a cell where
the passage has rows, questions asked with another one before them."""
LEAST = 4
"""Letters of a word that a short question is made of, or that is mistyped."""
POSSIBLE, MORE = -4.0, 3.0
"""Logit of the reader from which an error counts so much more: a text that could be quoted."""
CONFIG, TOKENIZER, PAIRS = "config.json", "tokenizer.json", "pairs.jsonl"
KEY = ("folder", "id")
COPIED = (6, 8)
"""Layers that the trained ones begin as, where nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingPlan:
    """What to distil. Layers count from 0: the model has the first `kept` ones of `teacher`, a folder with the
    reader's weights as floats, and copies of the layers `copied`, which are trained. Of each folder of `data` (as
    `equipoise train reader` takes them) `questions` are asked of the sets that training may see, a batch holds
    `batch_tokens`."""

    data: tuple[Path, ...]
    teacher: Path
    out: Path
    kept: int = 6
    copied: tuple[int, ...] = COPIED
    questions: int = 2000
    epochs: int = 1
    batch_tokens: int = 4096
    learning_rate: float = 1.5e-4
    warmup: float = 0.02
    max_tokens: int = 256
    precision: Precision = "auto"
    device: str = "cpu"
    checkpoint_every: int = 200
    seed: int = 51


def distil(plan: RankingPlan, report: Report = lambda done, total, what: None) -> Path:
    """Distil, or resume the run in `plan.out`; the folder with its weights, config and tokenizer.
    Raises MissingExtra and InputError."""
    same = run_of(plan, *(plan.teacher / name for name in (WEIGHTS, CONFIG, TOKENIZER)))
    run = _Run(plan)
    checkpoints.claim(plan.out, same | {"copied": list(plan.copied), "reader": READER.name})
    taught = _taught(plan, report)
    if not taught:
        raise InputError(f"{plan.data[0]} has no questions that training may see")
    run.start()
    run.fit(taught, report)
    return run.write()


def _taught(plan: RankingPlan, report: Report) -> list[Taught]:
    """What the reader says of every pair: written down question by question, so that a run that goes on has it."""
    with Lines(plan.out / PAIRS, KEY) as lines:
        for folder in plan.data:
            read_for(folder, plan.questions, plan.seed, lines, report)
        return [(row["question"], *pair) for row in lines.rows() for pair in row["said"]]


def read_for(folder: Path, questions: int, seed: int, lines: Lines, report: Report) -> None:
    """Add to `lines` what the reader says of the passages found for questions of a data set that training may see."""
    draw = Random(seed)
    passages = {row["passage"]: row for row in rows(folder / PASSAGES)}
    asked = [row for row in rows(folder / QUESTIONS) if not is_held_out(row)]
    draw.shuffle(asked)
    for n, row in enumerate(asked[:questions]):
        text = passages[row["passage"]]["text"]
        question = _as_asked(row["question"], draw.choice(asked)["question"], text, draw)
        key = {"folder": folder.name, "id": row["id"]}
        if lines.key_of(key) not in lines:
            texts = [search_text(passage) for passage in found_for(row, passages, RANKED)[:RANKED]]
            scores = READER.scores(question, texts).tolist()
            lines.append({**key, "question": question, "said": list(zip(texts, scores, strict=True))})
        report(n + 1, min(questions, len(asked)), f"questions of {folder.name} that the reader has read for")


def _as_asked(question: str, before: str, text: str, draw: Random) -> str:
    """The question, two or three words of it, with a wrong letter, one for a cell of `text` in its place, or both
    questions, the other one first."""
    words, way = [word for word in question.split() if len(word) >= LEAST], draw.random()
    if way < SHORT and len(words) > 1:
        chosen = sorted(draw.sample(range(len(words)), min(len(words), draw.choice((2, 3)))))
        return " ".join(words[n] for n in chosen)
    if SHORT <= way < SHORT + MISTYPED and words:
        return question.replace(word := draw.choice(words), _mistyped(word, draw))
    if 0 <= way - SHORT - MISTYPED < OF_A_ROW and (cells := rows_of(text)):
        return of_a_cell(draw.choice(cells), draw)
    return f"{before} {question}" if way > 1 - FOLLOWING else question


def of_a_cell(row: list[list[str]], draw: Random) -> str:
    """A question for a cell of a row, by the row's first one."""
    (header, name), *others = row
    wanted, value = draw.choice(others)
    asked = ("What is the {wanted} of {name}?", "{name} {wanted}", "Which {header} has {wanted} {value}?")
    return draw.choice(asked).format(header=header, name=name, wanted=wanted.lower(), value=value)


def _mistyped(word: str, draw: Random) -> str:
    """A word with a letter left out, doubled, wrong, or before its neighbour."""
    at = draw.randrange(1, len(word) - 1)
    before, letter, after = word[:at], word[at], word[at + 1 :]
    return before + draw.choice(
        (after, letter * 2 + after, draw.choice(ascii_lowercase) + after, after[0] + letter + after[1:])
    )


def rows_of(text: str) -> list[list[list[str]]]:
    """The lines that are rows, as headers and values."""
    lines = ([cell.split(": ", 1) for cell in line.split("; ")] for line in text.split("\n"))
    return [row for row in lines if len(row) > 1 and all(len(cell) == 2 for cell in row)]


def found_for(row: dict[str, Any], passages: dict[str, Any], most: int) -> list[Passage]:
    """The passages of a question's own one and of those beside it, of `most` of a data set's at most."""
    names = [name for name in dict.fromkeys([row["passage"], *row["near"]]) if name in passages]
    return [passage for name in names[:most] for passage in _passages_of(passages[name])]


def _passages_of(row: dict[str, Any]) -> list[Passage]:
    """A passage of a data set as the product's, cut from a page with its title and headings."""
    parts = row["text"].split("\n" if row["passage"].startswith(OWN) else "\n\n")
    above = [name for name in row["headings"] if name not in parts]
    tags = dict.fromkeys(row["headings"], "h2")
    shown = (f"<{(tag := tags.get(part, 'p'))}>{escape(part)}</{tag}>" for part in (*above, *parts))
    page = f"<title>{escape(row['title'])}</title>" + "\n".join(shown)
    (loaded,) = loaders.load(Path("page.html"), page.encode())
    document = Document(row["passage"], loaded.text, row["passage"], row["title"], blocks=loaded.blocks)
    whole = cut(document)
    return [passage_at(n, *place, whole.document) for n, place in enumerate(whole.spans)]


class _Run:
    """The model and where its training stands."""

    def __init__(self, plan: RankingPlan) -> None:
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
        self.teacher.eval()  # without dropout, and so are the copies
        torch = self.torch
        torch.manual_seed(plan.seed)
        self.ranking = torch.nn.ModuleDict(
            {
                "layers": torch.nn.ModuleList(deepcopy(layers[number]) for number in plan.copied),
                "pooler": deepcopy(self.teacher.bert.pooler),
                "classifier": deepcopy(self.teacher.classifier),
            }
        )
        del layers[plan.kept :]
        self.teacher.to(plan.device)
        self.ranking.to(plan.device)
        self.optimizer = torch.optim.AdamW(
            self.ranking.parameters(), lr=plan.learning_rate, weight_decay=0.01
        )
        self.precision = chosen_precision(plan.precision, plan.device)

    def start(self) -> None:
        """Take up the run where it stands."""
        parts = {"module": self.ranking, "optimizer": self.optimizer}
        self.updates = Updates(self.plan.out, self.plan.device, self.plan.checkpoint_every, **parts)

    def fit(self, taught: Sequence[Taught], report: Report) -> None:
        """All epochs, from where the run stands."""
        cut = [(" ".join(question.split()[:QUESTION]), text) for question, text, _ in taught]
        read = self.tokenizer.encode_batch(cut)
        lengths = [len(pair.ids) for pair in read]
        batches = [
            batch
            for epoch in range(self.plan.epochs)
            for batch in self._shuffled(lengths, self.plan.seed + epoch)
        ]
        self.updates.follow(
            batches,
            lambda batch, share: self._update([read[n] for n in batch], [taught[n][2] for n in batch], share),
            self.plan.warmup,
            report,
        )

    def _trained(self) -> dict[str, Any]:
        """What is trained, by the beginnings of its weights' names."""
        layers = {
            f"bert.encoder.layer.{self.plan.kept + n}.": one for n, one in enumerate(self.ranking["layers"])
        }
        return layers | {"bert.pooler.": self.ranking["pooler"], "classifier.": self.ranking["classifier"]}

    def write(self) -> Path:
        """The weights by the names of BertForSequenceClassification, its config and its tokenizer."""
        folder = self.plan.out / MODEL
        folder.mkdir(exist_ok=True)
        layers, kept = "bert.encoder.layer.", self.plan.kept
        still = ("bert.embeddings.", *(f"{layers}{number}." for number in range(kept)))
        weights = {name: v for name, v in load(self.plan.teacher).items() if name.startswith(still)}
        for prefix, module in self._trained().items():
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

    def _update(self, pairs: Sequence[Any], said: Sequence[float], share: float) -> float:
        torch = self.torch
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.learning_rate * share
        feed = padded(pairs, self.plan.device)
        mask = feed["attention_mask"]
        seen = mask.bool()[:, None, None, :].expand(-1, 1, mask.shape[1], -1)
        with self._autocast():
            with torch.no_grad():
                x = self.teacher.bert(**feed)[0]
            for layer in self.ranking["layers"]:
                x = layer(x, seen)
                x = x[0] if isinstance(x, tuple) else x
            scores = self.ranking["classifier"](self.ranking["pooler"](x))[:, 0]
        wanted = torch.tensor(said, device=self.plan.device)
        weights = torch.where(wanted > POSSIBLE, MORE, 1.0)
        loss = (weights * (scores.float() - wanted).square()).sum() / weights.sum()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.ranking.parameters(), 1.0)
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
