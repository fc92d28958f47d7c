"""CSS colours as numbers (https://www.w3.org/TR/css-color-4/)."""

from functools import lru_cache

from tinycss2 import color4

from equipoise.corpus.loaders.loaded import words

Color = tuple[int, int, int]

CLEAR = "transparent"
"""A colour that paints nothing, or nearly."""
FAINT = 0.1
"""What is less opaque than this, or scaled to less, cannot be seen."""

_OTHER = words("inherit initial unset revert canvas canvastext linktext graytext")
_FUNCTIONS = words("rgb rgba hsl hsla hwb lab lch oklab oklch")  # that tinycss2 reads
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
        red, green, blue = (min(255, max(0, round(255 * (x or 0)))) for x in parsed.to("srgb").coordinates)
    except NotImplementedError:  # lab and the like
        return ""
    return red, green, blue


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
