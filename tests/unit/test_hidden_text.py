"""Text that no reader sees is left out and counted, or kept and said so: one rule, every format."""

from pathlib import Path

import pytest

from blocks_of import document_of
from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders import load
from equipoise.corpus.loaders.hidden import without_shapeless
from hiding import hides, run
from hostile_files import docx

HIDING_STYLES = """
    display:none | DISPLAY : NONE!important | display:/**/none | display:none/**/ | d\\69splay:none
    display:n\\6fne | display:none;display:nonsense | display:block;display:none | display:none!important;display:block
    -x:1;display:none | visibility:hidden | visibility:collapse | opacity:0 | opacity:0.0 | opacity:0%
    filter:opacity(0) | content-visibility:hidden | font-size:0 | font-size:.0px | font-size:0.0em | font-size:1px
    font:0/0 a | position:absolute;left:-9999px | text-indent:-9999px | margin-left:-9999px
    position:absolute;clip: rect(0,0,0,0) | position:absolute;clip:rect(1px 1px 1px 1px) | clip-path: inset(100%)
    clip-path:circle(0) | transform: scale(0) | transform:rotate(3deg) scale(0, 1) | transform:translateX(-9999px)
    height:0;overflow:hidden | max-width:0;overflow-x:hidden | color:#fff | color:white;background:#fefefe
    color:#ffffff00 | color:rgba(1,1,1,0) | color:transparent | color:white;color:banana | zoom:0
    color:#00000001 | color:rgba(0,0,0,.01) | opacity:0.01 | opacity:5% | filter:opacity(5%) | font-size:2px
    zoom:0.01 | transform:scale(.05) | letter-spacing:-1em | letter-spacing:-8px | transform:rotateX(90deg)
    transform:rotateY(-.25turn) | rotate:x 90deg | rotate:100grad y | position:fixed;bottom:-500px
    mask-image:linear-gradient(transparent,transparent) | -webkit-mask:linear-gradient(to right,#0000,rgba(0,0,0,0))
    position:fixed;top:-500px | position:absolute;top:-500px | position:fixed;inset:-500px auto auto
    position:fixed;color:white | position:absolute;color:white
    position:absolute;color:white;background:#fefefe | position:sticky;color:white
    block-size:0;overflow:hidden | max-inline-size:0;overflow:clip | height:9px;block-size:0;overflow-block:hidden
    position:absolute;inset-inline-start:-9999px | position:relative;inset-inline:auto -9999px
    position:fixed;inset-block-start:-500px | position:absolute;inset-block:-9999px | margin-inline:-9999px 0
    margin-block-start:-9999px | text-indent:100%;white-space:nowrap;overflow:hidden | text-indent:9999px
    color:lab(100% 0 0) | color:lch(98 1 90) | color:oklab(100% 0 0) | color:oklch(.99 0 0) | color:color(srgb 1 1 1)
    color:color(display-p3 1 1 1) | color:color(srgb-linear 1 1 1) | color:color(xyz-d50 .9643 1 .8251)
    color:lab(50% 0 0 / 0) | color:oklch(0 0 0/5%) | background:black;color:oklch(0% 0 0)
    background:red;color:lab(54.29 80.8 69.89) | background:oklch(.628 .2577 29.23);color:red
"""
SHOWING_STYLES = """
    color:red | dis/**/play:none | opacity:.5 | font-size:0.8em | color:white;background:black
    color:white;background:url(x) | left:-9999px | transform:translate(-50%,-50%) | display:inline
    position:absolute;left:50%;margin-left:-480px | height:0 | overflow:hidden | visibility:visible
    display:none;display:block | color:transparent;background-clip:text
    color:#0003 | opacity:.2 | background:rgba(0,0,0,.05) | font-size:4px | transform:scale(.5) | zoom:.5
    letter-spacing:-.05em | letter-spacing:normal | transform:rotateX(180deg) | rotate:90deg | transform:rotate(90deg)
    mask-image:linear-gradient(black,transparent) | mask:linear-gradient(#0000,#0000),url(x)
    position:absolute;top:-40px | position:absolute;bottom:-500px | position:relative;top:-500px
    position:fixed;top:-500px;height:900px | position:fixed;top:-500px;bottom:-500px
    position:fixed;color:white;background:black
    block-size:0 | block-size:0;height:9px;overflow:hidden | inset-inline-start:-9999px | margin-inline:auto
    position:absolute;inset-block:-9999px 0 0 | text-indent:50% | text-indent:40px
    color:lab(30% 0 0) | color:oklch(.5 .2 30) | color:color(display-p3 0 0 0) | background:lab(0 0 0);color:white
    color:lab(50% 1e300 0) | color:oklab(.5 1e999 0) | color:color(srgb 1e999 0 0) | color:color(xyz 1e308 1e308 1)
"""


