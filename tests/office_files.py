"""Small files of zipped formats, stored without compression so that bytes grow with what is in them."""

import io
import zipfile

_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_ODF_SPACES = (
    " ".join(f'xmlns:{name}="{_ODF}:{name}:1.0"' for name in ("office", "style", "text", "table", "meta"))
    + f' xmlns:fo="{_ODF}:xsl-fo-compatible:1.0" xmlns:draw="{_ODF}:drawing:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)


def zipped(parts: dict[str, str | bytes], *, packed: bool = False) -> bytes:
    """A zip file of these parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
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
