"""Markdown and plain text: kept as they are, so that offsets and lines are those of the file."""

import re
from itertools import pairwise
from pathlib import Path

from equipoise.corpus.loaders.loaded import LoadedDocument, decode, one_line

_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_ATX = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_RULE = re.compile(r"\s{0,3}(={3,}|-{3,})\s*$")
_RST_RULE = re.compile(r"([=\-~^\"'#*+])\1{2,}\s*$")
_FRONT_TITLE = re.compile(r"title:\s*(.+)", re.IGNORECASE)
_TITLE_LINES = 200


def load_markdown(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: the source text. Its title is the front matter's, else the first heading."""
    text = decode(path, data)
    lines = text.split("\n", _TITLE_LINES)[:_TITLE_LINES]
    title = _front_title(lines) or _markdown_heading(lines)
    return [LoadedDocument(text, title or path.stem)]


def load_text(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: the text. A reStructuredText file's title is its first underlined line."""
    text = decode(path, data)
    lines = text.split("\n", _TITLE_LINES)[:_TITLE_LINES]
    title = _underlined(lines, _RST_RULE) if path.suffix.lower() == ".rst" else ""
    return [LoadedDocument(text, title or path.stem)]


def _front_title(lines: list[str]) -> str:
    if not lines or lines[0].strip() != "---":
        return ""
    for line in lines[1:]:
        if line.strip() == "---":
            return ""
        if found := _FRONT_TITLE.match(line):
            return one_line(found.group(1).strip().strip("\"'"))
    return ""


def _markdown_heading(lines: list[str]) -> str:
    outside = _outside_fences(lines)
    for line, after in pairwise([*outside, ""]):
        if found := _ATX.match(line):
            if title := one_line(found.group(1)):
                return title
        elif _underlined([line, after], _RULE):
            return one_line(line)
    return ""


def _outside_fences(lines: list[str]) -> list[str]:
    """`lines` without fenced code and without front matter, both replaced by empty lines."""
    kept, fence = [], ""
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        mark = found.group(1) if found else ""
        if number == 0 and line.strip() == "---" and any(x.strip() == "---" for x in lines[1:]):
            fence = "---"
        elif fence:
            fence = "" if mark == fence or (fence == "---" and line.strip() == "---") else fence
        elif mark:
            fence = mark
        else:
            kept.append(line)
            continue
        kept.append("")
    return kept


def _underlined(lines: list[str], rule: re.Pattern[str]) -> str:
    """The first line that has a rule below it and letters in it, empty without one."""
    for line, after in pairwise(lines):
        if rule.match(after) and not rule.match(line) and any(c.isalnum() for c in line):
            return one_line(line)
    return ""
