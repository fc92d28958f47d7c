"""What is trained: an encoder with a head that points into the text, or at nothing.

It is the extractive question answering of SQuAD 2.0 (Devlin et al. 2019, section 4.3): first and last token, or [CLS]
for "no answer". Its folder can be loaded as any model for question answering.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.core.errors import InputError, ModelUnavailable
from equipoise_lab.training.batches import Labelled
from equipoise_lab.training.examples import Offsets
from equipoise_lab.training.extras import library

Tensors = dict[str, Any]

LONGEST = 200
"""Tokens of a span at most."""

NEVER = -1e4  # a logit nothing can win with, also in half precision


@dataclass(frozen=True, slots=True)
class BestSpan:
    """The best span of a window; `margin` is its logit less that of "no answer"."""

    span: Offsets
    margin: float


class SpanHead:
    """Extractive question answering; `module` is the model of transformers, of the encoder `base`: a folder or a name
    on Hugging Face. Raises ModelUnavailable."""

    def __init__(self, base: str) -> None:
        self.module = _loaded("AutoModelForQuestionAnswering", base)
        self.encoder = self.module.base_model

    def loss(self, batch: Tensors) -> Any:  # noqa: ANN401
        """The mean cross-entropy of first and last token."""
        out = self.module(**_inputs(batch, self.encoder))
        return _span_loss(out.start_logits, out.end_logits, batch)

    def find(self, batch: Tensors, items: Sequence[Labelled]) -> list[BestSpan]:
        """The best span of each window."""
        out = self.module(**_inputs(batch, self.encoder))
        torch = library("torch")
        start, end = (
            logits.float().masked_fill(~batch["text"], NEVER) for logits in (out.start_logits, out.end_logits)
        )
        none = (out.start_logits[:, 0] + out.end_logits[:, 0]).float()
        pairs = start[:, :, None] + end[:, None, :]
        near = torch.ones_like(pairs[0], dtype=torch.bool).triu().tril(LONGEST)
        best = pairs.masked_fill(~near, 2 * NEVER).flatten(1).max(1)
        return [
            BestSpan(_place(item, divmod(int(at), start.shape[1])), float(score - null))
            for item, at, score, null in zip(items, best.indices, best.values, none, strict=True)
        ]

    def save(self, folder: Path) -> None:
        """The model as `from_pretrained` wants it."""
        self.module.save_pretrained(folder)


def tokenizer_of(base: str) -> Any:  # noqa: ANN401
    """The tokenizer of transformers; its `backend_tokenizer` neither pads nor truncates."""
    tokenizer = _loaded("AutoTokenizer", base)
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise InputError(f"{base} has no fast tokenizer (tokenizer.json), which training needs: take another")
    backend.no_truncation()
    backend.no_padding()
    return tokenizer


def freeze(head: SpanHead, layers: int) -> None:
    """Leave embeddings and the lowest `layers` layers as they are. Raises InputError where there are fewer."""
    if not layers:
        return
    stack = getattr(getattr(head.encoder, "encoder", None), "layer", [])
    if layers > len(stack):
        raise InputError(f"{layers} layers cannot be frozen: this model has {len(stack)} that can")
    for part in (head.encoder.embeddings, *list(stack)[:layers]):
        for parameter in part.parameters():
            parameter.requires_grad = False


def set_dropout(head: SpanHead, share: float) -> None:
    """Let every dropout layer of the head drop `share`."""
    for layer in head.module.modules():
        if type(layer).__name__ == "Dropout":
            layer.p = share


def _loaded(kind: str, base: str) -> Any:  # noqa: ANN401
    transformers = library("transformers")
    try:
        return getattr(transformers, kind).from_pretrained(base)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ModelUnavailable(
            f"the model {base} cannot be loaded ({reason}): name a folder that holds it, or connect to the "
            "network once so that it is fetched"
        ) from None


def _inputs(batch: Tensors, encoder: Any) -> Tensors:  # noqa: ANN401
    types = getattr(encoder.config, "type_vocab_size", 0) > 1
    return {
        name: batch[name]
        for name in ("input_ids", "attention_mask", "token_type_ids")
        if name != "token_type_ids" or types
    }


def _span_loss(start: Any, end: Any, batch: Tensors) -> Any:  # noqa: ANN401
    torch = library("torch")
    outside = ~batch["text"]
    outside[:, 0] = False
    losses = [
        torch.nn.functional.cross_entropy(logits.float().masked_fill(outside, NEVER), batch["tokens"][:, n])
        for n, logits in enumerate((start, end))
    ]
    return sum(losses) / 2


def _place(item: Labelled, tokens: tuple[int, int]) -> Offsets:
    first, last = (item.window.offsets[min(at, len(item.window.offsets) - 1)] for at in tokens)
    return (first[0], last[1]) if first and last else (0, 0)
