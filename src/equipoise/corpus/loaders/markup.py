"""What an HTML parser must not get: pages whose parsing grows with the square of their length.

Parsers look through the open elements at every tag, compare every attribute with those before it, and open
unclosed formatting again in every block. `refuse_tangles` counts all three beforehand, in one pass. It reads
tags as the HTML standard does, except inside SVG and MathML, where it may take `<title>` and `<style>` for text.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from equipoise.core.errors import UnreadableFile

MOST_DEEP = 512
"""Elements inside one another; browsers nest no deeper either."""
MOST_ATTRIBUTES = 1_000
"""Of one element."""
_REOPENED, _REOPENED_EACH = 200_000, 4  # formatting elements opened again: in all, and for each tag

_SPACE = r"[\t\n\f\r ]"
_ATTRIBUTE = (
    rf"[\t\n\f\r /]*+(?:=[^\t\n\f\r />=]*+|[^\t\n\f\r />=]++)"
    rf"""(?:{_SPACE}*+={_SPACE}*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >"'][^\t\n\f\r >]*+)?+)?+"""
)
_ROOT = re.compile(r"<(?:html|body)(?=[\t\n\f\r /])", re.IGNORECASE)
_ONE_ATTRIBUTE = re.compile(_ATTRIBUTE)
_TOKEN = re.compile(
    rf"""<!--(?:-?>|.*?(?:--!?>|\Z))
       | <(?P<close>/?+)(?P<name>[a-zA-Z][^\t\n\f\r />]*+)(?P<rest>(?:{_ATTRIBUTE})*+)[\t\n\f\r /]*+(?:>|\Z)
       | <[!?/][^>]*+>?+""",
    re.DOTALL | re.VERBOSE,
)
_LISTS = """
void: area base br col embed hr img input link meta param source track wbr frame basefont bgsound keygen
root: html head body frameset
raw: script style xmp iframe noembed noframes textarea title plaintext
formatting: b big code em font i s small strike strong tt u a nobr
heading: h1 h2 h3 h4 h5 h6
ends_p: address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form
header hgroup listing main menu nav ol p pre search section summary table ul xmp li dd dt h1 h2 h3 h4 h5 h6
special: address applet area article aside base basefont bgsound blockquote body br button caption center col
colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6
head header hgroup hr html iframe img input keygen li link listing main marquee menu meta nav noembed noframes
noscript object ol p param plaintext pre script search section select source style summary table tbody td template
textarea tfoot th thead title tr track ul wbr xmp
scope: applet caption table td th marquee object template
foreign: svg math foreignobject desc annotation-xml mi mo mn ms mtext
"""
_SETS = {
    title: frozenset(names.split())
    for title, _, names in (part.partition(":") for part in re.split(r"\n(?=\w+:)", _LISTS.strip()))
}
_VOID, _RAW, _FORMATTING, _SPECIAL, _SCOPE = (
    _SETS[title] for title in ("void", "raw", "formatting", "special", "scope")
)
_ROWS = frozenset({"table", "template"})
_GROUPS = frozenset({"tbody", "thead", "tfoot"})
_TABLE = {name: _ROWS | _GROUPS | {"tr"} for name in ("td", "th")} | {"tr": _ROWS | _GROUPS}
_TABLE |= dict.fromkeys((*_GROUPS, "caption", "colgroup"), _ROWS)
_ITEMS = {"li": frozenset({"li"}), "dd": frozenset({"dd", "dt"}), "dt": frozenset({"dd", "dt"})}
_LOOSE = _SPECIAL - {"address", "div", "p"}
_LOOSE_FOR = {name: _LOOSE - ends for name, ends in _ITEMS.items()}
_RUBY = frozenset({"rt", "rp", "rb", "rtc"})
_LEAVES = dict.fromkeys(_SETS["heading"], _SETS["heading"]) | dict.fromkeys(_RUBY, _RUBY)
_LEAVES |= {"option": frozenset({"option"}), "optgroup": frozenset({"option", "optgroup"})}
_ENDS_P, _PARAGRAPH, _BUTTONS = _SETS["ends_p"], frozenset({"p"}), _SCOPE | {"button"}
_NOT_OPENED = _VOID | _SETS["root"]
_ENDING = _ENDS_P | _ITEMS.keys() | _TABLE.keys() | _LEAVES.keys() | {"a", "nobr"}
_FOREIGN_ENDS = _SPECIAL | _FORMATTING - {"a"}


