"""The same facts in files that other programs wrote: read alike in all of them, and answered alike."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from blocks_of import check
from equipoise import Library
from equipoise.core.types import BlockKind
from equipoise.corpus.loaders import load
from equipoise.corpus.loaders.outline import Outline

FACTS = """---
title: Guide to the ferry
---

# Fares

A bicycle costs 4 euros.[^1] The tank holds 10^6^ litres of water. ~~A dog costs 9 euros.~~

Tickets:

- Zone North
    - day: 5.60 euros
- Zone Harbour
    - day: 9.90 euros

## Crew

| Name  | Role    | Cabin |
|-------|---------|-------|
| Ann   | captain | 007   |
| Bodil | cook    | 012   |

[^1]: Bicycles are free of charge in May.
"""
SHEET = "Name,Role,Cabin\nAnn,captain,007\nBodil,cook,012\n"
PANDOC = ("docx", "odt", "epub", "html", "tex", "1", "ipynb", "org", "rst", "adoc", "xml", "rtf", "pptx")
KINDS = {"tex": "latex", "1": "man", "adoc": "asciidoc", "xml": "docbook5", "rst": "rst"}
OFFICE = ("odt", "rtf", "docx")
ASKED = {
    "How much does a bicycle cost?": r"4\s+euros",
    "Which cabin does Bodil have?": r"012",
    "When are bicycles free of charge?": r"May",
}

pytestmark = pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """By kind, the file that pandoc or LibreOffice wrote."""
    folder = tmp_path_factory.mktemp("facts")
    (folder / "facts.md").write_text(FACTS)
    files = {}
    for kind in PANDOC:
        files[kind] = folder / f"facts.{kind}"
        form = ["-t", KINDS.get(kind, kind)]
        command = ["pandoc", "-s", "facts.md", "-o", files[kind].name, *form, "--metadata", "section=1"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    if shutil.which("soffice"):
        for kind in OFFICE:
            made = folder / f"office-{kind}"
            before = files["docx" if kind != "docx" else "odt"].name
            profile = f"-env:UserInstallation=file://{folder}/profile"
            command = ["soffice", profile, "--headless", "--convert-to", kind, "--outdir", made.name, before]
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)
            files[f"office {kind}"] = made / f"facts.{kind}"
    return files


def lost(path):
    """What of the facts does not stand in a file as it should."""
    (document,) = load(path, path.read_bytes())
    check(document)
    blocks = [(block, document.text[block.start : block.end]) for block in document.blocks]

    def row(*words):
        return next((at for at, (_, text) in enumerate(blocks) if all(word in text for word in words)), -1)

    def above(at):
        while at >= 0:
            yield blocks[at][1]
            at = blocks[at][0].intro

    wrong = []
    if re.search(r"euros1|euros\.1|10 ?6\b|106", document.text):
        wrong.append("a number above the line is glued")
    if "9 euros" in document.text and "STRIKEOUT" not in document.text:  # formats without struck text say so
        wrong.append("struck text is read")
    day = row("day:", "9.90")
    if day < 0 or not any("Zone Harbour" in text for text in above(day)):
        wrong.append("an item has lost its zone")
    if row("Bodil", "cook", "012") < 0 or "Cabin" not in blocks[row("Bodil", "012")][1]:
        wrong.append("a row has lost the names of its columns")
    if row("free of charge in May") < 0 or blocks[row("free of charge")][0].kind is BlockKind.ASIDE:
        wrong.append("the note is lost")
    return wrong


@pytest.mark.parametrize("kind", PANDOC)
def test_what_pandoc_writes_is_read_without_loss(written, kind):
    assert lost(written[kind]) == []


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
@pytest.mark.parametrize("kind", OFFICE)
def test_what_libreoffice_writes_is_read_without_loss(written, kind):
    assert lost(written[f"office {kind}"]) == []


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
@pytest.mark.parametrize("kind", ["ods", "xlsx"])
def test_a_sheet_that_libreoffice_writes(tmp_path, kind):
    (tmp_path / "crew.csv").write_text(SHEET)
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    text = "--infilter=CSV:44,34,76,1,1/2/2/2/3/2"  # every column is text: zeros at its front stay
    command = ["soffice", profile, "--headless", text, "--convert-to", kind, "crew.csv"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=300)
    path = tmp_path / f"crew.{kind}"
    assert "Name: Bodil; Role: cook; Cabin: 012" in load(path, path.read_bytes())[0].text


def test_the_same_questions_have_the_same_answers(written, tmp_path):
    for kind in ("docx", "html", "tex", "1", "ipynb", "rtf"):
        with Library.create(tmp_path / f"{kind}.db") as library:
            library.index(written[kind])
            for question, wanted in ASKED.items():
                result = library.ask(question)
                quotes = (
                    ""
                    if result.to_dict()["refused"]
                    else "\n".join(one.text for one in result.highlights.items)
                )
                assert re.search(wanted, quotes), (kind, question, quotes)


@pytest.mark.parametrize(
    ("method", "instead", "says"),
    [
        ("notes", lambda outline, row, texts: None, "the note is lost"),
        (
            "item",
            lambda outline, text, level, line: outline.add(BlockKind.ITEM, text, level=1),
            "an item has lost its zone",
        ),
    ],
)
def test_a_loader_that_drops_notes_or_levels_is_caught(written, monkeypatch, method, instead, says):
    monkeypatch.setattr(Outline, method, instead)
    assert lost(Path(written["docx"])) == [says]
