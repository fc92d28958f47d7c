"""Files to texts: one loader for each file type, chosen by suffix.

A loader is a function `(path, data) -> documents`. It gets the bytes already read, so it never touches the
disk, and raises UnreadableFile with a reason that says what to do.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders.adoc import load_adoc
from equipoise.corpus.loaders.docx import load_docx
from equipoise.corpus.loaders.eml import load_eml
from equipoise.corpus.loaders.epub import load_epub
from equipoise.corpus.loaders.hidden import without_shapeless
from equipoise.corpus.loaders.html import load_html
from equipoise.corpus.loaders.json import load_json
from equipoise.corpus.loaders.jsonl import load_jsonl
from equipoise.corpus.loaders.loaded import LoadedDocument, one_line
from equipoise.corpus.loaders.odt import load_odt
from equipoise.corpus.loaders.pdf import load_pdf
from equipoise.corpus.loaders.plain import load_markdown, load_text
from equipoise.corpus.loaders.pptx import load_pptx
from equipoise.corpus.loaders.rtf import load_rtf
from equipoise.corpus.loaders.source import SOURCES, load_source
from equipoise.corpus.loaders.tables import load_csv, load_tsv
from equipoise.corpus.loaders.xlsx import load_xlsx

__all__ = ["DOCUMENTS", "LOADERS", "LoadedDocument", "Loader", "load", "loader_for"]

Loader = Callable[[Path, bytes], list[LoadedDocument]]

LOADERS: dict[str, Loader] = {
    ".md": load_markdown,
    ".markdown": load_markdown,
    ".txt": load_text,
    ".rst": load_text,
    ".log": load_text,
    ".html": load_html,
    ".htm": load_html,
    ".pdf": load_pdf,
    ".docx": load_docx,
    ".epub": load_epub,
    ".odt": load_odt,
    ".pptx": load_pptx,
    ".xlsx": load_xlsx,
    ".rtf": load_rtf,
    ".eml": load_eml,
    ".adoc": load_adoc,
    ".asciidoc": load_adoc,
    ".csv": load_csv,
    ".tsv": load_tsv,
    ".jsonl": load_jsonl,
    ".ndjson": load_jsonl,
    ".json": load_json,
    **dict.fromkeys(SOURCES, load_source),
}


DOCUMENTS = tuple(suffix for suffix in LOADERS if suffix not in SOURCES)
"""Suffixes of all types but source code."""


def loader_for(path: Path) -> Loader:
    """The loader of this file type. Raises UnreadableFile, naming the known types, for an unknown one."""
    loader = LOADERS.get(path.suffix.lower())
    if loader is None:
        kinds = " ".join(DOCUMENTS)
        raise UnreadableFile(str(path), f"this file type cannot be read; convert it to one of {kinds}")
    return loader


def load(path: Path, data: bytes) -> list[LoadedDocument]:
    """The documents in a file, at least one, each with text in it that a reader sees.

    `path` chooses the loader by its suffix and names the file in errors. Raises UnreadableFile.
    """
    loader = loader_for(path)
    if not data.strip():
        raise UnreadableFile(str(path), "the file is empty; put text in it or leave it out")
    documents = [_seen(document) for document in loader(path, data)]
    found = [document for document in documents if document.text.strip()]
    if not found:
        hidden = sum(document.hidden for document in documents)
        why = f"there is no text in the file that a reader sees ({hidden:,} characters are hidden)"
        raise UnreadableFile(
            str(path), f"{why if hidden else 'there is no text in the file'}; put text in it or leave it out"
        )
    return found


def _seen(document: LoadedDocument) -> LoadedDocument:
    """`document` without characters that have no shape; its text keeps its length, so its pages hold."""
    text, title = without_shapeless(document.text), one_line(without_shapeless(document.title))
    changed = 0
    if text != document.text:
        changed = sum(one != other for one, other in zip(text, document.text, strict=True))
    return replace(document, text=text, title=title, hidden=document.hidden + changed)
