"""The state of a run on disk: written whole or not at all, so that an interrupted run can resume.

In the folder of a run: `run.json` (what the run is), `checkpoint.pt` (where it stands), `best.pt` (the weights
with the least held-out loss), `metrics.jsonl`.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from equipoise.core.errors import InputError
from equipoise_lab.evaluation.results import check_config
from equipoise_lab.training.extras import library

RUN, CHECKPOINT, BEST, METRICS = "run.json", "checkpoint.pt", "best.pt", "metrics.jsonl"


def claim(folder: Path, run: Mapping[str, Any]) -> None:
    """Make the folder that of `run`; raises InputError where it is another run's, naming what differs."""
    check_config(folder, run, RUN)


def save(folder: Path, name: str, state: Mapping[str, Any]) -> None:
    """Write a state of tensors and numbers to `name` in one step."""
    _whole(folder / name, lambda file: library("torch").save(dict(state), file))


def load(folder: Path, name: str, device: str) -> dict[str, Any] | None:
    """The state in `name`, None where there is none yet. Raises InputError for a file that cannot be used."""
    path = folder / name
    if not path.exists():
        return None
    try:
        state: dict[str, Any] = library("torch").load(path, map_location=device, weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError, LookupError, UnpicklingError) as error:
        raise InputError(f"{path} cannot be read ({error}): delete it to begin again") from None
    return state


def keep(folder: Path, device: str, place: Sequence[Any], **parts: Any) -> None:  # noqa: ANN401
    """Write where a run stands: `place`, the random numbers, and the state of each part."""
    torch = library("torch")
    random = [torch.get_rng_state(), *([torch.cuda.get_rng_state()] if device.startswith("cuda") else [])]
    states = {name: part.state_dict() for name, part in parts.items()}
    save(folder, CHECKPOINT, {"place": list(place), "random": random, **states})


def resume(folder: Path, device: str, **parts: Any) -> list[Any] | None:  # noqa: ANN401
    """Put the parts where `keep` saw them; the `place`, None where nothing was kept."""
    state = load(folder, CHECKPOINT, device)
    if state is None:
        return None
    for name, part in parts.items():
        part.load_state_dict(state[name])
    torch = library("torch")
    for kept, put in zip(state["random"], (torch.set_rng_state, torch.cuda.set_rng_state), strict=False):
        put(kept.cpu())
    place: list[Any] = state["place"]
    return place


class MetricsFile:
    """The metrics file: a line for each row, in the order of steps."""

    def __init__(self, folder: Path, step: int) -> None:
        """Keep the rows up to `step`, the last one that the checkpoint knows."""
        self.path = folder / METRICS
        self.rows = [row for row in read_metrics(self.path) if row["step"] <= step]
        text = "".join(_line(row) for row in self.rows)
        _whole(self.path, lambda file: file.write_text(text, "utf-8"))

    def add(self, row: dict[str, Any]) -> None:
        """Keep a row, also where the process is killed right after."""
        self.rows.append(row)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(row))


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The rows of a metrics file; a last line that was not finished is left out."""
    if not path.exists():
        return []
    text = path.read_text("utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row) + "\n"


def _whole(path: Path, write: Callable[[Path], object]) -> None:
    new = path.with_name(path.name + ".new")
    write(new)
    with new.open("rb") as file:
        os.fsync(file.fileno())
    new.replace(path)
