"""How Excel shows the values of cells: dates, shares, and what is not seen (ECMA-376, part 1, 18.8)."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache

from equipoise.corpus.loaders.hidden import Style

_DATES = frozenset({14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58})
_TIMES = frozenset({18, 19, 20, 21, 32, 33, 45, 46, 47})
_SHARES = frozenset({9, 10})
_LITERAL = re.compile(r'"[^"]*+"?+|\\.|\[[^\]]*+\]?+|_.|\*.')
_LAST_DAY = 2_957_003  # a date in the year 9995; later ones are numbers
_LONGEST = 200  # characters of a format
_MOST_DIGITS = 15


class Formats:
    """Reads styles.xml: number format, colour of letters and fill of each style of cells."""

    def __init__(self, *, since_1904: bool = False) -> None:
        self._first = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30)
        self._own: dict[int, str] = {}
        self._fonts: list[dict[str, str]] = []
        self._fills: list[dict[str, str]] = []
        self._cells: list[tuple[int, int, int]] = []
        self._in_cells = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "numFmt":
            self._own[_number(attributes, "numFmtId")] = attributes.get("formatCode", "")[:_LONGEST]
        elif name == "font":
            self._fonts.append({})
        elif name == "fill":
            self._fills.append({})
        elif name == "sz" and self._fonts:
            self._fonts[-1]["font-size"] = f"{attributes.get('val', '11')}pt"
        elif name == "color" and self._fonts:
            self._fonts[-1]["color"] = _color(attributes)
        elif name == "patternFill" and attributes.get("patternType", "none") != "none" and self._fills:
            self._fills[-1]["background-image"] = "unknown"
        elif name == "fgColor" and self._fills and "rgb" in attributes:
            self._fills[-1] = {"background-color": _color(attributes)}
        elif name == "gradientFill" and self._fills:
            self._fills[-1]["background-image"] = "unknown"
        elif name == "cellXfs":
            self._in_cells = True
        elif name == "xf" and self._in_cells:
            self._cells.append(
                (
                    _number(attributes, "numFmtId"),
                    _number(attributes, "fontId"),
                    _number(attributes, "fillId"),
                )
            )

    def end(self, name: str) -> None:
        if name in {"fonts", "fills"}:
            (self._fonts if name == "fonts" else self._fills).append({})  # takes what belongs to neither
        self._in_cells = self._in_cells and name != "cellXfs"

    def characters(self, text: str) -> None:
        """Styles hold no text."""

    def look(self, style: int) -> Style:
        """What cells of a style look like, as CSS properties."""
        if style >= len(self._cells):
            return {}
        number, font, fill = self._cells[style]
        hidden = {"display": "none"} if self._own.get(number, "").replace(" ", "") == ";;;" else {}
        own = {**(self._fonts[font] if font < len(self._fonts) else {}), **hidden}
        return {**own, **(self._fills[fill] if fill < len(self._fills) else {})}

    def shown(self, value: str, style: int) -> str:
        """A number as a reader sees it: a date, a time, a share, or the number."""
        number = self._cells[style][0] if style < len(self._cells) else 0
        kind = _kind(number, self._own.get(number, ""))
        try:
            amount = float(value)
        except ValueError:
            return value
        if kind == "share":
            return f"{amount * 100:.10g}%"
        if kind and 0 <= amount < _LAST_DAY:
            return self._date(amount, kind)
        return f"{amount:.{_MOST_DIGITS}g}" if "." in value and "e" not in value.lower() else value

    def _date(self, amount: float, kind: str) -> str:
        moment = self._first + timedelta(seconds=round(amount * 86_400))
        if kind == "time" and amount < 1:
            return moment.strftime("%H:%M:%S")
        date = moment.date().isoformat()
        return date if moment.time() == datetime.min.time() else f"{date} {moment:%H:%M:%S}"


@lru_cache(maxsize=512)
def _kind(number: int, code: str) -> str:
    """What a number format makes of a number: "date", "time", "share", or "" for a number."""
    if number in _DATES or number in _TIMES or number in _SHARES:
        return "date" if number in _DATES else "time" if number in _TIMES else "share"
    bare = _LITERAL.sub("", code.lower().partition(";")[0])
    if "general" in bare:
        return ""
    if "%" in bare:
        return "share"
    if set(bare) & set("yd"):
        return "date"
    return "time" if set(bare) & set("hs") else ""


def _color(attributes: Mapping[str, str]) -> str:
    """A colour as CSS; one of the theme cannot be known."""
    code = attributes.get("rgb", "")
    return f"#{code[-6:].lower()}" if len(code) in {6, 8} else "canvastext"


def _number(attributes: Mapping[str, str], name: str) -> int:
    text = attributes.get(name, "0")
    return int(text) if text.isdecimal() and len(text) < 10 else 0
