"""Every relative link of the repository's pages leads to a file, and to a heading of it where it names one."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(path for path in (ROOT / "benchmarks").rglob("*.md") if not path.name.startswith("transcripts-")),
]
"""Transcripts quote pages of others, with their links."""
CODE = re.compile(r"(?ms)^```.*?^```")
LINK = re.compile(r"`[^`\n]+`|\]\((?P<to>[^)\s]+)\)")


def anchors(path):
    """The anchors that headings of a page have, on the site and where repositories are shown."""
    headings = re.findall(r"(?m)^#+ +(.+?) *$", CODE.sub("", path.read_text("utf-8")))
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "") for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in plain}


def broken(text, path):
    """The links of a page that lead nowhere."""
    for link in LINK.finditer(CODE.sub("", text)):
        if not link["to"] or re.match(r"[a-z]+:", link["to"]):
            continue
        name, _, anchor = link["to"].partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link["to"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path):
    assert list(broken(path.read_text("utf-8"), path)) == []


@pytest.mark.parametrize("to", ["no-such-page.md", "guide.md#no-such-heading", "#no-such-heading"])
def test_a_broken_link_is_noticed(to):
    path = ROOT / "docs" / "concepts.md"
    assert list(broken(f"See [this]({to}) and `[that](nowhere.md)`.", path)) == [to]
