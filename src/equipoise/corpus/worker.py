"""A process that reads files for `corpus.workers`: it loads them, finds blocks and sentences, and cuts passages.

All code that looks into hostile bytes runs here, within limits, away from the store, the models and their keys.
Run as `python -m equipoise.corpus.worker`; requests come on stdin, replies go to stdout (`corpus.frames`).
It ends with its parent: then stdin ends, which a thread notices at once also while a file is read.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any, TypeVar

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import Document
from equipoise.corpus import frames, limits, loaders, pages, parsed, whole
from equipoise.corpus.chunks import passages
from equipoise.corpus.parsed import LONGEST_FRAGMENT, ParsedDocument
from equipoise.text import visible
from equipoise.text.blocks import blocks
from equipoise.text.outline import outlined
from equipoise.text.sentences import units

LARGEST_REQUEST = 100_000
"""Bytes of the header of a request: little more than a file's name."""

T = TypeVar("T")
_Request = tuple[str, bytes, dict[str, Any]]


def main() -> None:
    """Answer requests until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes stdin
    replies = _own_stdout()
    sys.dont_write_bytecode = True
    limits.enclose()
    gc.set_threshold(100_000)  # trees of XML have no cycles: looking for them takes a fifth of the time
    requests: SimpleQueue[_Request] = SimpleQueue()
    Thread(target=_listen, args=(sys.stdin.buffer, requests), daemon=True).start()
    frames.send(replies, {"ready": True})
    while True:
        header, body = _reply(*requests.get())
        frames.send(replies, header, *body)
        if "memory" in header:
            return  # what is left of this process after a MemoryError is not to be relied on


def _own_stdout() -> IO[bytes]:
    """The pipe to the parent; what a library prints goes nowhere instead of between the frames."""
    pipe = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), 1)
    return pipe


def _listen(stream: IO[bytes], requests: "SimpleQueue[_Request]") -> None:
    """Put every request into the queue, with its limits in force before its bytes are read."""
    try:
        while True:
            header, length = frames.receive_header(stream, most=LARGEST_REQUEST)
            limits.apply(memory=header["memory"], seconds=header["seconds"])
            requests.put((header["name"], frames.exactly(stream, length), header))
    finally:
        os._exit(0)


def _reply(name: str, data: bytes, asked: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Header and body: the documents or, asked for it, the whole text, a page or a sitemap; or why there is none."""
    try:
        if asked.get("whole"):
            return whole.written(_guarded(Path(name), data, loaders.whole_texts))
        if "address" in asked:
            return _guarded(Path(name), data, lambda path, given: _page(path, given, asked))
        if asked.get("map"):
            return _guarded(Path(name), data, _sitemap)
        return parsed.written(_guarded(Path(name), data, _readings))
    except MemoryError:
        return {"memory": True}, []
    except UnreadableFile as error:
        return {"failed": error.reason}, []


def _page(path: Path, data: bytes, asked: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    from equipoise.corpus.loaders.sitepage import load_page  # noqa: PLC0415 - for the first page

    page = load_page(path, data, asked)
    told = asdict(page.told) | {"why": page.why}
    own, others = ([_reading(loaded) for loaded in part] for part in (page.own, page.others))
    return pages.written(own, others, told)


def _sitemap(path: Path, data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    from equipoise.corpus.loaders import sitemap  # noqa: PLC0415 - for the first one

    return sitemap.written(*sitemap.load_sitemap(path, data))


def _readings(path: Path, data: bytes) -> list[ParsedDocument]:
    return [_reading(loaded) for loaded in loaders.load(path, data)]


def _guarded(path: Path, data: bytes, read: Callable[[Path, bytes], T]) -> T:
    """What `read` makes of a file. Raises UnreadableFile, whatever happens, and MemoryError."""
    try:
        return read(path, data)
    except (UnreadableFile, MemoryError):
        raise
    except Exception as error:  # a parser of hostile bytes may stumble in any way
        said = visible.title(f"{type(error).__name__}: {error}")
        reason = f"it cannot be read ({said}); save it again with the program it comes from, or leave it out"
        raise UnreadableFile(str(path), reason) from error


def _reading(loaded: loaders.LoadedDocument) -> ParsedDocument:
    if len(loaded.fragment) > LONGEST_FRAGMENT:
        begins = visible.title(loaded.fragment, 40)
        reason = (
            f"the id {begins!r} is longer than {LONGEST_FRAGMENT:,} characters; give its row a shorter one"
        )
        raise UnreadableFile("", reason)
    structure = outlined(loaded.blocks or blocks(loaded.text))
    sentences = units(loaded.text, structure)
    document = Document("", loaded.text, "", sentences=sentences, blocks=structure)
    return ParsedDocument(
        loaded.text,
        visible.title(loaded.title),
        loaded.fragment,
        loaded.pages,
        sentences,
        tuple(passages(document)),
        loaded.hidden,
        loaded.invisible,
        structure,
        loaded.encoding,
        loaded.metadata,
        loaded.running,
    )


if __name__ == "__main__":
    main()
