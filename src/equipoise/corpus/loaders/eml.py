"""Mail: who wrote to whom, when and about what, the text, and what is attached; one message, or a folder of them."""

import email
import re
from collections import Counter
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import replace
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.policy import compat32
from itertools import pairwise
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import BlockKind
from equipoise.corpus import loaders
from equipoise.corpus.loaders import encodings
from equipoise.corpus.loaders.hidden import without_shapeless
from equipoise.corpus.loaders.html import read_page
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, one_line, parsing
from equipoise.corpus.loaders.outline import Outline
from equipoise.text.mails import LONGEST_LINE, is_greeting, says_who

_HEADERS = ("From", "To", "Cc", "Date")
_LONGEST = 1_000  # characters of a header
_MOST_PARTS = 200  # that may hold others
_MOST_ATTACHED = 50  # documents
_LONGEST_NAME = 100
_POSTMARK = re.compile(rb"(?:\A|(?<=\n))From [^\r\n]{1,200}\r?\n")
_ESCAPED = re.compile(rb"(?m)^>(>*+From )")
_HOLDERS = re.compile(rb"multipart/|message/", re.IGNORECASE)
_LONGEST_CONTENT = 4_000  # bytes of a header with parameters, which the parser reads again for each of them
_CONTENT = re.compile(
    rb"(?:\A|(?<=[\r\n]))content-[a-z-]{1,30}:[^\r\n]*+(?:(?:\r\n|\r|\n)[ \t][^\r\n]*+)*+", re.IGNORECASE
)
_QUOTED = re.compile(r">[> ]*+")
_MOST_LINES = LONGEST_LINE // 2 + 1  # more lines than this are longer together than LONGEST_LINE
_DISCLAIMER = re.compile(
    r"(?:this|diese|cet?)\s(?:e-?mail|message|nachricht)\b[^.]{0,200}(?:confidential|privileged|intended|vertraulich)",
    re.IGNORECASE,
)
_MARK = re.compile(r"[ \t]*+(?:[-*•]|\d{1,3}[.)])[ \t]++")


def load_eml(path: Path, data: bytes) -> list[LoadedDocument]:
    """The text as plain text if there is any, else as HTML, with the subject as its title; then what is attached.

    An attachment of a known type, also another message, is a document with its name as `fragment`; others are named
    with the reason. Lines quoted from another message are asides.
    """
    if len(_HOLDERS.findall(data)) > _MOST_PARTS:
        raise UnreadableFile(str(path), f"it has more than {_MOST_PARTS} nested parts; save it as text")
    if any(len(match.group()) > _LONGEST_CONTENT for match in _CONTENT.finditer(data)):
        reason = f"it describes a part in more than {_LONGEST_CONTENT:,} characters; save it as text"
        raise UnreadableFile(str(path), reason)
    with parsing(path, "message"):
        return _loaded(path, email.message_from_bytes(data, policy=compat32))


def load_mbox(path: Path, data: bytes) -> list[LoadedDocument]:
    """The documents of every message; lines beginning with `From ` separate them. `fragment` begins with its number."""
    starts = [match.start() for match in _POSTMARK.finditer(data)]
    if not starts:
        raise UnreadableFile(
            str(path), "no line in it begins with From and a sender; save its messages one by one"
        )
    documents: list[LoadedDocument] = []
    for number, (start, end) in enumerate(pairwise([*starts, len(data)]), 1):
        message = _ESCAPED.sub(rb"\1", data[data.index(b"\n", start, end) + 1 : end])
        try:
            read = load_eml(path, message)
        except UnreadableFile as error:
            raise UnreadableFile(str(path), f"message {number}: {error.reason}") from error
        for document in read:
            fragment = f"{number}/{document.fragment}" if document.fragment else str(number)
            documents.append(replace(document, fragment=fragment))
    return documents


def _loaded(path: Path, message: Message) -> list[LoadedDocument]:
    outline = Outline()
    subject = _header(message, "Subject")
    if not subject and not any(message.get(name) for name in _HEADERS):
        raise UnreadableFile(str(path), "there are no headers of a message; save it as text")
    outline.add(BlockKind.HEADING, subject, level=1)
    named = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name))]
    head = outline.add(BlockKind.PARAGRAPH, "\n".join(named))
    plain, html, attached = _parts(message)
    for part in plain or html:
        if plain:
            _add_text(outline, decoded(part), head)
        else:
            read_page(path, decoded(part), outline)
    intro = outline.add(BlockKind.PARAGRAPH, "Attached:") if attached else -1
    documents: list[LoadedDocument] = []
    for name, holder in attached.items():
        read: list[LoadedDocument] = []
        why = f"more than {_MOST_ATTACHED} are attached"
        if len(documents) < _MOST_ATTACHED:
            read, why = _read(name, holder)
        documents += read
        outline.add(
            BlockKind.ITEM, f"- {name}" + (f" (not read: {why})" if why else ""), level=1, intro=intro
        )
    return [outline.loaded(subject or path.stem), *documents]


