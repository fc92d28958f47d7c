"""Natural language inference with a cross-encoder of Hugging Face (extra `hf`: transformers and torch)."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.core.errors import InputError
from equipoise.core.types import Array
from equipoise.models.control import encodable
from equipoise.models.pretrained import Pretrained, load

DEFAULT = "MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7"
"""The model of the EBI paper (section 5.2, footnote 7), licence MIT."""

LABELS = ("entailment", "neutral", "contradiction")
"""In the order of `core.protocols`."""

BATCH = 16


@dataclass(frozen=True, slots=True)
class _Loaded:
    """`columns` are the places of LABELS among the model's classes."""

    files: Pretrained
    columns: list[int]


class CrossEncoderNLI:
    """The sequence classifier `name`: a name on Hugging Face or a folder with its files.

    Its configuration must name the three classes; their order is read there. Pairs are cut to 512 tokens (or
    to what the model has positions for), the longer text first. Objects are thread safe and load their files
    at the first use, from the disk or, where they are not there yet, from Hugging Face.
    """

    def __init__(self, name: str = DEFAULT, *, batch: int = BATCH) -> None:
        self.name = name
        self._batch = batch
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    async def predict(self, pairs: Sequence[tuple[str, str]]) -> Array:
        """See `core.protocols.NLI`.

        Raises MissingExtra without transformers, ModelUnavailable where the files cannot be had, InputError
        for a model without these three classes.
        """
        return await asyncio.to_thread(self._predict, pairs)

    def _predict(self, pairs: Sequence[tuple[str, str]]) -> Array:
        rows = np.empty((len(pairs), len(LABELS)), np.float32)
        if not pairs:
            return rows
        with self._lock:
            self._loaded = loaded = self._loaded or _load(self.name)
            for group in _batches(pairs, self._batch):
                rows[group] = _probabilities(loaded, [pairs[i] for i in group])
        return rows


def _load(name: str) -> _Loaded:
    files = load(name, head="AutoModelForSequenceClassification", what="NLI")
    return _Loaded(files, _columns(name, files.model.config.id2label))


def _columns(name: str, id2label: dict[int, str]) -> list[int]:
    """Where LABELS stand among the model's classes; raises InputError unless it has these three."""
    places = {str(label).strip().lower(): int(place) for place, label in id2label.items()}
    if set(places) != set(LABELS):
        raise InputError(
            f"the model {name} has the classes {', '.join(places)}, not {', '.join(LABELS)}: name an NLI model "
            "with these three"
        )
    return [places[label] for label in LABELS]


def _batches(pairs: Sequence[tuple[str, str]], size: int) -> Iterator[list[int]]:
    """Indices into `pairs`, shortest first so that little is padded."""
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]) + len(pairs[i][1]))
    return (order[start : start + size] for start in range(0, len(order), size))


def _probabilities(loaded: _Loaded, pairs: Sequence[tuple[str, str]]) -> Array:
    premises, hypotheses = zip(*pairs, strict=True)
    files = loaded.files
    inputs = files.tokenizer(
        [encodable(premise) for premise in premises],
        [encodable(hypothesis) for hypothesis in hypotheses],
        truncation=True,
        max_length=files.limit,
        padding=True,
        return_tensors="pt",
    )
    with files.torch.inference_mode():
        logits = files.model(**inputs).logits.float()
    shares = files.torch.softmax(logits, dim=-1).numpy()
    return np.asarray(shares[:, loaded.columns], dtype=np.float32)
