"""PowerPoint presentations: every slide a page, its title a heading, its lines items (ECMA-376, part 1, 19)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.grid import Cell
from equipoise.corpus.loaders.hidden import Look, look
from equipoise.corpus.loaders.loaded import LoadedDocument, one_line, placed
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.package import Package, read_package
from equipoise.corpus.loaders.xml import TooMuch, read_xml

_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"dt", "ftr", "hdr", "sldNum"})
_LISTS = frozenset({"body", "obj", ""})
_DEEPEST_TABLE = 30
_DEEPEST_LIST = 9
_NO_PLACE = (0, 0, 0, 0)


def load_pptx(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document; slides are its pages. The notes of a slide
    stand below it. Hidden slides and text (`hidden.py`) and comments are left out."""
    return read_package(path, data, kind="PowerPoint", read=lambda package: _loaded(path, package))


def _loaded(path: Path, package: Package) -> LoadedDocument:
    top = package.targets("")
    main = top.get("officeDocument", "ppt/presentation.xml")
    show = _Show()
    read_xml(package.part(main), show)
    parts = package.targets_by_id(main)
    outline = Outline()
    heading, rows = "", []
    for slide_id in show.slides:
        rows.append(len(outline.blocks))
        part = parts.get(slide_id, "")
        if data := package.part(part):
            slide = _Slide(outline, show.size)
            read_xml(data, slide)
            heading = heading or slide.heading
            if notes := package.part(package.targets(part).get("notesSlide", "")):
                read_xml(notes, _Slide(outline, (0, 0), shows=slide.shows, is_notes=True))
    loaded = outline.loaded(package.title(top.get("core-properties", "")) or heading or path.stem)
    starts = [block.start for block in outline.blocks] + [len(loaded.text)]
    return replace(loaded, pages=(0, *(starts[row] for row in rows[1:])) if rows else ())


class _Show:
    """Reads presentation.xml: the order of the slides, and their size."""

    def __init__(self) -> None:
        self.slides: list[str] = []
        self.size = (0, 0)

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "sldId":
            self.slides.append(attributes.get("r:id", ""))
        elif name == "sldSz":
            self.size = (_whole(attributes.get("cx", "")), _whole(attributes.get("cy", "")))

    def end(self, name: str) -> None:
        """Nothing to do."""

    def characters(self, text: str) -> None:
        """Nothing to do."""


