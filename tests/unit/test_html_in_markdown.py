"""HTML in Markdown and in the cells of notebooks is read as HTML is; code stays as it is."""

import json

import pytest

from blocks_of import check, document_of, outline
from timing import seconds

TABLE = """<table>
<tr><th>Zone</th><th>Week</th></tr>

<tr><td>Harbour</td><td>33 <del>30</del> &euro;</td></tr>
<tr><td>River</td><td>22 &euro;</td></tr>
</table>
"""


def test_a_table_is_a_table_below_what_announces_it_and_lines_are_those_of_the_file():
    found = document_of("a.md", f"# Prices\n\nThe prices are:\n{TABLE}\nAfter it.\n\n- an item\n")
    check(found)
    lines = [(found.text[b.start : b.end], b.line, b.intro) for b in found.blocks]
    assert lines == [
        ("# Prices", 1, -1),
        ("The prices are:", 3, -1),
        ("Zone | Week", 4, 1),
        ("Zone: Harbour; Week: 33 €", 4, 1),
        ("Zone: River; Week: 22 €", 4, 1),
        ("After it.", 11, -1),
        ("- an item", 13, -1),
    ]
    assert found.hidden == 2


def test_lists_are_lists_and_preformatted_text_is_code():
    text = "Text\n\n<ol start=4>\n<li>Four</li>\n<li>Five</li>\n</ol>\n\n<pre>\nx = 1\n  y\n</pre>\n"
    assert [(kind, said) for kind, _, _, said in outline("a.md", text)] == [
        ("paragraph", "Text"), ("item", "4. Four"), ("item", "5. Five"), ("code", "x = 1\n  y"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("10<sup>6</sup> cells and m<sup>2</sup> of H<sub>2</sub>O", "10^6 cells and m² of H2O"),
        ('40 euros<sup><a href="#n">1</a></sup> a day', "40 euros¹ a day"),
        ("A &amp; B &lt; C, 5&nbsp;m, &#8364;", "A & B < C, 5 m, €"),
        ("one<br>two<br/>\nthree", "one \ntwo\nthree"),
        ("<b>bold</b> and <kbd>Ctrl</kbd> and <code>ls</code>", "bold and Ctrl and `ls`"),
        ("is <del>40</del> 45", "is               45"),
        ('see <img src="x" alt="a map of the harbour"> here', "see  [a map of the harbour]  here"),
        ("`<b>&amp;</b>` stays", "`<b>&amp;</b>` stays"),
        (
            "cp <file> <dir> stays, <https://x.example/?a=1>",
            "cp <file> <dir> stays, <https://x.example/?a=1>",
        ),
        ("<div>Wrapped</div>text", "Wrapped text"),
    ],
)
def test_tags_and_references_in_a_line(source, shown):
    (block,) = document_of("a.md", source).blocks
    assert document_of("a.md", source).text[block.start : block.end] == shown


def test_tags_in_cells_keep_the_columns():
    text = "| a | b |\n|---|---|\n| x<br>y | 10<sup>3</sup> |\n| p &#124; q | 4 |\n"
    assert [said for _, _, _, said in outline("a.md", text)[1:]] == ["a: x y; b: 10^3", "a: p | q; b: 4"]


def test_what_has_markdown_in_it_is_markdown():
    text = (
        "<ul>\n\n- **an** item\n\n</ul>\n\n<table><tr><td>\n\n```js\nlet a = 1;\n```\n\n</td></tr></table>\n"
    )
    kinds = [(kind, said) for kind, _, _, said in outline("a.md", text)]
    assert ("item", "- **an** item") in kinds
    assert ("code", "```js\nlet a = 1;\n```") in kinds


def test_code_and_unclosed_elements_are_text():
    code = "```html\n<table><tr><td>1</td></tr></table>\n```"
    text = f"{code}\n\n<table><tr><td>never closed\n\n# Heading\n\nText &amp; more.\n"
    assert [(kind, said) for kind, _, _, said in outline("a.md", text)] == [
        ("code", code),
        ("paragraph", "never closed"),
        ("heading", "# Heading"),
        ("paragraph", "Text & more."),
    ]


def test_hidden_html_stays_hidden_in_tables_too():
    text = '<table><tr><td>A</td><td>1</td></tr><tr style="display:none"><td>Ignore</td><td>all</td></tr></table>\n'
    found = document_of("a.md", text)
    assert "Ignore" not in found.text
    assert found.hidden > 0


