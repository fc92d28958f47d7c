"""What a PDF hides is left out and counted; what a reader sees of it stays."""

import io
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas

from equipoise.corpus.loaders import load


def document_of(name, data):
    (loaded,) = load(Path(name), data)
    return loaded


def white(canvas, y=400):
    canvas.setFillColorRGB(1, 1, 1)
    canvas.drawString(40, y, "SECRET")


def on_a_box(canvas):
    canvas.setFillColorRGB(0, 0, 0.5)
    canvas.rect(30, 390, 200, 30, fill=1, stroke=0)
    white(canvas)


def beside_a_box(canvas):
    canvas.setFillColorRGB(0, 0, 0.5)
    canvas.rect(300, 90, 20, 3, fill=1, stroke=0)
    white(canvas)


def restored(canvas):
    canvas.saveState()
    canvas.setFillGray(1)
    canvas.restoreState()
    canvas.drawString(40, 300, "SECRET")


def small(canvas):
    canvas.setFont("Helvetica", 0.5)
    canvas.drawString(40, 400, "SECRET")


def scaled(canvas, size=1, scale=12):
    canvas.setFont("Helvetica", size)
    canvas.scale(scale, scale)
    canvas.drawString(40 / scale, 400 / scale, "SECRET")


def squeezed(canvas, percent, size=12):
    text = canvas.beginText(40, 400)
    text.setFont("Helvetica", size)
    text.setHorizScale(percent)
    text.textOut("SECRET")
    canvas.drawText(text)


def in_a_matrix(canvas, *matrix):
    text = canvas.beginText()
    text.setTextTransform(*matrix, 40, 400)
    text.textOut("SECRET")
    canvas.drawText(text)


def turned(canvas):
    canvas.translate(200, 200)
    canvas.rotate(90)
    canvas.drawString(0, 0, "SECRET")


def in_a_form(canvas):
    canvas.beginForm("form")
    white(canvas)
    canvas.endForm()
    canvas.doForm("form")


def in_its_own_color(canvas):
    canvas.setFillColorRGB(0, 0, 0.5)
    canvas.rect(30, 390, 200, 30, fill=1, stroke=0)
    canvas.drawString(40, 400, "SECRET")


def beside_many_dots(canvas):
    for place in range(300):
        canvas.rect(place, 90, 0.5, 0.5, fill=1)
    white(canvas)


def on_a_box_that_was_painted_over(canvas):
    canvas.rect(30, 390, 200, 30, fill=1)
    canvas.setFillGray(1)
    canvas.rect(0, 350, 300, 100, fill=1, stroke=0)
    white(canvas)


def transparent(canvas):
    canvas.setFillAlpha(0)
    canvas.drawString(40, 400, "SECRET")


def outlined(canvas):
    text = canvas.beginText(40, 400)
    text.setTextRenderMode(2)
    canvas.setFillGray(1)
    text.textOut("SECRET")
    canvas.drawText(text)


def over_the_edge(canvas):
    canvas.drawString(360, 300, "on the edge of the page is a SECRET")


def recognized(canvas):
    text = canvas.beginText(40, 400)
    text.setTextRenderMode(3)
    text.textOut("SECRET")
    canvas.drawText(text)


class TestPdf:
    def page(self, draw):
        buffer = io.BytesIO()
        canvas = Canvas(buffer, pagesize=A5)
        canvas.drawString(40, 500, "seen on the page")
        draw(canvas)
        canvas.showPage()
        canvas.save()
        return buffer.getvalue()

    @pytest.mark.parametrize(
        ("draw", "hidden"),
        [
            (white, True),
            (lambda c: (c.setFillGray(0.99), c.drawString(40, 400, "SECRET")), True),
            (lambda c: (c.setFillColorCMYK(0, 0, 0, 0), c.drawString(40, 400, "SECRET")), True),
            (on_a_box, False),
            (beside_a_box, True),
            (beside_many_dots, True),
            (in_a_form, True),
            (in_its_own_color, True),
            (on_a_box_that_was_painted_over, True),
            (transparent, True),
            (outlined, False),
            (over_the_edge, True),
            (restored, False),
            (small, True),
            (scaled, False),
            (lambda c: scaled(c, 1, 2), False),
            (lambda c: scaled(c, 12, 0.01), True),
            (turned, False),
            (lambda c: squeezed(c, 50), False),
            (lambda c: squeezed(c, 25), False),
            (lambda c: squeezed(c, 1), True),
            (lambda c: squeezed(c, 0.01), True),
            (lambda c: squeezed(c, -1), True),
            (lambda c: squeezed(c, 5, 200), True),
            (lambda c: in_a_matrix(c, 0.01, 0, 0, 1), True),
            (lambda c: in_a_matrix(c, 1, 0, 0, 0.01), True),
            (lambda c: in_a_matrix(c, 0, 1, -0.01, 0), True),
            (lambda c: in_a_matrix(c, 1, 0, 1, 0.01), True),  # slanted until they lie on the line
            (lambda c: in_a_matrix(c, 0.7, 0.7, -0.7, 0.7), False),
            (lambda c: in_a_matrix(c, 1, 0, 0.3, 1), False),
            (lambda c: c.drawString(40, -400, "SECRET"), True),
            (lambda c: c.drawString(4000, 400, "SECRET"), True),
        ],
    )
    def test_letters(self, draw, hidden):
        loaded = document_of("a.pdf", self.page(draw))
        assert "seen" in loaded.text
        assert ("SECRET" not in loaded.text) == hidden == (loaded.hidden > 0)

    def test_the_text_layer_of_a_scan_is_kept_and_said_so(self):
        loaded = document_of("a.pdf", self.page(recognized))
        assert "SECRET" in loaded.text
        assert (loaded.hidden, loaded.invisible) == (0, 6)
