"""JSON Lines: every row a document, as in BEIR's corpus files (`_id`, `title`, `text`)."""

import json
from pathlib import Path
from typing import Any

from equipoise.core.errors import UnreadableFile
from equipoise.core.metadata import told
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, decode, one_line
from equipoise.text import visible

_IDS = ("_id", "id", "doc_id")
_TEXTS = ("text", "body", "content", "paragraphs")


def load_jsonl(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document for each row with text in it; its `fragment` is the row's id, else its line number.

    A row without a text field is rendered as lines `key: value`. An id is one line of at most 200 characters;
    one used before gets `@line` behind it, as often as it takes.
    """
    documents: list[LoadedDocument] = []
    used: set[str] = set()
    for number, line in enumerate(decode(path, data).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = _row(path, number, line)
            title, text = one_line(_first(row, ("title",))), _text(row)
        except RecursionError as error:
            reason = f"line {number} is nested too deep; flatten or remove it"
            raise UnreadableFile(str(path), reason) from error
        fragment = visible.title(_first(row, _IDS)) or str(number)
        while fragment in used:
            fragment = f"{fragment}@{number}"
        used.add(fragment)
        if text := text or title:
            metadata = told({key: row[key] for key in row if key not in (*_IDS, *_TEXTS, "title")})
            documents.append(LoadedDocument(text, title, fragment=fragment, metadata=metadata))
    return documents


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        reason = f"line {number} is not valid JSON ({error}); correct or remove it"
        raise UnreadableFile(str(path), reason) from error
    if isinstance(row, str):
        return {"text": row}
    if not isinstance(row, dict):
        kind = type(row).__name__
        raise UnreadableFile(str(path), f"line {number} holds a {kind}; each line must be one JSON object")
    return row


def _first(row: dict[str, Any], keys: tuple[str, ...]) -> str:
    """The first of `keys` that holds a string or a number, as clean text; empty without one."""
    values = (row.get(key) for key in keys)
    value = next((v for v in values if isinstance(v, str | int | float) and str(v).strip()), "")
    return clean(str(value))


def _text(row: dict[str, Any]) -> str:
    for key in _TEXTS:
        value = row.get(key)
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            return clean("\n\n".join(value))
    others = (*_IDS, "title")
    pairs = (
        (key, value) for key, value in row.items() if key not in others and value not in (None, "", [], {})
    )
    return clean("\n".join(f"{one_line(key)}: {_rendered(value)}" for key, value in pairs))


def _rendered(value: object) -> str:
    return one_line(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
