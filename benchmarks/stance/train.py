"""Trains the stance model: low-rank changes (LoRA, arXiv 2106.09685) to the package's cross-encoder, on the CPU.

    python scripts/build_adapted.py --floats .equipoise/stance/base
    python benchmarks/stance/train.py [--data data] [--base .equipoise/stance/base] [--out .equipoise/stance/run]

The logit is that of "this text argues for yes". Learnt from ArgKP, debate passages and EBI passages in equal parts, on
the subjects kept for training (`stance_texts.py`), each question in one of its wordings, also denied ones, so that the
direction of a question is learnt and not a list of words. The checkpoint that is best on the subjects kept for choosing
is `adapter.safetensors`. Resumes after a kill; progress on standard error.
"""

import json
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np
import torch
from safetensors.torch import save_file
from stance_texts import SOURCES, Part, SidedText, read, split
from tokenizers import Tokenizer
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import BertForSequenceClassification

from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag.stance import windows
from equipoise_lab.bench import scripts
from equipoise_lab.maths.measures import auc
from equipoise_lab.training.lora import adapt, learnt
from equipoise_lab.training.updates import padded

ROOT = Path(__file__).resolve().parents[2]
BATCH, EVERY, SEED = 12, 50, 20261125
"""Texts of each collection in an update; updates between two looks at the choosing part."""
CERTAIN = 0.95
"""Target of a text that takes a side in full; people mislabel, and a model that is sure of all learns no more."""
TOKENS = 96
LOGITS = 0.1
"""What is left of the reader's logits before training: they were those of a ranking, -12 to 11."""


def model(base: Path) -> BertForSequenceClassification:
    """The base with low-rank changes in every layer; these, pooler and classifier learn."""
    bert = BertForSequenceClassification.from_pretrained(base, attn_implementation="sdpa")
    return adapt(bert, range(len(bert.bert.encoder.layer)), LOGITS).eval()  # no dropout


class Reader:
    """Logits of (question, text) pairs, in groups of like lengths, so that little is padded."""

    def __init__(self, bert: BertForSequenceClassification, base: Path) -> None:
        self.bert = bert
        self.tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
        self.tokenizer.enable_truncation(TOKENS)

    def groups(self, pairs: Sequence[tuple[str, str]], size: int) -> Iterator[tuple[list[int], torch.Tensor]]:
        """Rows of each group, and their logits."""
        encoded = self.tokenizer.encode_batch(list(pairs))
        order = sorted(range(len(pairs)), key=lambda row: len(encoded[row].ids))
        for at in range(0, len(order), size):
            rows = order[at : at + size]
            yield rows, self.bert(**padded([encoded[place] for place in rows], "cpu")).logits[:, 0]

    @torch.no_grad()
    def scores(self, told: Sequence[SidedText]) -> np.ndarray:
        """The mean logit over the windows of each text."""
        cut = [(row, window) for row, one in enumerate(told) for window in windows(one.text)]
        logits = np.zeros(len(cut))
        for rows, values in self.groups([(told[row].question, window) for row, window in cut], 32):
            logits[rows] = values.numpy()
        owners = np.array([row for row, _window in cut])
        return np.bincount(owners, logits, len(told)) / np.bincount(owners, minlength=len(told))


def drawn(
    told: Sequence[SidedText], random: Random, updates: range, others: int
) -> Iterator[list[tuple[str, str, float]]]:
    """Batches: `BATCH` of each collection, subject, side and window by lot; from update `others` on, half of the
    questions in another wording."""
    pools: dict[str, dict[str, list[list[SidedText]]]] = {}
    for one in told:
        sides = pools.setdefault(one.source, {}).setdefault(one.topic, [[], []])
        sides[one.side > 0].append(one)
    for update in updates:
        batch = []
        for source in SOURCES:
            topics = sorted(pools[source])
            for topic in random.choices(topics, k=BATCH):
                texts = random.choice([side for side in pools[source][topic] if side])
                one = random.choice(texts)
                reworded = update >= others and random.random() < 0.5
                form, sign = random.choice(one.forms) if reworded else one.forms[0]
                side = one.side * sign * CERTAIN
                batch.append((form, random.choice(windows(one.text)), (side + 1) / 2))
        yield batch


