"""Learns from documents by people what tells two authors apart: what `equipoise.maths.authorship` reads."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.authorship import AuthorModel, scaled
from equipoise.maths.checks import Floats, finite_matrix, same_length

DIMENSIONS = 20
FLAT = 1e-6
"""A value that spreads less is taken as it is: nobody learnt from had it."""
LEAST_BETWEEN = 1e-3
"""The least eigenvalue of B: sampling can make it negative."""


def learnt(styles: ArrayLike, writers: Sequence[str], *, dimensions: int = DIMENSIONS) -> AuthorModel:
    """The model from styles (n, f) of passages and who wrote each; only writers of two or more passages tell apart what
    is theirs and what is the passage's, and every writer counts by their passages.

    Raises ValueError where no two passages have the same writer, or all have.
    """
    rows = finite_matrix(styles, "styles")
    names = np.unique(np.asarray(writers), return_inverse=True)[1]
    same_length(rows, np.asarray(names, np.float64), "styles and writers")
    counts = np.bincount(names)
    if counts.max(initial=0) < 2 or len(counts) < 2:
        raise ValueError("two writers are needed, and one of them with two passages: give more documents")
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(spread > FLAT, spread, 1.0)
    values = scaled(rows, mean, scale)
    axes = _principal(values, min(dimensions, values.shape[1]))
    points = values @ axes
    within, total = _within(points, names, counts), np.atleast_2d(np.cov(points.T, bias=True))
    between = _positive(total - within)
    own, cross, constant = _form(between, within)
    return AuthorModel(mean, scale, axes, own, cross, constant)


def _principal(values: Floats, dimensions: int) -> Floats:
    """(f, d) directions of most variance; the largest entry of each is positive, so that runs agree."""
    axes = np.linalg.eigh(np.cov(values.T, bias=True))[1][:, ::-1][:, :dimensions]
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    return np.asarray(axes * np.sign(largest))


def _within(points: Floats, names: np.ndarray, counts: np.ndarray) -> Floats:
    """W: covariance of the passages around the mean of their writer, of writers with two or more."""
    means = np.zeros((len(counts), points.shape[1]))
    np.add.at(means, names, points)
    means /= counts[:, None]
    several = counts[names] > 1
    apart = (points - means[names])[several]
    free = several.sum() - (counts > 1).sum()
    return np.asarray(apart.T @ apart / free)


def _positive(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, LEAST_BETWEEN)) @ vectors.T)


def _form(between: Floats, within: Floats) -> tuple[Floats, Floats, float]:
    """Q, P and the constant. With T = B + W and S = (T - B T^-1 B)^-1: Q = (T^-1 - S) / 2, P = T^-1 B S / 2."""
    total = between + within
    inverse = np.linalg.inv(total)
    joint = np.linalg.inv(total - between @ inverse @ between)
    cross = inverse @ between @ joint / 2
    pair = np.block([[total, between], [between, total]])
    constant = (2 * np.linalg.slogdet(total)[1] - np.linalg.slogdet(pair)[1]) / 2
    return (inverse - joint) / 2, (cross + cross.T) / 2, float(constant)
