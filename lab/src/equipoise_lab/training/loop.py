"""The training loop: AdamW, linear warm-up and decay, mixed precision, accumulation, resume, early stopping."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import astuple, dataclass
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any, Literal

from equipoise_lab.training import checkpoints
from equipoise_lab.training.batches import Labelled, epoch, tensors
from equipoise_lab.training.checkpoints import BEST, MetricsFile
from equipoise_lab.training.evaluation import Quality
from equipoise_lab.training.extras import library
from equipoise_lab.training.heads import SpanHead

Precision = Literal["auto", "fp32", "bf16", "fp16"]
Report = Callable[[int, int, str], None]
"""(updates done, updates in all, what to say)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How to train. An update sees `batch * accumulate` windows; `warmup` is a share of all updates.

    Learning rate, decay and clipping are those of Devlin et al. 2019 (appendix A.2 and A.3).
    """

    epochs: int = 3
    batch: int = 16
    accumulate: int = 1
    learning_rate: float = 5e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    precision: Precision = "auto"
    evaluate_every: int = 50
    checkpoint_every: int = 50
    patience: int = 3
    seed: int = 20261121


@dataclass(slots=True)
class LoopState:
    """Where a run stands: updates done, the least held-out loss, evaluations since, whether it is over."""

    step: int = 0
    best: float = float("inf")
    since: int = 0
    over: bool = False


class Loop:
    """One run in one folder. `fit` resumes from the last checkpoint there."""

    def __init__(
        self,
        head: SpanHead,
        items: Sequence[Labelled],
        evaluate: Callable[[], Quality],
        folder: Path,
        *,
        schedule: Schedule,
        device: str,
    ) -> None:
        self.torch = library("torch")
        self.head, self.items, self.evaluate = head, items, evaluate
        self.folder, self.schedule, self.device = folder, schedule, device
        self.per_epoch = ceil(ceil(len(items) / schedule.batch) / schedule.accumulate)
        self.total = self.per_epoch * schedule.epochs
        self.precision = chosen_precision(schedule.precision, device)
        self.optimizer = _optimizer(head, schedule)
        self.scaler = self.torch.amp.GradScaler(device, enabled=self.precision == "fp16")
        self.torch.manual_seed(schedule.seed)
        self.state = LoopState(*(checkpoints.resume(folder, device, **self._parts()) or ()))
        self.metrics = MetricsFile(folder, self.state.step)

    def fit(self, report: Report) -> None:
        """Train to the last epoch, or until `patience` evaluations brought no lower held-out loss.

        Ends with the weights of the least held-out loss in the head.
        """
        self.head.module.train()
        for batches in self._updates():
            self.state.step += 1
            loss = self._update(batches)
            self.metrics.add({"step": self.state.step, "loss": round(loss, 6), "rate": self._rate()})
            report(self.state.step, self.total, f"loss {loss:.3f}, held out {self.state.best:.3f}")
            last = self.state.step == self.total
            if last or self.state.step % self.schedule.evaluate_every == 0:
                self._evaluate()
            if last or self.state.over or self.state.step % self.schedule.checkpoint_every == 0:
                checkpoints.keep(self.folder, self.device, astuple(self.state), **self._parts())
            if self.state.over:
                break
        best = checkpoints.load(self.folder, BEST, self.device)
        if best is not None:
            self.head.module.load_state_dict(best["module"])
        self.head.module.eval()

    def _updates(self) -> Iterator[list[list[Labelled]]]:
        """The micro-batches of every update that is still to do."""
        if self.state.over:
            return
        first, skipped = divmod(self.state.step, self.per_epoch)
        for number in range(first, self.schedule.epochs):
            batches = epoch(self.items, self.schedule.batch, seed=self.schedule.seed, number=number)
            groups = iter(lambda: list(islice(batches, self.schedule.accumulate)), [])  # noqa: B023
            yield from islice(groups, skipped if number == first else 0, None)

    def _update(self, batches: Sequence[Sequence[Labelled]]) -> float:
        """One step of the optimizer; the mean loss before it."""
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate()
        windows, total = sum(map(len, batches)), 0.0
        for items in batches:
            with self._autocast():
                loss = self.head.loss(tensors(items, self.device)) * (len(items) / windows)
            self.scaler.scale(loss).backward()
            total += float(loss.detach())
        self.scaler.unscale_(self.optimizer)
        self.torch.nn.utils.clip_grad_norm_(self.head.module.parameters(), self.schedule.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        return total

    def _rate(self) -> float:
        """The learning rate of update `step`: up to the full one in the warm-up, then down to 0."""
        return self.schedule.learning_rate * rate_share(self.state.step, self.total, self.schedule.warmup)

    def _autocast(self) -> Any:  # noqa: ANN401
        if self.precision == "fp32":
            return nullcontext()
        kind = self.torch.bfloat16 if self.precision == "bf16" else self.torch.float16
        return self.torch.autocast(self.device.split(":")[0], dtype=kind)

    def _evaluate(self) -> None:
        with self._autocast():
            quality = self.evaluate()
        self.metrics.add({"step": self.state.step, **quality.row()})
        if quality.loss < self.state.best:
            self.state.best, self.state.since = quality.loss, 0
            checkpoints.save(self.folder, BEST, {"module": self.head.module.state_dict()})
        else:
            self.state.since += 1
        self.state.over = self.state.since >= self.schedule.patience

    def _parts(self) -> dict[str, Any]:
        return {"module": self.head.module, "optimizer": self.optimizer, "scaler": self.scaler}


def rate_share(step: int, total: int, warmup: float) -> float:
    """The share of the full learning rate at update `step` of 1 to `total`, 0 to 1.

    With 10 updates and a warm-up of 0.2: 0.5, 1, then 8/9, 7/9 and so on to 1/9.
    """
    rising = ceil(total * warmup)
    return step / rising if step <= rising else (total - step + 1) / (total - rising + 1)


def chosen_precision(wanted: Precision, device: str) -> str:
    """What "auto" means: bf16 or fp16 on a GPU, whichever it can, fp32 elsewhere."""
    if wanted != "auto":
        return wanted
    if not device.startswith("cuda"):
        return "fp32"
    return "bf16" if library("torch").cuda.is_bf16_supported() else "fp16"


def _optimizer(head: SpanHead, schedule: Schedule) -> Any:  # noqa: ANN401
    """AdamW; biases and normalisations do not decay."""
    named = [(name, p) for name, p in head.module.named_parameters() if p.requires_grad]
    decaying = [p for _, p in named if p.ndim > 1]
    others = [p for _, p in named if p.ndim <= 1]
    groups = [
        {"params": decaying, "weight_decay": schedule.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return library("torch").optim.AdamW(groups, lr=schedule.learning_rate)
