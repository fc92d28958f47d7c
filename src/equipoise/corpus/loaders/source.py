"""Source code: kept as it is, cut into blocks where something begins at the margin after a blank line."""

from pathlib import Path

from equipoise.core.types import Block, BlockKind
from equipoise.corpus.loaders.loaded import LoadedDocument, decode

_SUFFIXES = """
    .py .pyi .js .mjs .cjs .jsx .ts .tsx .c .h .cc .cpp .cxx .hh .hpp .cs .java .kt .scala .go .rs .rb .php .pl .pm
    .lua .r .swift .dart .ex .exs .hs .ml .jl .sh .bash .zsh .ps1 .sql .proto .toml .yaml .yml .ini .cfg .conf
"""
SOURCES = tuple(_SUFFIXES.split())
"""Suffixes of files that are read as source code."""

_GOING_ON = (")", "]", "}", "end", "else", "elif", "except", "finally", "catch", "then", "fi", "done", "esac")
_LONG, _VERY_LONG = 60, 120  # lines of a block, from which on it is also cut at one indent, or at any
_INDENT = 4


def load_source(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: the file's text, every top-level definition with its comments and docstrings a block of code."""
    text = decode(path, data if b"\0" in data else data.replace(b"\f", b" "))
    return [LoadedDocument(text, path.name, blocks=tuple(_blocks(text)))]


def _blocks(text: str) -> list[Block]:
    blocks: list[Block] = []
    place = start = end = first = 0
    after_blank = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            if after_blank and first and _begins(line, number - first):
                blocks.append(Block(BlockKind.CODE, start, end, line=first))
                first = 0
            if not first:
                start, first = place, number
            end = place + len(line.rstrip())
        after_blank = not line.strip()
        place += len(line) + 1
    return [*blocks, Block(BlockKind.CODE, start, end, line=first)] if first else blocks


def _begins(line: str, before: int) -> bool:
    """True where a line after a blank one begins a block, `before` lines after the last one began."""
    bare = line.lstrip()
    indent = len(line[: len(line) - len(bare)].expandtabs(_INDENT)) if line[:1].isspace() else 0
    most = 0 if before < _LONG else _INDENT if before < _VERY_LONG else len(line) * _INDENT
    return indent <= most and not bare.startswith(_GOING_ON)
