"""What lies behind text that has a place of its own on a page, and what LaTeX leaves out under a condition."""

import pytest
from test_hidden_text import document_of, hides


@pytest.mark.parametrize(
    ("page", "hidden"),
    [
        ("<body bgcolor=white text=white><i>SECRET</i><p style='color:black'>seen", True),
        ("<style>body{background:#111;color:#111}p{color:white}</style><i>SECRET</i><p>seen", True),
        ("<style>html{background:#111}p{color:white}i{color:#111}</style><i>SECRET</i><p>seen", True),
        ("<style>i{color:white}</style><p>seen<i>SECRET</i>", True),
        ("<style>i{color:white}</style><p>seen<i>SECRET</i><p style='background:navy'>box", False),
        ("<style>i{color:white}</style><p>seen<i>SECRET</i><table bgcolor=navy><tr><td>box</table>", False),
        ("<style>i{color:white}</style><p>seen<i>SECRET</i><img src=x>", False),
        ("<style>i{color:white}p::before{background:url(x)}</style><p>seen<i>SECRET</i>", False),
        ("<style>i{color:white}p{background:var(--x)}</style><div>seen<i>SECRET</i></div>", False),
        ("<link rel=stylesheet href=x.css><style>i{color:white}</style><p>seen<i>SECRET</i>", False),
    ],
)
@pytest.mark.parametrize("position", ["absolute", "fixed", "sticky"])
def test_where_nothing_else_is_text_lies_on_the_page(page, hidden, position):
    assert hides("a.html", f"<style>i{{position:{position}}}</style>{page}") == hidden


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("seen \\iffalse SECRET\\fi{} seen", True),
        ("\\section{Fees \\iffalse SECRET \\fi} seen", True),
        ("seen \\iffalse \\ifx\\a\\b no \\else no \\fi SECRET \\fi", True),
        ("seen \\iffalse % \\fi\n SECRET \\fi", True),
        ("seen \\iffalse SECRET", True),
        ("\\iffalse no \\else SECRET \\fi seen", None),
        ("\\iffalse $a \\iff b$ \\ifthenelse{a}{b}{c} \\fi SECRET seen", None),
        ("seen $a \\iff b$ SECRET", False),
    ],
)
def test_latex(text, hidden):
    loaded = document_of("a.tex", text)
    assert "seen" in loaded.text
    assert ("SECRET" not in loaded.text) == bool(hidden)
    assert (loaded.hidden > 0) == (hidden is not False)
