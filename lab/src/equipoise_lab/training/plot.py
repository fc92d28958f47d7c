"""The loss plot of a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equipoise_lab.training.extras import library

SMOOTH = 20
"""Updates in the running mean of the training loss."""


def loss_plot(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write training loss (running mean) and held-out loss by update to `path`, a PNG or SVG file."""
    figure = library("matplotlib.figure", "bench").Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    trained = [row for row in rows if "rate" in row]
    tested = [row for row in rows if "examples" in row]
    losses = np.array([row["loss"] for row in trained])
    means = [losses[max(0, end - SMOOTH) : end].mean() for end in range(1, len(losses) + 1)]
    axes.plot([row["step"] for row in trained], means, label=f"training (mean of {SMOOTH} updates)")
    axes.plot([row["step"] for row in tested], [row["loss"] for row in tested], marker="o", label="held out")
    axes.set(xlabel="update", ylabel="loss")
    axes.legend(frameon=False)
    figure.savefig(path)
