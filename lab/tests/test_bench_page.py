"""The frame of reports: escaping, what is missing, and figures with the same bytes for the same numbers."""

import pytest

from equipoise_lab.bench import drawing, page
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.page import Figure
from equipoise_lab.bench.tables import Line, Table, as_markdown, interval, percent

HOSTILE = "<b>a | b</b>\nc"


def test_markdown_cells_stay_in_their_row():
    text = as_markdown(
        Table("T", ("", "x"), (Line("one", (HOSTILE,)), Line("two", ("1",), paper=True)), "Note.")
    )
    assert text.splitlines() == [
        "### T", "", "|  | x |", "|---|---|", "| one | &lt;b>a \\| b&lt;/b> c |", "| *two, paper* | *1* |", "", "Note.",
    ]  # fmt: skip


def test_html_escapes_every_text():
    table = Table(HOSTILE, ("", HOSTILE), (Line(HOSTILE, (HOSTILE,)),), HOSTILE, HOSTILE)
    parts = [
        page.table(table),
        page.paragraph(HOSTILE),
        page.definitions({HOSTILE: HOSTILE}),
        page.figure(Figure("x' onerror='y", HOSTILE, None, HOSTILE)),
        page.figure(Figure("x' onerror='y", HOSTILE, "<svg/>", "")),
    ]
    html = page.page(HOSTILE, HOSTILE, parts)
    assert "<b>" not in html
    assert "' onerror" not in html
    assert html.count("&lt;b&gt;") == 14


def test_an_interval_that_is_not_there_is_a_dash():
    assert interval(None) == "–"
    assert interval(Estimate(0.5, 0.25, 0.75, 4), percent) == "50% [25%, 75%]"


def test_a_figure_has_the_same_bytes_for_the_same_numbers():
    pytest.importorskip("matplotlib")
    first, second = (drawing.svg(lambda axes: axes.bar(["a", "b"], [1, 2])) for _ in range(2))
    assert first == second
    assert first.startswith("<?xml")
    assert first != drawing.svg(lambda axes: axes.bar(["a", "b"], [2, 1]))