def _read(name: str, part: Message) -> tuple[list[LoadedDocument], str]:
    """The documents in an attachment, and why there are none."""
    payload = part.get_payload(decode=True)
    try:
        if inner := _message_in(part):
            read = _loaded(Path(name), inner)
        elif loaders.kind_of(Path(name)):
            read = loaders.load(Path(name), payload if isinstance(payload, bytes) else b"")
        else:
            return [], "files of this type are not read"
    except UnreadableFile as error:
        return [], error.reason
    named = (f"{name}#{one.fragment}" if one.fragment else name for one in read)
    return [replace(one, fragment=fragment) for one, fragment in zip(read, named, strict=True)], ""


def _message_in(part: Message) -> Message | None:
    """The message in a part of type message/*, None for other parts."""
    inner = part.get_payload() if part.get_content_maintype() == "message" else None
    return inner[0] if isinstance(inner, list) and isinstance(inner[0], Message) else None


def _parts(message: Message) -> tuple[list[Message], list[Message], dict[str, Message]]:
    """The parts of plain text, those of HTML, and the attachments by name; the names are made unique."""
    plain: list[Message] = []
    html: list[Message] = []
    attached: dict[str, Message] = {}
    times: Counter[str] = Counter()
    waiting = [message]
    while waiting:
        part = waiting.pop()
        kind, name = part.get_content_type(), part.get_filename()
        if part.get_content_maintype() == "message":
            inside = _message_in(part)
            subject = _header(inside, "Subject") if inside else ""
            attached[_unused(_text(name or "") or subject or "a message", attached, times)] = part
        elif part.is_multipart():
            inner = part.get_payload()
            waiting += (
                [child for child in reversed(inner) if isinstance(child, Message)]
                if isinstance(inner, list)
                else []
            )
        elif (
            name or part.get_content_disposition() == "attachment" or kind not in {"text/plain", "text/html"}
        ):
            attached[_unused(_text(name or "") or kind, attached, times)] = part
        else:
            (plain if kind == "text/plain" else html).append(part)
    return plain, html, attached


def _unused(name: str, used: Container[str], times: Counter[str]) -> str:
    """`name`, with a number before it if it is in use; `times` counts how often that was so."""
    made = name = name.replace("/", "-")[-_LONGEST_NAME:]
    while made in used:
        times[name] += 1
        made = f"{times[name] + 1} {name}"
    return made


def decoded(part: Message) -> str:
    """The text of a part in its character set, UTF-8 or else Windows-1252 without one."""
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    for codec in (encodings.known(str(part.get_param("charset", ""))), "utf-8"):
        with suppress(LookupError, UnicodeError):
            return clean(data.decode(codec))
    return clean(data.decode("cp1252", "replace"))


def _header(message: Message, name: str) -> str:
    return _text(str(message.get(name, "")))


def _text(value: str) -> str:
    """A header's text, encoded words decoded."""
    value = value[:_LONGEST]
    try:
        parts = decode_header(value)
        value = "".join(
            text if isinstance(text, str) else text.decode(encodings.known(name or "") or "utf-8", "replace")
            for text, name in parts
        )
    except (HeaderParseError, LookupError, ValueError):
        pass
    return one_line(without_shapeless(clean(value)))


def _add_text(outline: Outline, text: str, head: int) -> None:
    """Append plain text as paragraphs; each earlier message below it gets a heading that says who wrote it when.

    Lines quoted before these, greetings, the signature and a disclaimer are asides.
    """
    body, mark, signature = text.partition("\n-- \n")
    below = False  # inside an earlier message
    for part in _parts_of(body.split("\n")):
        bare = "\n".join(map(_bare, part))
        if says_who(bare):
            outline.add(BlockKind.HEADING, one_line(bare), level=2)
            below, head = True, -1
        elif (_QUOTED.match(part[0]) and not below) or _DISCLAIMER.match(bare) or is_greeting(bare):
            outline.add(BlockKind.ASIDE, "\n".join(part))
        elif _MARK.match(bare):
            _add_items(outline, bare)
        else:
            outline.add(BlockKind.PARAGRAPH, bare, intro=head)
    outline.add(BlockKind.ASIDE, signature if mark else "")


def _parts_of(lines: list[str]) -> Iterator[list[str]]:
    """Runs of lines without a blank one at one quotation depth; who wrote what follows is a part of its own."""
    part: list[str] = []
    depth = 0
    for at, line in enumerate(lines):
        marks = _QUOTED.match(line)
        now = marks.group().count(">") if marks else 0
        goes_on = (
            bool(part)
            and now == depth
            and not part[-1].startswith("---")
            and says_who(f"{_bare(part[-1])} {_bare(line)}")
        )
        wraps = at + 1 < len(lines) and says_who(f"{_bare(line)} {_bare(lines[at + 1])}")
        if (
            part
            and not goes_on
            and (
                now != depth
                or wraps
                or not _bare(line)
                or any(map(says_who, (_bare(line), " ".join(map(_bare, part[:_MOST_LINES])))))
            )
        ):
            yield part
            part = []
        if _bare(line):
            part.append(line)
        depth = now
    if part:
        yield part


def _bare(line: str) -> str:
    """A line without the marks of a quotation."""
    marks = _QUOTED.match(line)
    return (line[marks.end() :] if marks else line).rstrip()


def _add_items(outline: Outline, text: str) -> None:
    """A list: each mark begins an item, other lines go on."""
    items: list[list[str]] = []
    for line in text.split("\n"):
        if _MARK.match(line) or not items:
            items.append([])
        items[-1].append(line.strip())
    for item in items:
        outline.item("\n".join(item), 1)
