"""Extractive question answering with a BERT-family model of Hugging Face (extra `hf`: transformers and torch).

The model scores every token as the first and as the last one of the answer. Models trained on SQuAD 2.0 say
"no answer" by pointing to their first token (Devlin et al., 2019, section 4.3).
"""

import asyncio
import threading
from collections.abc import Sequence
from math import exp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.core.errors import InputError
from equipoise.models.control import encodable
from equipoise.models.pretrained import Pretrained, load

DEFAULT = "deepset/deberta-v3-base-squad2"
"""The SQuAD 2.0 model of the H&S paper (section 4.1), licence CC BY 4.0."""

MAX_QUESTION = 100
MAX_ANSWER = 100
"""Tokens; both as in the reference implementation of the H&S paper."""

STRIDE = 128
"""Tokens that neighbouring windows share, as in BERT's own SQuAD evaluation."""

BATCH = 8

Floats = NDArray[np.float64]


class ExtractedSpan(NamedTuple):
    """text[start:end] is the best answer there. `probability` (0 to 1) that it is one, by the model's own scores:
    logistic of the best span's score less that of "no answer"; 0.5 where both are equal."""

    start: int
    end: int
    probability: float


class ExtractiveQA:
    """The model `name`: a name on Hugging Face or a folder with its files.

    A text that is longer than the model reads is read in windows that overlap by `stride` tokens, so that an
    answer lies whole in one of them unless it is longer. Objects are thread safe and load their files at the
    first use, from the disk or, where they are not there yet, from Hugging Face.
    """

    def __init__(self, name: str = DEFAULT, *, stride: int = STRIDE, batch: int = BATCH) -> None:
        self.name = name
        self._stride = stride
        self._batch = batch
        self._lock = threading.Lock()
        self._files: Pretrained | None = None

    async def find(self, question: str, texts: Sequence[str]) -> tuple[ExtractedSpan | None, ...]:
        """For each text the best answer in it, None for a text without a word.

        As in SQuAD 2.0's evaluation, the best span of all windows is held against the lowest score of "no
        answer" of any window. The question is cut to 100 tokens, and to half of what the model reads.
        Raises MissingExtra without transformers, ModelUnavailable where the files cannot be had, InputError
        for a model that is not trained for this.
        """
        return await asyncio.to_thread(self._find, question, texts)

    def _find(self, question: str, texts: Sequence[str]) -> tuple[ExtractedSpan | None, ...]:
        if not texts:
            return ()
        with self._lock:
            self._files = files = self._files or _load(self.name)
            read = [encodable(text) for text in texts]
            windows = _windows(files, encodable(question), read, self._stride)
            scored = [
                score
                for at in range(0, len(windows), self._batch)
                for score in _scored(files, windows[at : at + self._batch])
            ]
        return tuple(
            _best(text, [score for score in scored if score.text == row]) for row, text in enumerate(texts)
        )


class _Window(NamedTuple):
    """A stretch of text number `text` as the model reads it. `offsets` (tokens, 2) count in that text, and are
    -1 for tokens outside it; `blank` is the token that stands for "no answer"."""

    text: int
    inputs: dict[str, list[int]]
    offsets: NDArray[np.int64]
    blank: int


class _Scored(NamedTuple):
    """The best span of a window, its score and that of "no answer"; `score` is -inf where there is none."""

    text: int
    start: int
    end: int
    score: float
    blank: float


def _load(name: str) -> Pretrained:
    files = load(name, head="AutoModelForQuestionAnswering", what="question answering")
    if any("pooler" not in weight for weight in files.untrained):
        raise InputError(
            f"the model {name} is not trained for extractive question answering: name one that is in "
            f"highlight.qa_model, such as {DEFAULT}"
        )
    if not files.tokenizer.is_fast or files.tokenizer.cls_token_id is None:
        raise InputError(
            f"the tokenizer of {name} gives no offsets or has no token for 'no answer': name another model in "
            "highlight.qa_model"
        )
    return files


def _windows(files: Pretrained, question: str, texts: Sequence[str], stride: int) -> list[_Window]:
    tokenizer = files.tokenizer
    special = tokenizer.num_special_tokens_to_add(pair=True)
    asked = _shortened(tokenizer, question, min(MAX_QUESTION, (files.limit - special) // 2))
    length = len(tokenizer(asked, add_special_tokens=False)["input_ids"])
    windows = []
    for row, text in enumerate(texts):
        read = tokenizer(
            asked,
            text,
            truncation="only_second",
            max_length=files.limit,
            stride=min(stride, (files.limit - special - length) // 2),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        names = [name for name in tokenizer.model_input_names if name in read]
        for at in range(len(read["input_ids"])):
            inside = np.array([part == 1 for part in read.sequence_ids(at)])
            offsets = np.where(inside[:, None], np.array(read["offset_mapping"][at]), -1)
            blank = read["input_ids"][at].index(tokenizer.cls_token_id)
            windows.append(_Window(row, {name: read[name][at] for name in names}, offsets, blank))
    return windows


def _shortened(tokenizer: Any, question: str, tokens: int) -> str:  # noqa: ANN401
    offsets = tokenizer(question, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    return question if len(offsets) <= tokens else question[: offsets[tokens - 1][1]]


def _scored(files: Pretrained, windows: Sequence[_Window]) -> list[_Scored]:
    longest = max(len(window.offsets) for window in windows)
    blanks = {"input_ids": files.tokenizer.pad_token_id or 0}
    inputs = {
        name: [w.inputs[name] + [blanks.get(name, 0)] * (longest - len(w.offsets)) for w in windows]
        for name in windows[0].inputs
    }
    with files.torch.inference_mode():
        said = files.model(**{name: files.torch.tensor(rows) for name, rows in inputs.items()})
    first, last = (logits.double().numpy() for logits in (said.start_logits, said.end_logits))
    return [
        _best_span(window, first[row, : len(window.offsets)], last[row, : len(window.offsets)])
        for row, window in enumerate(windows)
    ]


def _best_span(window: _Window, first: Floats, last: Floats) -> _Scored:
    """The pair of tokens of the text with the largest sum of scores, first <= last, MAX_ANSWER at most."""
    inside = window.offsets[:, 1] > window.offsets[:, 0]
    sums = first[:, None] + last[None, :]
    allowed = np.triu(np.outer(inside, inside))
    allowed &= ~np.triu(np.ones_like(allowed), MAX_ANSWER)
    sums[~allowed] = -np.inf
    start, end = np.unravel_index(int(np.argmax(sums)), sums.shape)
    places = int(window.offsets[start, 0]), int(window.offsets[end, 1])
    blank = float(first[window.blank] + last[window.blank])
    return _Scored(window.text, *places, float(sums[start, end]), blank)


def _best(text: str, windows: Sequence[_Scored]) -> ExtractedSpan | None:
    """The best span without white space at its ends (some tokenizers count the space before a word to it)."""
    if not windows:
        return None
    best = max(windows, key=lambda scored: scored.score)
    piece = text[best.start : best.end] if best.score > -np.inf else ""
    if not piece.strip():
        return None
    start = best.start + len(piece) - len(piece.lstrip())
    margin = best.score - min(scored.blank for scored in windows)
    return ExtractedSpan(start, start + len(piece.strip()), _logistic(margin))


def _logistic(margin: float) -> float:
    return 1 / (1 + exp(-margin)) if margin >= 0 else exp(margin) / (1 + exp(margin))
