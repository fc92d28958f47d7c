"""Low-rank changes to the layers of a BERT (LoRA, Hu et al. 2021, arXiv 2106.09685)."""

from collections.abc import Sequence
from typing import Any

from equipoise_lab.training.extras import library

RANK, ALPHA = 8, 16.0
ADAPTED = ("query", "key", "value", "dense")


def adapt(bert: Any, layers: Sequence[int], share: float) -> Any:  # noqa: ANN401
    """Of a BertForSequenceClassification only low-rank changes in `layers`, pooler and classifier learn; its logits
    are made `share` of what they were, around 0."""
    torch = library("torch")
    bert.requires_grad_(False)
    for number in layers:
        for module in list(bert.bert.encoder.layer[number].modules()):
            for name, child in list(module.named_children()):
                if name in ADAPTED and isinstance(child, torch.nn.Linear):
                    setattr(module, name, _changed(torch, child))
    bert.bert.pooler.requires_grad_(True)
    bert.classifier.requires_grad_(True)
    with torch.no_grad():
        bert.classifier.weight *= share
        bert.classifier.bias.zero_()
    return bert


def _changed(torch: Any, linear: Any) -> Any:  # noqa: ANN401
    """x W + b + x A B scaled, as a module; A starts small, B at zero."""

    class Lora(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.linear = linear
            self.a = torch.nn.Parameter(torch.randn(linear.in_features, RANK) / linear.in_features**0.5)
            self.b = torch.nn.Parameter(torch.zeros(RANK, linear.out_features))

        def forward(self, x: Any) -> Any:  # noqa: ANN401
            return self.linear(x) + (x @ self.a) @ self.b * (ALPHA / RANK)

    return Lora()


def learnt(bert: Any) -> dict[str, Any]:  # noqa: ANN401
    """What learns, by name."""
    return {name: v.detach().cpu().contiguous() for name, v in bert.named_parameters() if v.requires_grad}
