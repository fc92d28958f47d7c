"""Outlook's messages, turned into mail as it is sent ([MS-OXMSG])."""

import io
import mimetypes
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

import olefile

from equipoise.corpus.loaders.eml import load_eml
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, one_line, parsing

_HEADERS = {"Subject": ("0037",), "To": ("0E04",), "Cc": ("0E03",)}
_SENDER, _ADDRESS = ("0C1A", "0042"), ("5D01", "0C1F", "0065")  # properties that may say it, the best first
_TEXT, _HTML = ("1000",), ("1013",)
_NAME, _DATA = ("3707", "3704", "3001"), "__substg1.0_37010102"
_MOMENTS = (b"\x40\x00\x39\x00", b"\x40\x00\x06\x0e")  # when it was sent, when it came
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_LONGEST = 50_000_000  # bytes of a stream
_MOST = 200  # attachments
_MESSAGE = "__substg1.0_3701000D/"  # one that is attached
_DEEPEST = 10  # messages in messages


def load_msg(path: Path, data: bytes) -> list[LoadedDocument]:
    """The documents of the message and of what is attached to it, as of mail. Raises UnreadableFile."""
    return load_eml(path, as_mail(path, data))


def as_mail(path: Path, data: bytes) -> bytes:
    """The message in the form in which mail is sent. Raises UnreadableFile."""
    with parsing(path, "message of Outlook"), olefile.OleFileIO(io.BytesIO(data)) as ole:
        return _mail(ole).as_bytes()


def _mail(ole: olefile.OleFileIO, at: str = "") -> EmailMessage:
    """The message whose streams are below `at`."""
    mail = EmailMessage()
    for name, tags in _HEADERS.items():
        mail[name] = _string(ole, at, tags)[:1_000]
    sender, address = _string(ole, at, _SENDER), _string(ole, at, _ADDRESS)
    mail["From"] = (
        f"{sender} <{address}>" if "@" in address and sender not in {"", address} else sender or address
    )
    if moment := _moment(_stream(ole, f"{at}__properties_version1.0"), 24 if at else 32):
        mail["Date"] = format_datetime(moment)
    text = _string(ole, at, _TEXT, lines=True)
    html = _string(ole, at, _HTML, lines=True) or _stream(ole, f"{at}__substg1.0_10130102").decode(
        "utf-8", "replace"
    )
    mail.set_content(text or html, subtype="plain" if text else "html")
    entries = {"/".join(entry) for entry in ole.listdir()}
    inside = {entry.removeprefix(at).partition("/")[0] for entry in entries if entry.startswith(at)}
    for folder in sorted(f"{at}{name}/" for name in inside if name.startswith("__attach"))[:_MOST]:
        if f"{folder}{_MESSAGE}__properties_version1.0" in entries and at.count(_MESSAGE) < _DEEPEST:
            mail.add_attachment(_mail(ole, folder + _MESSAGE))
            continue
        name = _string(ole, folder, _NAME) or "an attachment"
        kind = (mimetypes.guess_type(name)[0] or "application/octet-stream").partition("/")
        mail.add_attachment(_stream(ole, folder + _DATA), maintype=kind[0], subtype=kind[2], filename=name)
    return mail


def _stream(ole: olefile.OleFileIO, name: str) -> bytes:
    data: bytes = ole.openstream(name).read(_LONGEST) if ole.exists(name) else b""
    return data


def _string(ole: olefile.OleFileIO, folder: str, tags: tuple[str, ...], *, lines: bool = False) -> str:
    """The text of the first of some properties that has one, as UTF-16 or as Windows-1252."""
    for tag in tags:
        for kind, encoding in (("001F", "utf-16-le"), ("001E", "cp1252")):
            text = clean(_stream(ole, f"{folder}__substg1.0_{tag}{kind}").decode(encoding, "replace"))
            if text.strip():
                return text if lines else one_line(text)
    return ""


def _moment(properties: bytes, first: int) -> datetime | None:
    """When the message was sent: 100-nanosecond steps since 1601, in entries of 16 bytes from byte `first` on."""
    entries = {
        properties[at : at + 4]: properties[at + 8 : at + 16] for at in range(first, len(properties), 16)
    }
    steps = next((entries[tag] for tag in _MOMENTS if tag in entries), b"")
    return _EPOCH + timedelta(microseconds=int.from_bytes(steps, "little") // 10) if any(steps) else None
