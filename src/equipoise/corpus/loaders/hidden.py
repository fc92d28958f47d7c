"""The one rule of all loaders: text that a reader would not see is left out and counted, or indexed and counted apart.

Hidden text is how instructions and opinions are planted where no human reviewer meets them. A loader describes
a piece of text in CSS terms and asks `look`; `LoadedDocument.hidden` counts the characters that were left out,
`LoadedDocument.invisible` those that are in the text although nobody sees them: the text layer that OCR puts
under the picture of a page, without which a scan could not be searched.

Known, and left out:

- all formats: characters without a shape: tags, zero-width and direction controls, fillers, runs of variation
  selectors or joiners. One joiner, soft hyphen or variation selector after a visible character stays.
- text that is crossed out, which its author took back; in PDF where a stroke no longer than it goes through it.
- HTML: `hidden`, `display`, `visibility`, `opacity` and colours below a tenth, letters below 3 pixels, boxes of no
  size, places outside the page, clipping, masks of one clear gradient, `transform` to a tenth or less or to the edge
  (`rotateX`, `rotateY`), letters pulled together until they lie on each other, and text in the colour of its
  background, from `style` attributes and from the page's own `<style>` elements with their cascade; `<noscript>`,
  `<noembed>`, `<noframes>`, `<rp>` but for a bracket, closed `<dialog>` and `popover`, and what is there for screen
  readers only.
- Markdown: comments, link definitions without a target and titles of others, raw HTML elements that the rule
  for HTML hides, lines of comment in front matter. reStructuredText: comments.
- Word: text marked hidden by itself, its style or its paragraph's style, deleted text, letters below 2.25 points,
  letters in the colour of their shading or of the paper, or painted by an effect without a fill, hidden shapes.
- PDF: letters below 1.5 points, squeezed or slanted to that or to a tenth, outside the page, wholly transparent, or in
  the colour of the paper or of the box that was painted under them.
- EPUB: as HTML, with the style sheets in the book. Mail: the HTML part as HTML.
- OpenDocument: hidden text, paragraphs, sections and rows, and by styles as in Word.
- Excel: hidden sheets, rows and columns, the number format `;;;`, letters in the colour of their cell.
- PowerPoint: hidden slides and shapes, shapes outside the slide, clear letters and those too small to see.
- RTF: hidden and deleted text, letters below 2.25 points, white letters on nothing. AsciiDoc, LaTeX and Org: comments.
  LaTeX: `\\iffalse`, phantoms, what stands behind the end of the document.

Kept, since a reader reaches it: `<details>`, the text of pictures, `aria-hidden`, the panels of tabs and accordions (by
role or class) on a page with controls for them, unless more than being folded hides them. Kept and counted apart: PDF
text of render mode 3.

Not known, and therefore part of the threat model:

- HTML: style sheets and scripts in other files, `@import`, CSS variables, `calc()` beyond one length, animations,
  selectors that lexbor does not read (`:lang`, `:not(:target)`), `line-height` 0,
  fonts whose letters look like others, text turned around by `direction`, text put there by `content:`, and
  whatever lies over or under text: pictures, boxes, z-index; so text of the page's colour with a `position`, too, on
  a page that has a picture or a box of another colour. Text less than 900 pixels outside (300 above the page, or
  above or below the screen), other masks, `matrix()`, `rotate3d()`, `skew()`, `perspective`, `word-spacing`, `offset`;
  colours of the system (`Canvas`) and `color-mix()`.
- Markdown: labels of link definitions, what a renderer's own style sheet hides, formulas (`\\phantom`), comments of
  renderers (`{/* */}`, `%% %%`) and in front matter behind a value or in TOML; values of front matter are kept.
- AsciiDoc: conditions (`ifdef`), attributes, HTML that is passed through. Org: `COMMENT` and `noexport` headings,
  drawers, `@@comment:`. reStructuredText: `only`, `raw`, substitutions that are not used.
- LaTeX: conditions other than `\\iffalse` (`\\if0`, `\\newif`), colours, sizes, boxes (`\\setbox`), bookmarks, and what
  a macro leaves out.
- PDF: layers switched off, clipping paths, letters set on each other, letters that are nearly transparent, white
  letters on a picture, a shade or a scratch of another colour, and whatever is painted over letters.
- Word: conditional table formats, colours of the theme, the colour of highlighting, frames and indents outside the
  page, lines and rows of no height, letters squeezed or raised out of sight, `webHidden` (seen in print layout).
- OpenDocument: frames outside the page, squeezed letters, fields whose condition hides text although the file says that
  it is shown (`text:is-hidden`). Excel: colours of the theme, conditional formats, rows of no height, cells
  that a picture covers. PowerPoint: the colour of letters, what lies over what, animations. RTF: letters in the
  colour of their shading, frames. JSON and source code: everything is text there, so nothing is hidden.
"""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from equipoise.corpus.loaders.colors import CLEAR, FAINT, Color, color, near
from equipoise.corpus.loaders.lengths import amounts, degrees, is_length, length

