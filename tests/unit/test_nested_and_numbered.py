"""Tables around tables keep their rows, and items of HTML and OpenDocument the numbers that a reader sees."""

import pytest

from blocks_of import document_of, outline
from office_files import odt


def texts(name, data):
    return [text for _, _, _, text in outline(name, data)]


ZONES = (
    "<table><tr><th>Zone</th><th>Week</th></tr><tr><td>Harbour</td><td>33</td></tr>"
    "<tr><td>River</td><td>22</td></tr></table>"
)
HOURS = "<table><tr><td>Hour</td><td>{}</td></tr><tr><td>Day</td><td>{}</td></tr></table>"


def test_tables_in_a_table_that_lays_out_a_page_are_tables():
    page = f"<table><tr><td>{ZONES}</td><td>{HOURS.format(5, 20)}</td></tr></table>"
    assert texts("a.html", page) == [
        "Zone | Week",
        "Zone: Harbour; Week: 33",
        "Zone: River; Week: 22",
        "Hour | 5",
        "Day | 20",
    ]


def test_rows_between_them_stay_rows():
    rows = "<tr><td>Ann Lee</td><td>Head of sales</td></tr><tr><td>Bob Ray</td><td>Master</td></tr>"
    page = f"<table>{rows}<tr><td colspan=2>{ZONES}</td></tr><tr><td>Open</td><td>9 to 12</td></tr></table>"
    found = outline("a.html", page)
    assert [text for _, _, _, text in found[:2]] == ["Ann Lee | Head of sales", "Bob Ray | Master"]
    assert found[-1][0] == "row"
    assert found[-1][3] == "Open | 9 to 12"
    layout = f"<table><tr><td>{'Long text. ' * 30}</td><td>Beside</td></tr><tr><td>{ZONES}</td></tr></table>"
    assert [kind for kind, _, _, text in outline("a.html", layout) if text == "Beside"] == ["paragraph"]


def test_a_table_in_a_cell_of_a_table_with_names_stands_in_its_row():
    rows = "".join(
        f"<tr><td>{name}</td><td>from {HOURS.format(*prices)} euros</td></tr>"
        for name, prices in (("Dinghy", (5, 20)), ("Canoe", (6, 25)))
    )
    page = f"<table><tr><th>Boat</th><th>Prices</th></tr>{rows}</table><p>After</p>"
    assert texts("a.html", page) == [
        "Boat | Prices",
        "Boat: Dinghy; Prices: from Hour | 5; Day | 20 euros",
        "Boat: Canoe; Prices: from Hour | 6; Day | 25 euros",
        "After",
    ]


@pytest.mark.parametrize(
    ("said", "first", "second"),
    [
        ("", "1. One", "2. Two"),
        ('start="3" type="a"', "c. One", "d. Two"),
        ('type="I"', "I. One", "II. Two"),
        ("reversed", "2. One", "1. Two"),
        ('style="list-style-type: lower-roman"', "i. One", "ii. Two"),
        ('style="list-style: none"', "- One", "- Two"),
        ('start="x"', "1. One", "2. Two"),
    ],
)
def test_items_of_html_have_their_numbers(said, first, second):
    assert texts("a.html", f"<ol {said}><li>One<li>Two</ol>") == [first, second]


def test_an_item_may_say_its_number_and_lists_in_lists_count_for_themselves():
    page = "<ol><li>One<ol type=a><li>In</ol><li value=9>Nine<li>Ten</ol><ul><li>Dot</ul>"
    assert texts("a.html", page) == ["1. One", "a. In", "9. Nine", "10. Ten", "- Dot"]


LEVEL = '<text:list-level-style-number text:level="{}" style:num-format="{}" {}/>'
STYLES = (
    '<text:list-style style:name="L1">'
    + LEVEL.format(1, "1", 'style:num-suffix="." text:start-value="3"')
    + LEVEL.format(2, "a", 'style:num-prefix="(" style:num-suffix=")"')
    + '</text:list-style><text:list-style style:name="L2">'
    + '<text:list-level-style-bullet text:level="1" text:bullet-char="x"/></text:list-style>'
)


def items(*texts, style="L1", more=""):
    inner = "".join(f"<text:list-item>{text}</text:list-item>" for text in texts)
    name = f'text:style-name="{style}"' if style else ""
    return f"<text:list {name} {more}>{inner}</text:list>"


def p(text):
    return f"<text:p>{text}</text:p>"


def test_items_of_opendocument_have_the_numbers_of_their_list():
    inner = items(p("in"), p("too"), style="")
    body = STYLES + items(p("one") + p("more"), p("two") + inner, p("three")) + p("Between.")
    goes_on = items(p("on"), more='text:continue-numbering="true"')
    anew = items(p("anew"))
    eight = f"<text:list-item text:start-value='8'>{p('eight')}</text:list-item>"
    said = f"<text:list text:style-name='L1'>{eight}"
    head = "<text:list-header><text:p>none</text:p></text:list-header></text:list>"
    bullets = items(p("dot"), style="L2")
    assert texts("a.odt", odt(body + goes_on + anew + said + head + bullets)) == [
        "3. one", "more", "4. two", "(a) in", "(b) too", "5. three", "Between.", "6. on", "3. anew", "8. eight", "none",
        "dot",
    ]  # fmt: skip


def test_headings_of_opendocument_have_the_numbers_of_the_outline():
    styles = "<text:outline-style>" + "".join(
        f'<text:outline-level-style text:level="{level}" style:num-format="1" text:display-levels="{level}"/>'
        for level in (1, 2)
    )
    heading = '<text:h text:outline-level="{}" {}>{}</text:h>'
    body = [
        (1, "", "Prices"),
        (2, "", "Boats"),
        (2, "", "Tents"),
        (1, "", "Hours"),
        (1, 'text:is-list-header="true"', "Annex"),
    ]
    data = odt("".join(heading.format(*row) for row in body), styles=styles + "</text:outline-style>")
    assert texts("a.odt", data) == ["1 Prices", "1.1 Boats", "1.2 Tents", "2 Hours", "Annex"]
    assert document_of("a.odt", data).title == "Prices"
