"""What is trained: an encoder with a head that points into the text, or at nothing.

`span` is the extractive question answering of SQuAD 2.0 (Devlin et al. 2019, section 4.3): first and last token,
or [CLS] for "no answer". Its folder can be loaded as any model for question answering.

`sentence` scores whole sentences against "none of them". A sentence's features are the mean of its tokens and
its product with the mean of the question's, so that a sentence encoder knows its trade from the first step.
Loss: the marginal likelihood of the gold sentences, plus that of the span head on the same tokens.

`pair` is a cross-encoder with one logit, as rerankers are (Nogueira and Cho 2019): whether a piece of the text, read
with the question, holds a target. Its folder can be loaded as any model for sequence classification.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from equipoise.core.errors import InputError, ModelUnavailable
from equipoise_lab.training.batches import Cut, Labelled
from equipoise_lab.training.examples import Offsets
from equipoise_lab.training.extras import library

Kind = Literal["span", "sentence", "pair"]
Tensors = dict[str, Any]

LONGEST = 200
"""Tokens of a span at most."""

SHARPNESS = 10.0
"""The first weight of the cosine between question and sentence."""

HEAD_FILE = "sentence_head.json"
NEVER = -1e4  # a logit nothing can win with, also in half precision


@dataclass(frozen=True, slots=True)
class BestSpan:
    """The best span of a window; `margin` is its logit less that of "no answer"."""

    span: Offsets
    margin: float


class SpanHead:
    """Extractive question answering; `module` is the model of transformers."""

    kind: Kind = "span"
    cut: Cut = "windows"

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


class SentenceHead:
    """Sentences of a window against none of them; `module` holds encoder and three linear layers."""

    kind: Kind = "sentence"
    cut: Cut = "windows"

    def __init__(self, base: str) -> None:
        torch = library("torch")
        self.encoder = _loaded("AutoModel", base)
        size = self.encoder.config.hidden_size
        layers = {"sentence": torch.nn.Linear(2 * size, 1), "none": torch.nn.Linear(size, 1)}
        self.module = torch.nn.ModuleDict(
            {"encoder": self.encoder, "span": torch.nn.Linear(size, 2), **layers}
        )
        torch.nn.init.zeros_(layers["none"].weight)
        torch.nn.init.constant_(layers["none"].bias, SHARPNESS / 2)
        torch.nn.init.zeros_(layers["sentence"].weight[:, size:])
        torch.nn.init.constant_(layers["sentence"].weight[:, :size], SHARPNESS)

    def scores(self, batch: Tensors) -> tuple[Any, Any]:
        """Logits of "none" and of each sentence (b, 1 + s), and of first and last token (b, l, 2)."""
        torch = library("torch")
        states = self.encoder(**_inputs(batch, self.encoder)).last_hidden_state
        asked = torch.nn.functional.normalize(batch["question"][:, None] @ states, dim=-1)
        means = batch["pool"] @ states
        product = torch.nn.functional.normalize(means, dim=-1) * asked
        sentences = self.module["sentence"](torch.cat([product, means], -1))[..., 0]
        none = self.module["none"](states[:, 0])
        sentences = sentences.float().masked_fill(~batch["there"], NEVER)
        return torch.cat([none.float(), sentences], 1), self.module["span"](states)

    def loss(self, batch: Tensors) -> Any:  # noqa: ANN401
        """-log p(gold sentences, or none), plus half the loss of the span head."""
        torch = library("torch")
        logits, tokens = self.scores(batch)
        empty = ~batch["gold"].any(1, keepdim=True)
        gold = torch.cat([empty, batch["gold"]], 1)
        likely = logits.masked_fill(~gold, 2 * NEVER).logsumexp(1) - logits.logsumexp(1)
        return -likely.mean() + 0.5 * _span_loss(tokens[..., 0], tokens[..., 1], batch)

    def find(self, batch: Tensors, items: Sequence[Labelled]) -> list[BestSpan]:
        """The best sentence of each window."""
        logits, _ = self.scores(batch)
        best = logits[:, 1:].max(1)
        predictions = []
        for item, at, score, none in zip(items, best.indices, best.values, logits[:, 0], strict=True):
            span = list(item.spans.values())[int(at)] if item.spans else (0, 0)
            predictions.append(BestSpan(span, float(score - none)))
        return predictions

    def save(self, folder: Path) -> None:
        """The encoder as `from_pretrained` wants it, and the three layers in HEAD_FILE."""
        self.encoder.save_pretrained(folder)
        layers = {name: self.module[name].state_dict() for name in ("sentence", "none", "span")}
        rows = {f"{n}.{k}": v.tolist() for n, state in layers.items() for k, v in state.items()}
        (folder / HEAD_FILE).write_text(json.dumps(rows), "utf-8")


class PairHead:
    """Question and piece of text against nothing at all; `module` is the model of transformers."""

    kind: Kind = "pair"
    cut: Cut = "pieces"

    def __init__(self, base: str) -> None:
        self.module = _loaded("AutoModelForSequenceClassification", base, num_labels=1)
        self.encoder = self.module.base_model

    def loss(self, batch: Tensors) -> Any:  # noqa: ANN401
        """The mean binary cross-entropy of "the piece holds a target"."""
        gold = batch["gold"][:, 0].float()
        return library("torch").nn.functional.binary_cross_entropy_with_logits(self._logits(batch), gold)

    def find(self, batch: Tensors, items: Sequence[Labelled]) -> list[BestSpan]:
        """Each piece with its logit."""
        logits = self._logits(batch).tolist()
        return [BestSpan(item.spans.get(0, (0, 0)), logit) for item, logit in zip(items, logits, strict=True)]

    def save(self, folder: Path) -> None:
        """The model as `from_pretrained` wants it."""
        self.module.save_pretrained(folder)

    def _logits(self, batch: Tensors) -> Any:  # noqa: ANN401
        return self.module(**_inputs(batch, self.encoder)).logits[:, 0].float()


Head = SpanHead | SentenceHead | PairHead
HEADS: dict[Kind, Callable[[str], Head]] = {"span": SpanHead, "sentence": SentenceHead, "pair": PairHead}


def make(kind: Kind, base: str) -> Head:
    """The head `kind` on the encoder `base`, a folder or a name on Hugging Face. Raises ModelUnavailable."""
    return HEADS[kind](base)


def load(folder: Path) -> Head:
    """A head that was saved to `folder`. Raises ModelUnavailable."""
    if not (folder / HEAD_FILE).is_file():
        kinds = str(json.loads((folder / "config.json").read_text("utf-8")).get("architectures"))
        return (PairHead if "ForSequenceClassification" in kinds else SpanHead)(str(folder))
    torch = library("torch")
    head = SentenceHead(str(folder))
    rows = json.loads((folder / HEAD_FILE).read_text("utf-8"))
    for name in ("sentence", "none", "span"):
        state = {kind: torch.tensor(rows[f"{name}.{kind}"]) for kind in ("weight", "bias")}
        head.module[name].load_state_dict(state)
    return head


def tokenizer_of(base: str) -> Any:  # noqa: ANN401
    """The tokenizer of transformers; its `backend_tokenizer` neither pads nor truncates."""
    tokenizer = _loaded("AutoTokenizer", base)
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise InputError(f"{base} has no fast tokenizer (tokenizer.json), which training needs: take another")
    backend.no_truncation()
    backend.no_padding()
    return tokenizer


def freeze(head: Head, layers: int) -> None:
    """Leave embeddings and the lowest `layers` layers as they are. Raises InputError where there are fewer."""
    if not layers:
        return
    stack = getattr(getattr(head.encoder, "encoder", None), "layer", [])
    if layers > len(stack):
        raise InputError(f"{layers} layers cannot be frozen: this model has {len(stack)} that can")
    for part in (head.encoder.embeddings, *list(stack)[:layers]):
        for parameter in part.parameters():
            parameter.requires_grad = False


def set_dropout(head: Head, share: float) -> None:
    """Let every dropout layer of the head drop `share`."""
    for layer in head.module.modules():
        if type(layer).__name__ == "Dropout":
            layer.p = share


def _loaded(kind: str, base: str, **more: Any) -> Any:  # noqa: ANN401
    transformers = library("transformers")
    try:
        return getattr(transformers, kind).from_pretrained(base, **more)
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