_STRUCK = frozenset({"del", "s", "strike"})
"""Elements of HTML whose text is crossed out."""
_UNSEEN = frozenset({"noembed", "noframes", "noscript", "rp"})
"""Elements of HTML for browsers of another time or without scripts."""
BLACK: Color = (0, 0, 0)
WHITE: Color = (255, 255, 255)

Style = Mapping[str, str]
"""CSS properties in lower case, one value each, as the cascade leaves them."""

SMALLEST = 3.0
"""Pixels: letters below this size are a line of dust. (A CSS pixel is three quarters of a point.)"""

_FILL = "-webkit-text-fill-color"
_UNFILLED = frozenset({"currentcolor", "initial"})  # values of it that leave letters to `color`
_OUTSIDE = -900.0  # pixels, from which a place is outside of every page
_WIDE = 1280.0  # pixels: an indent of all of the page, or of 100% of a box
_TALL = 300.0  # pixels: some fifteen lines, more than most boxes without a given height have
_PILED = -0.4  # of their size: letters that are so far pulled together lie on each other
_SLIVER = 1.0  # pixels: the box that "for screen readers only" leaves of a text

_SHAPELESS = (
    "\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CHOOSING = "\ufe00-\ufe0f"
_JOINING = "\u00ad\u200c\u200d"
_RUN = re.compile(f"[{_SHAPELESS}{_CHOOSING}{_JOINING}]++")
_USED = re.compile(f"[{_CHOOSING}]?+[{_JOINING}]?+")
_PART = re.compile(r"[#\w]++(?:\([^()]*+\))?+")  # of a gradient: a word or a colour

_SIZES = {
    "xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "x-large": 24.0,
    "xx-large": 32.0, "xxx-large": 48.0, "initial": 16.0,
}  # fmt: skip


def without_shapeless(text: str) -> str:
    """`text` with a space in place of every character that has no shape and no use: the same length."""
    return text if text.isascii() else _RUN.sub(_blanked, text)


def _blanked(run: re.Match[str]) -> str:
    used = _USED.match(run.group())
    kept = used.end() if used else 0
    return run.group()[:kept] + " " * (run.end() - run.start() - kept)


class Look(NamedTuple):
    """How text looks inside an element: what it takes from the elements around it."""

    gone: bool = False
    """Nothing inside can be seen, whatever its own style."""
    unseen: bool = False
    """Hidden by `visibility`, which an element inside may undo."""
    cut: bool = False
    """Inside a box of no size that clips its overflow; only `position: fixed` escapes it."""
    size: float = _SIZES["medium"]
    """The font size, in pixels."""
    ink: Color | str = BLACK
    """The colour of the letters, CLEAR, or "" where it is not known."""
    filled: bool = False
    """The letters are filled with a colour of their own, which `color` does not change."""
    paper: Color | str = WHITE
    """The colour behind the letters, in the same form."""
    solid: float = 1.0
    """The opacity, from 0 to 1."""
    spacing: float = 0.0
    """The `letter-spacing`, in pixels."""
    placed: bool = False
    """Inside an element with a `position`: `top` and the like do not count from the edge of the page."""
    bare: bool = False
    """On a page of one colour without pictures, so that this colour is behind positioned elements, too."""

    @property
    def shows(self) -> bool:
        """True where a reader sees text of this look."""
        if self.gone or self.unseen or self.cut or self.size < SMALLEST or self.ink == CLEAR:
            return False
        if self.solid < FAINT or self.spacing <= _PILED * self.size:
            return False
        return not (
            isinstance(self.ink, tuple) and isinstance(self.paper, tuple) and near(self.ink, self.paper)
        )


def look(around: Look, style: Style) -> Look:
    """The look inside an element with this style, whose parent has the look `around`."""
    if not style or around.gone:
        return around
    size = _size(style, around.size)
    return Look(
        gone=_is_gone(style) or _is_beyond(style, around),
        unseen={"visible": False, "hidden": True, "collapse": True}.get(
            style.get("visibility", ""), around.unseen
        ),
        cut=_is_cut(style) or (around.cut and style.get("position") != "fixed"),
        size=size,
        ink=_ink(style, around),
        filled=style.get(_FILL, "currentcolor") not in _UNFILLED or (around.filled and _FILL not in style),
        paper=_paper(style, around),
        solid=around.solid * _solidity(style),
        spacing=_spacing(style, size, around.spacing),
        placed=around.placed or style.get("position", "static") not in {"static", "initial"},
        bare=around.bare,
    )


def hints(tag: str, attributes: Mapping[str, str | None]) -> Style:
    """The style that HTML itself gives an element by its tag and attributes; style sheets may override it."""
    style = {"text-decoration": "line-through"} if tag in _STRUCK else {}
    closed = tag == "dialog" and "open" not in attributes
    if closed or tag in _UNSEEN or "hidden" in attributes or "popover" in attributes:
        style["display"] = "none"
    if tag in {"font", "body"} and (ink := attributes.get("color" if tag == "font" else "text")):
        style["color"] = ink.strip().lower()
    if paper := attributes.get("bgcolor"):
        style["background-color"] = paper.strip().lower()
    if attributes.get("background"):
        style["background-image"] = "url()"
    return style


def _is_gone(style: Style) -> bool:
    return (
        style.get("display") == "none"
        or any("line-through" in style.get(f"text-decoration{part}", "") for part in ("", "-line"))
        or style.get("content-visibility") == "hidden"
        or _is_outside(style)
        or _is_clipped(style)
        or _is_masked(style)
        or _is_shrunk(style)
    )


def _is_nothing(amount: str) -> bool:
    value = length(amount)
    return value is not None and value <= 0


def _share(amount: str) -> float:
    """A number or percentage as a number, 1 for anything else."""
    numbers = amounts(amount)
    return numbers[0] / (100 if "%" in amount else 1) if numbers else 1.0


def _solidity(style: Style) -> float:
    shares = [style.get("opacity", "1"), *_arguments(style.get("filter", ""), "opacity")]
    return math.prod(max(0.0, min(1.0, _share(share))) for share in shares)


def _is_outside(style: Style) -> bool:
    margins = [style.get("margin-left", ""), style.get("margin-top", ""), *style.get("margin", "").split()]
    places = [margin for margin in margins if not margin.endswith("%")]  # columns are laid out with -100%
    if style.get("position", "static") != "static":
        places += [style.get(name, "") for name in ("left", "top", "right", "bottom")]
        places += style.get("inset", "").split()
    places += [style.get("text-indent", ""), *style.get("translate", "").split()]
    transform = style.get("transform", "")
    for name in ("translate", "translatex", "translatey", "translate3d"):
        places += _arguments(transform, name)
    lengths = (length(place) for place in places if place)
    indent = length(style.get("text-indent", "")) or 0.0
    return indent >= _WIDE or any(place is not None and place <= _OUTSIDE for place in lengths)


def _is_beyond(style: Style, around: Look) -> bool:
    """True for a place above the page, where nobody can scroll, or, if `fixed`, above or below the screen."""
    position = style.get("position")
    if position != "fixed" and (position != "absolute" or around.placed):
        return False
    edges = style.get("inset", "auto").split()
    top = length(style.get("top", edges[0]))
    bottom = length(style.get("bottom", (edges[2:3] or edges)[0]))
    height = max(length(style.get(name, "")) or 0.0 for name in ("height", "min-height"))
    if top is not None and bottom is not None:
        return False  # its height is what is between them
    place = top if position == "absolute" or top is not None else bottom
    return place is not None and place <= -max(height, _TALL)


def _is_clipped(style: Style) -> bool:
    if style.get("position") in {"absolute", "fixed"} and (edges := amounts(style.get("clip", ""))):
        return style["clip"].startswith("rect") and max(edges) - min(edges) <= _SLIVER
    path = style.get("clip-path", "")
    if path.startswith("inset("):
        inset = _arguments(path, "inset")[0].split()
        return bool(inset) and inset[0].endswith("%") and (amounts(inset[0]) or [0.0])[0] >= 50
    if path.startswith(("circle(", "ellipse(")):
        return _is_nothing(path.split("(")[1].split(" at ")[0].rstrip(")").split(" ")[0])
    edges = amounts(path) if path.startswith("polygon(") else []
    return bool(edges) and max(edges) - min(edges) == 0


def _is_masked(style: Style) -> bool:
    """True behind a mask that is one gradient without any colour."""
    masks = [style.get(f"{maker}mask{part}", "") for maker in ("", "-webkit-") for part in ("", "-image")]
    gradients = [mask.partition("gradient(")[2] for mask in masks if "url(" not in mask]
    return any(
        {ink for part in _PART.findall(gradient) if (ink := color(part)) is not None} == {CLEAR}
        for gradient in gradients
    )


def _is_shrunk(style: Style) -> bool:
    """True for what is scaled to nearly nothing, or turned until it is seen from its edge."""
    transform, turned = style.get("transform", ""), style.get("rotate", "").split()
    factors = [
        x for name in ("scale", "scalex", "scaley", "scale3d") for x in _arguments(transform, name)[:2]
    ]
    factors += style.get("scale", "").split()[:2] + style.get("zoom", "").split()
    turns = _arguments(transform, "rotatex") + _arguments(transform, "rotatey")
    turns += turned if {"x", "y"} & set(turned) else []
    angles = (angle for turn in turns if (angle := degrees(turn)) is not None)
    return any(_share(factor) < FAINT for factor in factors) or any(
        abs(math.cos(math.radians(angle))) < FAINT for angle in angles
    )


def _is_cut(style: Style) -> bool:
    cut = {"hidden", "clip"} & {
        word for name in ("overflow", "overflow-x", "overflow-y") for word in style.get(name, "").split()
    }
    sides = (style.get(name, "") for name in ("width", "height", "max-width", "max-height"))
    return bool(cut) and any((side := length(text)) is not None and side <= _SLIVER for text in sides if text)


def _arguments(value: str, function: str) -> list[str]:
    """What stands between the brackets of `function` in a CSS value, parted at commas."""
    _, separator, rest = f" {value}".partition(f" {function}(")
    return [argument.strip() for argument in rest.partition(")")[0].split(",")] if separator else []


def _size(style: Style, around: float) -> float:
    value = style.get("font-size") or next(
        (part.split("/")[0] for part in style.get("font", "").split() if is_length(part.split("/")[0])), ""
    )
    if value in _SIZES:
        return _SIZES[value]
    if value in {"smaller", "larger"}:
        return around * (1.2 if value == "larger" else 1 / 1.2)
    if value.endswith("%"):
        share = amounts(value)
        return around * share[0] / 100 if share else around
    if value.endswith("em") and not value.endswith("rem"):
        share = amounts(value)
        return around * share[0] if share else around
    pixels = length(value) if value else None
    return around if pixels is None else max(pixels, 0.0)


def _spacing(style: Style, size: float, around: float) -> float:
    value = style.get("letter-spacing", "inherit")
    if value in {"normal", "initial"}:
        return 0.0
    if value.endswith(("em", "%")) and not value.endswith("rem"):
        return _share(value) * size if amounts(value) else around
    pixels = length(value)
    return around if pixels is None else pixels


def _ink(style: Style, around: Look) -> Color | str:
    fill = style.get(_FILL, "inherit" if around.filled else "currentcolor")
    if fill in _UNFILLED:
        fill = style.get("color", "canvastext" if around.filled else "inherit")
    if fill in {"inherit", "currentcolor", "unset"}:
        return around.ink
    if "text" in f"{style.get('background-clip', '')} {style.get('-webkit-background-clip', '')}".split():
        return ""  # the letters show the background
    ink = color(fill)
    return around.ink if ink is None else ink


def _paper(style: Style, around: Look) -> Color | str:
    if "background-image" in style and style["background-image"] != "none":
        return ""
    plain = style.get("background-color", "")
    whole = style.get("background", "")
    if "(" in whole.replace("rgb(", "").replace("rgba(", "") and not isinstance(color(whole), tuple):
        return ""  # a picture or a gradient
    paper = color(plain) if plain else color(whole)
    if paper is None:
        paper = next((c for word in whole.split() if (c := color(word)) is not None), CLEAR)
    if paper == CLEAR:
        floats = style.get("position") in {"absolute", "fixed", "sticky"} and not around.bare
        return "" if floats else around.paper
    return paper
