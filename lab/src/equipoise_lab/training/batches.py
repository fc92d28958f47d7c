"""Examples as labelled windows, and windows as tensors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from equipoise.core.errors import InputError
from equipoise.models.windows import ModelWindow, windows
from equipoise.text.sentences import sentence_spans
from equipoise_lab.training.examples import Example, Offsets, Target
from equipoise_lab.training.extras import library

BUCKET = 16
"""Batches whose windows are sorted by length together: little padding, nearly random order."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A window of example number `example`; `tokens` are the first and last token of the first target in it, (0, 0)
    without one (place 0 is [CLS], which stands for "no answer")."""

    example: int
    window: ModelWindow
    tokens: Offsets


def labelled(
    examples: Sequence[Example], tokenizer: Tokenizer, target: Target, max_tokens: int
) -> list[Labelled]:
    """All windows of all examples."""
    made = [
        Labelled(number, window, _tokens(window, example.targets(target)))
        for number, example in enumerate(examples)
        for window in windows(
            tokenizer, example.question, example.text, sentence_spans(example.text), max_tokens=max_tokens
        )
    ]
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
    """The tensors of a batch of b windows with up to l tokens.

    `input_ids`, `attention_mask`, `token_type_ids`, `text` (b, l); `tokens` (b, 2).
    """
    torch = library("torch")
    shape = (len(items), max(len(item.window.ids) for item in items))
    arrays = {name: np.zeros(shape, np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")}
    arrays["text"] = np.zeros(shape, bool)
    for row, item in enumerate(items):
        window = item.window
        end = len(window.ids)
        arrays["input_ids"][row, :end] = window.ids
        arrays["attention_mask"][row, :end] = 1
        arrays["token_type_ids"][row, :end] = window.types
        arrays["text"][row, :end] = [place is not None for place in window.offsets]
    arrays["tokens"] = np.array([item.tokens for item in items], np.int64)
    return {name: torch.from_numpy(values).to(device) for name, values in arrays.items()}


def _tokens(window: ModelWindow, wanted: Sequence[Offsets]) -> Offsets:
    for a, b in wanted:
        inside = [n for n, place in enumerate(window.offsets) if place and place[0] < b and a < place[1]]
        if inside:
            return inside[0], inside[-1]
    return 0, 0