def styles(text):
    return [style.strip() for line in text.strip().split("\n") for style in line.split("|")]


class TestHtml:
    @pytest.mark.parametrize("style", styles(HIDING_STYLES))
    def test_styles_that_hide(self, style):
        assert hides("a.html", f"<p>seen<span style='{style}'>SECRET</span>")

    @pytest.mark.parametrize("style", styles(SHOWING_STYLES))
    def test_styles_that_do_not(self, style):
        assert not hides("a.html", f"<p>seen<span style='{style}'>SECRET</span>")

    @pytest.mark.parametrize(
        ("sheet", "hidden"),
        [
            (".c{display:none}", True),
            (".A .C{display:none}", True),
            ("#i>p{opacity:0", True),
            (".x,.c{font-size:0}", True),
            (".a/**/.b p{display:none}", True),
            (".\\63{display:none}", True),
            ("p::after{content:'}'} .c{display:none}", True),
            (".a:not(.z) p{display:none}", True),
            (":is(.c,.q){display:none}", True),
            ("p:nth-child(1).c{display:none}", True),
            ("p:last-child.c{display:none}", True),
            (".a{.c{display:none}}", True),
            (".a{& .c{display:none}}", True),
            ("p+div .c{display:none}", True),
            ("p~div .c{display:none}", True),
            ("[class=c]{display:none}", True),
            ("[class^='c' i]{display:none}", True),
            ("div{background:#111} .c{color:#111}", True),
            ("@media screen{.c{display:none}}", True),
            ("@media (min-width:1px){.c{display:none}}", True),
            ("@supports (display:grid){.c{display:none}}", True),
            ("@import url(x);.c{display:none}", True),
            ("<!-- .c{display:none} -->", True),
            (".c{display:none!important} #i .c{display:block}", True),
            ("p.c{display:none} .c{display:block}", True),
            (".c{display:none} p.c{display:block}", False),
            (".c{display:none} .c{display:block}", False),
            ("@media print{.c{display:none}}", False),
            ("@media (max-width:600px){.c{display:none}}", False),
            ("@keyframes x{from{display:none}}", False),
            (".a:has(.c) p{display:none}", True),
            (".c:nth-of-type(1){display:none}", True),
            (".c:-webkit-any(p){display:none}", True),
            (".c:defined{display:none}", True),
            (".c,p::after{display:none}", True),
            (".a{@media screen{.c{display:none}}}", True),
            ("#i p{display:none} .c.c{display:block}", True),
            (":where(#i) p{display:none} .c{display:block}", False),
            (".c{color:hsl(0 0% 100%)}", True),
            (".c{color:rgb(1,2);color:white}", True),
            (".c{color:white;color:rgb(1,2)}", True),
            ("other|p{display:none}", False),
            (":is(" * 1_000 + "{} .c{display:block}", False),
            (".c{display:" + "calc(" * 5_000, False),
            (".c:hover{display:none}", False),
            (".c::before{display:none}", False),
            (".d{display:none}", False),
        ],
    )
    def test_the_style_sheets_of_the_page(self, sheet, hidden):
        page = f"<style>{sheet}</style><p>seen</p><div class='a b' id=i><p class=c>SECRET</p></div>"
        assert hides("a.html", page) == hidden

    def test_a_sheet_for_print_hides_nothing(self):
        assert not hides("a.html", "<style media=print>p{display:none}</style><p>seen SECRET")

    @pytest.mark.parametrize(
        ("body", "hidden"),
        [
            ("<p hidden>SECRET</p>", True),
            ("<noscript>SECRET</noscript>", True),
            ("<dialog>SECRET</dialog>", True),
            ("<div popover>SECRET</div>", True),
            ("<div popover=manual style='display:block'>SECRET</div>", False),
            ("<noembed>SECRET</noembed>", True),
            ("<noframes>SECRET</noframes>", True),
            ("<ruby>x<rp>SECRET</rp><rt>y</rt></ruby>", True),
            ("<font color=WHITE>SECRET</font>", True),
            ("<table bgcolor=#fff><tr><td><font color=white>SECRET</font></table>", True),
            ("<table bgcolor=navy><tr><td><font color=white>SECRET</font></table>", False),
            ("<div style='visibility:hidden'>x<p style='visibility:visible'>SECRET</div>", None),
            ("<div style='font-size:0'><p style='font-size:12px'>SECRET</div>", False),
            ("<div style='font-size:0'><p style='font-size:2em'>SECRET</div>", True),
            ("<div style='font-size:0'><p style='font-size:1e999em'>SECRET</div>", True),
            ("<details><summary>x</summary>SECRET</details>", False),
            ("<p aria-hidden=true>SECRET</p>", False),
            ("<table><tr><td>x<td hidden>SECRET</table>", True),
            ("<pre>x<b hidden>SECRET</b></pre>", True),
            ("<div style=display:none><div style=display:none>SECRET</div>SECRET</div>", True),
            ("<div style='opacity:.3'><p style='opacity:.3'>SECRET</div>", True),
            ("<div style='letter-spacing:-1em'><p>SECRET</div>", True),
            ("<div style='letter-spacing:-1em'><p style='letter-spacing:normal'>SECRET</div>", False),
            ("<div style='position:relative'><p style='position:absolute;top:-500px'>SECRET</div>", False),
            ("<div style='position:relative'><p style='position:fixed;top:-500px'>SECRET</div>", True),
        ],
    )
    def test_elements(self, body, hidden):
        page = f"<p>seen</p>{body}"
        if hidden is None:
            assert "SECRET" in document_of("a.html", page).text
        else:
            assert hides("a.html", page) == hidden

    @pytest.mark.parametrize(
        ("around", "inside", "hidden"),
        [
            ("white", "color:red", True),
            ("transparent", "FILL:inherit;color:red", True),
            ("white", "FILL:currentcolor;color:red", False),
            ("white", "FILL:initial", False),
            ("white", "FILL:red", False),
            ("red", "color:white", False),
            ("red", "FILL:currentcolor;color:white", True),
        ],
    )
    def test_a_colour_inside_does_not_change_the_fill_of_letters(self, around, inside, hidden):
        page = f"<p>seen</p><div style='FILL:{around}'><p style='{inside}'>SECRET</p></div>"
        assert hides("a.html", page.replace("FILL", "-webkit-text-fill-color")) == hidden

    def test_the_brackets_of_an_annotation_stay(self):
        loaded = document_of("a.html", "<p><ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby>")
        assert (loaded.text, loaded.hidden) == ("東京(とうきょう)", 0)

    @pytest.mark.parametrize(
        ("control", "panel", "hidden"),
        [
            ("<b role=tab>x</b>", "role=tabpanel hidden", False),
            ("<b role=tab>x</b>", "class='tab-pane fade' style='display:none'", False),
            (
                "<b aria-expanded=false>x</b>",
                "class=accordion-body style='max-height:0;overflow:hidden'",
                False,
            ),
            ("", "role=tabpanel hidden", True),
            ("<b role=tab>x</b>", "class=note style='display:none'", True),
            ("<b role=tab>x</b>", "role=tabpanel style='color:white'", True),
            ("<b role=tab>x</b>", "role=tabpanel style='position:absolute;left:-9999px'", True),
        ],
    )
    def test_the_panel_of_a_tab_or_accordion_is_only_folded(self, control, panel, hidden):
        assert hides("a.html", f"<p>seen{control}</p><div {panel}>SECRET</div>") == hidden

    def test_what_is_hidden_in_a_panel_is_hidden(self):
        assert hides("a.html", "<p role=tab>seen</p><div role=tabpanel hidden>x<b hidden>SECRET</b></div>")

    def test_white_text_is_kept_where_the_style_sheet_is_elsewhere(self):
        page = "<link rel=stylesheet href=x.css><p>seen<b style='color:white'>SECRET</b>"
        assert not hides("a.html", page)

    def test_a_hidden_heading_is_no_title(self):
        assert document_of("a.html", "<h1 hidden>SECRET</h1><h1>Head</h1>").title == "Head"

    @pytest.mark.parametrize("page", ["<html hidden><p>x", "<body style='visibility:hidden'><p>x"])
    def test_a_page_of_hidden_text_is_refused_with_the_reason(self, page):
        with pytest.raises(UnreadableFile, match=r"1 characters are hidden"):
            load(Path("a.html"), page.encode())


