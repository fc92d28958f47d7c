"""A file of HTML is a page, with the front matter above it and the day that it says."""

from datetime import date
from pathlib import Path

import pytest

from equipoise.corpus.loaders import load

FRONT = "---\ntitle: Stays\nreviewed: 2024-05-01\nhotels:\n  - name: Birch Hotel\n    night: $167\n---\n"
BODY = "<head><title>Page</title></head><p>All are near.</p>"


def loaded(text, name="a.html"):
    (document,) = load(Path(name), text.encode())
    return document


@pytest.mark.parametrize("front", [FRONT, FRONT.replace("\n", "\r\n"), f"\ufeff{FRONT}"])
def test_front_matter_above_a_page_is_read_as_that_of_markdown(front):
    page, markdown = loaded(front + BODY), loaded(front + "All are near.", "a.md")
    assert (page.title, page.metadata) == ("Stays", {"reviewed": date(2024, 5, 1)})
    assert (page.title, page.metadata) == (markdown.title, markdown.metadata)
    assert page.text.split() == markdown.text.split()
    assert [page.text[one.start : one.end] for one in page.blocks] == [
        markdown.text[one.start : one.end] for one in markdown.blocks
    ]


def test_a_page_between_rules_has_no_front_matter():
    for text in ("---\n<p>name: It is open.</p>\n---\n<p>Near.", "---\nname: It is open.\n<p>Near."):
        assert not loaded(text).metadata


def test_front_matter_hides_what_a_page_would_hide():
    page = loaded('---\ntitle: Stays <span style="display:none">in secret</span>\n---\n<p>Near.</p>')
    assert "secret" not in page.text + page.title
    assert page.hidden


@pytest.mark.parametrize(
    ("said", "metadata"),
    [
        ('property="article:modified_time" content="2024-03-02T10:00:00Z"', {"date": date(2024, 3, 2)}),
        ('name="DCTERMS.date" content=" 2023-01-31 "', {"date": date(2023, 1, 31)}),
        ('name="date" content="May 2024"', {}),
        ('name="date" content="2024\x07"', {}),
        ('name="date"', {}),
    ],
)
def test_a_page_is_of_the_day_that_it_says(said, metadata):
    page = f"<head><meta {said}></head><p>Near."
    assert loaded(page).metadata == metadata
    assert loaded(f"---\ndate: 2021-01-01\n---\n{page}").metadata == {"date": date(2021, 1, 1)}
