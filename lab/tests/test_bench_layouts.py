"""Tables as data, and the numbers that stand in them."""

from dataclasses import dataclass

import pytest

from equipoise_lab.bench import layouts
from equipoise_lab.bench.estimates import Estimator
from equipoise_lab.bench.layouts import Layout, as_json, filled, shown
from equipoise_lab.maths.rates import Estimate

HALF = Estimate(0.5, 0.25, 0.75, 4, hits=2)


@dataclass(frozen=True)
class Row:
    share: Estimate | None
    counts: dict[str, int]


def test_an_estimate_is_rounded_and_says_what_it_rests_on():
    rate = Estimator(0.95, seed=1, resamples=100).rate([True, False, None, True, False])
    assert (rate.value, rate.n, rate.unscored, rate.hits) == (0.5, 4, 1, 2)
    assert rate.as_json() == {"k": 2, "estimate": 0.5, "low": 0.067586, "high": 0.932414, "n": 4}
    third = Estimate.of(1 / 3, -0.0, 1, 3)
    assert third.as_json() == {"estimate": 0.333333, "low": 0.0, "high": 1.0, "n": 3}
    assert Estimate.read(HALF.as_json()) == HALF
    assert Estimator(0.95, seed=1, resamples=100).mean([None, None]) is None


@pytest.mark.parametrize(
    ("value", "how", "said"),
    [
        (HALF, "percent", "50% [25%, 75%]"),
        (HALF, "number+n", "0.50 [0.25, 0.75] n=4"),
        (HALF, "rate", "2/4 50% [25%, 75%]"),
        (HALF, "number", "0.50 [0.25, 0.75]"),
        (None, "percent", "–"),
        (HALF.as_json(), "percent", "50% [25%, 75%]"),
        (0, "", "0"),
        ({}, "", "–"),
        ({"a": 1, "b": 2}, "", "a: 1; b: 2"),
        ({"a": 1, "b": 2}, "listed", "a: 1, b: 2"),
    ],
)
def test_a_value_is_shown_as_its_cell_says(value, how, said):
    assert shown(value, how) == said


def test_a_path_leads_through_mappings_sequences_and_attributes_and_may_end_early():
    row = Row(HALF, {"look-alike": 3})
    assert (
        filled("{row.counts.look-alike} of {row.share.n}, {p.1:number}", row=row, p=[1, 2.0])
        == "3 of 4, 2.00"
    )
    assert filled("{row.share.n} {p.7:number} {row.counts.none}", row=Row(None, {}), p=[]) == "– – –"


def test_a_table_of_rows_by_name_leaves_out_what_has_nothing_to_show():
    section = {"by": {"one": Row(HALF, {}), "two": Row(None, {})}}
    layout = Layout(
        "T", "by", "{key}", ("", "share"), ("{row.share:number}",), needs=("share",), missing="None."
    )
    table = layouts.table(layout, section)
    assert [(line.label, line.cells) for line in table.lines] == [("one", ("0.50 [0.25, 0.75]",))]
    assert table.missing == ""
    assert layouts.table(layout, {"by": {}}).missing == "None."


def test_every_layout_of_the_package_can_be_read():
    for benchmark in ("bias", "hijack", "qa"):
        for layout in layouts.layouts(benchmark).values():
            assert layout.title
            assert not layout.published or layout.published in layouts.data(benchmark, "paper")


def test_numbers_as_json():
    assert as_json({"a": [HALF, None], "b": Row(None, {"x": 1})}) == {
        "a": [HALF.as_json(), None], "b": {"share": None, "counts": {"x": 1}},
    }  # fmt: skip
