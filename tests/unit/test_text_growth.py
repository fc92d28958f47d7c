"""Every function over text takes time that grows linearly, whatever the text holds."""

import pytest

from growth import growth
from hostile_text import CASES

BOUND = 3.0  # linear is 2, quadratic 4


@pytest.mark.parametrize("name", CASES)
def test_time_grows_linearly(name):
    function, make = CASES[name]
    assert growth(function, make, bound=BOUND).ratio < BOUND


def test_quadratic_work_is_told_from_linear():
    def quadratic(text: str) -> int:
        return sum(text.count("b", 0, end) for end in range(0, len(text), 4))

    assert growth(quadratic, "a".__mul__, least=2_000, rounds=1, again=False).ratio > BOUND
    assert growth(str.upper, "a".__mul__, bound=BOUND).ratio < BOUND
