"""`equipoise train`: fine-tune a highlighter."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from equipoise.apps import progress
from equipoise.apps.options import PathOption, group
from equipoise.apps.terminal import Terminal
from equipoise_lab.training.decision import DecisionPlan, train_decision
from equipoise_lab.training.examples import Target
from equipoise_lab.training.loop import Precision, Schedule
from equipoise_lab.training.ranking import COPIED, RankingPlan, distil
from equipoise_lab.training.reader import ReaderPlan, train_reader
from equipoise_lab.training.run import TrainingPlan, device_of, train

P = TypeVar("P", TrainingPlan, Schedule, ReaderPlan, RankingPlan, DecisionPlan)

app = group("Train models of your own (needs the extras hf and bench).")

Option = typer.Option
DataOption = Annotated[list[Path], PathOption(help="Examples as JSON Lines; can be given more than once.")]
BaseOption = Annotated[str, Option(help="An encoder: a name on Hugging Face or a folder.")]
TargetOption = Annotated[Target, Option(help="Find the gold passage, or the short answer.")]
OutOption = Annotated[
    Path, PathOption(help="The folder of the run; the same command with the same folder resumes.")
]
HeldOutDataOption = Annotated[list[Path] | None, PathOption(help="Held-out examples for early stopping.")]
HeldOutOption = Annotated[
    float, Option(min=0.01, max=0.9, help="Else: the share of documents held out for early stopping.")
]
ForeignOption = Annotated[
    float, Option(min=0, max=1, help="Share of questions also asked of another document's text.")
]
BatchOption = Annotated[int, Option(min=1, max=4096, help="Windows in a batch.")]
AccumulateOption = Annotated[int, Option(min=1, max=4096, help="Batches in one update.")]
RateOption = Annotated[float, Option(min=1e-8, max=1)]
LengthOption = Annotated[int, Option(min=16, max=8192, help="Tokens of a window.")]
FreezeOption = Annotated[int, Option(min=0, help="How many of the lowest layers stay as they are.")]
DropoutOption = Annotated[float | None, Option(min=0, max=0.9, help="Dropout rate. Default: the base's own.")]
PrecisionOption = Annotated[Precision, Option(help="auto: bf16 or fp16 on a GPU.")]
EvaluateOption = Annotated[int, Option(min=1, help="Updates between evaluations.")]
CheckpointOption = Annotated[int, Option(min=1, help="Updates between checkpoints.")]
PatienceOption = Annotated[int, Option(min=1, help="Stop after so many evaluations without a better one.")]
DeviceOption = Annotated[Literal["auto", "cpu", "cuda"], Option(help="auto: the GPU where there is one.")]


@app.command()
def highlighter(
    data: DataOption,
    base: BaseOption,
    target: TargetOption = "passage",
    out: OutOption = Path("highlighter"),
    held_out_data: HeldOutDataOption = None,
    held_out: HeldOutOption = 0.1,
    foreign: ForeignOption = 0.2,
    epochs: Annotated[int, Option(min=1, max=10_000)] = 3,
    batch: BatchOption = 16,
    accumulate: AccumulateOption = 1,
    learning_rate: RateOption = 5e-5,
    max_tokens: LengthOption = 384,
    freeze: FreezeOption = 0,
    dropout: DropoutOption = None,
    precision: PrecisionOption = "auto",
    evaluate_every: EvaluateOption = 50,
    checkpoint_every: CheckpointOption = 50,
    patience: PatienceOption = 3,
    device: DeviceOption = "auto",
    seed: int = Schedule().seed,
) -> None:
    """Fine-tune on gold passages, as the H&S paper does on RepliQA 0 to 2. An interrupted run resumes when repeated."""
    given = locals() | {"data": tuple(data), "held_out_data": tuple(held_out_data or ())}
    plan, schedule = _made(TrainingPlan, given), _made(Schedule, given)
    with progress.counted() as report:
        done = train(plan, schedule, report)
    shown = {name: done.best[name] for name in ("step", "loss", "evidence_hit", "decline_f1", "auc")}
    figures = ", ".join(f"{name} {'-' if value is None else f'{value:g}'}" for name, value in shown.items())
    Terminal().print(f"{done.model}: {done.updates} updates in {done.seconds:.0f} s; held out: {figures}")


@app.command()
def reader(
    data: Annotated[
        list[Path], PathOption(help="A folder of questions and passages; the first one weighs most.")
    ],
    base: Annotated[Path, PathOption(help="Published weights: scripts/build_crossencoder.py --floats.")],
    start: Annotated[Path | None, PathOption(help="Trained weights to start from.")] = None,
    start_share: Annotated[
        float, Option(min=0, max=1, help="Share of --start in the initial weights; the rest is --base.")
    ] = 0.7,
    start_kept: Annotated[
        float, Option(min=0, max=1, help="Share of --start in the weights that are written.")
    ] = 0.5,
    out: OutOption = Path("reader"),
    others: Annotated[
        float, Option(min=0, help="Questions of each further folder, as a share of the first folder's.")
    ] = 0.5,
    groups: Annotated[int, Option(min=0, help="Questions in total; 0: all.")] = 0,
    epochs: Annotated[int, Option(min=1, max=1000)] = 1,
    batch: Annotated[int, Option(min=1, max=4096, help="Questions in a batch.")] = 8,
    learning_rate: RateOption = 3e-5,
    max_tokens: LengthOption = 160,
    freeze: FreezeOption = 6,
    precision: PrecisionOption = "auto",
    device: DeviceOption = "auto",
    seed: int = 3,
) -> None:
    """Train the cross-encoder that reads. An interrupted run resumes when repeated."""
    plan = _made(ReaderPlan, locals() | {"data": tuple(data), "device": device_of(device)})
    with progress.counted() as report:
        folder = train_reader(plan, report)
    Terminal().print(f"{folder}: mix it with the base by scripts/build_crossencoder.py --from {folder}")


@app.command()
def ranking(
    data: Annotated[list[Path], PathOption(help="Folders of questions and passages, as for a reader.")],
    teacher: Annotated[Path, PathOption(help="scripts/build_adapted.py --floats TEACHER.")],
    out: OutOption = Path("ranking"),
    kept: Annotated[int, Option(min=1, help="How many of the lowest layers stay as they are.")] = 6,
    copied: Annotated[
        list[int] | None,
        Option(min=1, help="Layers, from 0, that the trained ones start as copies of (6 and 8)."),
    ] = None,
    questions: Annotated[int, Option(min=1, help="Questions of each folder.")] = 2000,
    epochs: Annotated[int, Option(min=1, max=1000)] = 1,
    learning_rate: RateOption = 1.5e-4,
    precision: PrecisionOption = "auto",
    device: DeviceOption = "auto",
    seed: int = 51,
) -> None:
    """Distil the reader into a model of fewer layers that ranks passages. An interrupted run resumes when repeated."""
    given = locals() | {"data": tuple(data), "copied": tuple(copied or COPIED), "device": device_of(device)}
    with progress.counted() as report:
        folder = distil(_made(RankingPlan, given), report)
    Terminal().print(f"{folder}: build it with scripts/build_adapted.py ranking {folder}")


@app.command()
def decision(
    data: Annotated[list[Path], PathOption(help="Folders of questions and passages, as for a reader.")],
    base: Annotated[Path, PathOption(help="scripts/build_adapted.py --floats BASE.")],
    out: OutOption = Path("decision"),
    questions: Annotated[int, Option(min=1, help="Questions of each folder.")] = 4000,
    layers: Annotated[int, Option(min=0, help="How many of the highest layers are changed.")] = 4,
    epochs: Annotated[int, Option(min=1, max=1000)] = 2,
    batch: Annotated[int, Option(min=1, max=4096, help="Texts in a batch.")] = 16,
    learning_rate: RateOption = 5e-4,
    precision: PrecisionOption = "auto",
    device: DeviceOption = "auto",
    seed: int = 61,
) -> None:
    """Train what decides whether the best windows answer. An interrupted run resumes when repeated."""
    given = locals() | {"data": tuple(data), "device": device_of(device)}
    with progress.counted() as report:
        file = train_decision(_made(DecisionPlan, given), report)
    Terminal().print(f"{file}: build it with scripts/build_adapted.py decision {file}")


def _made(plan: type[P], given: Mapping[str, Any]) -> P:
    """A plan of the options that have the names of its fields."""
    return plan(**{field.name: given[field.name] for field in fields(plan) if field.name in given})
