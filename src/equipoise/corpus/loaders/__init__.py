"""Files to texts: one loader for each file type, chosen by suffix, or by a name such as README.

A loader is a function `(path, data) -> documents`. It gets the bytes already read, so it never touches the
disk, and raises UnreadableFile with a reason that says what to do.
"""

import gzip
import io
import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders import encodings
from equipoise.corpus.loaders.beginnings import HEAD, misnamed
from equipoise.corpus.loaders.hidden import without_shapeless
from equipoise.corpus.loaders.loaded import OLD, LoadedDocument, one_line
from equipoise.corpus.loaders.source import SOURCES
from equipoise.corpus.whole import WholeText

__all__ = [
    "DOCUMENTS",
    "OLD",
    "VERSION",
    "LoadedDocument",
    "Loader",
    "check_type",
    "kind_of",
    "load",
    "seen",
    "unzipped",
    "whole_texts",
]

VERSION = 14
"""Raise it when a loader makes another text of the same file, so that private indexes of `--docs` are rebuilt."""

Loader = Callable[[Path, bytes], list[LoadedDocument]]

_XML = (".xml", ".dita", ".docbook", ".dbk", ".rss", ".atom")

LOADERS = {
    ".md": "plain:load_markdown",
    ".markdown": "plain:load_markdown",
    ".org": "plain:load_org",
    ".txt": "plain:load_text",
    ".rst": "plain:load_rst",
    ".log": "plain:load_text",
    ".po": "po:load_po",
    ".pot": "po:load_po",
    ".tex": "tex:load_tex",
    ".srt": "subtitles:load_subtitles",
    ".vtt": "subtitles:load_subtitles",
    ".ics": "cards:load_cards",
    ".vcf": "cards:load_cards",
    **dict.fromkeys([f".{number}" for number in range(1, 10)], "man:load_man"),
    ".ipynb": "notebook:load_notebook",
    ".html": "htmlfile:load_html",
    ".htm": "htmlfile:load_html",
    **dict.fromkeys(_XML, "xmldoc:load_xml"),
    ".pdf": "pdf:load_pdf",
    ".docx": "docx:load_docx",
    ".docm": "docx:load_docx",
    ".epub": "epub:load_epub",
    ".odt": "odt:load_odt",
    ".ods": "odt:load_odt",
    ".pptx": "pptx:load_pptx",
    ".pptm": "pptx:load_pptx",
    ".xlsx": "xlsx:load_xlsx",
    ".xlsm": "xlsx:load_xlsx",
    ".rtf": "rtf:load_rtf",
    ".eml": "eml:load_eml",
    ".mbox": "eml:load_mbox",
    ".msg": "msg:load_msg",
    ".adoc": "adoc:load_adoc",
    ".asciidoc": "adoc:load_adoc",
    ".csv": "delimited:load_csv",
    ".tsv": "delimited:load_tsv",
    ".jsonl": "json:load_jsonl",
    ".ndjson": "json:load_jsonl",
    ".json": "json:load_json",
    **dict.fromkeys(SOURCES, "source:load_source"),
    **dict.fromkeys(OLD, "loaded:load_old"),
}
"""By suffix, the module beside this one and its function, imported for the first file of the type."""

DOCUMENTS = tuple(suffix for suffix in LOADERS if suffix not in SOURCES)
"""Suffixes of all types but source code."""

_PACKED_SUFFIXES = ".pdf .docx .docm .epub .odt .ods .pptx .pptm .xlsx .xlsm .rtf .eml .mbox .msg"
_PACKED = frozenset(_PACKED_SUFFIXES.split())
_SNIFFED = 4_096
_ZIPPED = ".gz"
_INCLUDED = ".inc"
"""Follows the suffix of files that others include: "errors.rst.inc"."""
_SUBSECTION = re.compile(r"\.[1-9](?:const|perl|pm?|ssl|type|x)")
"""Subsections of the manual, as distributions name them: ".1ssl" for OpenSSL."""
_MOST_TIMES, _ALWAYS_FINE = 20, 10_000_000  # most bytes unpacked: for each of the file, and for any file

NAMES = frozenset(
    {"authors", "changelog", "changes", "contributing", "copying", "copyright", "faq", "history", "install"}
    | {"licence", "license", "maintainers", "news", "notice", "readme", "thanks", "todo"}
    | {"changelog.debian", "news.debian", "readme.debian"}
)
"""Names of files that are plain text."""


