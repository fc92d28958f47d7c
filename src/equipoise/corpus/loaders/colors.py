"""CSS colours as numbers (https://www.w3.org/TR/css-color-4/)."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from tinycss2 import color4

from equipoise.corpus.loaders.loaded import words

Color = tuple[int, int, int]
_Parsed = Any
"""A colour of tinycss2, which has no type hints."""

CLEAR = "transparent"
"""A colour that paints nothing, or nearly."""
FAINT = 0.1
"""What is less opaque than this, or scaled to less, cannot be seen."""

_OTHER = words("inherit initial unset revert canvas canvastext linktext graytext")
_FUNCTIONS = words("rgb rgba hsl hsla hwb lab lch oklab oklch")  # that tinycss2 reads
_SPACES = {"lab": "xyz-d50", "lch": "xyz-d50", "oklab": "xyz-d65", "oklch": "xyz-d65", "xyz": "xyz-d65"}
"""What a colour is turned into on the way to red, green and blue."""
_LINEAR = {
    "xyz-d50": (
        (3.1338561, -1.6168667, -0.4906146), (-0.9787684, 1.9161415, 0.033454), (0.0719453, -0.2289914, 1.4052427)
    ),
    "xyz-d65": (
        (3.2404542, -1.5371385, -0.4985314), (-0.969266, 1.8760108, 0.041556), (0.0556434, -0.2040259, 1.0572252)
    ),
    "srgb-linear": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
}  # fmt: skip
"""Matrices to red, green and blue in linear light (http://www.brucelindbloom.com/Eqn_RGB_XYZ_Matrix.html)."""
_WIDER = frozenset({"display-p3", "a98-rgb", "prophoto-rgb", "rec2020"})
"""Spaces of red, green and blue that are taken for sRGB: white and black are the same."""
_NEAR = 12
_LONGEST = 100  # characters of a colour; longer is none


@lru_cache(maxsize=1024)
def color(value: str) -> Color | str | None:
    """A CSS colour in lower case as red, green, blue (0 to 255), CLEAR, or "" for one that cannot be known.

    None for what is no colour. Of a function that is not known here the colour cannot be known.
    """
    value = value.strip()
    if len(value) > _LONGEST:
        return None
    parsed = color4.parse_color(value)
    if parsed is None:
        return _unread(value)
    if isinstance(parsed, str):  # currentcolor
        return ""
    if parsed.alpha < FAINT:
        return CLEAR
    try:
        red, green, blue = (min(255, max(0, round(255 * (x or 0)))) for x in _srgb(parsed))
    except (NotImplementedError, ArithmeticError, ValueError):  # another space, or infinite
        return ""
    return red, green, blue


def _srgb(parsed: _Parsed) -> Iterable[float | None]:
    """Red, green and blue of a colour of tinycss2, from 0 to 1 on a screen."""
    if parsed.space in _WIDER:
        return list(parsed.coordinates)
    space = _SPACES.get(parsed.space, parsed.space)
    if space not in _LINEAR:
        return list(parsed.to("srgb").coordinates)
    light = parsed.to(space).coordinates
    linear = (sum(share * x for share, x in zip(row, light, strict=True)) for row in _LINEAR[space])
    return [12.92 * x if x <= 0.0031308 else 1.055 * x ** (1 / 2.4) - 0.055 for x in linear]


def _unread(value: str) -> str | None:
    """ "" for a colour that tinycss2 does not read, None for what is none."""
    if value in _OTHER or "var(" in value:
        return ""
    name, bracket, _ = value.partition("(")
    is_function = bracket and value.endswith(")") and name not in _FUNCTIONS
    return "" if is_function and (name.isidentifier() or name in {"color-mix", "light-dark"}) else None


def near(ink: Color, paper: Color) -> bool:
    """True where nobody can tell text in one colour from a background in the other."""
    return all(abs(a - b) <= _NEAR for a, b in zip(ink, paper, strict=True))