def refuse_tangles(path: Path, text: str) -> None:
    """Raises UnreadableFile for a page that is nested too deep or has too many attributes or open tags."""
    _refuse_attributes(path, _root_attributes(text))
    opened: list[str] = []
    styling = _Formatting()
    for tags, (name, close, whole) in enumerate(_tags(text), 1):
        if len(whole) > MOST_ATTRIBUTES:
            _refuse_attributes(path, _attributes(whole, 1 + len(name)))
        if close:
            _close(opened, name)
            styling.close(name)
        elif not (whole.endswith("/>") and _is_foreign(opened, name)):
            _open(opened, name)
            styling.open(name, whole)
        if len(opened) > MOST_DEEP:
            raise UnreadableFile(
                str(path), f"its tags are nested more than {MOST_DEEP} deep; save the page as text"
            )
        if styling.reopened > _REOPENED + _REOPENED_EACH * tags:
            raise UnreadableFile(str(path), "too many of its tags are never closed; save the page as text")


def _refuse_attributes(path: Path, count: int) -> None:
    if count > MOST_ATTRIBUTES:
        reason = f"one of its tags has more than {MOST_ATTRIBUTES:,} attributes; save the page as text"
        raise UnreadableFile(str(path), reason)


def _root_attributes(text: str) -> int:
    """Attributes of all `<html>` and `<body>` tags: a parser gathers them on two elements."""
    count = 0
    for match in _ROOT.finditer(text):
        count += _attributes(text, match.end())
        if count > MOST_ATTRIBUTES:
            break
    return count


def _attributes(text: str, place: int) -> int:
    """How many attributes follow from `place` on; counted up to MOST_ATTRIBUTES and one."""
    count = 0
    while count <= MOST_ATTRIBUTES and (match := _ONE_ATTRIBUTE.match(text, place)):
        count += 1
        place = match.end()
    return count


def _tags(text: str) -> Iterator[tuple[str, bool, str]]:
    """Name in lower case, whether it closes, and source of every tag outside comments and raw text."""
    place = 0
    while match := _TOKEN.search(text, place):
        place = match.end()
        close, name = match.group("close", "name")
        if not name:
            continue
        name = name.lower()
        yield name, bool(close), match.group()
        if name in _RAW and not close:
            end = None if name == "plaintext" else _end_of(name).search(text, place)
            place = end.start() if end else len(text)


def _end_of(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE)


def _open(opened: list[str], name: str) -> None:
    """Open an element, and close those that it ends: paragraphs, list items, cells and rows before it."""
    if name in _NOT_OPENED:
        return
    if name not in _ENDING:
        opened.append(name)
        return
    if name in _TABLE:
        place = _last(opened, _TABLE[name], frozenset())
        if place is None:
            return
        del opened[place + 1 :]
    if name in _ENDS_P and (place := _last(opened, _PARAGRAPH, _BUTTONS)) is not None:
        del opened[place:]
    if name in _ITEMS and (place := _last(opened, _ITEMS[name], _LOOSE_FOR[name])) is not None:
        del opened[place:]
    if name in {"a", "nobr"} and (place := _last(opened, frozenset({name}), _SCOPE)) is not None:
        del opened[place]
    if name in _LEAVES and opened and opened[-1] in _LEAVES[name]:
        opened.pop()
    opened.append(name)


def _close(opened: list[str], name: str) -> None:
    """Close the innermost element of that name, unless something between must not be closed with it."""
    if opened and opened[-1] == name:
        opened.pop()
        return
    stops = _ROWS if name in _TABLE or name == "table" else _SCOPE if name in _SPECIAL else _SPECIAL
    names = _SETS["heading"] if name in _SETS["heading"] else frozenset({name})
    place = _last(opened, names, _SCOPE if name in _FORMATTING else stops)
    if place is None:
        return
    if name in _FORMATTING:
        del opened[place]
    else:
        del opened[place:]


def _last(opened: list[str], names: frozenset[str], stops: frozenset[str]) -> int | None:
    """The place of the innermost of `names`, None where one of `stops` comes first."""
    for place in range(len(opened) - 1, -1, -1):
        if opened[place] in names:
            return place
        if opened[place] in stops:
            return None
    return None


def _is_foreign(opened: list[str], name: str) -> bool:
    """True inside SVG and MathML, where `<path/>` is closed, for an element that does not end them."""
    if name in {"svg", "math"}:
        return True
    place = _last(opened, _SETS["foreign"], frozenset())
    return place is not None and opened[place] in {"svg", "math"} and name not in _FOREIGN_ENDS


class _Formatting:
    """Formatting tags that are still open, which a parser opens again in every new block."""

    def __init__(self) -> None:
        self._open: list[tuple[str, str]] = []
        self.reopened = 0

    def open(self, name: str, whole: str) -> None:
        self.reopened += len(self._open)
        if name not in _FORMATTING:
            return
        if self._open.count((name, whole)) < 3 and len(self._open) < MOST_DEEP:
            self._open.append((name, whole))

    def close(self, name: str) -> None:
        if name not in _FORMATTING:
            return
        for place in range(len(self._open) - 1, -1, -1):
            if self._open[place][0] == name:
                del self._open[place]
                return
