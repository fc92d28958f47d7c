"""Trains the reader further: a cross-encoder that says whether a text answers a question, for texts of many fields.

It is trained on groups of texts, of which the first answers or none does (cross-entropy over the group, and a binary
loss on each score, so that a score means the same in every field). Embeddings and the lower layers stay as they are.
Mix the result with the base afterwards, so that what the published weights know is not lost
(`scripts/build_crossencoder.py --from OUT --share`).

A folder of data has `questions.jsonl.xz` (`id`, `set`, `passage`, `kind`, `question`, `gold`: numbers of the units that
answer, none for a near miss; `near`: other passages that words find) and `passages.jsonl.xz` (`passage`, `title`,
`headings`, `text`, `units`: [start, end, heading above, 1 if a fragment]).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from equipoise.core.errors import InputError
from equipoise.rag.highlighters.reading import below
from equipoise_lab.evaluation.jsonl import json_object, lines
from equipoise_lab.training import checkpoints
from equipoise_lab.training.examples import fingerprint
from equipoise_lab.training.extras import library
from equipoise_lab.training.loop import Precision, Report, chosen_precision
from equipoise_lab.training.updates import Updates

MODEL, WEIGHTS = "model", "model.safetensors"
QUESTIONS, PASSAGES = "questions.jsonl.xz", "passages.jsonl.xz"
PARTS, HELD_OUT = 7, 4
"""Sets are dealt into so many parts by the hash of their name; this one is held out."""
PLACES = ("out", "data", "base", "start", "teacher")
"""Fields of a plan that say where something lies; what lies there counts, not the place."""
OWN = "own-"
"""Sets whose passages are whole documents begin so; they are held out by document."""
QUESTION, FAR, WHOLE = 64, 2, 900
"""Tokens of a question that are read; texts of other passages in a group; characters of a whole passage."""
RANKING = 0.25
"""Share of answered questions whose group is of whole passages, as they are ranked."""
STRETCH, NEGATIVE, POSITIVE, BINARY = 0.7, 0.5, 1.5, 0.6
"""Of the binary loss: a logit's factor, the weights of a wrong and of a right text, and its own weight."""
PIECE = 24
"""Pairs of like length that are read at once."""


@dataclass(frozen=True, slots=True)
class Group:
    """A question with texts: the first one answers it where `answered`, else none."""

    question: str
    texts: tuple[str, ...]
    answered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderPlan:
    """What to train on what.

    `start` is a folder of trained weights, mixed with the base's at `start_share` (0 to 1) before the first step; what
    has been trained is mixed with them again at the end, `start_kept` (0 to 1) of them (WiSE-FT, arXiv 2109.01903). Of
    each further folder of `data` as many questions are taken as `others`, a share of those of the first. `groups` are
    drawn of all, 0 for every one, and each is read `epochs` times.
    """

    data: tuple[Path, ...]
    base: Path
    out: Path
    start: Path | None = None
    start_share: float = 0.7
    start_kept: float = 0.5
    others: float = 0.5
    groups: int = 0
    epochs: int = 1
    batch: int = 8
    learning_rate: float = 3e-5
    warmup: float = 0.05
    freeze: int = 6
    dropout: float = 0.05
    max_tokens: int = 160
    precision: Precision = "auto"
    device: str = "cpu"
    checkpoint_every: int = 100
    seed: int = 3


def train_reader(plan: ReaderPlan, report: Report = lambda done, total, what: None) -> Path:
    """Train, or resume the run in `plan.out`; the folder with `model.safetensors`, which has the names of
    BertForSequenceClassification. Raises MissingExtra and InputError."""
    same = run_of(plan, *(folder / WEIGHTS for folder in (plan.base, plan.start) if folder))
    groups = _train_on(plan)
    checkpoints.claim(plan.out, same)
    run = _Run(plan)
    run.fit(groups, report)
    folder = plan.out / MODEL
    folder.mkdir(exist_ok=True)
    trained = run.weights()
    if plan.start:
        trained = _between(trained, load(plan.start), plan.start_kept)
    library("safetensors.torch").save_file(trained, folder / WEIGHTS, {"format": "pt"})
    return folder


def run_of(plan: Any, *models: Path) -> dict[str, Any]:  # noqa: ANN401
    """What makes the run of a plan the same run. Raises MissingExtra where it cannot be trained here, InputError."""
    for name in ("torch", "transformers", "safetensors"):
        library(name)
    return identity({k: v for k, v in asdict(plan).items() if k not in PLACES}, plan.data, models)


def identity(options: dict[str, Any], data: Sequence[Path], models: Sequence[Path]) -> dict[str, Any]:
    """What makes a run the same run: options, and the content of the files, not where they lie. Raises InputError."""
    files = [*(folder / name for folder in data for name in (QUESTIONS, PASSAGES)), *models]
    if absent := [path for path in files if not path.is_file()]:
        raise InputError(f"{absent[0]} is not there: name a folder that holds it")
    return options | {"files": [fingerprint(path) for path in files]}


