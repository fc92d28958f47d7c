"""Jupyter notebooks: text as Markdown, code and what it printed as code (nbformat 4)."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders.loaded import LoadedDocument, decode
from equipoise.corpus.loaders.plain import load_markdown

_FENCE = "~" * 8


def load_notebook(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document, without line numbers. Its title is the first heading; pictures and tables of HTML are left
    out."""
    try:
        cells = json.loads(decode(path, data))["cells"]
        text = "\n\n".join(part for cell in cells for part in _parts(cell) if part.strip())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableFile(str(path), "it is not a notebook of version 4; save it anew") from error
    return [
        replace(document, blocks=tuple(block._replace(line=0) for block in document.blocks))
        for document in load_markdown(path, text.encode("utf-8", "replace"))
    ]


def _parts(cell: dict[str, object]) -> Iterator[str]:
    source = _joined(cell.get("source"))
    if cell["cell_type"] != "code":
        yield source
        return
    yield _fenced(source)
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        shown = output.get("data") or {}
        yield _fenced(_joined(output.get("text") or shown.get("text/plain")))


def _joined(lines: object) -> str:
    """Text as notebooks have it: a string, or a list of lines with their ends."""
    return lines if isinstance(lines, str) else "".join(map(str, lines if isinstance(lines, list) else []))


def _fenced(code: str) -> str:
    return f"{_FENCE}\n{code}\n{_FENCE}" if code.strip() else ""
