"""JSON: a list of objects as rows, like JSON Lines; any other value as one document with its keys as headings."""

import json
from collections.abc import Iterator
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.jsonl import load_jsonl
from equipoise.corpus.loaders.loaded import LoadedDocument, decode, one_line
from equipoise.corpus.loaders.outline import Outline
from equipoise.text import visible

_TITLES = ("title", "name")
_NAMED = 3  # keys of a path that its heading says
_LONGEST_KEY = 80
_DEEPEST_HEADING = 6


def load_json(path: Path, data: bytes) -> list[LoadedDocument]:
    """The documents of a list of objects, else one document: every string and number with its key.

    An object inside another is a heading with the last keys of its path, a plain list is a list.
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
    outline = Outline()
    for keys, value in _objects(root):
        _add(outline, keys, value)
    titles = (root.get(key) for key in _TITLES) if isinstance(root, dict) else ()
    title = next((text for text in titles if isinstance(text, str) and text.strip()), "")
    return [outline.loaded(visible.title(title) or path.stem)]


_Keys = tuple[str, ...]


def _objects(value: object) -> Iterator[tuple[_Keys, object]]:
    """Every object and list with the last keys of its path, in their order; no recursion."""
    waiting: list[tuple[_Keys, object]] = [((), value)]
    while waiting:
        keys, node = waiting.pop()
        yield keys, node
        inner = [
            ((*keys, one_line(key)[:_LONGEST_KEY])[-_NAMED:], child)
            for key, child in _pairs(node)
            if isinstance(child, dict | list) and not _is_plain(child)
        ]
        waiting += reversed(inner)


def _pairs(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from ((str(number), child) for number, child in enumerate(value, 1))


def _is_plain(value: object) -> bool:
    """True for a list of strings and numbers."""
    return isinstance(value, list) and not any(isinstance(child, dict | list) for child in value)


def _add(outline: Outline, keys: _Keys, value: object) -> None:
    """Add what stands in an object or list itself."""
    heading = " > ".join(keys)
    level = min(max(1, len(keys)), _DEEPEST_HEADING)
    if not isinstance(value, dict | list):
        outline.add(BlockKind.PARAGRAPH, _shown(value))
        return
    if _is_plain(value):
        value = {"": value}
    shown = [
        (key, child) for key, child in _pairs(value) if not isinstance(child, dict | list) or _is_plain(child)
    ]
    if heading and any(child not in (None, "", []) for _, child in shown):
        outline.add(BlockKind.HEADING, heading, level=level)
    for key, child in shown:
        name = one_line(key)
        if isinstance(child, list):
            lead = outline.add(BlockKind.PARAGRAPH, f"{name}:") if name and child else -1
            for item in child:
                outline.add(BlockKind.ITEM, f"- {_shown(item)}", level=1, lead=lead)
        elif child not in (None, ""):
            outline.add(BlockKind.PARAGRAPH, f"{name}: {_shown(child)}")


def _shown(value: object) -> str:
    return value.strip() if isinstance(value, str) else json.dumps(value)
