"""JSON Lines and lists of objects: every row a document, as in BEIR's corpus files (`_id`, `title`, `text`); any other
value of JSON as one document, its objects as rows with paths."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from equipoise.core.errors import UnreadableFile
from equipoise.core.metadata import cleaned
from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.grid import is_label, named
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, decode, one_line
from equipoise.corpus.loaders.outline import Outline
from equipoise.text import visible

_IDS = ("_id", "id", "doc_id")
_TEXTS = ("text", "body", "content", "paragraphs")
_TITLES = ("title", "name")
_LONGEST_KEY, _LONGEST_PATH = 80, 200
_LONGEST_LIST = 200  # characters of a value that stands in a row
_BETWEEN = " > "
_DEEPEST_HEADING = 6


def load_json(path: Path, data: bytes) -> list[LoadedDocument]:
    """The documents of a list of objects, else one document: every string and number with the path of its keys.

    The path is a heading, too. An object in a list is called by its name, else by its number.
    """
    try:
        root = json.loads(decode(path, data))
        if isinstance(root, list) and root and all(isinstance(row, dict) for row in root):
            return _rows(path, enumerate(root, 1))
    except ValueError as error:
        raise UnreadableFile(str(path), f"this is not valid JSON ({error}); correct it") from error
    return [value_loaded(path, root)]


def value_loaded(path: Path, root: object) -> LoadedDocument:
    """The document of a value of strings, numbers, lists and objects."""
    outline = Outline()
    for keys, value in _objects(root):
        _add(outline, keys, value)
    titles = (root.get(key) for key in _TITLES) if isinstance(root, dict) else ()
    title = next((text for text in titles if isinstance(text, str) and text.strip()), "")
    return outline.loaded(visible.title(title) or path.stem)


def _objects(value: object) -> Iterator[tuple[str, object]]:
    """Every object and list with the path of its keys, in their order; no recursion."""
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        waiting += [
            (_below(path, key), child) for key, child in reversed(_pairs(node)) if not _is_plain(child)
        ]


def _below(path: str, key: str) -> str:
    """The path of the value of `key`; a long one is cut at its beginning."""
    whole = path + _BETWEEN * bool(path) + one_line(key)[:_LONGEST_KEY]
    cut = whole.find(_BETWEEN, len(whole) - _LONGEST_PATH) if len(whole) > _LONGEST_PATH else -1
    return whole if cut < 0 else f"…{whole[cut:]}"


def _pairs(value: object) -> list[tuple[str, object]]:
    if isinstance(value, dict):
        return list(value.items())
    return (
        [(_name(child) or str(number), child) for number, child in enumerate(value, 1)]
        if isinstance(value, list)
        else []
    )


def _name(value: object) -> str:
    """What an object in a list is called."""
    names = (value.get(key) for key in ("name", "title", "id")) if isinstance(value, dict) else ()
    return next((name for name in names if isinstance(name, str) and is_label(name)), "")


def _is_plain(value: object) -> bool:
    """True for a string or number, and for a list of them."""
    inner = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
    return not any(isinstance(child, dict | list) for child in inner)


def _add(outline: Outline, path: str, value: object) -> None:
    """Add the plain values of an object or list: as a row, those too long for a row below it."""
    pairs = [("", value)] if _is_plain(value) else [pair for pair in _pairs(value) if _is_plain(pair[1])]
    row: dict[str, str] = {}
    below: list[tuple[str, object]] = []
    for key, child in pairs:
        text = ", ".join(map(_shown, child)) if isinstance(child, list) else _shown(child)
        if len(text) > _LONGEST_LIST or "\n" in text:
            below.append((_below(path, key), child))
        elif text:
            row[one_line(key)] = text
    if path and (row or below):
        outline.add(BlockKind.HEADING, path, level=min(path.count(_BETWEEN) + 1, _DEEPEST_HEADING))
    for text in named(["", *row], [path, *row.values()]) if row else ():
        outline.add(BlockKind.ROW, text)
    for name, child in below:
        intro = outline.add(
            BlockKind.PARAGRAPH, f"{name}:" if isinstance(child, list) else f"{name}: {_shown(child)}"
        )
        for item in child if isinstance(child, list) else ():
            outline.add(BlockKind.ITEM, f"- {_shown(item)}", level=1, intro=intro)


def _shown(value: object) -> str:
    return value.strip() if isinstance(value, str) else "" if value is None else json.dumps(value)


def load_jsonl(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document for each row with text in it; its `fragment` is the row's id, else its line number.

    A row without a text field is rendered as lines `key: value`. An id is one line of at most 200 characters;
    one used before gets `@line` behind it, as often as it takes.
    """
    lines = ((number, line) for number, line in enumerate(decode(path, data).split("\n"), 1) if line.strip())
    return _rows(path, ((number, _row(path, number, line)) for number, line in lines))


def _rows(path: Path, rows: Iterable[tuple[int, dict[str, Any]]]) -> list[LoadedDocument]:
    """The documents of rows, each with its number."""
    documents: list[LoadedDocument] = []
    used: set[str] = set()
    for number, row in rows:
        try:
            title, text = one_line(_first(row, ("title",))), _text(row)
        except RecursionError as error:
            reason = f"line {number} is nested too deep; flatten or remove it"
            raise UnreadableFile(str(path), reason) from error
        fragment = visible.title(_first(row, _IDS)) or str(number)
        while fragment in used:
            fragment = f"{fragment}@{number}"
        used.add(fragment)
        if text := text or title:
            metadata = cleaned({key: row[key] for key in row if key not in (*_IDS, *_TEXTS, "title")})
            documents.append(LoadedDocument(text, title, fragment=fragment, metadata=metadata))
    return documents


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except RecursionError as error:
        raise UnreadableFile(str(path), f"line {number} is nested too deep; flatten or remove it") from error
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
