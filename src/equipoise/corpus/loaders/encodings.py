"""Guesses the encoding of a text that does not declare it: UTF-8 first, then by the letters that come out.

In Latin script the accented letters of each language tell encodings apart, since charset-normalizer takes Windows-1250
for 1252 in short texts. For other scripts charset-normalizer chooses among the encodings whose letters come out in the
script that they are made for.
"""

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatches

_MARKS = (  # the longer marks first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_KNOWN = (  # not punycode, utf-7 and the like, which are slow or hide what is written
    "utf-8", "iso8859", "cp125", "cp866", "cp874", "cp932", "cp949", "koi8", "gb", "big5", "euc", "shift", "iso2022",
    "mac", "ascii", "latin", "tis", "hz",
)  # fmt: skip
_ESCAPED = b"\x1b$"  # how ISO 2022 begins its double bytes
_SAMPLE = 100_000  # bytes that are looked at
_LEAST = 8  # bytes of a text with two or four bytes for each letter
_ONE = 0.5  # of the letters, at least, are of one script
_WIDE = ("utf_16_le", "utf_16_be", "utf_32_le", "utf_32_be")
_SCRIPTS = {
    "gb18030": "CJK", "big5": "CJK", "cp932": "HIRAGANA KATAKANA CJK", "euc_jp": "HIRAGANA KATAKANA CJK",
    "cp949": "HANGUL", "koi8_r": "CYRILLIC", "koi8_u": "CYRILLIC", "cp1251": "CYRILLIC", "cp866": "CYRILLIC",
    "iso8859_5": "CYRILLIC", "cp1253": "GREEK", "iso8859_7": "GREEK", "cp1256": "ARABIC", "cp1255": "HEBREW",
    "tis_620": "THAI",
}  # fmt: skip
"""By encoding, the scripts of its letters; with several the first must be there."""
_SHARE = 0.9  # of the letters outside ASCII
_WESTERN = (
    "äöüßéàç", "àâæçéèêëîïôœùûüÿñ", "áéíóúüñçàèòïìù", "áâãàçéêíóôõúü", "àèéìíòóùú", "äåöéüæøà",
    "áðéíóúýþæö", "ïëéèöüáóäí",
)  # fmt: skip
_CENTRAL = (
    "ąćęłńóśźżéöü", "áčďéěíňóřšťúůýžöü", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšžéöü", "ăâîșțşţéö",
)  # fmt: skip
_LANGUAGES = {
    "cp1252": _WESTERN, "iso8859_2": _CENTRAL, "cp1250": _CENTRAL, "cp1254": ("çğıöşüâîûi̇",),
    "cp850": _WESTERN, "mac_roman": _WESTERN, "cp852": _CENTRAL,
}  # fmt: skip
"""By encoding, the most usual first, the letters outside ASCII of each language that it is used for."""
_ISOLATED = 1.6  # bytes of a run outside ASCII, on average at most, in languages that use them for accents
_CONTROLS = re.compile(rb"[\x00-\x07\x0e-\x1a\x1c-\x1f]")
_CONTROL = re.compile(r"[\x7f-\x84\x86-\x9f]")
_HIGH = re.compile(rb"[\x80-\xff]+")
_INSIDE = frozenset("’‘–—·\u00ad")  # signs that may stand between two letters


class Guess(NamedTuple):
    """A text and its encoding; `told` if the file itself says which, by a byte order mark or as valid UTF-8."""

    text: str
    encoding: str
    told: bool


def known(name: str) -> str:
    """The encoding of this name if it is one that browsers know, empty for another."""
    try:
        codec = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    return codec if codec.startswith(_KNOWN) else ""


