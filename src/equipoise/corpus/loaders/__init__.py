"""Files to texts: one loader for each file type, chosen by suffix.

A loader is a function `(path, data) -> documents`. It gets the bytes already read, so it never touches the
disk, and raises UnreadableFile with a reason that says what to do.
"""

from collections.abc import Callable
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders.docx import load_docx
from equipoise.corpus.loaders.html import load_html
from equipoise.corpus.loaders.jsonl import load_jsonl
from equipoise.corpus.loaders.loaded import LoadedDocument
from equipoise.corpus.loaders.pdf import load_pdf
from equipoise.corpus.loaders.plain import load_markdown, load_text
from equipoise.corpus.loaders.tables import load_csv, load_tsv

__all__ = ["LOADERS", "LoadedDocument", "Loader", "load", "loader_for"]

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
    ".csv": load_csv,
    ".tsv": load_tsv,
    ".jsonl": load_jsonl,
    ".ndjson": load_jsonl,
}


def loader_for(path: Path) -> Loader:
    """The loader of this file type. Raises UnreadableFile, naming the known types, for an unknown one."""
    loader = LOADERS.get(path.suffix.lower())
    if loader is None:
        kinds = " ".join(LOADERS)
        raise UnreadableFile(str(path), f"this file type cannot be read; convert it to one of {kinds}")
    return loader


def load(path: Path, data: bytes) -> list[LoadedDocument]:
    """The documents in a file, at least one, each with text in it.

    `path` chooses the loader by its suffix and names the file in errors. Raises UnreadableFile.
    """
    loader = loader_for(path)
    if not data.strip():
        raise UnreadableFile(str(path), "the file is empty; put text in it or leave it out")
    documents = [document for document in loader(path, data) if document.text.strip()]
    if not documents:
        raise UnreadableFile(str(path), "there is no text in the file; put text in it or leave it out")
    return documents
