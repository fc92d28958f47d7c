"""What may be quoted of the repository's own examples: sentences, items, code and rows, and no furniture."""

from pathlib import Path

import pytest

from equipoise.core.types import BlockKind, Document
from equipoise.corpus.loaders import load
from equipoise.corpus.pieces import passage_at
from equipoise.text.blocks import blocks
from equipoise.text.outline import heading_text, outlined
from equipoise.text.sentences import units

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "sqlite"
FILES = sorted(path.name for path in FOLDER.iterdir())
FEW = 8
ENDS = ".!?:;…"
CLOSERS = "'\"”’)*_]"


def is_closed(unit):
    """Whether it ends as a sentence does, or is a remark in brackets."""
    return unit.rstrip(CLOSERS).endswith(tuple(ENDS)) or (unit[0], unit[-1]) == ("(", ")")


def document(name):
    (loaded,) = load(FOLDER / name, (FOLDER / name).read_bytes())
    if not loaded.blocks and name.endswith((".html", ".docx", ".pdf")):
        pytest.skip("its loader does not say what its blocks are")
    structure = outlined(loaded.blocks or blocks(loaded.text))
    return Document(
        "d", loaded.text, name, loaded.title, sentences=units(loaded.text, structure), blocks=structure
    )


@pytest.mark.parametrize("name", FILES)
def test_no_short_unit_is_a_heading_a_label_or_a_line_of_contents(name):
    made = document(name)
    headings = {heading_text(made.text[b.start : b.end]) for b in made.blocks if b.kind is BlockKind.HEADING}
    passage = passage_at(1, 0, len(made.text), made)
    for start, end in passage.sentences:
        unit = made.text[start:end]
        row = made.block_row(start)
        kind = made.blocks[row].kind
        leads = any(b.intro == row for b in made.blocks[row : row + 3])
        if len(unit.split()) < FEW:
            assert heading_text(unit) not in headings, unit
            assert any(c.isalpha() for c in unit), unit
            assert leads or kind is not BlockKind.PARAGRAPH or is_closed(unit), unit


@pytest.mark.parametrize("name", FILES)
def test_blocks_hold_all_of_the_text(name):
    made = document(name)
    held = "".join("".join(made.text[b.start : b.end].split()) for b in made.blocks)
    assert held == "".join(made.text.split())


def test_the_questions_of_a_page_of_answers_are_its_headings():
    made = document("faq.md")
    headings = [made.text[b.start : b.end] for b in made.blocks if b.kind is BlockKind.HEADING]
    assert sum(line.startswith("**(") for line in headings) == 27
    assert not any("](#q" in made.text[start:end] for start, end in made.sentences)
