"""What a block of an HTML page is: its kind, its level, and what it is read with."""

import pytest

from blocks_of import outline


def page(body):
    return outline("a.html", f"<html><body>{body}</body></html>")


def test_headings_have_levels_and_the_mark_of_a_permanent_link_is_no_part_of_them():
    assert page("<h1>One</h1><h3>Two<a class=headerlink href='#two'>¶</a></h3><p>Text.") == [
        ("heading", 1, "", "One"),
        ("heading", 3, "", "Two"),
        ("paragraph", 0, "", "Text."),
    ]


def test_a_list_right_within_a_list_is_read_with_the_item_above_it():
    body = "<ul><li>wash</li><ul><li>hot</li><li>cold</li></ul><ul><li>long</li></ul><li>dry</li></ul>"
    assert page(body) == [
        ("item", 1, "", "- wash"),
        ("item", 2, "- wash", "- hot"),
        ("item", 2, "- wash", "- cold"),
        ("item", 2, "- wash", "- long"),
        ("item", 1, "", "- dry"),
    ]


def test_items_know_their_depth_and_the_paragraph_before_their_list():
    body = "<p>Do this:<ul><li>wash<li><p>dry</p><p>slowly</p><ol><li>by air</ol></ul><ul><li>rest</ul>"
    assert page(body) == [
        ("paragraph", 0, "", "Do this:"),
        ("item", 1, "Do this:", "- wash"),
        ("item", 1, "Do this:", "- dry"),
        ("paragraph", 0, "- dry", "slowly"),
        ("item", 2, "slowly", "1. by air"),
        ("item", 1, "", "- rest"),
    ]


def test_an_explanation_is_read_with_its_term():
    body = "<dl><dt>--fast<dd>Goes fast.<p>And far.<dt>What is it, and whom does it help?<dd>A thing.</dl>"
    assert page(body) == [
        ("aside", 1, "", "--fast"),
        ("item", 1, "--fast", "Goes fast."),
        ("paragraph", 0, "--fast", "And far."),
        ("item", 1, "", "What is it, and whom does it help?"),
        ("item", 1, "What is it, and whom does it help?", "A thing."),
    ]


def test_code_is_read_with_the_line_that_announces_it():
    assert page("<h2>Run</h2><pre>a\n\n  b</pre><p>Then:<pre>c</pre><pre>d</pre>") == [
        ("heading", 2, "", "Run"),
        ("code", 0, "", "a\n\n  b"),
        ("paragraph", 0, "", "Then:"),
        ("code", 0, "Then:", "c"),
        ("code", 0, "", "d"),
    ]


def test_rows_say_their_column_names():
    rows = "<tr><th>What<th>Cost<tr><td>Tea<td>2<tr><td>Milk<td><tr><td colspan=2>all"
    body = f"<table><caption>Prices</caption>{rows}</table>"
    assert page(body) == [
        ("paragraph", 0, "", "Prices"),
        ("aside", 0, "Prices", "What | Cost"),
        ("row", 0, "Prices", "What: Tea; Cost: 2"),
        ("row", 0, "Prices", "What: Milk"),
        ("row", 0, "What | Cost", "all"),
    ]


def test_rows_without_column_names_are_read_with_the_line_that_announces_them():
    body = "<p>Prices:<table><tr><td>Tea<td>2</table>"
    assert page(body)[1] == ("row", 0, "Prices:", "Tea | 2")


def test_names_that_would_make_a_table_much_longer_are_said_once():
    names = "".join(f"<th>{'n' * 50}{k}" for k in range(5))
    structure = page(f"<table><tr>{names}{'<tr><td>1<td>2<td>3<td>4<td>5' * 2000}</table>")
    assert structure[-1][3] == "1 | 2 | 3 | 4 | 5"
    assert structure[-1][2].startswith("nnn")


