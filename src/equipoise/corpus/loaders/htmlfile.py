"""A file of HTML: a page, and the front matter that site generators put above it."""

import re
from dataclasses import replace
from pathlib import Path

from equipoise.core.metadata import Scalar
from equipoise.corpus.loaders.html import dated, decode_page, parsed, read_tree
from equipoise.corpus.loaders.loaded import LoadedDocument
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.plain import add_markdown

_RULE = re.compile(r"---[ \t]*+(?:\r\n?|\n)(?!\s*+<)")
_FRONT_ENDS = re.compile(r"^---[ \t]*+\r?$", re.MULTILINE)


def load_html(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: the front matter, read as that of Markdown, and the visible text. Its title is the front matter's,
    else <title>, else the first <h1>."""
    source = decode_page(path, data)
    below = _front_end(source)
    outline, title, front = Outline(), "", dict[str, Scalar]()
    if below:
        title, front = add_markdown(outline, path, f"{source[:below]}\n")
    tree = parsed(path, source[below:])
    days = dated(tree)
    named = read_tree(tree, outline)
    return [replace(outline.loaded(title or named or path.stem), metadata={**days, **front})]


def _front_end(source: str) -> int:
    """Where the front matter ends, 0 without any."""
    opened = _RULE.match(source)
    ends = _FRONT_ENDS.search(source, opened.end()) if opened else None
    return ends.end() if ends else 0