def is_held_out(row: dict[str, Any]) -> bool:
    """Whether a question's set, or its document where the set is of short ones, is kept for choosing."""
    name = row["passage"] if row["set"].startswith(OWN) else row["set"]
    return int(sha256(name.encode()).hexdigest(), 16) % PARTS == HELD_OUT


def _train_on(plan: ReaderPlan) -> list[Group]:
    draw = Random(plan.seed)
    first, *others = (list(groups(folder, draw, lambda row: not is_held_out(row))) for folder in plan.data)
    mixed = list(first)
    for more in others:
        draw.shuffle(more)
        mixed += more[: round(plan.others * len(first))]
    draw.shuffle(mixed)
    mixed = mixed[: plan.groups or None]
    if len(mixed) < plan.batch:
        raise InputError(f"the data has {len(mixed)} questions to train on: --batch {plan.batch} needs more")
    return [group for _ in range(plan.epochs) for group in draw.sample(mixed, len(mixed))]


def groups(folder: Path, draw: Random, wanted: Callable[[dict[str, Any]], bool]) -> Iterator[Group]:
    """The groups of the wanted questions of a folder."""
    passages = {row["passage"]: row for row in rows(folder / PASSAGES)}
    for row in rows(folder / QUESTIONS):
        if wanted(row):
            yield _group(row, passages, draw)


def _group(row: dict[str, Any], passages: dict[str, Any], draw: Random) -> Group:
    passage, gold = passages[row["passage"]], row["gold"]
    others = [n for n, unit in enumerate(passage["units"]) if n not in gold and not unit[3]]
    draw.shuffle(others)
    near = [passages[name] for name in row["near"] if name != row["passage"] and passages[name]["units"]][:4]
    far = [
        whole(text) if draw.random() < 0.5 else _unit(text, draw.randrange(len(text["units"])))
        for text in draw.sample(near, min(FAR, len(near)))
    ]
    if not gold:
        texts = [whole(passage), *(_unit(passage, n) for n in others[:2]), *far[:1]]
    elif near and draw.random() < RANKING:
        texts = [whole(passage), *(whole(text) for text in near[:3])]
    else:
        beside = others[: 2 if near else 3]
        texts = [_answer(passage, gold, draw), *(_unit(passage, n) for n in beside), *far]
    return Group(row["question"], tuple(dict.fromkeys(texts)), bool(gold))


def _answer(passage: dict[str, Any], gold: Sequence[int], draw: Random) -> str:
    """One of the units that answer, or two neighbours among them together, as windows are read."""
    at = draw.choice(gold)
    if at + 1 in gold and passage["units"][at][2] == passage["units"][at + 1][2] and draw.random() < 0.5:
        start, end = passage["units"][at][0], passage["units"][at + 1][1]
        return below(passage["units"][at][2], passage["text"][start:end])
    return _unit(passage, at)


def _unit(passage: dict[str, Any], at: int) -> str:
    start, end, heading, _fragment = passage["units"][at]
    return below(heading, passage["text"][start:end])


def whole(passage: dict[str, Any], longest: int = WHOLE) -> str:
    """A passage below its nearest heading or title, up to so many characters."""
    return below(passage["headings"][-1] if passage["headings"] else passage["title"], passage["text"])[
        :longest
    ]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    return (json_object(text, where) for text, where in lines(path))


