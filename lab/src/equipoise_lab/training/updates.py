"""The updates of a run, from where it stands: what all trainings of cross-encoders have in common."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from equipoise_lab.training import checkpoints
from equipoise_lab.training.extras import library
from equipoise_lab.training.loop import Report, rate_share


class Updates:
    """Counts the updates of the run in `out`, and keeps its `parts` (a module, an optimizer) every so many of them."""

    def __init__(self, out: Path, device: str, every: int, **parts: Any) -> None:  # noqa: ANN401
        """Take up the run where it stands."""
        self.out, self.device, self.every, self.parts = out, device, every, parts
        place = checkpoints.resume(out, device, **parts)
        self.step: int = place[0] if place else 0
        self.metrics = checkpoints.MetricsFile(out, self.step)

    def follow(
        self,
        batches: Sequence[list[int]],
        update: Callable[[list[int], float], float],
        warmup: float,
        report: Report,
    ) -> None:
        """All updates that are left: `update` takes a batch and the share of the learning rate, and gives the loss."""
        for batch in batches[self.step :]:
            loss = update(batch, rate_share(self.step + 1, len(batches), warmup))
            self.step += 1
            self.metrics.add({"step": self.step, "loss": round(loss, 4)})
            report(self.step, len(batches), f"loss {loss:.2f}")
            if self.step == len(batches) or self.step % self.every == 0:
                checkpoints.keep(self.out, self.device, [self.step], **self.parts)


def padded(pairs: Sequence[Any], device: str) -> dict[str, Any]:
    """Encoded pairs as the tensors that a BERT takes."""
    torch = library("torch")
    ids, types, mask = torch.zeros((3, len(pairs), max(len(pair.ids) for pair in pairs)), dtype=torch.long)
    for row, pair in enumerate(pairs):
        ids[row, : len(pair.ids)] = torch.tensor(pair.ids)
        types[row, : len(pair.ids)] = torch.tensor(pair.type_ids)
        mask[row, : len(pair.ids)] = 1
    return {
        k: v.to(device) for k, v in (("input_ids", ids), ("token_type_ids", types), ("attention_mask", mask))
    }