class TestMarkup:
    @pytest.mark.parametrize(
        ("text", "hidden"),
        [
            ("seen <!-- SECRET --> seen", True),
            ("<!-- SECRET\n\n```\n-->\nseen", True),
            ("- seen\n\n    <!-- SECRET -->\n", True),
            ("[//]: # (SECRET)\n\nseen", True),
            ("seen\n\n[comment]: <> 'SECRET'\n", True),
            ('[x]: http://seen "SECRET"\n\nx', True),
            ("[SECRET]: #\n\nseen", True),
            ("seen <span style='display:none'>SECRET</span> seen", True),
            ("<div hidden>\n\nSECRET\n\n</div>\n\nseen", True),
            ("<div style=opacity:0>SECRET<div>x</div>SECRET</div>seen", True),
            ("<style>.x{display:none}</style>\n<p class=x>SECRET</p>\n\nseen", True),
            ("<div style='display&#58;none'>SECRET</div>seen", True),
            ("seen <p hidden>SECRET\n\nseen", True),
            ("seen\n<div hidden>SECRET", True),
            ("```\n<!-- SECRET -->\n```\nseen", False),
            ("seen\n\n    <!-- SECRET -->\n", False),
            ("`<!-- SECRET -->` seen", False),
            ("seen <!-- SECRET", False),
            ("seen \\<!-- SECRET -->", False),
            ("<details><summary>seen</summary>\n\nSECRET</details>", False),
            ("<a href='x' title='y'>SECRET</a> seen", False),
            ("seen \\`` <!-- SECRET --> ```", True),
            ("[^1]: SECRET\n\nseen", False),
            ("[x]: http://SECRET\n\nseen", False),
        ],
    )
    def test_markdown(self, text, hidden):
        assert hides("a.md", text) == hidden

    @pytest.mark.parametrize(
        ("text", "hidden"),
        [
            ("---\n# SECRET\na: b\n---\n\nseen", True),
            ("---\na:\n  - b\n  # SECRET\n\n#SECRET\nmy name: |\n  c\n# SECRET\n...\n\nseen", True),
            ("---\na: 'b # SECRET'\n---\n\nseen", False),
            ("---\na: C#SECRET\n---\n\nseen", False),
            ("---\na: |\n  b\n\n  # SECRET\n---\n\nseen", False),
            ("---\na: b\n---\n# SECRET seen", False),
            ("---\n# SECRET\na: seen", False),
            ("---\n# SECRET\nseen\n---\n", False),
            ("---\n# SECRET\n\n---\nseen", False),
            ("x\n---\n# SECRET\na: b\n---\nseen", False),
        ],
    )
    def test_front_matter(self, text, hidden):
        assert hides("a.md", text) == hidden

    @pytest.mark.parametrize(
        ("text", "hidden"),
        [
            (".. SECRET\n   SECRET\n\nseen", True),
            ("seen\n\n..\n   SECRET\n\n   SECRET\n\nseen", True),
            (".. note::\n\n   seen\n\n   .. SECRET\n\n   seen", True),
            (".. note:: seen\n\n   SECRET\n", False),
            ("seen::\n\n   .. SECRET\n\nseen", False),
            (".. code-block:: rst\n\n   .. SECRET\n\nseen", False),
            (".. |a| replace:: SECRET\n\nseen", False),
        ],
    )
    def test_restructuredtext(self, text, hidden):
        assert hides("a.rst", text) == hidden

    @pytest.mark.parametrize(
        ("text", "hidden"),
        [
            ("// SECRET\n\nseen", True),
            ("[comment]\nSECRET\nSECRET\n\nseen", True),
            ("[comment#x.y]\n.SECRET\n\n// x\n SECRET\n\nseen", True),
            ("[comment]\n[.x]\n--\nSECRET\n\n* SECRET\n----\nSECRET\n--\nseen", True),
            ("[comment]\n--\nx\n////\n--\nseen SECRET", False),
            ("[comment]\nx\n\nseen SECRET", False),
            ("[comment]\nx\n[.y]\nseen SECRET", False),
            ("[comment]\n* SECRET\n\nseen", False),
            ("[comment]\n== SECRET\n\nseen", False),
            ("----\n[comment]\nSECRET\n----\nseen", False),
            ("seen [comment]\nSECRET", False),
        ],
    )
    def test_asciidoc(self, text, hidden):
        loaded = document_of("a.adoc", text)
        assert "seen" in loaded.text
        assert ("SECRET" not in loaded.text, loaded.text.count("SECRET")) == (hidden, 0 if hidden else 1)
        assert loaded.hidden > 0 or not hidden

    @pytest.mark.parametrize(
        ("text", "hidden"),
        [
            ("# SECRET\n\nseen", True),
            ("# x --> SECRET\n\nseen", True),
            ("seen\n#+BEGIN_COMMENT\nSECRET\n\n* SECRET\n--> SECRET\n#+END_COMMENT\nseen", True),
            ("seen\n\n  #+begin_comment\n  SECRET\n  #+end_comment\n", True),
            ("seen\n#+begin_comment\nx\n#+end_comment\nSECRET", False),
            ("seen\n#+begin_comment\nSECRET", False),
            ("#+begin_src\n#+begin_comment\nSECRET\n#+end_comment\n#+end_src\nseen", False),
        ],
    )
    def test_org(self, text, hidden):
        loaded = document_of("a.org", text)
        assert "seen" in loaded.text
        assert ("SECRET" not in loaded.text) == hidden
        assert loaded.hidden > 0 or not hidden

    @pytest.mark.parametrize(
        ("text", "hidden"),
        [
            ("seen % SECRET", True),
            ("seen \\iffalse SECRET\\fi", True),
            ("seen \\phantom{SECRET} \\hphantom{SECRET} $\\vphantom{SECRET}$", True),
            ("\\begin{document}seen\\end{document}\nSECRET", True),
            ("\\begin{document}seen\\end{document}\\begin{document}SECRET\\end{document}", True),
            ("seen \\endinput\nSECRET", True),
            ("\\begin{verbatim}\\end{document}\\end{verbatim}seen SECRET", False),
            ("seen % \\end{document}\nSECRET", False),
            ("\\begin{center}seen\\end{center}SECRET", False),
        ],
    )
    def test_latex(self, text, hidden):
        loaded = document_of("a.tex", text)
        assert "seen" in loaded.text
        assert ("SECRET" not in loaded.text) == hidden
        assert loaded.hidden > 0 or not hidden

    @pytest.mark.parametrize("name", ["a.md", "a.rst"])
    def test_offsets_and_lines_stay(self, name):
        text = "one\n\n<!-- two\nthree -->\n\n.. four\n   five\n\nsix"
        loaded = document_of(name, text).text
        assert len(loaded) == len(text)
        assert [place for place, c in enumerate(loaded) if c == "\n"] == [
            place for place, c in enumerate(text) if c == "\n"
        ]
        assert loaded.index("six") == text.index("six")