def macro(told: Sequence[SidedText], scores: np.ndarray) -> dict[str, float]:
    """Mean over topics of the AUC within each, for every collection."""
    made: dict[str, float] = {}
    for source in SOURCES:
        areas = []
        for topic in sorted({one.topic for one in told if one.source == source}):
            rows = [row for row, one in enumerate(told) if (one.topic, one.source) == (topic, source)]
            area = auc(scores[rows], [told[row].side > 0 for row in rows])
            areas += [] if area is None else [area]
        made[source] = float(np.mean(areas))
    return made


def train(arguments: Namespace, told: Sequence[SidedText], parts: dict[str, Part]) -> None:
    """Learn until `--updates`, keeping the best adapter and a state to go on from."""
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(SEED)
    bert = model(arguments.base)
    reader = Reader(bert, arguments.base)
    slow = [values for name, values in bert.named_parameters() if values.requires_grad and "bert." in name]
    quick = list(bert.classifier.parameters())
    steps = torch.optim.AdamW([{"params": slow}, {"params": quick}], lr=arguments.rate, weight_decay=0.01)
    pace = torch.optim.lr_scheduler.OneCycleLR(
        steps, arguments.rate, total_steps=arguments.updates + 1, pct_start=0.08, anneal_strategy="linear"
    )
    state, done, best = arguments.out / "state.pt", 0, 0.0
    if state.exists():
        saved = torch.load(state, weights_only=True)
        bert.load_state_dict(saved["learnt"], strict=False)
        steps.load_state_dict(saved["steps"])
        pace.load_state_dict(saved["pace"])
        done, best = saved["done"], saved["best"]
    choosing = sample([one for one in told if parts[one.topic] == "choose"])
    learning = [one for one in told if parts[one.topic] == "train"]
    updates = range(done + 1, arguments.updates + 1)
    batches = drawn(learning, Random(SEED + done), updates, arguments.updates // 4)
    began, losses = time.monotonic(), []
    for update, batch in zip(updates, batches, strict=True):
        wanted = torch.tensor([side for _form, _text, side in batch], dtype=torch.float32)
        loss = 0.0
        for rows, logits in reader.groups([(form, text) for form, text, _side in batch], 12):
            part = binary_cross_entropy_with_logits(logits, wanted[rows], reduction="sum") / len(batch)
            part.backward()
            loss += part.item()
        nn.utils.clip_grad_norm_([*slow, *quick], 1.0)
        steps.step()
        pace.step()
        steps.zero_grad()
        losses.append(loss)
        if update % 10 == 0:
            each = (time.monotonic() - began) / (update - done)
            _say(f"{update}/{arguments.updates}: loss {np.mean(losses[-EVERY:]):.3f}, {each:.1f} s each")
        if update % EVERY == 0 or update == arguments.updates:
            areas = macro(choosing, reader.scores(choosing))
            found = float(np.mean(list(areas.values())))
            row = {"update": update, "loss": round(float(np.mean(losses[-EVERY:])), 4), **areas}
            with (arguments.out / "progress.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            _say(str(row))
            if found > best:
                best = found
                save_file(learnt(bert), arguments.out / "adapter.safetensors")
            torch.save(
                {"learnt": learnt(bert), "steps": steps.state_dict(), "pace": pace.state_dict(),
                 "done": update, "best": best},
                state,
            )  # fmt: skip


def sample(told: Sequence[SidedText], most: int = 20) -> list[SidedText]:
    """At most so many texts of a topic and collection, spread evenly: a look while training is short."""
    held: dict[tuple[str, str], list[SidedText]] = {}
    for one in told:
        held.setdefault((one.source, one.topic), []).append(one)
    return [one for texts in held.values() for one in texts[:: max(1, -(-len(texts) // most))]]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Train, and leave the best adapter in `--out`."""
    parser = scripts.parser(__file__, __doc__, "stance/run")
    parser.add_argument("--base", type=Path, default=ROOT / ".equipoise" / "stance" / "base")
    parser.add_argument("--updates", type=int, default=800)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    told = read(arguments.data)
    train(arguments, told, split(told, EmbeddedEncoder()))


if __name__ == "__main__":
    main()