@dataclass(slots=True)
class _Shape:
    """A shape with text. `kind` is that of its placeholder, None without one."""

    kind: str | None = None
    place: tuple[int, int, int, int] = _NO_PLACE
    hidden: bool = False
    paragraphs: list[tuple[str, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Table:
    rows: list[list[Cell]] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    cell: list[str] = field(default_factory=list)
    span: tuple[int, int] = (1, 1)  # rows and columns of the open cell; none of one that another covers
    header: bool = False


class _Slide:
    """Reads a slide into an outline, or its notes. Its title comes first, `heading` is its text."""

    def __init__(
        self, outline: Outline, size: tuple[int, int], *, shows: bool = True, is_notes: bool = False
    ) -> None:
        self.heading = ""
        self.shows = shows
        self._is_notes = is_notes
        self._outline = outline
        self._size = size
        self._shape = _Shape()
        self._tables: list[_Table] = []
        self._parts: list[str] = []
        self._level = 0
        self._bullet: bool | None = None
        self._run = Look(paper="")
        self._place_of_run = ""
        self._in_text = False
        self._groups = 0
        self._above: list[str] = []
        self._content: list[_Shape | _Table] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        parent = self._above[-1] if self._above else ""
        self._above.append(name)
        self._groups += name == "grpSp"
        if name == "sld":
            self.shows = attributes.get("show", "1") not in {"0", "false"}
        elif name in {"sp", "graphicFrame"}:
            self._shape = _Shape()
        elif name == "cNvPr":
            self._shape.hidden = attributes.get("hidden", "0") in {"1", "true"}
        elif name == "ph":
            self._shape.kind = attributes.get("type", "")
        elif name in {"off", "ext"} and parent == "xfrm" and not self._groups:
            self._place(name, attributes)
        else:
            self._start_text(name, parent, attributes)

    def _place(self, name: str, attributes: Mapping[str, str]) -> None:
        x, y, width, height = self._shape.place
        if name == "off":
            x, y = _whole(attributes.get("x", "")), _whole(attributes.get("y", ""))
        else:
            width, height = _whole(attributes.get("cx", "")), _whole(attributes.get("cy", ""))
        self._shape.place = x, y, width, height

    def _start_text(self, name: str, parent: str, attributes: Mapping[str, str]) -> None:
        if name == "p":
            self._parts, self._level, self._bullet = [], 0, None
        elif name == "pPr":
            self._level = min(_whole(attributes.get("lvl", "")), _DEEPEST_LIST)
        elif parent == "pPr" and name in {"buNone", "buChar", "buAutoNum", "buBlip"}:
            self._bullet = name != "buNone"
        elif name in {"r", "fld"}:
            self._run, self._place_of_run = Look(paper=""), ""
        elif name == "rPr":
            self._start_run(attributes)
        elif name in {"t", "br"}:
            self._in_text = name == "t"
            self._parts += ["\n"] if name == "br" else []
        elif (
            name == "alpha"
            and self._above[-4:-2] == ["rPr", "solidFill"]
            and attributes.get("val") in {"0", "0%"}
        ):
            self._run = look(self._run, {"display": "none"})
        elif name == "tbl":
            if len(self._tables) >= _DEEPEST_TABLE:
                raise TooMuch(f"its tables are nested more than {_DEEPEST_TABLE} deep")
            self._tables.append(_Table())
        elif name == "tblPr" and self._tables:
            self._tables[-1].header = attributes.get("firstRow", "0") in {"1", "true"}
        elif name == "tc" and self._tables:
            covered = any(attributes.get(name) in {"1", "true"} for name in ("hMerge", "vMerge"))
            rows, columns = (max(_whole(attributes.get(name, "1")), 1) for name in ("rowSpan", "gridSpan"))
            self._tables[-1].cell, self._tables[-1].span = [], (0, 0) if covered else (rows, columns)

    def _start_run(self, attributes: Mapping[str, str]) -> None:
        size = attributes.get("sz", "")
        if size.isdecimal() and len(size) < 7:
            self._run = look(self._run, {"font-size": f"{int(size) / 100}pt"})
        if attributes.get("strike", "noStrike") != "noStrike":
            self._run = look(self._run, {"text-decoration": "line-through"})
        raised = _whole(attributes.get("baseline", "0"))
        self._place_of_run = "super" if raised > 0 else "sub" if raised else ""

    def end(self, name: str) -> None:
        self._above.pop()
        self._groups -= name == "grpSp"
        if name == "t":
            self._in_text = False
        elif name == "p":
            self._end_paragraph()
        elif name == "tc" and self._tables:
            table = self._tables[-1]
            table.cells += [Cell(one_line(" ".join(table.cell)), *table.span)] if table.span[0] else []
        elif name == "tr" and self._tables:
            self._tables[-1].rows.append(self._tables[-1].cells)
            self._tables[-1].cells = []
        elif name == "tbl" and self._tables:
            self._content.append(self._tables.pop())
        elif name == "sp":
            self._content.append(self._shape)
            self._shape = _Shape()
        elif name == "spTree":
            self._add_all()

    def characters(self, text: str) -> None:
        if not self._in_text:
            return
        if self.shows and self._run.shows and not self._is_away():
            before = self._parts[-1] if self._parts else ""
            self._parts.append(placed(text, before, self._place_of_run))
        else:
            self._outline.hidden += len(one_line(text))

    def _is_away(self) -> bool:
        """True where the shape is hidden, or lies outside the slide."""
        (x, y, width, height), (wide, high) = self._shape.place, self._size
        return self._shape.hidden or x + width < 0 or y + height < 0 or (0 < wide < x) or (0 < high < y)

    def _end_paragraph(self) -> None:
        text = "".join(self._parts).strip()
        self._parts = []
        if text and self._tables:
            self._tables[-1].cell.append(text)
        elif text:
            is_item = self._bullet if self._bullet is not None else self._shape.kind in _LISTS
            self._shape.paragraphs.append((text, self._level + 1 if is_item or self._level else 0))

    def _add_all(self) -> None:
        titles = [shape for shape in self._content if isinstance(shape, _Shape) and shape.kind in _TITLES]
        for shape in titles:
            text = one_line(" ".join(text for text, _ in shape.paragraphs))
            self.heading = self.heading or text
            self._outline.add(BlockKind.HEADING, text, level=1)
        for block in self._content:
            if isinstance(block, _Table):
                self._outline.table(block.rows, header=block.header, lead=self._outline.announcement())
            elif block.kind not in _TITLES:
                self._add_shape(block)

    def _add_shape(self, shape: _Shape) -> None:
        is_list = len(shape.paragraphs) > 1 or any(level > 1 for _, level in shape.paragraphs)
        for text, level in shape.paragraphs:
            if shape.kind in _FURNITURE:
                if not self._is_notes:
                    self._outline.add(BlockKind.ASIDE, text)
            elif level and is_list and not self._is_notes:
                self._outline.item(text, level)
            else:
                self._outline.add(BlockKind.PARAGRAPH, text)


def _whole(text: str) -> int:
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and len(digits) < 12 else 0
