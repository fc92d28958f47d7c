"""Calendars and address cards: every entry a paragraph with a line for each thing it says (RFC 5545, RFC 6350)."""

import re
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.loaded import LoadedDocument, decode, one_line
from equipoise.corpus.loaders.outline import Outline

_FOLDED = re.compile(r"\n[ \t]")
_LINE = re.compile(
    r"(?:[\w-]++\.)?+(?P<name>[A-Za-z-]++)(?P<more>(?:;(?:\"[^\"\n]*+\"|[^:\"\n])*+)?+):(?P<value>.*+)"
)
_KIND = re.compile(r"TYPE=\"?([\w,-]++)", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)")
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(?:\d\d)?(Z?))?")
_NAMES = {
    "SUMMARY": "Summary", "DTSTART": "Starts", "DTEND": "Ends", "DUE": "Due", "DURATION": "Duration",
    "RRULE": "Repeats", "LOCATION": "Location", "DESCRIPTION": "Description", "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendee",
    "STATUS": "Status", "CATEGORIES": "Categories", "URL": "Web page", "COMMENT": "Comment", "CONTACT": "Contact",
    "FN": "Name", "NICKNAME": "Nickname", "ORG": "Organization", "TITLE": "Title", "ROLE": "Role", "TEL": "Telephone",
    "EMAIL": "E-mail", "ADR": "Address", "BDAY": "Birthday", "NOTE": "Note",
}  # fmt: skip
_MOMENTS = frozenset({"DTSTART", "DTEND", "DUE", "BDAY"})
_ENTRIES = frozenset({"VEVENT", "VTODO", "VJOURNAL", "VCARD"})
_ENTRY = ("SUMMARY", "FN")  # the name of an entry, which comes first


def load_cards(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document, without identifiers, alarms, time zones and pictures. Raises UnreadableFile without entries."""
    outline = Outline()
    inside: list[str] = []
    named: list[str] = []
    said: list[str] = []
    for match in map(_LINE.match, _FOLDED.sub("", decode(path, data)).split("\n")):
        name, value = (match["name"].upper(), match["value"].strip()) if match else ("", "")
        if name == "BEGIN":
            inside.append(value.upper())
            if value.upper() in _ENTRIES:
                named, said = [], []
        elif name == "END" and inside:
            if inside.pop() in _ENTRIES:
                outline.add(BlockKind.PARAGRAPH, "\n".join([*named, *said]))
        elif match and inside[-1:] and inside[-1] in _ENTRIES and name in _NAMES:
            kind = _KIND.search(match["more"])
            label = _NAMES[name] + (
                f" ({kind[1].lower()})" if kind and name in {"TEL", "EMAIL", "ADR"} else ""
            )
            (named if name in _ENTRY else said).append(f"{label}: {_shown(name, value)}")
    if not outline.blocks:
        raise UnreadableFile(str(path), "there is no entry in it; export it anew")
    return [outline.loaded(path.stem)]


def _shown(name: str, value: str) -> str:
    if name in _MOMENTS and (moment := _MOMENT.fullmatch(value)):
        year, month, day, hour, minute, utc = moment.groups()
        return f"{year}-{month}-{day}" + (f" {hour}:{minute}{' UTC' if utc else ''}" if hour else "")
    parts = value.split(";") if name in {"ADR", "ORG"} else [value]
    plain = (_ESCAPED.sub(lambda found: " " if found[1] in "nN" else found[1], part) for part in parts)
    return one_line(", ".join(part for part in plain if part.strip())).removeprefix("mailto:")
