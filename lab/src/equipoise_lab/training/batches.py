"""Examples as labelled windows, and windows as tensors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from tokenizers import Tokenizer

from equipoise.core.errors import InputError
from equipoise.models.windows import Window, windows
from equipoise.text.sentences import sentence_spans
from equipoise_lab.training.examples import Example, Offsets, Target
from equipoise_lab.training.extras import library

Cut = Literal["windows", "sentences", "pieces"]
"""windows: as many sentences as can be read at once; sentences: each by itself; pieces: each sentence, two in a row
where one has a target, and all of a window."""

BUCKET = 16
"""Batches whose windows are sorted by length together: little padding, nearly random order."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A window of example number `example`.

    `gold` are the rows of its sentences that hold a target, `tokens` the first and last token of the first
    target in it, (0, 0) without one (place 0 is [CLS], which stands for "no answer").
    """

    example: int
    window: Window
    gold: frozenset[int]
    tokens: Offsets
    spans: dict[int, Offsets]


def labelled(
    examples: Sequence[Example], tokenizer: Tokenizer, target: Target, max_tokens: int, cut: Cut = "windows"
) -> list[Labelled]:
    """All windows or pieces of all examples."""
    made = []
    for number, example in enumerate(examples):
        sentences = sentence_spans(example.text)
        wanted = example.targets(target)
        whole = windows(tokenizer, example.question, example.text, sentences, max_tokens=max_tokens)
        if cut == "windows":
            made += [_label(number, window, wanted, sentences) for window in whole]
            continue
        more = _longer(sentences, whole, wanted) if cut == "pieces" else []
        for piece in dict.fromkeys([*sentences, *more]):
            window = windows(tokenizer, example.question, example.text, [piece], max_tokens=max_tokens)[0]
            made.append(_label(number, window, wanted, [piece]))
    if not made:
        raise InputError("there is nothing to train on: the data holds no text")
    return made


def epoch(items: Sequence[Labelled], size: int, *, seed: int, number: int) -> Iterator[list[Labelled]]:
    """Batches of epoch `number`: a function of its arguments alone, so that a resumed run sees the same."""
    random = np.random.default_rng([seed, number])
    order = random.permutation(len(items)).tolist()
    bucketed: list[list[int]] = []
    for start in range(0, len(order), size * BUCKET):
        near = sorted(order[start : start + size * BUCKET], key=lambda i: len(items[i].window.ids))
        bucketed += [near[at : at + size] for at in range(0, len(near), size)]
    for row in random.permutation(len(bucketed)):
        yield [items[i] for i in bucketed[row]]


def tensors(items: Sequence[Labelled], device: str) -> dict[str, Any]:
    """The tensors of a batch of b windows with up to l tokens and s sentences.

    `input_ids`, `attention_mask`, `token_type_ids`, `text` (b, l); `question` (b, l), whose rows sum to 1;
    `pool` (b, s, l), whose rows sum to 1 for sentences that are there; `gold`, `there` (b, s); `tokens` (b, 2).
    """
    torch = library("torch")
    length = max(len(item.window.ids) for item in items)
    most = max(1, *(len(item.window.sentences) for item in items))
    shape = (len(items), length)
    whole = {name: np.zeros(shape, np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")}
    text, question = np.zeros(shape, bool), np.zeros(shape, np.float32)
    pool = np.zeros((len(items), most, length), np.float32)
    gold, there = np.zeros((len(items), most), bool), np.zeros((len(items), most), bool)
    for row, item in enumerate(items):
        window = item.window
        end = len(window.ids)
        whole["input_ids"][row, :end] = window.ids
        whole["attention_mask"][row, :end] = 1
        whole["token_type_ids"][row, :end] = window.types
        text[row, :end] = [place is not None for place in window.offsets]
        _share(question[row], window.question)
        for column, (sentence, place) in enumerate(window.sentences.items()):
            _share(pool[row, column], place)
            gold[row, column] = sentence in item.gold
            there[row, column] = True
    arrays = {**whole, "text": text, "question": question, "pool": pool, "gold": gold, "there": there}
    arrays["tokens"] = np.array([item.tokens for item in items], np.int64)
    return {name: torch.from_numpy(values).to(device) for name, values in arrays.items()}


def _longer(
    sentences: Sequence[Offsets], whole: Sequence[Window], wanted: Sequence[Offsets]
) -> list[Offsets]:
    """The pieces of more than one sentence."""
    two = [(first[0], last[1]) for first, last in pairwise(sentences)]
    groups = [[sentences[row] for row in window.sentences] for window in whole]
    return [
        *(span for span in two if _hits(span, wanted)),
        *((group[0][0], group[-1][1]) for group in groups if group),
    ]


def _hits(span: Offsets, wanted: Sequence[Offsets]) -> bool:
    return any(span[0] < b and a < span[1] for a, b in wanted)


def _share(row: Any, place: Offsets) -> None:  # noqa: ANN401
    row[place[0] : place[1]] = 1.0 / (place[1] - place[0])


def _label(number: int, window: Window, wanted: Sequence[Offsets], sentences: Sequence[Offsets]) -> Labelled:
    spans = {row: sentences[row] for row in window.sentences}
    gold = frozenset(row for row, span in spans.items() if _hits(span, wanted))
    for a, b in wanted:
        inside = [n for n, place in enumerate(window.offsets) if place and place[0] < b and a < place[1]]
        if inside:
            return Labelled(number, window, gold, (inside[0], inside[-1]), spans)
    return Labelled(number, window, frozenset(), (0, 0), spans)