@lru_cache(maxsize=1)  # a loader and the report ask for the same file
def read(data: bytes) -> Guess | None:
    """The text of some bytes, None where no encoding makes text of them.

    A file that is UTF-8 but for few damaged places has U+FFFD there. Raises UnicodeDecodeError for one that is
    not valid in the encoding of its byte order mark.
    """
    if marked := next((name for mark, name in _MARKS if data.startswith(mark)), None):
        return Guess(data.decode(marked), marked, told=True)
    if _ESCAPED in data[:_SAMPLE] and (text := _decoded(data, "iso2022_jp_ext")):
        return Guess(text, "iso2022_jp", told=False)
    if (text := _decoded(data, "utf-8")) is not None and b"\0" not in data:
        return Guess(text, "utf-8", told=True)
    if _CONTROLS.search(data[:_SAMPLE]):
        matches = _matches(data[: _SAMPLE // 4 * 4], _WIDE)
        names = [match.encoding for match in matches if len(data) >= _LEAST and _is_text(str(match))]
    elif _is_damaged(text := data.decode("utf-8", "replace")):
        return Guess(text, "utf-8", told=False)
    else:
        names = _likely(data[: data.rfind(b"\n", 0, _SAMPLE) + 1] if len(data) > _SAMPLE else data)
    texts = ((name, _decoded(data, name)) for name in names)
    return next((Guess(text, name, told=False) for name, text in texts if text is not None), None)


def _matches(data: bytes, encodings: Iterable[str]) -> "CharsetMatches":
    from charset_normalizer import from_bytes  # noqa: PLC0415 - for the first text that is not UTF-8

    return from_bytes(data, cp_isolation=list(encodings))


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _is_text(text: str) -> bool:
    """Whether most letters are of one script, and nearly all characters are letters, digits, signs or space."""
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in text if letter.isalpha())
    odd = sum(unicodedata.category(letter) in {"Cc", "Cn", "Co"} and not letter.isspace() for letter in text)
    return odd * 50 <= len(text) and max(scripts.values(), default=0) > _ONE * scripts.total()


def _is_damaged(text: str) -> bool:
    """Whether a text is UTF-8 with little damage: less than a quarter of what is not ASCII came out as U+FFFD."""
    return text.count("\ufffd") * 4 < sum(not letter.isascii() for letter in text)


def _likely(data: bytes) -> list[str]:
    """The encodings that the bytes may be in, the likeliest first."""
    runs = [len(run) for run in _HIGH.findall(data)]
    if sum(runs) <= _ISOLATED * len(runs):
        texts = {name: text for name in _LANGUAGES if (text := _decoded(data, name)) is not None}
        return sorted(texts, key=lambda name: -_fits(texts[name], _LANGUAGES[name]))
    matches = [match for match in _matches(data, _SCRIPTS) if match.encoding in _SCRIPTS]
    fitting = [match for match in matches if _is_in(str(match), _SCRIPTS[match.encoding].split())]
    order = list(_SCRIPTS)
    best = sorted(fitting, key=lambda match: (match.chaos, -match.coherence, order.index(match.encoding)))
    return [match.encoding for match in best]


def _fits(text: str, languages: tuple[str, ...]) -> float:
    """The share (0 to 1) of letters outside ASCII, and odd signs inside words, that the best fitting language has."""
    signs = re.findall(r"(?<=[^\W\d_])[^\x00-\x7f](?=[^\W\d_])", text)
    odd = sum(not sign.isalpha() and sign not in _INSIDE for sign in signs) + len(_CONTROL.findall(text))
    letters = [letter for letter in text.lower() if not letter.isascii() and letter.isalpha()]
    best = max(sum(map(language.__contains__, letters)) for language in languages)
    return best / (len(letters) + odd) if letters or odd else 1.0


def _is_in(text: str, scripts: list[str]) -> bool:
    """Whether nearly all letters outside ASCII are of these scripts, and some of the first."""
    names = [unicodedata.name(letter, "") for letter in text if letter.isalpha() and not letter.isascii()]
    inside = sum(name.startswith(tuple(scripts)) for name in names)
    return inside >= _SHARE * len(names) > 0 and any(name.startswith(scripts[0]) for name in names)
