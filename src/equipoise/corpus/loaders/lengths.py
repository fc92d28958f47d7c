"""CSS lengths in pixels and angles in degrees, exact enough to say whether something can be seen."""

import re

_NUMBER = r"[-+]?+(?:\d++(?:\.\d++)?+|\.\d++)(?:e[-+]?+\d{1,3})?+"
_LENGTH = re.compile(rf"(?:calc\(\s*+)?+({_NUMBER})([a-z]*+%?+)(?:\s*+\))?+")
_AMOUNT = re.compile(_NUMBER)
_MOST = 1e9
_LONGEST = 500  # characters of a value; more is none
_PIXELS = {
    "": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "q": 0.945,
    "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "lh": 20.0, "rlh": 20.0, "%": 12.8,
    "vw": 12.8, "vh": 8.0, "vmin": 8.0, "vmax": 12.8, "dvw": 12.8, "dvh": 8.0, "svh": 8.0, "lvh": 8.0,
}  # fmt: skip

_DEGREES = {"deg": 1.0, "grad": 0.9, "rad": 57.29578, "turn": 360.0}


def length(value: str) -> float | None:
    """Pixels of one CSS length in lower case, None for anything else.

    Relative units are taken for those of a page of 1,280 by 800 pixels with letters of 16.
    """
    match = _LENGTH.fullmatch(value) if len(value) <= _LONGEST else None
    if match is None or match.group(2) not in _PIXELS:
        return None
    return _bounded(match.group(1)) * _PIXELS[match.group(2)]


def degrees(value: str) -> float | None:
    """Degrees of one CSS angle in lower case, None for anything else."""
    match = _LENGTH.fullmatch(value) if len(value) <= _LONGEST else None
    if match is None or match.group(2) not in _DEGREES:
        return None
    return _bounded(match.group(1)) * _DEGREES[match.group(2)]


def is_length(value: str) -> bool:
    """True for a number with a unit of length, and for 0 without one."""
    match = _LENGTH.fullmatch(value) if len(value) <= _LONGEST else None
    if match is None:
        return False
    return match.group(2) in _PIXELS if match.group(2) else float(match.group(1)) == 0


def amounts(value: str) -> list[float]:
    """The numbers in a CSS value, without their units."""
    return [_bounded(number) for number in _AMOUNT.findall(value[:_LONGEST])]


def _bounded(number: str) -> float:
    """A number between -_MOST and _MOST: infinity multiplied by 0 is no number any more."""
    return max(-_MOST, min(_MOST, float(number)))
