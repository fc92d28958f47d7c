"""How Excel shows the values of cells: dates, percentages, and what is hidden (ECMA-376, part 1, 18.8)."""

import re
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from xml.etree.ElementTree import Element

from equipoise.corpus.loaders.hidden import Style
from equipoise.corpus.loaders.loaded import whole

_DATES = frozenset({14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58})
_TIMES = frozenset({18, 19, 20, 21, 32, 33, 45, 47})
_DURATIONS = frozenset({46})
_DIGITS = {1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 37: "#,##0;(#,##0)"}
_DIGITS |= {38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)"}
_LITERAL = re.compile(r'"[^"]*+"?+|\\.|\[[^\]]*+\]?+|_.|\*.')
_ELAPSED = re.compile(r"\[(h|m|s)\1*+\](:mm)?+(:ss)?+", re.IGNORECASE)
_PART = re.compile(
    r'"(?P<quoted>[^"]*+)"?+|\\(?P<escaped>.)|\[\$(?P<money>[^\]-]*+)[^\]]*+\]?+|\[[^\]]*+\]?+|(?P<space>_).|\*.'
    r"|(?P<digits>[#0?][#0?,]*+(?:\.[#0?,]*+)?+|\.[#0?]++)|(?P<end>;)|(?P<other>.)"
)
_LARGEST = 1e15
_LAST_DAY = 2_957_003  # a date in the year 9995; later ones are numbers
_LONGEST = 200  # characters of a format
_MOST_DIGITS = 15


class Formats:
    """The styles of cells in styles.xml: number format, colour of letters and fill of each."""

    def __init__(self, root: Element, *, since_1904: bool = False) -> None:
        self._first = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30)
        self._own = {
            whole(node.get("numFmtId")): node.get("formatCode", "")[:_LONGEST] for node in root.iter("numFmt")
        }
        self._fonts = [_font(node) for node in root.iterfind("fonts/font")]
        self._fills = [_fill(node) for node in root.iterfind("fills/fill")]
        ids = ("numFmtId", "fontId", "fillId")
        self._cells = [tuple(whole(node.get(name)) for name in ids) for node in root.iterfind("cellXfs/xf")]

    def look(self, style: int) -> Style:
        """What cells of a style look like, as CSS properties."""
        if style >= len(self._cells):
            return {}
        number, font, fill = self._cells[style]
        hidden = {"display": "none"} if self._own.get(number, "").replace(" ", "") == ";;;" else {}
        own = {**(self._fonts[font] if font < len(self._fonts) else {}), **hidden}
        return {**own, **(self._fills[fill] if fill < len(self._fills) else {})}

    def shown(self, value: str, style: int) -> str:
        """A number as a reader sees it: a date, a time, a number of hours, or the number with its digits and unit."""
        number = self._cells[style][0] if style < len(self._cells) else 0
        return self.formatted(value, self._own.get(number, _DIGITS.get(number, "")), number)

    def formatted(self, value: str, code: str, number: int = 0) -> str:
        """As `shown`, by the code of a format and the number of a built-in one."""
        kind = _kind(number, code[:_LONGEST])
        try:
            amount = float(value)
        except ValueError:
            return value
        if kind == "duration" and 0 <= amount < _LAST_DAY:
            return _elapsed(amount, code)
        if kind in {"date", "time"} and 0 <= amount < _LAST_DAY:
            return self._date(amount, kind)
        written = _written(amount, code[:_LONGEST]) if abs(amount) < _LARGEST and not kind else ""
        return written or (
            f"{amount:.{_MOST_DIGITS}g}" if "." in value and "e" not in value.lower() else value
        )

    def _date(self, amount: float, kind: str) -> str:
        moment = self._first + timedelta(seconds=round(amount * 86_400))
        if kind == "time":
            return moment.strftime("%H:%M:%S" if moment.second else "%H:%M")
        date = moment.date().isoformat()
        return date if moment.time() == datetime.min.time() else f"{date} {moment:%H:%M:%S}"


@lru_cache(maxsize=512)
def _kind(number: int, code: str) -> str:
    """What a number format makes of a number: "date", "time", "duration", or "" for a number."""
    if number in _DATES or number in _TIMES or number in _DURATIONS:
        return "date" if number in _DATES else "time" if number in _TIMES else "duration"
    if _ELAPSED.search(code):
        return "duration"
    bare = _LITERAL.sub("", code.lower().partition(";")[0])
    if "general" in bare:
        return ""
    if set(bare) & set("yd"):
        return "date"
    return "time" if set(bare) & set("hs") else ""