def kind_of(path: Path) -> str:
    """The type of a file as a suffix in LOADERS; of a gzip file, the type of its content; "" for a type that cannot be
    read."""
    inner = _inner(path)
    suffix = ".txt" if inner.name.lower() in NAMES else inner.suffix.lower()
    suffix = Path(inner.stem).suffix.lower() if suffix == _INCLUDED else suffix
    suffix = suffix[:2] if _SUBSECTION.fullmatch(suffix) else suffix
    return suffix if suffix in LOADERS else ""


def check_type(path: Path) -> None:
    """Raises UnreadableFile, naming the known types, for a file of an unknown one."""
    if not kind_of(path):
        kinds = " ".join(DOCUMENTS)
        raise UnreadableFile(str(path), f"this file type cannot be read; convert it to one of {kinds}")


def load(path: Path, data: bytes) -> list[LoadedDocument]:
    """The documents in a file, at least one, each with text in it that a reader sees.

    `path` chooses the loader by its suffix and names the file in errors. Raises UnreadableFile.
    """
    check_type(path)
    path, data = _inner(path), unzipped(path, data)
    if not data.strip():
        raise UnreadableFile(str(path), "the file is empty; put text in it or leave it out")
    guessed = _guessed(path, data)
    try:
        loaded = _loader(path)(path, data)
        return seen(path, [replace(one, encoding=guessed) for one in loaded] if guessed else loaded)
    except RecursionError as error:
        raise UnreadableFile(str(path), "it is nested too deep; save it as text") from error
    except UnreadableFile as error:
        if why := misnamed(path.suffix.lower(), data[:HEAD]):
            raise UnreadableFile(str(path), why) from error
        raise


def seen(path: Path, loaded: list[LoadedDocument]) -> list[LoadedDocument]:
    """The documents of a file that have visible text, without characters that have no shape. Raises UnreadableFile if
    there is none."""
    documents = [_seen(document) for document in loaded]
    readable = [document for document in documents if document.text.strip()]
    if not readable:
        hidden = sum(document.hidden for document in documents)
        why = f"there is no text in the file that a reader sees ({hidden:,} characters are hidden)"
        raise UnreadableFile(
            str(path), f"{why if hidden else 'there is no text in the file'}; put text in it or leave it out"
        )
    return readable


def whole_texts(path: Path, data: bytes) -> list[WholeText]:
    """All the text of a file, also what `load` leaves out. Raises UnreadableFile."""
    check_type(path)
    whole = import_module(f"{__name__}.whole")
    texts: list[WholeText] = whole.whole_texts(_inner(path), unzipped(path, data))
    return texts


def _inner(path: Path) -> Path:
    """The name of what is in a compressed file; any other as it is."""
    return path.with_suffix("") if path.suffix.lower() == _ZIPPED else path


def unzipped(path: Path, data: bytes) -> bytes:
    """The content of a gzip file (RFC 1952), other data as it is. Raises UnreadableFile, also if it is too large."""
    if path.suffix.lower() != _ZIPPED:
        return data
    most = _MOST_TIMES * len(data) + _ALWAYS_FINE
    try:
        with gzip.open(io.BytesIO(data)) as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableFile(str(path), "it is not a gzip file or is cut short; compress it again") from error
    if len(content) > most:
        raise UnreadableFile(str(path), f"it unpacks to more than {most:,} bytes; unpack it and split it")
    return content


def _loader(path: Path) -> Loader:
    module, _, function = LOADERS[kind_of(path)].partition(":")
    loader: Loader = getattr(import_module(f"{__name__}.{module}"), function)
    return loader


def _guessed(path: Path, data: bytes) -> str:
    """The guessed encoding of a text file; empty if the file declares it, is valid UTF-8, or is no text file."""
    if kind_of(path) in _PACKED or kind_of(path) in OLD or b"charset" in data[:_SNIFFED].lower():
        return ""
    with suppress(UnicodeDecodeError):
        guess = encodings.read(data)
        return "" if guess is None or guess.told else guess.encoding
    return ""


def _seen(document: LoadedDocument) -> LoadedDocument:
    """`document` without characters that have no shape; its text keeps its length, so page offsets stay right."""
    text, title = without_shapeless(document.text), one_line(without_shapeless(document.title))
    if (text, title) == (document.text, document.title):
        return document
    changed = 0
    if text != document.text:
        changed = sum(new != old for new, old in zip(text, document.text, strict=True))
    return replace(document, text=text, title=title, hidden=document.hidden + changed)
