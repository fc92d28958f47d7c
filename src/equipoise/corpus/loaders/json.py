"""JSON: a list of objects as rows, like JSON Lines; any other value as one document, its objects as rows with paths."""

import json
from collections.abc import Iterator
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.grid import is_label, named
from equipoise.corpus.loaders.jsonl import load_jsonl
from equipoise.corpus.loaders.loaded import LoadedDocument, decode, one_line
from equipoise.corpus.loaders.outline import Outline
from equipoise.text import visible

_TITLES = ("title", "name")
_LONGEST_KEY, _LONGEST_PATH = 80, 200
_LONGEST_LIST = 200  # characters of a list that stands in a row
_BETWEEN = " > "
_DEEPEST_HEADING = 6


def load_json(path: Path, data: bytes) -> list[LoadedDocument]:
    """The documents of a list of objects, else one document: every string and number with the path of its keys.

    The path is a heading, too. An object in a list is called by its name, else by its number.
    """
    try:
        root = json.loads(decode(path, data))
        if isinstance(root, list) and root and all(isinstance(row, dict) for row in root):
            lines = "\n".join(json.dumps(row, ensure_ascii=True) for row in root)
            return load_jsonl(path, lines.encode())
    except RecursionError as error:
        raise UnreadableFile(str(path), "it is nested too deep; flatten it") from error
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
    """The path of what stands under `key`; of a long one the end."""
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
    """Add what stands in an object or list itself: a row, and what is too long for one below it."""
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
