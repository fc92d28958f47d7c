"""PowerPoint presentations: every slide a page, its title a heading, its lines items (ECMA-376, part 1, 19)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.charts import add_chart
from equipoise.corpus.loaders.equations import equation
from equipoise.corpus.loaders.grid import Cell
from equipoise.corpus.loaders.hidden import Look, look
from equipoise.corpus.loaders.loaded import LOWEST, LoadedDocument, comment, one_line, whole
from equipoise.corpus.loaders.outline import Outline, Runs
from equipoise.corpus.loaders.package import Package, read_package
from equipoise.corpus.loaders.xml import is_on, outermost, read_xml

_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"dt", "ftr", "hdr", "sldNum"})
_LISTS = frozenset({"body", "obj", ""})
_BULLETS = frozenset({"buNone", "buChar", "buAutoNum", "buBlip"})
_DEEPEST_LIST = 9


def load_pptx(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document; slides are its pages. The notes of a slide
    and comments stand below it. Hidden slides and text (`hidden.py`) are left out."""
    return read_package(path, data, kind="PowerPoint", read=lambda package: _loaded(path, package))


def _loaded(path: Path, package: Package) -> LoadedDocument:
    top = package.targets("")
    main = top.get("officeDocument", "ppt/presentation.xml")
    show, parts = read_xml(package.part(main)), package.targets(main, "Id")
    size = next(((_whole(node, "cx"), _whole(node, "cy")) for node in show.iter("sldSz")), (0, 0))
    outline = Outline()
    heading, rows = "", []
    beside = package.targets(main)
    authors = {
        node.get("id", ""): one_line(node.get("name", ""))
        for node in package.tree(beside.get("commentAuthors", beside.get("authors", ""))).iter()
    }
    for slide_id in show.iter("sldId"):
        rows.append(len(outline.blocks))
        part = parts.get(slide_id.get("r:id", ""), "")
        slide = package.tree(part)
        page = Look(gone=slide.get("show") in {"0", "false"}, paper="")
        title = _add_slide(slide, outline, page, size, partial(_chart, package, part))
        heading = heading or title
        beside = package.targets(part)
        _add_notes(package.tree(beside.get("notesSlide", "")), outline, page)
        if not page.gone:
            _add_comments(package.tree(beside.get("comments", beside.get("comment", ""))), authors, outline)
    loaded = outline.loaded(package.title(top.get("core-properties", "")) or heading or path.stem)
    starts = [block.start for block in outline.blocks] + [len(loaded.text)]
    return replace(loaded, pages=(0, *(starts[row] for row in rows[1:])) if rows else ())


def _chart(package: Package, slide: str, name: str) -> Element:
    """The chart that a slide refers to by this name, an empty element for a missing one."""
    return package.tree(package.targets(slide, "Id").get(name, ""))


def _add_comments(root: Element, authors: dict[str, str], outline: Outline) -> None:
    """Append the comments of a slide and the replies to them, and who wrote each."""
    for node in root.iter():
        if node.tag in {"cm", "reply"}:
            said = ("".join(one.itertext()) for one in node if one.tag in {"text", "txBody"})
            text, author = one_line(" ".join(said)), authors.get(node.get("authorId", ""), "")
            outline.add(BlockKind.PARAGRAPH, comment(text, author))


class _Shape(NamedTuple):
    """A shape with text. `kind` is that of its placeholder, None without one."""

    node: Element
    kind: str | None
    look: Look


def _shapes(slide: Element, page: Look, size: tuple[int, int]) -> Iterator[_Shape]:
    """The shapes and tables of a slide. What is hidden, or lies outside of it, is gone."""
    for node in outermost(slide, "sp", "graphicFrame", "grpSp"):
        if node.tag == "grpSp":
            yield from _shapes(node, page, (0, 0))
            continue
        kinds = (mark.get("type", "") for mark in node.iter("ph"))
        hidden = any(is_on(mark, "hidden") for mark in node.iter("cNvPr"))
        gone = page.gone or hidden or _is_outside(node, size)
        yield _Shape(node, next(kinds, None), page._replace(gone=gone))


def _is_outside(shape: Element, size: tuple[int, int]) -> bool:
    """Whether a shape lies outside a slide of this size; False for one in a group, whose place is not known."""
    place = next(shape.iter("xfrm"), None)
    if place is None or size == (0, 0):
        return False
    begin, extent = place.find("off"), place.find("ext")
    for side, name, long in zip(size, ("x", "y"), ("cx", "cy"), strict=True):
        start = 0 if begin is None else _whole(begin, name)
        if start + (0 if extent is None else _whole(extent, long)) < 0 or 0 < side < start:
            return True
    return False


