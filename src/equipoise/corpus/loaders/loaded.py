"""What every loader returns, and how bytes become clean text."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.core.metadata import Scalar
from equipoise.core.types import Block
from equipoise.corpus.loaders import encodings


@dataclass(frozen=True, slots=True)
class LoadedDocument:
    """One text from a file. `fragment` tells the documents of one file apart, `pages` are start offsets.

    `blocks` cover the text but for white space, in order, not overlapping; empty where a loader does not know them.

    `hidden` counts characters that were left out because a reader would not see them, `invisible` those that
    are in the text although a reader does not see them as text (`hidden.py` has the rule); `running` counts lines of
    running headers and footers that were left out. `encoding` is guessed, "" for a file that declares its own.
    `metadata` is what the file says of itself.
    """

    text: str
    title: str
    pages: tuple[int, ...] = ()
    fragment: str = ""
    hidden: int = 0
    invisible: int = 0
    blocks: tuple[Block, ...] = ()
    encoding: str = ""
    metadata: Mapping[str, Scalar] = field(default_factory=dict)
    running: int = 0


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


SUPERSCRIPT = str.maketrans("0123456789+-−–", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻")
_RAISED = re.compile(r"[+\-−–]?+\d[\d.,]*+|[a-zA-Z]")
_ORDINALS = frozenset("aeo")  # of languages that write 2e or 2o
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_OVERSTRUCK = re.compile(r"[^\n]\x08|\x1b\[[\d;]*+m")  # how manual pages say bold, underlined and coloured
_UNCLEAN = re.compile(r"[\x00-\x08\x0c-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MOST_CONTROLS = 0.02


def decode(path: Path, data: bytes) -> str:
    """The text of `data`, cleaned: by its byte order mark, as UTF-8, else as `encodings.read` finds it.

    Raises UnreadableFile for bytes that are not text.
    """
    return clean(decoded(path, data))


def decoded(path: Path, data: bytes) -> str:
    """As `decode`, but not cleaned; without colour codes, and with the last only of letters typed over each other."""
    try:
        guess = encodings.read(data)
    except UnicodeDecodeError as error:
        reason = f"this is not valid {error.encoding} text; save it as UTF-8"
        raise UnreadableFile(str(path), reason) from error
    if guess is None and b"\0" in data:
        raise UnreadableFile(str(path), "this is not text: it holds zero bytes; save it as UTF-8 text")
    text = guess.text if guess else ""
    text = _OVERSTRUCK.sub("", text) if "\b" in text or "\x1b" in text else text
    odd = 0 if guess is None or guess.told else len(_CONTROL.findall(text))
    if guess is None or odd > _MOST_CONTROLS * len(text):
        raise UnreadableFile(
            str(path),
            "this is binary data, or text in an encoding that cannot be told; save it as UTF-8 text",
        )
    return text


@contextmanager
def parsing(path: Path, what: str) -> Iterator[None]:
    """Turns the errors of a parser that reads hostile bytes into UnreadableFile; `what` names the format."""
    try:
        yield
    except (UnreadableFile, MemoryError, RecursionError):
        raise
    except Exception as error:
        reason = f"the {what} is broken or cut short; get it again, or open it in its program and save it"
        raise UnreadableFile(str(path), reason) from error


OLD = {".doc": ".docx", ".xls": ".xlsx", ".ppt": ".pptx", ".odp": ".pptx"}
"""Old file types, and the types that `corpus.converting` turns them into before they are read."""


def load_old(path: Path, data: bytes) -> list[LoadedDocument]:
    """Raises UnreadableFile: a file of an old type inside another one is not converted."""
    raise UnreadableFile(
        str(path), "files of this old kind are read by themselves only; save it beside this one"
    )


def clean(text: str) -> str:
    """`text` with line ends as `\\n`, form feeds as blank lines, and nothing that a store cannot keep.

    Control characters become spaces, lone halves of surrogate pairs U+FFFD: one character for one.
    """
    if _UNCLEAN.search(text) is None:
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    text = _CONTROL.sub(" ", text)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def with_lines(raw: str, text: str, blocks: Iterable[Block]) -> tuple[Block, ...]:
    """`blocks` of `text`, which has the lines of `clean(raw)`; each with the line of the file that it begins on.

    `clean` turns a form feed into two line ends, which the file does not have.
    """
    pages = raw.replace("\r\n", "\n").replace("\r", "\n").split("\f")
    ends = [len(page) + 2 for page in pages]
    placed: list[Block] = []
    place, line, page, border = 0, 1, 0, ends[0]
    for block in blocks:
        line += text.count("\n", place, block.start)
        place = block.start
        while border <= place and page + 1 < len(ends):
            page, line = page + 1, line - 2
            border += ends[page]
        placed.append(block._replace(line=line))
    return tuple(placed)


def placed(text: str, before: str, place: str, *, is_note: bool = False) -> str:
    """How text is written behind `before` where it stands as superscript (`place` is "super") or subscript ("sub").

    Behind a digit, a raised number or letter gets `^`, a lowered number `_`; elsewhere raised numbers become small.

    >>> [before + placed(text, before, "super") for before, text in (("10", "6"), ("m", "2"), ("5", "th"))]
    ['10^6', 'm²', '5th']
    """
    bare, behind_digit = text.strip(), before[-1:].isdecimal()
    if place == "sub":
        return f"_{bare}" if behind_digit and bare[:1].isdecimal() else text
    if place != "super" or not _RAISED.fullmatch(bare) or not before[-1:].strip():
        return text
    return (
        f"^{bare}" if behind_digit and not is_note and bare not in _ORDINALS else bare.translate(SUPERSCRIPT)
    )


def one_line(text: str) -> str:
    """`text` with every run of white space made one space, none at the ends."""
    return " ".join(text.split())


LOWEST = -999_999_999
"""The lowest number that `whole` reads."""


def whole(text: str | None, otherwise: int = 0, least: int = 0) -> int:
    """The whole number in an attribute, of at most nine digits and not below `least`; `otherwise` if it has none.

    >>> whole("12"), whole("-3"), whole("-3", least=-9), whole("x", 1), whole(None)
    (12, 0, -3, 1, 0)
    """
    bare = (text or "").strip()
    digits = bare.removeprefix("-")
    number = int(bare) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else least - 1
    return number if number >= least else otherwise


def comment(text: str, author: str = "", place: str = "") -> str:
    """A comment, who wrote it, and on what it was written; empty for one without words.

    >>> comment("Too dear.", "Ann", "B2"), comment("Too dear."), comment("", "Ann")
    ('Comment by Ann on B2: Too dear.', 'Comment: Too dear.', '')
    """
    by, on = (f" by {author}" if author else ""), (f" on {place}" if place else "")
    return f"Comment{by}{on}: {text}" if text else ""
