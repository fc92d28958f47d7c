"""How well a head does on held-out examples."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise_lab.maths.measures import auc
from equipoise_lab.training.batches import Labelled, tensors
from equipoise_lab.training.examples import Example, Target
from equipoise_lab.training.extras import library
from equipoise_lab.training.heads import BestSpan, SpanHead

BATCH = 32


@dataclass(frozen=True, slots=True)
class Quality:
    """Figures on held-out examples; None where nothing can be counted.

    An example is declined where no window has a margin above `threshold`. `evidence_hit` is the share of
    the answerable whose best span, not declined, overlaps a target; `best_is_gold` the same without
    declining; `auc` the chance that an answerable example has the higher margin of two.
    """

    loss: float
    examples: int
    answerable: int
    threshold: float
    best_is_gold: float | None
    evidence_hit: float | None
    decline_precision: float | None
    decline_recall: float | None
    decline_f1: float | None
    auc: float | None

    def row(self) -> dict[str, float | int | None]:
        """As a row of the metrics file, rounded to six places."""
        return {k: round(v, 6) if isinstance(v, float) else v for k, v in asdict(self).items()}


def evaluate(
    head: SpanHead, items: Sequence[Labelled], examples: Sequence[Example], target: Target, device: str
) -> Quality:
    """The figures of `head` on the windows `items` of `examples`; dropout is off meanwhile."""
    torch = library("torch")
    head.module.eval()
    order = sorted(items, key=lambda item: len(item.window.ids))
    total, best = 0.0, [BestSpan((0, 0), -np.inf) for _ in examples]
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            group = order[start : start + BATCH]
            batch = tensors(group, device)
            total += float(head.loss(batch)) * len(group)
            for item, prediction in zip(group, head.find(batch, group), strict=True):
                if prediction.margin > best[item.example].margin:
                    best[item.example] = prediction
    head.module.train()
    return quality(best, examples, target, total / len(items))


def quality(
    best: Sequence[BestSpan], examples: Sequence[Example], target: Target, loss: float, threshold: float = 0.0
) -> Quality:
    """The figures for the best span of each example."""
    yes = np.array([example.answerable for example in examples], bool)
    right = np.array(
        [
            any(prediction.span[0] < b and a < prediction.span[1] for a, b in example.targets(target))
            for prediction, example in zip(best, examples, strict=True)
        ],
        bool,
    )
    margins = np.array([prediction.margin for prediction in best])
    declined = margins <= threshold
    precision = _share(~yes[declined])
    recall = _share(declined[~yes])
    both = 2 * float((declined & ~yes).sum())
    counted = float(declined.sum() + (~yes).sum())
    return Quality(
        loss=loss,
        examples=len(examples),
        answerable=int(yes.sum()),
        threshold=threshold,
        best_is_gold=_share(right[yes]),
        evidence_hit=_share((right & ~declined)[yes]),
        decline_precision=precision,
        decline_recall=recall,
        decline_f1=both / counted if counted else None,
        auc=auc(np.nan_to_num(margins), yes),  # -inf where nothing was found
    )


def _share(hits: NDArray[np.bool_]) -> float | None:
    return float(hits.mean()) if len(hits) else None