def _add_slide(
    slide: Element, outline: Outline, page: Look, size: tuple[int, int], chart: Callable[[str], Element]
) -> str:
    """Append a slide, its title first, and return that title. `chart` finds the charts of the slide."""
    shapes = list(_shapes(slide, page, size))
    heading = ""
    for shape in shapes:
        if shape.kind in _TITLES:
            text = one_line(" ".join(text for text, _ in _paragraphs(shape, outline)))
            heading = heading or text
            outline.add(BlockKind.HEADING, text, level=1)
    for shape in shapes:
        if shape.node.tag == "graphicFrame":
            for table in shape.node.iter("tbl"):
                _add_table(table, shape, outline)
            for node in () if shape.look.gone else shape.node.iter("chart"):
                add_chart(chart(node.get("r:id", "")), outline)
        elif shape.kind not in _TITLES:
            _add_shape(list(_paragraphs(shape, outline)), shape.kind, outline)
    return heading


def _add_notes(notes: Element, outline: Outline, page: Look) -> None:
    for shape in _shapes(notes, page, (0, 0)):
        for text, _ in _paragraphs(shape, outline):
            if shape.kind not in _FURNITURE:
                outline.add(BlockKind.PARAGRAPH, text)


def _add_shape(paragraphs: list[tuple[str, int]], kind: str | None, outline: Outline) -> None:
    is_list = len(paragraphs) > 1 or any(level > 1 for _, level in paragraphs)
    for text, level in paragraphs:
        if kind in _FURNITURE:
            outline.add(BlockKind.ASIDE, text)
        elif level and is_list:
            outline.item(text, level)
        else:
            outline.add(BlockKind.PARAGRAPH, text)


def _add_table(table: Element, shape: _Shape, outline: Outline) -> None:
    header = any(is_on(properties, "firstRow") for properties in table.iter("tblPr"))
    rows: list[list[Cell]] = []
    for tr in outermost(table, "tr"):
        rows.append([])
        for tc in outermost(tr, "tc"):
            text = one_line(" ".join(text for text, _ in _paragraphs(shape._replace(node=tc), outline)))
            if not (is_on(tc, "hMerge") or is_on(tc, "vMerge")):
                span = max(_whole(tc, "rowSpan"), 1), max(_whole(tc, "gridSpan"), 1)
                rows[-1].append(Cell(text, *span))
    outline.table(rows, header=header, intro=outline.announcement())


def _paragraphs(shape: _Shape, outline: Outline) -> Iterator[tuple[str, int]]:
    """The paragraphs of a shape or a cell, and the level of items, 0 for what is none."""
    for node in shape.node.iter("p"):
        runs, run, place = Runs(outline), shape.look, ""
        level, bullet = 0, shape.kind in _LISTS
        for part in node.iter():
            if part.tag in {"r", "fld"}:
                run, place = shape.look, ""
            elif part.tag == "pPr":
                level = min(_whole(part, "lvl"), _DEEPEST_LIST)
                bullet = next((mark.tag != "buNone" for mark in part if mark.tag in _BULLETS), bullet)
            elif part.tag == "rPr":
                raised = _whole(part, "baseline")
                run, place = look(run, _style(part)), "super" if raised > 0 else "sub" if raised else ""
            elif part.tag == "m:oMath":
                runs.add(equation(part, partial(_said, shape, outline)))
            elif part.tag == "br":
                runs.parts.append("\n")
            elif part.tag == "t":
                runs.add(part.text or "", shows=run.shows, place=place)
        if text := runs.text().strip():
            yield text, level + 1 if bullet or level else 0


def _said(shape: _Shape, outline: Outline, run: Element) -> str:
    """The text that shows of a run in a formula."""
    seen, runs = shape.look, Runs(outline)
    for part in run.iter():
        if part.tag == "rPr":
            seen = look(seen, _style(part))
        elif part.tag == "m:t":
            runs.add(part.text or "", shows=seen.shows)
    return runs.text()


def _style(properties: Element) -> dict[str, str]:
    """What the properties of a run say of its look, as CSS."""
    style: dict[str, str] = {}
    if (size := _whole(properties, "sz")) > 0 or properties.get("sz") == "0":
        style["font-size"] = f"{size / 100}pt"
    if properties.get("strike", "noStrike") != "noStrike":
        style["text-decoration"] = "line-through"
    if any(alpha.get("val") in {"0", "0%"} for alpha in properties.iterfind("solidFill/*/alpha")):
        style["display"] = "none"
    return style


def _whole(node: Element, name: str) -> int:
    return whole(node.get(name), 0, LOWEST)