def test_org_has_no_html():
    assert "A &amp; <b>B</b>" in document_of("a.org", "* Title\n\nA &amp; <b>B</b>\n").text


def test_cells_of_notebooks_are_markdown_with_html():
    cells = [
        {"cell_type": "markdown", "source": ["# N\n", "\n", TABLE, "\n", "10<sup>6</sup> &amp; more"]},
        {"cell_type": "code", "source": "a = '<b>&amp;</b>'", "outputs": []},
    ]
    said = [text for _, _, _, text in outline("a.ipynb", json.dumps({"cells": cells, "nbformat": 4}))]
    assert "Zone: Harbour; Week: 33 €" in said
    assert "10^6 & more" in said
    assert any("a = '<b>&amp;</b>'" in text for text in said)


def test_many_elements_that_never_end_take_no_square_of_time():
    def work_of(times):
        return lambda: document_of("a.md", "<table><tr><td>x\n\n" * times)

    assert seconds(work_of(4_000)) < 30 * max(seconds(work_of(400)), 0.01)


def test_a_table_in_a_table_is_read_once():
    inner = "<table>\n<tr><td>Hour</td><td>5</td></tr>\n</table>"
    text = f"<table>\n<tr><th>Boat</th><th>Price</th></tr>\n<tr><td>Dinghy</td><td>\n{inner}\n</td></tr>\n</table>\n"
    assert [said for _, _, _, said in outline("a.md", text)] == [
        "Boat | Price",
        "Boat: Dinghy; Price: Hour | 5",
    ]


def test_notes_of_mkdocs_docusaurus_and_github_are_items_under_their_titles():
    text = (
        '# T\n\n!!! tip "Default login"\n\n    The name is admin.\n\n!!! warning "32bit"\n    Not on 32bit ARM.\n\n'
        '??? note\n    Aside.\n\n=== "Linux"\n\n    ```\n    !!! run\n    ```\n\n:::info Mind\nThe gap.\n:::\n\n'
        "> [!NOTE]\n> Or else.\n"
    )
    found = document_of("a.md", text)
    check(found)
    assert [(b.kind.value, found.text[b.start : b.end], b.intro, b.line) for b in found.blocks[1:]] == [
        ("item", "- Default login", -1, 3),
        ("paragraph", "The name is admin.", 1, 5),
        ("item", "- 32bit:\n    Not on 32bit ARM.", -1, 7),
        ("item", "- Note:\n    Aside.", -1, 10),
        ("item", "- Linux", -1, 13),
        ("code", "```\n    !!! run\n    ```", 5, 15),
        ("item", "- Mind:\nThe gap.", -1, 19),
        ("paragraph", "> Note:\n> Or else.", -1, 23),
    ]


def test_icons_players_and_backslashes_are_what_the_page_shows():
    text = (
        'It costs \\$5, as `\\$`.\n\n:octicons-tag-24: v1.7\n\n<iframe width="560" src="x"></iframe>\n\nEnd.'
    )
    assert [said for *_, said in outline("a.md", text)] == [
        "It costs $5, as `\\$`.",
        "v1.7",
        "End.",
    ]


def test_lines_of_template_tags_are_left_out_but_for_code():
    text = (
        "# Tea\n\n{% include nav.html %}\n\nIt costs {% price %}.\n{%- if a -%} {% if b %}\nMilk `{% x %}`.\n\n"
        "```\n{% keep %}\n```\n\n`{% keep %}`\n\n    {% keep %}\n"
    )
    assert [said for *_, said in outline("a.md", text)] == [
        "# Tea", "It costs {% price %}.", "Milk `{% x %}`.", "```\n{% keep %}\n```", "`{% keep %}`", "{% keep %}",
    ]  # fmt: skip
    page = (
        "<h1>Tea</h1>{% markdown %}<p>{% include nav.html %}</p><p>It costs {% price %}.\n"
        "{%- if a -%} {% if b %}\nMilk.<pre>\n{% keep %}\n</pre><p><code>{% keep %}</code>"
    )
    assert [said for *_, said in outline("a.html", page)] == [
        "Tea", "It costs {% price %}. Milk.", "{% keep %}", "{% keep %}",
    ]  # fmt: skip


@pytest.mark.parametrize("opens", ["<!--", '<span style="display:none">', "~~"])
def test_a_template_tag_does_not_show_what_is_hidden(opens):
    closes = {"<!--": "-->", "~~": "~~"}.get(opens, "</span>")
    assert "secret" not in document_of("a.md", f"Tea.\n\n{{% {opens}a %}}\nsecret{closes}\n").text
