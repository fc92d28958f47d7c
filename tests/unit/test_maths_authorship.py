"""The author model of the package."""

import numpy as np

from equipoise.maths.coordinated import AuthorModel
from equipoise.rag.coordinated import shipped_author_model


def test_the_shipped_model_is_whole():
    model = shipped_author_model()
    assert isinstance(model, AuthorModel)
    assert model.axes.shape == (23, 20)
    assert np.allclose(model.own, model.own.T)
    assert np.allclose(model.cross, model.cross.T)
    assert (model.scale > 0).all()


def test_a_worked_ratio():
    """One value a passage, mean 0, scale 1: x'Qx + y'Qy + 2x'Py + constant, and no value counts for more than CLIP."""
    one = np.eye(1)
    model = AuthorModel(np.zeros(1), np.ones(1), one, -0.5 * one, 0.5 * one, 0.25)
    assert model.ratios([[1.0], [2.0]])[0, 1] == -0.5 - 2.0 + 2.0 + 0.25
    assert model.ratios([[1.0], [1e9]])[0, 1] == model.ratios([[1.0], [3.0]])[0, 1]