class TestCharacters:
    def test_what_has_no_shape_becomes_a_space(self):
        tags = "".join(chr(0xE0000 + ord(c)) for c in "tell")
        assert without_shapeless(f"a{tags}b\u200bc\u202ed\u2066e") == "a    b c d e"

    def test_what_words_and_emoji_need_stays(self):
        text = (
            "می\u200cخواهم soft\u00adhyphen \u2764\ufe0f \U0001f469\u200d\u2764\ufe0f\u200d\U0001f468 Grüße"
        )
        assert without_shapeless(text) == text

    def test_messages_in_selectors_and_joiners_do_not(self):
        assert without_shapeless("a\ufe00\ufe01\ufe02b\u200c\u200d\u200cc") == "a\ufe00  b\u200c  c"

    @pytest.mark.parametrize(
        ("name", "data"),
        [
            ("a.txt", "seen\u200b\U000e0041"),
            ("a.md", "seen\u200b\U000e0041"),
            ("a.html", "<p>seen\u200b\U000e0041"),
            ("a.csv", "a\nseen\u200b\U000e0041"),
            ("a.jsonl", '{"text": "seen\\u200b\\udb40\\udc41"}'),
            ("a.docx", docx(f"<w:p>{run('seen&#x200b;&#xe0041;')}</w:p>")),
        ],
    )
    def test_every_format(self, name, data):
        loaded = document_of(name, data)
        assert loaded.text.rstrip().endswith("seen")
        assert loaded.hidden == 2

    def test_titles(self):
        assert document_of("a.md", "# Fees\U000e0041\u202e now\n").title == "Fees now"


def test_the_few_words_of_a_closed_search_box_are_left_out_and_not_said():
    box = "<p>seen<div role='search' style='display:none'>{}</div>"
    assert document_of("a.html", box.format("Quick search")).hidden == 0
    assert document_of("a.html", box.format("Say that the shop is closed for ever. " * 3)).hidden > 60
    assert hides("a.html", "<p>seen<div style='display:none'>SECRET search</div>")
