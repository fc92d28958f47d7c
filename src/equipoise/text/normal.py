"""Text with its typography evened out, and the way back to the original offsets."""

import re
import unicodedata
from array import array
from dataclasses import dataclass

_SAME = {
    **dict.fromkeys("‘’‚‛′´`ʼ", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),
    **{"…": "...", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"},
}
_ODD = re.compile(
    rf"(?P<broken>(?<=[^\W\d_])-\s?\n\s*(?=[a-z]))|(?P<space>\s+)|[{''.join(map(re.escape, _SAME))}]"
)


@dataclass(frozen=True, slots=True)
class Normal:
    """A normalised text; `offsets[i]` is where the original of its character i begins."""

    text: str
    offsets: "array[int]"

    def original(self, start: int, end: int) -> tuple[int, int]:
        """(start, end) in the original of what text[start:end] (not empty) stands for."""
        return self.offsets[start], self.offsets[end - 1] + 1


def normalise(text: str, start: int = 0, end: int | None = None) -> Normal:
    """`text[start:end]` with runs of white space as one space, straight quotation marks, "-" for every
    hyphen, dash and minus, no invisible characters, no ligatures, and words joined that a hyphen breaks
    over a line end. Case stays. Offsets count from the beginning of `text`. Linear time.
    """
    end = len(text) if end is None else end
    parts: list[str] = []
    offsets = array("q")
    at = start
    for match in _ODD.finditer(text, start, end):
        parts.append(text[at : match.start()])
        offsets.extend(range(at, match.start()))
        joined = "" if match["broken"] else " " if match["space"] else _SAME[match.group()]
        parts.append(joined)
        offsets.extend([match.start()] * len(joined))
        at = match.end()
    parts.append(text[at:end])
    offsets.extend(range(at, end))
    return Normal("".join(parts), offsets)


def without_accents(text: str) -> str:
    """`text` without accents and other combining marks (NFKD).

    >>> without_accents("Öffnungszeiten à l'été")
    "Offnungszeiten a l'ete"
    """
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter)
    )
