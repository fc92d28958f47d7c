"""Catalogues of translations (gettext's PO): every entry a row of text, translation and what is said of it."""

import re
from itertools import chain
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders.grid import Row
from equipoise.corpus.loaders.loaded import LoadedDocument, decode, one_line
from equipoise.corpus.loaders.outline import Outline

_SAID = re.compile(r'(msgctxt|msgid(?:_plural)?|msgstr(?:\[\d{1,2}\])?)[ \t]*+(?=")')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)"')
_ESCAPED = re.compile(r"\\(.)")
_LANGUAGE = re.compile(r"^Language:[ \t]*+([\w@.-]{2,20})", re.MULTILINE)
_UNCHECKED = " (fuzzy)"


def load_po(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document; entries that are out of use are left out, translations that nobody has checked are called fuzzy.
    Raises UnreadableFile without entries."""
    outline, language = Outline(), ""
    rows: list[Row] = []
    for first, entry in _entries(decode(path, data)):
        texts = [text for name, text in entry.items() if name.startswith("msgid")]
        made = [text for name, text in entry.items() if name.startswith("msgstr")]
        if not any(texts):  # the head of the file
            found = _LANGUAGE.search("\n".join(made))
            language = f" ({found[1]})" if found else ""
            continue
        translated = " / ".join(filter(None, map(one_line, made))) or "none"
        unchecked = _UNCHECKED if "fuzzy" in entry.get("#,", "") else ""
        context, comment = entry.get("msgctxt", ""), entry.get("#.", "")
        cells = [
            " / ".join(map(one_line, texts)),
            translated + unchecked,
            one_line(context),
            one_line(comment),
        ]
        rows.append(Row(cells, first))
    if not rows:
        raise UnreadableFile(str(path), "there is no text with a translation in it; export it anew")
    outline.rows(["Text", f"Translation{language}", "Context", "Comment"], rows, line=rows[0].place)
    return [outline.loaded(path.stem)]


def _entries(text: str) -> list[tuple[int, dict[str, str]]]:
    """The line that each entry begins on, and its texts by keyword (msgid, msgstr, "#." for comments)."""
    entries: list[tuple[int, dict[str, str]]] = []
    entry: dict[str, str] = {}
    name, first = "", 0
    for number, line in enumerate(chain(text.split("\n"), [""]), 1):
        bare = line.strip()
        said = _SAID.match(bare)
        is_comment = bare.startswith("#")
        if (not bare or (is_comment and name)) and any(key.startswith("msgstr") for key in entry):
            entries.append((first, entry))
            entry, name, first = {}, "", 0
        first = first or (number if bare else 0)
        if is_comment:
            entry[bare[:2]] = f"{entry.get(bare[:2], '')} {bare[2:]}"
            continue
        name = said[1] if said else name
        if name and (string := _STRING.match(bare, said.end() if said else 0)):
            plain = _ESCAPED.sub(lambda found: {"n": "\n", "t": " "}.get(found[1], found[1]), string[1])
            entry[name] = entry.get(name, "") + plain
    return entries
