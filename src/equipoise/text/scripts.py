"""Scripts other than Latin: which one a text is in, and how its words are found where it has no spaces."""

import re
import unicodedata
from collections import Counter

_LOOKED_AT = 5_000  # characters of a text that say its script
_SHARE = 0.5  # of the letters
_NAMES = {
    "CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean", "CYRILLIC": "Cyrillic",
    "GREEK": "Greek", "ARABIC": "Arabic", "HEBREW": "Hebrew", "THAI": "Thai", "DEVANAGARI": "Devanagari",
}  # fmt: skip
_KANA = 0.1  # of the letters: Japanese has Chinese ones too
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff]+")


def script_of(text: str) -> str:
    """The script of most letters, as people call it ("Chinese", "Cyrillic"); empty for Latin and for no letters.

    >>> script_of("図書館は月曜日に開く。"), script_of("Где книги?"), script_of("Le café")
    ('Japanese', 'Cyrillic', '')
    """
    if text.isascii():
        return ""
    letters = [letter for letter in text[:_LOOKED_AT] if letter.isalpha()]
    counts = Counter(_NAMES.get(_first_word(letter), "") for letter in letters)
    if counts["Japanese"] > _KANA * len(letters):
        counts["Japanese"] += counts.pop("Chinese", 0)
    script, many = max(counts.items(), key=lambda pair: pair[1], default=("", 0))
    return script if many > _SHARE * len(letters) else ""


def _first_word(letter: str) -> str:
    return "" if letter.isascii() else unicodedata.name(letter, "").partition(" ")[0]


def paired(text: str) -> str:
    """`text` with every run of Chinese, Japanese or Korean letters as pairs of neighbours, by which it is searched.

    >>> paired("借书最多20本。")
    ' 借书 书最 最多 20 本 。'
    """
    return text if text.isascii() else _UNSPACED.sub(_pairs, text)


def _pairs(run: re.Match[str]) -> str:
    letters = run.group()
    return f" {' '.join(letters[at : at + 2] for at in range(max(len(letters) - 1, 1)))} "


def is_unspaced(word: str) -> bool:
    """Whether a word is of a script without spaces, where its letters are no words by themselves."""
    return not word.isascii() and _UNSPACED.match(word) is not None
