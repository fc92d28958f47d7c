"""Small files of zipped formats, stored without compression so that bytes grow with what is in them."""

import io
import struct
import zipfile
from itertools import pairwise

_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_ODF_SPACES = (
    " ".join(f'xmlns:{name}="{_ODF}:{name}:1.0"' for name in ("office", "style", "text", "table", "meta"))
    + f' xmlns:fo="{_ODF}:xsl-fo-compatible:1.0" xmlns:draw="{_ODF}:drawing:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)


def zipped(parts: dict[str, str | bytes], *, packed: bool = False) -> bytes:
    """A zip file of these parts, the same bytes at any time of day."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            archive.writestr(
                zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
            )
    return buffer.getvalue()


def epub(
    *chapters: str, title: str = "The book", more: dict[str, str] | None = None, order: str = ""
) -> bytes:
    """A book of these pages, in folder `in`."""
    names = [f"c{number}" for number in range(len(chapters))]
    items = "".join(
        f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>' for name in names
    )
    spine = order or "".join(f'<itemref idref="{name}"/>' for name in names)
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="in/book.opf"/></rootfiles></container>',
        "in/book.opf": f"<package><metadata><title>{title}</title></metadata><manifest>{items}</manifest>"
        f"<spine>{spine}</spine></package>",
    }
    parts |= {f"in/{name}.xhtml": page for name, page in zip(names, chapters, strict=True)}
    return zipped(parts | (more or {}))


def odt(body: str, *, styles: str = "", title: str = "", more: dict[str, str] | None = None) -> bytes:
    """An OpenDocument text with this body and these automatic styles."""
    content = (
        f"<office:document-content {_ODF_SPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    meta = f"<office:document-meta {_ODF_SPACES}><dc:title>{title}</dc:title></office:document-meta>"
    return zipped({"content.xml": content, "meta.xml": meta} | (more or {}))


_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def relations(targets: dict[str, tuple[str, str]]) -> str:
    """A part of relations, by id their kind and target."""
    rows = "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for name, (kind, target) in targets.items()
    )
    return f"<Relationships>{rows}</Relationships>"


def xlsx(
    *sheets: str,
    names: tuple[str, ...] = (),
    shared: tuple[str, ...] = (),
    styles: str = "",
    states: tuple[str, ...] = (),
    more: dict[str, str | bytes] | None = None,
) -> bytes:
    """A workbook of these sheets (rows, with columns before them if they begin with `<cols`)."""
    names = names or tuple(f"Sheet{number}" for number in range(1, len(sheets) + 1))
    states = states or ("visible",) * len(sheets)
    listed = "".join(
        f'<sheet name="{name}" sheetId="{number}" state="{state}" r:id="r{number}"/>'
        for number, (name, state) in enumerate(zip(names, states, strict=True))
    )
    targets = {f"r{number}": ("worksheet", f"s{number}.xml") for number in range(len(sheets))}
    targets |= {"rs": ("sharedStrings", "shared.xml"), "rt": ("styles", "styles.xml")}
    parts: dict[str, str | bytes] = {
        "_rels/.rels": relations({"r": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": f'<workbook xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(targets),
        "xl/shared.xml": f"<sst>{''.join(f'<si><t>{text}</t></si>' for text in shared)}</sst>",
        "xl/styles.xml": f"<styleSheet>{styles}</styleSheet>",
    }
    for number, sheet in enumerate(sheets):
        columns, _, rows = sheet.rpartition("</cols>")
        before = f"{columns}</cols>" if columns else ""
        parts[f"xl/s{number}.xml"] = f"<worksheet>{before}<sheetData>{rows}</sheetData></worksheet>"
    return zipped(parts | (more or {}))


def pptx(*slides: str, more: dict[str, str | bytes] | None = None) -> bytes:
    """A presentation of these slides (their shapes, or a whole `<sld>`)."""
    listed = "".join(f'<sldId r:id="r{number}" id="{256 + number}"/>' for number in range(len(slides)))
    parts: dict[str, str | bytes] = {
        "_rels/.rels": relations({"r": ("officeDocument", "ppt/p.xml")}),
        "ppt/p.xml": f'<p xmlns:r="{_OFFICE}"><sldIdLst>{listed}</sldIdLst><sldSz cx="1000" cy="500"/></p>',
        "ppt/_rels/p.xml.rels": relations(
            {f"r{number}": ("slide", f"s{number}.xml") for number in range(len(slides))}
        ),
    }
    for number, slide in enumerate(slides):
        whole = slide if slide.startswith("<sld") else f"<sld><spTree>{slide}</spTree></sld>"
        parts[f"ppt/s{number}.xml"] = whole
    return zipped(parts | (more or {}))


def compound(streams: dict[str, bytes]) -> bytes:
    """A compound file (as Outlook's messages are) of these streams, whose names may have folders before them.

    A stream has at least 4,096 bytes: shorter ones are kept in another way.
    """
    assert all(len(data) >= 4_096 for data in streams.values())
    parts = [name.split("/") for name in streams]
    folders = list(dict.fromkeys("/".join(names[:n]) for names in parts for n in range(1, len(names))))
    sector, end, none = 512, 0xFFFFFFFE, 0xFFFFFFFF
    entries = [("Root Entry", 5, b"", "")]
    entries += [(folder, 1, b"", folder.rpartition("/")[0]) for folder in folders]
    entries += [(name, 2, data, name.rpartition("/")[0]) for name, data in streams.items()]
    rows = {
        folder: [k for k, entry in enumerate(entries) if k and entry[3] == folder]
        for folder in ("", *folders)
    }
    after = {k: nxt for listed in rows.values() for k, nxt in pairwise(listed)}
    fat: list[int] = [0xFFFFFFFD]  # the first sector is the table itself
    bodies, starts = b"", {}
    for k, (_, _, data, _) in enumerate(entries):
        count = -(-len(data) // sector)
        starts[k] = len(fat) if count else end
        fat += [*range(len(fat) + 1, len(fat) + count), end] if count else []
        bodies += data.ljust(count * sector, b"\0")
    table = b""
    for k, (name, kind, data, _) in enumerate(entries):
        first = (rows.get("" if k == 0 else name) or [none])[0] if kind != 2 else none
        links = struct.pack("<III", none, after.get(k, none), first)
        text = name.rpartition("/")[2].encode("utf-16-le") + b"\0\0"
        table += text.ljust(64, b"\0") + struct.pack("<HBB", len(text), kind, 1) + links + bytes(36)
        table += struct.pack("<IQ", starts[k], len(data))
    count = -(-len(table) // sector)
    directory = len(fat)
    fat += [*range(directory + 1, directory + count), end]
    assert len(fat) <= sector // 4
    sizes = struct.pack(
        "<HHHHHHIIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 0, 0, 1, directory, 0, 0, end, 0, end, 0
    )
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + sizes + struct.pack("<I", 0) + b"\xff" * 432
    packed = struct.pack(f"<{len(fat)}I", *fat).ljust(sector, b"\xff")
    return head + packed + bodies + table.ljust(count * sector, b"\0")
