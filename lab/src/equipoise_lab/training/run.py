"""A whole training run: from files of examples to a folder that a highlighter can load."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from equipoise.core.errors import InputError
from equipoise_lab.training import checkpoints, extras, heads
from equipoise_lab.training.batches import Labelled, labelled
from equipoise_lab.training.evaluation import Quality, evaluate
from equipoise_lab.training.examples import Example, Target, fingerprint, foreign, held_out, read_examples
from equipoise_lab.training.extras import library
from equipoise_lab.training.loop import Loop, Report, Schedule
from equipoise_lab.training.plot import loss_plot

MODEL, SUMMARY, PLOT = "model", "metrics.json", "loss.png"


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """What to train on what. `foreign` is the share of answerable examples that are also shown with a text of
    another document, as not answerable; `held_out` a share of the documents, or `held_out_data` files."""

    data: tuple[Path, ...]
    base: str
    out: Path
    target: Target = "passage"
    held_out_data: tuple[Path, ...] = ()
    held_out: float = 0.1
    foreign: float = 0.0
    freeze: int = 0
    dropout: float | None = None
    max_tokens: int = 384
    device: str = "auto"


@dataclass(frozen=True, slots=True)
class Trained:
    """What came out: the model's folder, the figures of the best step, whether this call did any update."""

    model: Path
    best: dict[str, Any]
    updates: int
    seconds: float


def train(plan: TrainingPlan, schedule: Schedule, report: Report = lambda done, total, what: None) -> Trained:
    """Train, or resume the run in `plan.out`; the same arguments give the same run.

    Leaves `model/` (for `extractive_qa`), `metrics.jsonl`, `metrics.json` and
    `loss.png` in `plan.out`. Raises MissingExtra, InputError for data or options that cannot be used or a
    folder with another run in it, and ModelUnavailable where the base cannot be loaded.
    """
    extras.require()
    begin = perf_counter()
    torch = library("torch")
    train_on, test_on = _examples(plan, schedule.seed)
    checkpoints.claim(plan.out, _identity(plan, schedule))
    torch.manual_seed(schedule.seed)  # the new layers of a head are drawn at random
    head, tokenizer = heads.SpanHead(plan.base), heads.tokenizer_of(plan.base)
    most = getattr(head.encoder.config, "max_position_embeddings", None) or plan.max_tokens
    if plan.max_tokens > most:
        raise InputError(f"--max-tokens {plan.max_tokens} is too long: this model has {most} positions")
    heads.freeze(head, plan.freeze)
    if plan.dropout is not None:
        heads.set_dropout(head, plan.dropout)
    device = device_of(plan.device)
    head.module.to(device)
    items, tests = (
        labelled(part, tokenizer.backend_tokenizer, plan.target, plan.max_tokens)
        for part in (train_on, test_on)
    )

    def measure() -> Quality:
        return evaluate(head, tests, test_on, plan.target, device)

    loop = Loop(head, items, measure, plan.out, schedule=schedule, device=device)
    already = loop.state.step
    loop.fit(report)
    head.save(plan.out / MODEL)
    tokenizer.save_pretrained(plan.out / MODEL)
    best = _finish(plan, loop, items, tests)
    return Trained(plan.out / MODEL, best, loop.state.step - already, perf_counter() - begin)


def _examples(plan: TrainingPlan, seed: int) -> tuple[list[Example], list[Example]]:
    """(train, held out), by document, each with its own foreign pairs."""
    examples = read_examples(plan.data)
    if plan.held_out_data:
        parts = examples, read_examples(plan.held_out_data)
        if shared := {e.document for e in parts[0]} & {e.document for e in parts[1]}:
            raise InputError(
                f"{len(shared)} documents are in --data and in --held-out-data: take them out of one"
            )
    else:
        parts = held_out(examples, plan.held_out, seed)
    train_on, test_on = ([*part, *foreign(part, plan.foreign, seed)] for part in parts)
    if not train_on or not test_on:
        raise InputError("the data holds no examples to train on, or none to hold out: add rows")
    return train_on, test_on


def _identity(plan: TrainingPlan, schedule: Schedule) -> dict[str, Any]:
    """What makes a run the same run: options and the content of the data, not where it lies."""
    options = asdict(plan) | asdict(schedule)
    for name in ("out", "data", "held_out_data"):
        del options[name]
    base = Path(plan.base)
    options["base"] = base.name if base.is_dir() else plan.base
    for name, paths in (("data", plan.data), ("held_out_data", plan.held_out_data)):
        options[name] = [fingerprint(path) for path in paths]
    return options


def device_of(wanted: str) -> str:
    """The device that "auto" means here; raises InputError for a GPU that is not here."""
    here = library("torch").cuda.is_available()
    if wanted == "cuda" and not here:
        raise InputError("--device cuda: torch sees no GPU here; say cpu or auto, or install torch for CUDA")
    return ("cuda" if here else "cpu") if wanted == "auto" else wanted


def _finish(
    plan: TrainingPlan, loop: Loop, items: Sequence[Labelled], tests: Sequence[Labelled]
) -> dict[str, Any]:
    """Write the summary and the plot; the figures of the best step."""
    rows = loop.metrics.rows
    tested = [row for row in rows if "examples" in row]
    best = min(tested, key=lambda row: row["loss"])
    summary = {
        "run": json.loads((plan.out / checkpoints.RUN).read_text("utf-8")),
        "device": loop.device,
        "precision": loop.precision,
        "windows": len(items),
        "held_out_windows": len(tests),
        "updates": loop.state.step,
        "stopped_early": loop.state.over and loop.state.step < loop.total,
        "best": best,
    }
    (plan.out / SUMMARY).write_text(json.dumps(summary, indent=1) + "\n", "utf-8")
    loss_plot(rows, plan.out / PLOT)
    return best
