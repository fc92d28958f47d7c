import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas

from equipoise.core.types import BlockKind, Document
from equipoise.corpus.loaders import load

WIDTH, HEIGHT = A5
TEXT = "Helvetica", 10
BOLD = "Helvetica-Bold", 10
LARGE = "Helvetica-Bold", 16
CODE = "Courier", 10
SENTENCE = "The store keeps every document in one single file, which is examined on opening."


def pdf(*pages, bookmarks=(), title=None):
    """A file of pages, each a list of (x, y, font, text); `bookmarks` are (page, level from 0, title)."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A5)
    if title:
        canvas.setTitle(title)
    for number, page in enumerate(pages):
        for page_of, level, name in bookmarks:
            if page_of == number:
                canvas.bookmarkPage(name)
                canvas.addOutlineEntry(name, name, level)
        for x, y, font, text in page:
            canvas.setFont(*font)
            canvas.drawString(x, y, text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def down(*lines, top=540, left=40, step=12):
    """Lines one below the other: a text, or a (font, text), or a number of points to leave out."""
    placed = []
    for line in lines:
        if isinstance(line, int):
            top -= line
            continue
        font, text = line if isinstance(line, tuple) else (TEXT, line)
        placed.append((left, top, font, text))
        top -= step
    return placed


def document_of(data):
    (loaded,) = load(Path("a.pdf"), data)
    return loaded


def blocks(loaded):
    return [(block.kind.value, block.level, loaded.text[block.start : block.end]) for block in loaded.blocks]


def check(loaded):
    """What holds for the blocks of every document."""
    place = 0
    for row, block in enumerate(loaded.blocks):
        assert not loaded.text[place : block.start].strip()
        assert loaded.text[block.start : block.end].strip()
        assert -1 <= block.intro < row
        assert (block.level > 0) == (block.kind in {BlockKind.HEADING, BlockKind.ITEM})
        place = block.end
    assert place == len(loaded.text)
    assert list(loaded.pages) == sorted(loaded.pages)


class TestKinds:
    def test_headings_by_type_and_their_paragraphs(self):
        page = down((LARGE, "1 Storage"), 8, SENTENCE, "It is old.", 8, (BOLD, "1.1 Format"), 4, SENTENCE)
        loaded = document_of(pdf(page))
        check(loaded)
        assert blocks(loaded) == [
            ("heading", 1, "1 Storage"),
            ("paragraph", 0, f"{SENTENCE} It is old."),
            ("heading", 2, "1.1 Format"),
            ("paragraph", 0, SENTENCE),
        ]

    def test_the_outline_says_what_is_a_heading_and_how_high(self):
        page = down("Storage", 8, SENTENCE, SENTENCE, 8, "Format of the file", 8, SENTENCE, SENTENCE)
        marks = [(0, 0, "Storage"), (0, 1, "Format of the file")]
        loaded = document_of(pdf(page, bookmarks=marks))
        assert [block[:2] for block in blocks(loaded)] == [
            ("heading", 1),
            ("paragraph", 0),
            ("heading", 2),
            ("paragraph", 0),
        ]

    @pytest.mark.parametrize(("font", "kind"), [(LARGE, "paragraph"), (("Helvetica", 16), "heading")])
    def test_labels_of_a_drawing_are_no_headings_where_the_outline_names_bold_ones(self, font, kind):
        names = "Storage", "Reading", "Writing"
        pages = [down((font, name), 8, SENTENCE) for name in names]
        label = [(70, 300, ("Helvetica", 18), "Light source"), (160, 320, ("Helvetica", 18), "Sensor")]
        title = [(40, 560, ("Helvetica", 22), "A manual of ours")]
        marks = [(number, 0, name) for number, name in enumerate(names)]
        loaded = document_of(pdf(title + pages[0] + label, *pages[1:], bookmarks=marks))
        kinds = {text: kind for kind, _, text in blocks(loaded)}
        assert {kinds["Light source"], kinds["Sensor"]} == {kind}
        assert {kinds[name] for name in ("A manual of ours", *names)} == {"heading"}

    def test_items_with_their_depth_and_what_comes_before_them(self):
        page = [
            *down("There are three ways to do that, and each of them is described here:", 6),
            *down(
                "• the first one, which is known to most and used by few of them, and the", top=500, left=50
            ),
            *down("oldest;", top=488, left=58),
            *down("– by hand;", top=476, left=62),
            *down("• the last one.", top=464, left=50),
            *down("1. It is done.", top=430),
        ]
        loaded = document_of(pdf(page))
        check(loaded)
        assert [(block.kind.value, block.level, block.intro) for block in loaded.blocks] == [
            ("paragraph", 0, -1),
            ("item", 1, 0),
            ("item", 2, 1),
            ("item", 1, 0),
            ("item", 1, 0),
        ]
        assert "few of them, and the oldest;" in loaded.text

    def test_code_keeps_its_lines_and_knows_the_line_before_it(self):
        code = [(60, 516, CODE, "if x:"), (84, 504, CODE, "y = 1   # two"), (60, 492, CODE, "done()")]
        loaded = document_of(
            pdf([*down("Then type this:"), *code, *down("And that was it, really.", top=470)])
        )
        check(loaded)
        assert blocks(loaded)[1] == ("code", 0, "if x:\n    y = 1   # two\ndone()")
        assert loaded.blocks[1].intro == 0

    def test_a_term_and_its_description_are_one_paragraph(self):
        terms = [
            (40, 500, CODE, "sum"),
            (70, 488, TEXT, "adds up."),
            (40, 470, CODE, "prod"),
            (70, 458, TEXT, "Not."),
        ]
        loaded = document_of(pdf(down(SENTENCE, SENTENCE) + terms))
        assert [block[2] for block in blocks(loaded)][1:] == ["sum adds up.", "prod Not."]

    def test_rows_of_a_table_and_its_header(self):
        rows = [
            ("Name", "Price", "Note"),
            ("Tea", "2.50", "hot"),
            ("Milk", "1.20", "cold"),
            ("Rum", "9", "old"),
        ]
        page = down(SENTENCE) + [
            (40 + 100 * column, 500 - 14 * row, TEXT if row else BOLD, cell)
            for row, cells in enumerate(rows)
            for column, cell in enumerate(cells)
        ]
        loaded = document_of(pdf(page))
        check(loaded)
        assert blocks(loaded)[1:] == [
            ("aside", 0, "Name | Price | Note"),
            ("row", 0, "Name: Tea; Price: 2.50; Note: hot"),
            ("row", 0, "Name: Milk; Price: 1.20; Note: cold"),
            ("row", 0, "Name: Rum; Price: 9; Note: old"),
        ]

    def test_contents_are_asides(self):
        page = down(
            (LARGE, "Contents"),
            8,
            "1 Storage" + " ." * 40 + " 3",
            "2 Reading . . . . . . 12",
            "Index ..... xi",
        )
        loaded = document_of(pdf(page))
        check(loaded)
        assert [block[0] for block in blocks(loaded)] == ["heading", "aside", "aside", "aside"]
        assert "1 Storage … 3\n2 Reading … 12\nIndex … xi" in loaded.text

    def test_a_note_and_its_mark(self):
        small = ("Helvetica", 5)
        marked = [*down("It is known"), (92, 543, small, "1")]
        note = [(40, 63, small, "1"), (45, 60, ("Helvetica", 8), "Not by all.")]
        assert [block[2] for block in blocks(document_of(pdf(marked + note)))] == [
            "It is known",
            "¹ Not by all.",
        ]

    def test_raised_digits_and_lowered_ones_in_a_raised_name(self):
        small, least = ("Helvetica", 8), ("Helvetica", 6)
        marks = [(100, 544, small, "V"), (106, 542, least, "A"), (110, 542, least, "1")]
        power = [(114, 540, TEXT, "+ 10"), (134, 544, least, "-"), (136, 544, least, "2")]
        loaded = document_of(pdf([*down("Resistance ="), *marks, *power]))
        assert loaded.text == "Resistance = VA1+ 10-²"


class TestPages:
    def test_a_paragraph_over_a_page_is_one_block_although_there_is_a_note(self):
        first = [
            *down(SENTENCE, "It goes on and on until the end of the page is there and"),
            (40, 60, ("Helvetica", 7), "a note"),
        ]
        loaded = document_of(pdf(first, down("then on the next one. " + SENTENCE[:40])))
        check(loaded)
        assert [block[2][:6] for block in blocks(loaded)] == ["a note", "The st"]
        document = Document("d", loaded.text, "a.pdf", pages=loaded.pages)
        assert document.page_at(loaded.text.index("there and")) == 1
        assert document.page_at(loaded.text.index("then on")) == 2

    def test_lines_in_the_margin_that_three_pages_have_are_left_out(self):
        def page(number):
            body = down(f"Page of {'abcde'[number]}.", SENTENCE, top=500)
            return [(40, 570, TEXT, "A manual of ours"), *body, (200, 20, TEXT, f"– {number + 1} –")]

        loaded = document_of(pdf(*(page(number) for number in range(4))))
        assert "manual" not in loaded.text
        assert "–" not in loaded.text
        assert loaded.hidden == loaded.invisible == 0
        assert "manual" in document_of(pdf(page(0), page(1))).text

    @pytest.mark.parametrize(
        ("running", "heights"),
        [
            ("A manual of ours", (570, 568, 566, 564, 562)),
            ("A manual of ours", (512, 512, 512, 512, 512)),
            ("Printed by p.{}", (20, 24, 28, 32, 36)),
            ("{}/5", (20, 20, 20, 20, 20)),
        ],
    )
    def test_lines_that_most_pages_have_are_left_out_at_any_height_of_the_margin(self, running, heights):
        opens, closes = "The store keeps every document in", "one file, of sort {}, and copies it"

        def page(number):
            body = down(f"at the {'abcde'[number]} stop.", opens, closes.format("abcde"[number]), top=490)
            return [*body, (40, heights[number], TEXT, running.format(number + 1))]

        loaded = document_of(pdf(*map(page, range(5))))
        assert "of sort a, and copies it at the b stop." in loaded.text
        assert running.format(3) not in loaded.text
        assert loaded.running == 5 and loaded.hidden == 0

    def test_rows_and_numbers_that_most_pages_have_in_the_margin_stay(self):
        pages = [
            [*down(SENTENCE, top=400), *((40 + 60 * n, 30 + row, TEXT, f"{row}{n}") for n in range(3))]
            for row in range(10, 22, 3)
        ]
        assert "100 101 102" in document_of(pdf(*pages)).text

    def test_lines_in_the_body_stay_however_often_they_come(self):
        pages = [down("Never vote for anybody.", SENTENCE, top=400) for _ in range(5)]
        assert document_of(pdf(*pages)).text.count("Never vote") == 5

    def test_a_line_in_the_margin_stays_if_it_is_long_or_not_the_same(self):
        long = "word " * 30
        pages = [[(5, 570, ("Helvetica", 4), long), *down(SENTENCE), (40, 20, TEXT, name)] for name in "abc"]
        text = document_of(pdf(*pages)).text
        assert text.count(long.strip()) == 3
        assert all(f"\n{name}" in text for name in "abc")

    def test_the_running_title_of_a_chapter_of_one_page(self):
        names = ["Storage", "Reading", "Writing"]
        pages = [
            [(40, 570, TEXT, f"{name} {n}"), *down((LARGE, name), 8, SENTENCE, top=480)]
            for n, name in enumerate(names, 1)
        ]
        texts = [block[2] for block in blocks(document_of(pdf(*pages)))]
        assert texts == [part for name in names for part in (name, SENTENCE)]

    def test_numbered_headings_that_open_pages_stay(self):
        heads = ["1.3 Procedure", "2.3 Procedure", "4.1 Procedure", "4 Rule 7", "7 Rule 9", "8 Rule 2"]
        pages = [
            [(40, 590, TEXT, "A manual of ours"), *down(head, 60, SENTENCE, top=570), (200, 20, TEXT, f"{n}")]
            for n, head in enumerate(heads, 1)
        ]
        loaded = document_of(pdf(*pages))
        assert all(head in loaded.text for head in heads)
        assert loaded.running == 2 * len(heads)

    def test_items_and_large_headings_that_count_as_pages_do_stay(self):
        heads = [(TEXT, "1. Storage"), (LARGE, "2 Reading"), (TEXT, "3. Writing"), (LARGE, "4 Asking")]
        loaded = document_of(pdf(*(down(head, 60, SENTENCE, top=570) for head in heads)))
        assert all(name in loaded.text for _, name in heads)
        assert loaded.running == 0

    def test_a_line_in_the_margin_with_the_number_of_its_page_is_left_out(self):
        names = ["Chapter 1. Sound", "1.2. Beats", "Chapter 2. Light", "2.1. Lenses", "Chapter 3. Heat"]
        feet = [f"{n} {name}" if n % 2 else f"{name} {n}" for n, name in enumerate(names, 75)]
        pages = [
            [*down(f"Page {name}", SENTENCE, "which", top=500), (40, 20, TEXT, foot)]
            for name, foot in zip("abcde", feet, strict=True)
        ]
        loaded = document_of(
            pdf(*pages, down(SENTENCE), [*down(SENTENCE), (40, 20, TEXT, "8 Chapter 9. Air")])
        )
        assert not any(foot in loaded.text for foot in feet)
        assert loaded.running == 5 and "8 Chapter 9. Air" in loaded.text

    def test_columns_are_read_one_after_the_other(self):
        left = [
            "The left column is read first and",
            "then it goes on with some more",
            "words at the foot that end in the",
        ]
        right = ["right column, which is read after", "it."]
        loaded = document_of(pdf(down(*left, left=30) + down(*right, left=230)))
        assert loaded.text == " ".join(left + right)


class TestText:
    @pytest.mark.parametrize(
        ("lines", "text"),
        [
            (["The manual of the S-", "Plus language."], "The manual of the S-Plus language."),
            (["It is written in UTF-", "8 and so on."], "It is written in UTF-8 and so on."),
            (
                ["See https://example.org/a/", "b.html for that."],
                "See https://example.org/a/b.html for that.",
            ),
            (["Set TEST_MC_", "CORES to one."], "Set TEST_MC_CORES to one."),
            (["It is exam-", "ined."], "It is examined."),
        ],
    )
    def test_what_a_line_end_cuts(self, lines, text):
        assert text in document_of(pdf(down(lines[0], 20, *lines))).text

    @pytest.mark.parametrize(
        ("title", "expected"),
        [("untitled", "Storage"), ("Microsoft Word - the plan.docx", "the plan"), ("A  b", "A b")],
    )
    def test_titles(self, title, expected):
        assert document_of(pdf(down((LARGE, "Storage"), 8, SENTENCE), title=title)).title == expected

    @settings(deadline=None, max_examples=60)
    @given(
        st.lists(
            st.tuples(
                st.integers(-50, 500),
                st.integers(-50, 650),
                st.sampled_from([TEXT, BOLD, LARGE, CODE]),
                st.sampled_from([SENTENCE, "• one", "1. two", "3", "a . . . . 5", "x-", "", " ", "1.1 Word"]),
            ),
            max_size=12,
        ),
        st.integers(1, 4),
    )
    def test_blocks_cover_the_text(self, page, count):
        check(document_of(pdf(*[[(40, 300, TEXT, "seen"), *page]] * count)))