class _Run:
    """The models and where the run stands."""

    def __init__(self, plan: ReaderPlan) -> None:
        self.torch, self.plan = library("torch"), plan
        self.tokenizer = library("tokenizers").Tokenizer.from_file(str(plan.base / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.first, self.end = (self.tokenizer.token_to_id(mark) for mark in ("[CLS]", "[SEP]"))
        self.precision = chosen_precision(plan.precision, plan.device)
        base = load(plan.base)
        self.torch.manual_seed(plan.seed)
        self.reader = _Reader(plan, _mixed(base, plan))
        trained = self.reader.trained(plan.freeze)
        self.optimizer = self.torch.optim.AdamW(trained, lr=plan.learning_rate, weight_decay=0.01)
        parts = {"module": self.reader.module, "optimizer": self.optimizer}
        self.updates = Updates(plan.out, plan.device, plan.checkpoint_every, **parts)

    def fit(self, groups: Sequence[Group], report: Report) -> None:
        """One pass over the groups."""
        size = self.plan.batch
        batches = [list(range(at, at + size)) for at in range(0, len(groups) - size + 1, size)]
        self.reader.train()
        self.updates.follow(
            batches,
            lambda batch, share: self._update([groups[n] for n in batch], share),
            self.plan.warmup,
            report,
        )

    def weights(self) -> dict[str, Any]:
        """All tensors, by the names of the base."""
        return {k: v.detach().cpu().contiguous() for k, v in self.reader.module.state_dict().items()}

    def _update(self, chosen: Sequence[Group], share: float) -> float:
        torch = self.torch
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.learning_rate * share
        pairs = [(group.question, text) for group in chosen for text in group.texts]
        made = []
        order = sorted(range(len(pairs)), key=lambda n: sum(map(len, pairs[n])))
        for at in range(0, len(order), PIECE):
            feed = self._feed([pairs[n] for n in order[at : at + PIECE]])
            with torch.autocast(self.plan.device, torch.bfloat16, enabled=self.precision == "bf16"):
                made.append(self.reader.scores(feed))
        back = torch.tensor(order).argsort()
        scores = torch.cat(made).float()[back]
        loss, at = torch.zeros(()), 0
        for group in chosen:
            own = scores[at : at + len(group.texts)]
            at += len(group.texts)
            loss = loss + _group_loss(torch, own, answered=group.answered)
        loss = loss / len(chosen)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.reader.module.parameters(), 1.0)
        self.optimizer.step()
        return float(loss.detach())

    def _feed(self, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
        torch, made = self.torch, []
        for question, text in pairs:
            asked, read = (
                e.ids for e in self.tokenizer.encode_batch([question, text], add_special_tokens=False)
            )
            asked = [self.first, *asked[:QUESTION], self.end]
            made.append((asked, [*read[: max(0, self.plan.max_tokens - 1 - len(asked))], self.end]))
        longest = max(len(a) + len(b) for a, b in made)
        ids = torch.zeros((len(made), longest), dtype=torch.long)
        types, mask = torch.zeros_like(ids), torch.zeros(ids.shape, dtype=torch.bool)
        for row, (a, b) in enumerate(made):
            ids[row, : len(a) + len(b)] = torch.tensor(a + b)
            types[row, len(a) : len(a) + len(b)] = 1
            mask[row, : len(a) + len(b)] = True
        return {k: v.to(self.plan.device) for k, v in (("ids", ids), ("types", types), ("mask", mask))}


class _Reader:
    """A BERT with one output."""

    def __init__(self, plan: ReaderPlan, weights: dict[str, Any]) -> None:
        torch, transformers = library("torch"), library("transformers")
        config = transformers.AutoConfig.from_pretrained(plan.base)
        config.hidden_dropout_prob, config.attention_probs_dropout_prob = plan.dropout, 0.0
        self.torch, self.freeze = torch, plan.freeze
        self.module = transformers.BertForSequenceClassification(config)
        missing = self.module.load_state_dict(weights, strict=False)
        if missing.missing_keys:
            raise InputError(
                f"{plan.base} lacks weights of a BERT with one output: {missing.missing_keys[:3]}"
            )
        self.module.to(plan.device)

    def trained(self, freeze: int) -> list[Any]:
        """The parameters above the frozen layers."""
        still = ("bert.embeddings.", *(f"bert.encoder.layer.{n}." for n in range(freeze)))
        for name, parameter in self.module.named_parameters():
            parameter.requires_grad = not name.startswith(still)
        return [p for p in self.module.parameters() if p.requires_grad]

    def train(self) -> None:
        """Dropout, in the layers that are trained."""
        self.module.train()
        for part in (self.module.bert.embeddings, *self.module.bert.encoder.layer[: self.freeze]):
            part.eval()

    def scores(self, feed: dict[str, Any]) -> Any:  # noqa: ANN401
        """(n,) logits that the texts answer."""
        bert, torch = self.module.bert, self.torch
        with torch.no_grad():
            x = bert.embeddings(input_ids=feed["ids"], token_type_ids=feed["types"])
        mask = feed["mask"][:, None, None, :].expand(-1, 1, feed["ids"].shape[1], -1)
        for number, layer in enumerate(bert.encoder.layer):
            with torch.set_grad_enabled(torch.is_grad_enabled() and number >= self.freeze):
                x = layer(x, mask)
                x = x[0] if isinstance(x, tuple) else x
        return self.module.classifier(bert.pooler(x))[:, 0]


def load(folder: Path) -> dict[str, Any]:
    try:
        weights: dict[str, Any] = library("safetensors.torch").load_file(folder / WEIGHTS)
    except (OSError, library("safetensors").SafetensorError) as error:
        raise InputError(f"{folder} holds no {WEIGHTS} that can be read ({error})") from None
    return weights


def _mixed(base: dict[str, Any], plan: ReaderPlan) -> dict[str, Any]:
    """The base's weights, mixed with the start's."""
    if plan.start is None:
        return base
    return _between(base, load(plan.start), plan.start_share)


def _between(weights: dict[str, Any], others: dict[str, Any], share: float) -> dict[str, Any]:
    """The weights, with `share` (0 to 1) of the others' in those that they have."""
    return {k: v + share * (others[k] - v) if k in others else v for k, v in weights.items()}


def _group_loss(torch: Any, scores: Any, *, answered: bool) -> Any:  # noqa: ANN401
    functional, label = torch.nn.functional, torch.zeros_like(scores)
    loss = 0.0
    if answered:
        label[0] = 1.0
        loss = functional.cross_entropy(scores[None], torch.zeros(1, dtype=torch.long, device=scores.device))
    weights = torch.where(label > 0, POSITIVE, NEGATIVE)
    binary = functional.binary_cross_entropy_with_logits(STRETCH * scores, label, weights)
    return loss + BINARY * binary