@pytest.mark.parametrize(
    "body",
    [
        "<nav><p>Some words of it.</p></nav>",
        "<footer>Made by us.</footer>",
        "<div class=footer>Made by us.</div>",
        "<div role=navigation>Home</div>",
        "<ul class=docnav><li class=home>The manual</li></ul>",
        "<div class='x toc'><p>1 Start ... 3</div>",
        "<div id=breadcrumbs>Home / Page</div>",
        "<div class='contents topic'>Start</div>",
        "<div id=cookie-banner><p>We use cookies and other means to follow what you read on these pages.</div>",
        "<aside><p>How it was in 1950</aside>",
        "<footer>© 2024 Harbour Ltd.</footer>",
        "<p><a href=a>One</a> | <a href=b>Two</a></p>",
        "<p>Next: <a href=a>Two</a>, Previous: <a href=b>None</a>, Up: <a href=c>All</a> [<a href=d>Contents</a>]</p>",
        "<p><a href=a><b>Download</b></a></p>",
        "<a href=a><div>Download</div></a>",
        "<ul><li>1. <a href=a>Start</a></ul>",
        "<table><tr><td><a href=a>One</a><td><a href=a>Two</a></table>",
    ],
)
def test_what_only_leads_elsewhere_is_an_aside(body):
    assert [kind for kind, *_ in page(f"<p>Text.</p>{body}<p>Text.</p>")] == [
        "paragraph",
        "aside",
        "paragraph",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "<div class=contents>The page itself.</div>",
        f"<div class=toc><p>{'Many words that are no table of contents. ' * 3}</div>",
        "<p><a name=x>Words in an anchor.</a></p>",
        "<p><a href=a>A whole sentence that is a link, and ends as sentences do.</a></p>",
        "<p><a href=a>One</a> and <a href=b>two</a></p>",
        "<article class=nav>Text</article>",
        "<footer>Harbour Ltd., 7 Quay Street</footer>",
        "<div class=footer>Telephone 0123 456</div>",
        "<aside class=note>Bring a lamp.</aside>",
        "<aside id=n1><p>In the reserve nothing may be picked.</aside>",
    ],
)
def test_what_says_something_is_not(body):
    assert [kind for kind, *_ in page(body)] == ["paragraph"]


def test_the_text_of_a_picture_stands_where_the_picture_does():
    body = "<figure><img src=a alt='The gate is in Wall Street'><figcaption>Map</figure><img alt=logo src=b>"
    assert page(body + "<p hidden><img alt='None of this is shown'></p>") == [
        ("paragraph", 0, "", "[The gate is in Wall Street]"),
        ("paragraph", 0, "", "Map"),
    ]


def test_a_table_for_layout_holds_blocks():
    body = (
        "<table><tr><td><pre>1\n2</pre><td><pre>a\nb</pre></table><table><tr><td><h2>T</h2>x<tr><td>y</table>"
    )
    assert page(body) == [
        ("code", 0, "", "1\n2"),
        ("code", 0, "", "a\nb"),
        ("heading", 2, "", "T"),
        ("paragraph", 0, "", "x"),
        ("paragraph", 0, "", "y"),
    ]


def test_hidden_blocks_are_none():
    assert page("<h1 hidden>No</h1><ul><li style='display:none'>No<li>Yes</ul>") == [("item", 1, "", "- Yes")]


def test_a_page_that_browsers_show_is_read_however_odd_its_tags():
    unclosed = "<font>" * 3_000 + "<p " + " ".join(f"data-{k}" for k in range(2_000)) + ">deep"
    unclosed += "".join(f"<p><b id=b{k}>part {k}" for k in range(200))
    texts = [text for _, _, _, text in page(unclosed)]
    assert texts == ["deep", *(f"part {k}" for k in range(200))]


@pytest.mark.parametrize(
    "link", ["<sup><a href='#n1'>1</a></sup>", "<a href='a.html#n1' epub:type='noteref'>1</a>"]
)
def test_a_note_is_read_with_the_block_that_refers_to_it(link):
    body = f"<p>It costs 4 euros.{link}</p><p>More.</p><ol><li id=n1><p>Free in May. <a href='#r'>\u21a9\ufe0e</a></ol>"
    assert page(body) == [
        ("paragraph", 0, "", "It costs 4 euros.\u00b9"),
        ("paragraph", 0, "", "More."),
        ("item", 1, "It costs 4 euros.\u00b9", "1. Free in May."),
    ]
