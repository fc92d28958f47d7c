"""Finds markup and links in text that would be shown: active elements, images, addresses that leak or mislead."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from equipoise.audit.scan.findings import Hit

ACTIVE, IMAGE, LINK = "markup/active", "markup/image", "markup/link"
EXFILTRATION, MISMATCH, DISGUISED = "markup/exfiltration", "markup/mismatch", "markup/disguised"
LONGEST_LABEL, LONGEST_ADDRESS = 300, 2_000

_ACTIVE = re.compile(
    r"<(?:script|iframe|object|embed|applet|form|base|svg|meta|link)[\s>/]"
    r"|\bon(?:error|load|click|mouseover|focus|toggle|animationstart)\s{0,3}+=\s{0,3}+[\"'\w]"
    r"|\b(?:javascript|vbscript):\s{0,3}+[\w(]|\bdata:text/html",
    re.IGNORECASE,
)
_IMAGE = re.compile(r"<img\b", re.IGNORECASE)
_SCHEME = re.compile(r"https?://|(?<=\()//(?=\w)", re.IGNORECASE)
_ENDS = frozenset("<>\"`' \t\n\r\f\v)]}|\\^")
_BLANKS = ("{", "%7b", "$", "[", "<", "__", "...", "secret", "data=", "password", "conversation", "history")
_HOST_ENDS = re.compile(r"[/?#]")


@dataclass(frozen=True, slots=True)
class _Address:
    start: int
    end: int
    text: str

    @property
    def authority(self) -> str:
        return _HOST_ENDS.split(self.text.partition("//")[2], maxsplit=1)[0]

    @property
    def host(self) -> str:
        host = self.authority.rpartition("@")[2].casefold()
        return host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host

    @property
    def query(self) -> str:
        return self.text.partition("?")[2]


def find(text: str) -> Iterator[Hit]:
    """Hits of the rules `markup/...` in `text`."""
    for match in _ACTIVE.finditer(text):
        yield Hit(ACTIVE, match.start(), match.end())
    for match in _IMAGE.finditer(text):
        yield Hit(IMAGE, match.start(), min(len(text), _closed(text, match.end())))
    for address in _addresses(text):
        yield from _of_address(text, address)


def _closed(text: str, at: int) -> int:
    end = text.find(">", at, at + LONGEST_ADDRESS)
    return at if end < 0 else end + 1


def _addresses(text: str) -> Iterator[_Address]:
    behind = 0
    for match in _SCHEME.finditer(text):
        if match.start() < behind:
            continue
        behind, most = match.end(), match.start() + LONGEST_ADDRESS
        while (
            behind < len(text)
            and behind < most
            and (text[behind] not in _ENDS or _in_blank(text, match.end(), behind))
        ):
            behind += 1
        address = text[match.start() : behind].rstrip(".,;:!?*_")
        if len(address) > match.end() - match.start():
            yield _Address(match.start(), match.start() + len(address), address)


def _in_blank(text: str, start: int, at: int) -> bool:
    """Whether a bracket closes one that was opened just before, as in `?d={secret}`."""
    opening = {"}": "{", "]": "["}.get(text[at], "")
    return bool(opening) and text.rfind(opening, max(start, at - 60), at) > text.rfind(
        text[at], max(start, at - 60), at
    )


def _of_address(text: str, address: _Address) -> Iterator[Hit]:
    label_start, label = _label(text, address)
    start, end = (
        (label_start, min(len(text), address.end + 1)) if label is not None else (address.start, address.end)
    )
    is_image = label is not None and label_start > 0 and text[label_start - 1] == "!"
    if _has_blank(address):
        yield Hit(EXFILTRATION, start, end, f"It leads to {_shown(address.host)}.")
    if why := _disguise(address):
        yield Hit(DISGUISED, start, end, why)
    if label is not None and (named := _named_host(label)) and not _same_site(named, address.host):
        yield Hit(MISMATCH, start, end, f"It names {_shown(named)} and leads to {_shown(address.host)}.")
    if is_image:
        yield Hit(IMAGE, start - 1, end, f"It is loaded from {_shown(address.host)}.")
    yield Hit(LINK, start, end, f"It leads to {_shown(address.host)}.")


def _label(text: str, address: _Address) -> tuple[int, str | None]:
    """Where the label of a Markdown link to this address begins, and what it says; None where it is no such link."""
    if text[max(0, address.start - 2) : address.start] not in {"](", "(<"}:
        return 0, None
    close = text.rfind("]", max(0, address.start - 3), address.start)
    opening = text.rfind("[", max(0, close - LONGEST_LABEL), close)
    return (opening, text[opening + 1 : close]) if 0 <= opening < close else (0, None)


def _has_blank(address: _Address) -> bool:
    """Whether the query ends open (`?q=`) or has a placeholder for what is to be put in."""
    query = address.query.casefold()
    return query.endswith("=") or any(mark in query for mark in _BLANKS)


def _disguise(address: _Address) -> str:
    host = address.host
    if "@" in address.authority:
        return f"What stands before @ is a name; it leads to {_shown(host)}."
    if not host.isascii() or "xn--" in host:
        return f"The host {_shown(host)} has letters of other scripts."
    try:
        number = ip_address(host.strip("[]"))
    except ValueError:
        return f"The host {host} is a number." if host.isdecimal() or host.startswith("0x") else ""
    return (
        ""
        if number.is_loopback or number.is_private or number.is_unspecified
        else f"The host {host} is a number."
    )


def _named_host(label: str) -> str:
    """The host that a label shows, empty where it shows none."""
    words = label.strip("*_`<> ").split()
    if len(words) != 1:
        return ""
    bare = words[0].partition("://")[2] or words[0]
    host = _HOST_ENDS.split(bare, maxsplit=1)[0].casefold()
    ending = host.rpartition(".")[2]
    is_host = "." in host.strip(".") and 2 <= len(ending) <= 10 and ending.isalpha() and "(" not in host
    return host if is_host and ("://" in words[0] or host.startswith("www.") or ending in _ENDINGS) else ""


_ENDINGS = frozenset(
    ["com", "org", "net", "io", "gov", "edu", "eu", "de", "fr", "uk", "co", "info", "biz", "dev", "app"]
)


def _same_site(host: str, other: str) -> bool:
    first, second = host.removeprefix("www."), other.removeprefix("www.")
    return first == second or first.endswith(f".{second}") or second.endswith(f".{first}")


def _shown(host: str) -> str:
    return host[:80] or "nowhere"