def _elapsed(amount: float, code: str) -> str:
    """Days as hours, minutes and seconds; the first unit of the format is not wrapped: 25 hours stay 25 hours."""
    parts = _ELAPSED.search(code)
    unit, has_seconds = (parts[1].lower(), bool(parts[3])) if parts else ("h", True)
    seconds = round(amount * 86_400)
    if unit == "s":
        return str(seconds)
    if not has_seconds:
        seconds += 30  # to the nearest minute
    minutes, seconds = divmod(seconds, 60)
    hours, rest = divmod(minutes, 60)
    shown = f"{hours}:{rest:02}" if unit == "h" else str(minutes)
    return f"{shown}:{seconds:02}" if has_seconds else shown


def _written(amount: float, code: str) -> str:
    """A number in a format of digits and words, such as `#,##0.00 "kg"`; empty for a format of another kind."""
    sections: list[list[re.Match[str]]] = [[]]
    for part in _PART.finditer(code):
        if part["end"]:
            sections.append([])
        else:
            sections[-1].append(part)
    row = 1 if amount < 0 and len(sections) > 1 else 2 if amount == 0 and len(sections) > 2 else 0
    parts = sections[row]
    others = "".join(part["other"] or "" for part in parts)
    if not parts or set(others.lower()) & set("abeg/@"):
        return ""
    if sum(bool(part["digits"]) for part in parts) > 1:
        return _grouped(abs(amount), parts)
    amount = abs(amount) * 100.0 ** others.count("%") * (-1 if amount < 0 and row == 0 else 1)
    pieces = [_digits(amount, part["digits"]) if part["digits"] else _literal(part) for part in parts]
    return "".join(pieces).strip()


def _grouped(amount: float, parts: list[re.Match[str]]) -> str:
    """A whole number whose digits stand in several groups, such as 000-0000; empty for others."""
    places = [part["digits"] or "" for part in parts]
    if amount != int(amount) or not set("".join(places)) <= set("0#"):
        return ""
    left = str(int(amount)).zfill("".join(places).count("0"))
    pieces: list[str] = []
    for part, here in zip(reversed(parts), reversed(places), strict=True):
        is_first = here and not any(places[: len(parts) - len(pieces) - 1])
        size = len(left) if is_first else len(here)
        pieces.append(left[len(left) - size :] if here else _literal(part))
        left = left[: len(left) - size] if here else left
    return "".join(reversed(pieces)).strip()


def _literal(part: re.Match[str]) -> str:
    return next(
        (text for text in part.group("quoted", "escaped", "money", "other") if text),
        " " * bool(part["space"]),
    )


def _digits(amount: float, places: str) -> str:
    """A number with as many digits as there are places for them: `0` is always one, `#` if it is needed."""
    whole, _, rest = places.partition(".")
    scaled, rest = whole.rstrip(","), rest.rstrip(",")
    amount /= 1000.0 ** (len(places) - len(places.rstrip(",")))
    rounded = Decimal(repr(abs(amount))).quantize(Decimal(1).scaleb(-len(rest)), ROUND_HALF_UP)
    text = f"{rounded:{',' if ',' in scaled else ''}f}"
    before, _, after = text.partition(".")
    while after and rest[len(after) - 1] != "0" and after.endswith("0"):
        after = after[:-1]
    before = before.zfill(scaled.count("0")) if "," not in scaled else before
    sign = "-" if amount < 0 and text.strip("0.,") else ""
    return f"{sign}{before}{'.' if after else ''}{after}"


def _font(font: Element) -> dict[str, str]:
    """The look of letters as CSS."""
    style: dict[str, str] = {}
    for node in font:
        if node.tag == "sz":
            style["font-size"] = f"{node.get('val', '11')}pt"
        elif node.tag == "strike" and node.get("val", "1") not in {"0", "false"}:
            style["text-decoration"] = "line-through"
        elif node.tag == "color":
            style["color"] = _color(node)
    return style


def _fill(fill: Element) -> dict[str, str]:
    """What is behind letters, as CSS."""
    for node in fill:
        color = node.find("fgColor")
        if color is not None and "rgb" in color.attrib:
            return {"background-color": _color(color)}
        if node.tag == "gradientFill" or node.get("patternType", "none") != "none":
            return {"background-image": "unknown"}
    return {}


def _color(node: Element) -> str:
    """A colour as CSS; one of the theme cannot be known."""
    code = node.get("rgb", "")
    return f"#{code[-6:].lower()}" if len(code) in {6, 8} else "canvastext"
