"""Every function over text takes time that grows linearly, whatever the text holds."""

from functools import partial

import pytest

import timing
from hostile_text import CASES
from timing import LINEAR, growth


@pytest.mark.parametrize("name", CASES)
def test_hostile_text_is_taken(name):
    function, make = CASES[name]
    function(make(1_000))


@pytest.mark.nightly
@pytest.mark.parametrize("name", CASES)
def test_time_grows_linearly(name):
    function, make = CASES[name]
    assert growth(lambda n: partial(function, make(n))).ratio < LINEAR


@pytest.mark.nightly
def test_quadratic_work_is_told_from_linear():
    def quadratic(text: str) -> int:
        return sum(text.count("b", 0, end) for end in range(0, len(text), 4))

    assert growth(lambda n: partial(quadratic, "a" * n), least=2_000, rounds=1, again=False).ratio > LINEAR
    assert growth(lambda n: ("a" * n).upper).ratio < LINEAR


@pytest.mark.parametrize(("power", "linear"), [(1, True), (2, False)])
def test_one_step_is_no_growth(monkeypatch, power, linear):
    def work_of(size):
        return lambda: (size / 32_000) ** power * (0.07 if size > 16_000 else 0.02)

    monkeypatch.setattr(timing, "seconds", lambda work, *, runs: work())
    assert (growth(work_of, least=16_000, most=16_000).ratio < LINEAR) is linear
