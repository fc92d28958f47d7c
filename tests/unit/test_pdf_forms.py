"""What is filled in on a PDF's page, and what is noted on it."""

import io

from reportlab.pdfgen.canvas import Canvas

from blocks_of import document_of


def filled_in(*, turned=False):
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(400, 400))
    form = canvas.acroForm
    if turned:
        canvas.rotate(90)
        canvas.translate(0, -400)
    canvas.setFont("Helvetica", 11)
    for y, label in ((300, "Name of the boat:"), (260, "Life jackets on board"), (220, "Signal flare")):
        canvas.drawString(60, y, label)
    form.textfield(name="boat", tooltip="Boat", value="Heron", x=200, y=296, width=120, height=16)
    form.textfield(name="empty", tooltip="Owner", value="", x=200, y=180, width=120, height=16)
    form.checkbox(name="jackets", checked=True, x=200, y=258, size=14)
    form.checkbox(name="flare", checked=False, x=40, y=218, size=14)
    form.textfield(name="berth", tooltip="Berth", value="B 12", x=200, y=100, width=120, height=16)
    canvas.textAnnotation("The flare is out of date.", (10, 10, 30, 30))
    canvas.textAnnotation("SECRET", (10, 40, 30, 60), F=2)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def test_what_is_filled_in_stands_behind_its_label():
    assert document_of("a.pdf", filled_in()).text.split("\n\n") == [
        "Name of the boat: Heron",
        "Life jackets on board: yes",
        "Signal flare: no",
        "Berth: B 12",
        "Comment: The flare is out of date.",
    ]


def test_the_mark_of_a_box_never_stands_within_the_sentence_it_belongs_to():
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(400, 400))
    canvas.setFont("Helvetica", 9)
    canvas.drawString(60, 300, "The boat lies in this harbour now, and its owner is not a resident of Upper")
    canvas.drawString(60, 288, "Tasel or of the islands.")
    canvas.drawString(60, 250, "The boat has a berth of its own here that nobody else may use.")
    canvas.drawString(60, 220, "Insured")
    for name, x, y, ticked in (
        ("a", 40, 300, False),
        ("b", 40, 250, True),
        ("c", 150, 220, True),
        ("d", 180, 220, False),
    ):
        canvas.acroForm.checkbox(name=name, checked=ticked, x=x, y=y - 2, size=10)
    canvas.showPage()
    canvas.save()
    assert document_of("a.pdf", buffer.getvalue()).text.split("\n\n") == [
        "[ ] The boat lies in this harbour now, and its owner is not a resident of Upper Tasel or of the islands.",
        "[x] The boat has a berth of its own here that nobody else may use.",
        "Insured: yes, no",
    ]


def test_what_every_page_says_of_the_document_is_said_once_at_its_end():
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(400, 400))
    for number in range(1, 5):
        canvas.setFont("Helvetica", 11)
        canvas.drawString(60, 380, "Harbour rules")
        canvas.drawString(60, 300, f"Rule {'abcd'[number - 1]} holds on this pier.")
        canvas.drawString(60, 20, f"Edition 7 of May 2025 Page {number} of 4")
        canvas.showPage()
    canvas.save()
    document = document_of("a.pdf", buffer.getvalue())
    assert document.text.split("\n\n") == [
        *(f"Rule {letter} holds on this pier." for letter in "abcd"),
        "Edition 7 of May 2025",
    ]
    assert len(document.pages) == 4


def test_on_a_page_that_lies_on_its_side_a_field_says_its_own_name():
    text = document_of("a.pdf", filled_in(turned=True)).text
    assert "Boat: Heron" in text
    assert "Berth: B 12" in text
