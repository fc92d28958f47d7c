"""Figures as SVG: places by hand, the same bytes, and what those get who do not see them or look in the dark."""

import re
from xml.etree import ElementTree as ET

from equipoise_lab.bench import charts, page
from equipoise_lab.bench.charts import Chart, Dots, Entry, Frame, Line, Panel, Rule, Whiskers, names, scale
from equipoise_lab.bench.page import Figure

X, Y = scale("planted", 0.0, 10.0, 5.0), scale("share", 0.0, 1.0, 0.5)
FRAME = Frame(100, 50, 200, 80, X, Y)
SVG = "{http://www.w3.org/2000/svg}"


def chart(title="Shares", text="A fell from 1 to 0.", label="A", name="shares"):
    marks = (
        Line([(0, 1), (10, 0)], 1),
        Dots([(5, 0.5)], 1),
        Whiskers([(5, 0.25, 0.75)], 1),
        Rule(0.7),
        Rule(5, upright=True),
    )
    return Chart(name, title, text, (Panel("", X, Y, marks), Panel("right", X, Y, marks)), (Entry(label, 1),))


def test_places_by_hand():
    assert (FRAME.x(0), FRAME.x(5), FRAME.x(10)) == ("100", "200", "300")
    assert (FRAME.y(0), FRAME.y(0.5), FRAME.y(1)) == ("130", "90", "50")


def test_marks_by_hand():
    assert 'd="M100 50L300 130"' in Line([(0, 1), (10, 0)], 0).svg(FRAME)
    assert 'd="M100 130H200V90H300V50"' in Line([(0, 0), (5, 0.5), (10, 1)], 0, steps=True).svg(FRAME)
    assert 'd="M200 90h0M300 50h0"' in Dots([(5, 0.5), (10, 1)], 0).svg(FRAME)
    assert 'd="M200 110V70"' in Whiskers([(5, 0.25, 0.75)], 0).svg(FRAME)
    assert 'd="M100 90H300"' in Whiskers([(0.5, 0, 10)], 0, across=True).svg(FRAME)
    assert 'd="M100 50h200"' in Rule(1.0).svg(FRAME)
    assert 'd="M200 50v80"' in Rule(5, upright=True).svg(FRAME)


def test_ticks_by_hand():
    assert [word for _, word in scale("", -0.2, 0.2, 0.1).ticks] == ["-0.2", "-0.1", "0", "0.1", "0.2"]
    assert [value for value, _ in scale("", 0.0, 10.0, 5.0).ticks] == [0.0, 5.0, 10.0]
    assert names("", ["a", "b"]).ticks == ((0.0, "a"), (1.0, "b"))


def test_the_same_numbers_give_the_same_bytes_and_others_do_not():
    assert charts.svg(chart()) == charts.svg(chart())
    assert charts.svg(chart()) != charts.svg(chart(title="Others"))


def test_it_is_well_formed_and_says_what_it_shows():
    root = ET.fromstring(charts.svg(chart()))
    assert root.get("role") == "img"
    labels = root.get("aria-labelledby").split()
    said = {node.get("id"): node.text for node in root if node.get("id")}
    assert [said[label] for label in labels] == ["Shares", "A fell from 1 to 0."]


def test_texts_are_escaped():
    hostile = "<script>a & 'b\"</script>"
    drawn = charts.svg(chart(hostile, hostile, hostile, name='x" onload="y'))
    root = ET.fromstring(drawn)
    assert "<script" not in drawn
    assert root.get("onload") is None
    assert root.find(f"{SVG}title").text == hostile


def test_it_needs_nothing_else_and_holds_no_date():
    drawn = charts.svg(chart())
    assert re.findall(r"https?://[^\"]*", drawn) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"@import|url\(|<image|<script|\b20\d\d\b(?!/svg)", drawn)


def test_every_colour_has_one_for_the_dark_and_can_be_told_from_its_ground():
    assert len(charts.LIGHT) == len(charts.DARK) == len(charts.DASHES) == len(set(charts.DASHES))
    assert all(contrast(colour, "#ffffff") >= 4.5 for colour in charts.LIGHT)
    assert all(contrast(colour, "#16181d") >= 4.5 for colour in charts.DARK)
    style = ET.fromstring(charts.svg(chart())).find(f"{SVG}style").text
    light, _, dark = style.partition("@media(prefers-color-scheme:dark)")
    for number, (day, night) in enumerate(zip(charts.LIGHT, charts.DARK, strict=True)):
        assert f".q-s{number}{{stroke:{day}}}" in light
        assert f".q-s{number}{{stroke:{night}}}" in dark


def contrast(one, other):
    """The ratio of WCAG 2 between two colours."""

    def light(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_a_long_key_is_broken_into_rows_inside_the_drawing():
    entries = tuple(Entry("a name of some length", number) for number in range(9))
    drawn = charts.svg(Chart("n", "t", "d", (Panel("", X, Y, ()),), entries))
    root = ET.fromstring(drawn)
    wide, high = (float(root.get(name)) for name in ("width", "height"))
    for node in root.iter(f"{SVG}text"):
        assert 0 <= float(node.get("x")) <= wide
        assert 0 <= float(node.get("y")) <= high


def test_a_figure_stands_in_the_page_itself():
    found = page.figure(Figure("shares", "Shares.", charts.svg(chart()), "", inline=True))
    assert "<img" not in found
    assert "xmlns" not in found
    assert '<title id="shares-title">Shares</title>' in found
