"""Words, numbers and names of a text, and which script it is in. Every pattern here runs in time linear in the text."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

# One character is one word in scripts written without spaces: kana and CJK ideographs.
_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(
    rf"""(?P<number>(?:(?<![\w.,)\]%-])[-−])?(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)*)
                   (?![^\W_]))
       | (?P<initials>(?<![\w.])(?:[^\W\d_]\.){{2,}})
       | [{_WIDE}]
       | [^\W_{_WIDE}]+(?:['’][^\W\d_{_WIDE}]+)*
    """,
    re.VERBOSE,
)
_FIRST_SIGN = "\u3040"
_MARKUP = re.compile(r"<[!/]?[a-zA-Z-][^<>]{0,200}>|&#?\w{1,32};|\x1b\[[\d;]{0,32}[a-zA-Z]")
_THOUSANDS = re.compile(r"[-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_BEFORE = 12  # characters that say whether a sentence begins
_SENTENCE_START = re.compile(rf"(?:^|[.!?:…\n]['\"”’)\]]{{,{_BEFORE}}}\s)[\s'\"“‘(\[*_#>•-]{{,{_BEFORE}}}\Z")

# Own list: closed-class English words (articles, pronouns, prepositions, conjunctions, auxiliaries).
STOP_WORDS = frozenset(
    """
    a about above across after again against all along already also although always am among an and
    another any anybody anyone anything are aren't around as at away be because been before behind being
    below beneath beside besides between beyond both but by can can't cannot could couldn't did didn't
    do does doesn't doing don't done down during each either else enough ever every everybody everyone
    everything except few for from further had hadn't has hasn't have haven't having he he'd he'll he's
    her here hers herself him himself his how however i i'd i'll i'm i've if in indeed instead into is
    isn't it it's its itself just least less let let's like many may maybe me might mightn't mine more
    most much must mustn't my myself near neither never no nobody none nor not nothing now of off often
    on once one only onto or other others ought our ours ourselves out over own per perhaps quite rather
    really same several shall shan't she she'd she'll she's should shouldn't since so some somebody
    someone something still such than that that's the their theirs them themselves then there there's
    these they they'd they'll they're they've this those though through throughout thus till to together
    too toward towards under unless until up upon us very via was wasn't we we'd we'll we're we've were
    weren't what what's whatever when whenever where whereas wherever whether which whichever while who
    who's whoever whom whose why will with within without won't would wouldn't yet you you'd you'll
    you're you've your yours yourself yourselves
    """.split()  # noqa: SIM905
)


def normal_number(token: str) -> str:
    """`token` with an ASCII minus and without thousands separators: "−1,000" -> "-1000", "3.14" as it is."""
    plain = token.replace("−", "-")
    return plain.replace(",", "") if _THOUSANDS.fullmatch(token) else plain


def _normal(match: re.Match[str]) -> str:
    token = match.group()
    if match.lastgroup == "number":
        return normal_number(token)
    if match.lastgroup == "initials":
        return token.replace(".", "").casefold()
    return token.replace("’", "'").casefold()


def words(text: str) -> list[str]:
    """Case-folded words and numbers in order; repeats stay.

    "-5" keeps its sign (not in "3-5" or "B-5"), "3.14" its point, "1,000" becomes "1000", "U.S." "us";
    hyphenated words are split; a kana or an ideograph is a word by itself.
    """
    return [_normal(match) for match in WORD.finditer(text)]


def has_words(text: str) -> bool:
    """Whether `text` holds a word or a number: "..." and invisible characters say nothing."""
    return WORD.search(text) is not None


def says_something(text: str) -> bool:
    """Whether `text` holds a word of more than one letter, or one character of a script like Japanese or Chinese;
    markup tags, character references and terminal escapes do not count."""
    return any(
        len(word) > 1 or (word >= _FIRST_SIGN and word.isalnum()) for word in words(_MARKUP.sub(" ", text))
    )


def content_words(text: str) -> list[str]:
    """`words` without the English STOP_WORDS."""
    return [word for word in words(text) if word not in STOP_WORDS]


def numbers(text: str) -> list[str]:
    """Numbers written in digits, in order, in the form of `words`; repeats stay."""
    return [_normal(match) for match in WORD.finditer(text) if match.lastgroup == "number"]


def names(text: str) -> list[str]:
    """Acronyms, and capitalised words that do not begin a sentence, as written; in order, each once."""
    return list(dict.fromkeys(match.group() for match in name_matches(text)))


def name_matches(text: str) -> Iterator[re.Match[str]]:
    """The matches of WORD that `names` returns. A capital is no sign of a name after ". ", a colon, a line
    end or an opening quotation mark; two capitals or initials ("U.S.") are one everywhere."""
    for match in WORD.finditer(text):
        token = match.group()
        if not token[0].isupper() or token == "I" or token.startswith(("I'", "I’")):
            continue
        acronym = match.lastgroup == "initials" or sum(map(str.isupper, token)) > 1
        if acronym or not _SENTENCE_START.search(text[max(0, match.start() - _BEFORE) : match.start()]):
            yield match


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


def with_cjk_bigrams(text: str) -> str:
    """`text` with every run of Chinese, Japanese or Korean letters as pairs of neighbours, by which it is searched.

    >>> with_cjk_bigrams("借书最多20本。")
    ' 借书 书最 最多 20 本 。'
    """
    return text if text.isascii() else _UNSPACED.sub(_bigrams, text)


def _bigrams(run: re.Match[str]) -> str:
    letters = run.group()
    return f" {' '.join(letters[at : at + 2] for at in range(max(len(letters) - 1, 1)))} "


def is_unspaced(word: str) -> bool:
    """Whether a word is of a script without spaces, where its letters are no words by themselves."""
    return not word.isascii() and _UNSPACED.match(word) is not None
