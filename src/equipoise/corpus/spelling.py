"""Spelling correction of questions: unknown words, and the word of the corpus or of English that was probably meant."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from jellyfish import metaphone
from rapidfuzz.distance import OSA, Levenshtein
from rapidfuzz.process import cdist

from equipoise.text.function_words import BOTH, FUNCTION_WORDS, UMLAUTS, VERBS
from equipoise.text.numerals import quantities
from equipoise.text.tokens import WORD, words

SHORTEST = 4
"""Fewest letters of a word that is looked up; shorter ones are near to everything."""
LONG = 7
"""Letters from which on a word may have two slips instead of one."""
MOST = 8
"""Words of one question that are looked up."""
NEAREST = 8
"""Most near stems of a misspelt word that are looked up in passages."""
ACRONYM = 5
"""Letters up to which a word in capitals is taken for an acronym, even if all of the text is in capitals."""
PLAIN = 6
"""Letters from which on any likely slip of an English word is corrected: too many shorter words that few know (wifi,
toner) are near to a common one."""
HEARD, PREFIX = 2, 3
"""Most slips of a word that sounds right, if its first PREFIX letters are the right ones: an ear gets the end wrong."""
_SMALL = """
    about after all also and any are because been before being between both but can could did does
    doing down during each every few for from get had has have her here his how into its make many
    more most much must not only other our out over own same should some such than that the their
    them then there these they this those through too under until very want was were what when where
    which while who why will with would you your
"""
SMALL = frozenset(_SMALL.split())
"""Words of English that questions are full of. No document is found by them, but a reader stumbles over "wat dose"."""
_SHORT = {"wat": "what", "wen": "when", "thru": "through", "cuz": "because"}
"""Words that most lists of English have but hardly anybody means, and the ones that are meant."""
COMMON = 20_000
"""Rank from which on an English word (rustic) is no likelier to be meant than an unknown name ("restic")."""
_RARE = frozenset(
    """
    awl doss dud dues fro hawse hew hod hoe hos inti mooch mush oar oud thyme whet whey whin whine whit
    wile wont
    """.split()  # noqa: SIM905
)
"""Real words near to one of SMALL that few lists of common words have: they are not corrected."""
_IDENTIFIER = re.compile(r"\w[_/\\@=:.#]+\w|^\W{0,2}[-/`~$]\w|[`_$]")
_HOW = re.compile(
    r"\W*+(?:comment \w++(?<=[ei]r|re)|como \w++(?<=[aeo]))(?!\w)"
    r"(?=.*(?:\s\?|\s(?:une?|l[ae]s?|des?|du|el|los|mon|mes|mi)\s|\b[ld]['’]))",
    re.IGNORECASE | re.DOTALL,
)
"""Questions with French "comment", or Spanish "como" without its accent: words of English, too, but not used so."""
_ALIKE = ({"c", "k"}, {"c", "s"}, {"f", "p"}, {"f", "v"}, {"g", "j"}, {"k", "q"}, {"s", "z"})
_NEIGHBOURS = [{*pair} for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm") for pair in pairwise(row)]
_LONGEST = 30
_ENDINGS = ("ed", "er", "est", "ing")
_VOWELS = frozenset("aeiouy")

_FEASTS = {
    "christmas eve": "24 December",
    "christmas": "25 December",
    "boxing day": "26 December",
    "new year's eve": "31 December",
    "halloween": "31 October",
    "valentine's day": "14 February",
    "heiligabend": "24. Dezember",
    "silvester": "31. Dezember",
    "neujahr": "1. Januar",
    "noël": "25 décembre",
    "nochebuena": "24 de diciembre",
}
"""Days of the year that people call by a name."""
_FEAST = re.compile(rf"\b(?:({')|('.join(_FEASTS)}))\b".replace("'", "['’]"), re.IGNORECASE)
_PARTED = re.compile(r"(?<![\w.,])(\d{1,6})[ -]([^\W\d_]{1,4})(?!\w)")

Correction = tuple[str, str]
"""A word as it was typed, and the word that was probably meant; or the name of a day, and the day; or a number and its
unit, and both as one word."""


def unknown(text: str, known: Container[str]) -> list[str]:
    """The different words of `text`, at most MOST, that could be misspelt: `plain` ones that are long enough, not
    `known`, no function words of another language, and no numbers."""
    words = (word for word in plain(text) if len(word) >= SHORTEST and word.casefold() not in FUNCTION_WORDS)
    return [word for word in words if not is_known(word, known) and not quantities(word)][:MOST]


def plain(text: str) -> list[str]:
    """The different words of `text` that are no names: letters only, none in capitals (unless all of the text is) or
    with a capital inside, none out of an identifier such as init.d, /etc/fstab, --no-sync or `dirs`."""
    shouted = text.isupper()
    whole = (token for token in text.split() if not _IDENTIFIER.search(token))
    words = dict.fromkeys(match.group() for token in whole for match in WORD.finditer(token))
    fitting = (word for word in words if word.isalpha() and len(word) <= _LONGEST)
    return [word for word in fitting if word[1:].islower() or (shouted and len(word) > ACRONYM)]


def is_foreign(text: str) -> bool:
    """Whether more of its words are function words of German, French or Spanish, or verbs that questions have there,
    than function words of English alone; or whether it begins with a word that asks how and one like a verb."""
    if _HOW.match(text):
        return True
    words = [word.casefold() for word in plain(text)]
    foreign = sum(word in FUNCTION_WORDS or word in VERBS for word in words)
    return foreign > sum(word in SMALL and word not in BOTH for word in words)


def is_english(text: str, known: Container[str]) -> bool:
    """Whether it has a function word of English alone, or only words that are `known`."""
    words = [word.casefold() for word in plain(text)]
    own = any(word in SMALL and word not in BOTH for word in words)
    return own or all(is_known(word, known) for word in words)


def umlauts(word: str) -> tuple[str, ...]:
    """The other ways to write a German word, lower case: "ue" for "ü", "ss" for "ß", or the other way round.

    >>> umlauts("Strassengebuehr"), umlauts("Gebühr")
    (('strassengebühr', 'straßengebühr'), ('gebuehr',))
    """
    lower = word.lower()
    dotted = lower.replace("ae", "ä").replace("oe", "ö").replace("ue", "ü")
    every = (lower.translate(UMLAUTS), dotted, dotted.replace("ss", "ß"))
    return tuple(other for other in dict.fromkeys(every) if other != lower)


def strange(words: Iterable[str], known: Container[str]) -> tuple[str, ...]:
    """Those of the words that are not `known` in any form."""
    return tuple(word for word in words if not is_known(word, known))


def is_known(word: str, known: Container[str]) -> bool:
    """Whether one of the word's forms is among the words in lower case; what is a number is."""
    return word.isdigit() or any(form in known for form in _forms(word)) or _doubles(word, known)


def _doubles(word: str, known: Container[str]) -> bool:
    """Whether it is a known word that doubles its last letter before an ending: "hogging", but not "writting"."""
    plain = word.casefold()
    stems = {ending: plain.removesuffix(ending)[:-1] for ending in _ENDINGS if plain.endswith(ending)}
    return any(
        len(stem) >= 3
        and plain.startswith(2 * stem[-1], len(stem) - 1)
        and stem[-1] not in _VOWELS
        and stem in known
        and f"{stem}{ending}" not in known
        for ending, stem in stems.items()
    )


def _forms(word: str) -> Iterator[str]:
    """The word in lower case, and with other endings of English: lists of common words often lack the plain form."""
    plain = word.casefold()
    yield plain
    for ending in ("e", "s", *_ENDINGS):
        stem = plain.removesuffix(ending)
        if stem != plain and (ending == "e" or len(stem) >= SHORTEST):
            yield from (stem, f"{stem}e", *(f"{stem}{other}" for other in _ENDINGS))
    yield from (f"{plain}{other}" for other in ("s", *_ENDINGS) if not plain.endswith("s"))


def near(typed: str, words: Iterable[str]) -> list[str]:
    """The words that a slip or two turn into `typed`, in lower case: a letter too many, too few, another one, or two
    that changed places (optimal string alignment). The first letter is right, or has changed places with the second.
    Words that sound like `typed` may have one slip anywhere, or HEARD behind their first PREFIX letters.
    """
    most = max(HEARD, _slips(typed))
    like = [word for word in words if abs(len(word) - len(typed)) <= most and _begins(typed, word)]
    slips = cdist([typed], like, scorer=OSA.distance, score_cutoff=most)[0].tolist() if like else []
    return [word for word, count in zip(like, slips, strict=True) if _is_near(typed, word, count)]


def near_stems(typed: str, stems: Iterable[str]) -> list[str]:
    """The stems that are `near` to the beginning of `typed`: those with the fewest slips first, then the longest."""
    most = max(HEARD, _slips(typed))
    by_length: dict[int, list[str]] = {}
    for stem in stems:
        if len(typed) <= 2 * len(stem) <= 2 * (len(typed) + most) and _begins(typed, stem):
            by_length.setdefault(len(stem), []).append(stem)
    distances: dict[str, int] = {}
    for length, some in by_length.items():
        for begins in {typed[:size] for size in range(length - 1, length + 2)}:
            slips = cdist([begins], some, scorer=OSA.distance, score_cutoff=most)[0].tolist()
            distances |= {
                stem: min(count, distances.get(stem, count))
                for stem, count in zip(some, slips, strict=True)
                if _is_near(typed, stem, count, begins)
            }
    return sorted(distances, key=lambda stem: (distances[stem], -len(stem), stem))


def _begins(typed: str, word: str) -> bool:
    """Whether the first letters are those of one word, or sound alike."""
    return begins_like(typed, word) or {typed[:1], word[:1]} in _ALIKE


def _is_near(typed: str, word: str, slips: int, begins: str = "") -> bool:
    """Whether `slips`, those between `word` and `typed` (or the beginning of it that `begins` is), are no more than a
    hand or an ear makes."""
    if slips <= _slips(typed) and begins_like(typed, word):
        return True
    heard = slips <= 1 or (slips <= HEARD and typed[:PREFIX] == word[:PREFIX])
    return heard and not _differs(begins or typed, word)


def small(text: str, known: Container[str]) -> list[Correction]:
    """The words of `text` that are probably one of SMALL, misspelt, unless a document has them, which the caller finds
    out: lower case, three letters or more, not `known`. Empty where nothing is `known`, as for other languages."""
    words = [word for word in plain(text) if word.islower() and len(word) >= 3] if known else []
    slips = {
        word: {right: OSA.distance(word, right) for right in SMALL if _is_small(word, right)}
        for word in words
        if word not in known and word not in _RARE and word not in SMALL
    }
    meant = [
        (word, min(rights, key=lambda right: (rights[right], _differs(word, right), right)))
        for word, rights in slips.items()
        if rights
    ]
    return [*meant, *((word, _SHORT[word]) for word in words if word in _SHORT)]


def _differs(typed: str, word: str) -> bool:
    """Whether the two sound differently (the Metaphone of Lawrence Philips, 1990)."""
    return metaphone(typed) != metaphone(word)


def _is_small(typed: str, right: str) -> bool:
    """Whether two letters changed places, a longer word has lost one, or both sound alike."""
    slips = OSA.distance(typed, right)
    if slips > (HEARD if len(typed) > SHORTEST else 1) or not begins_like(typed, right):
        return False
    longer = len(typed) > SHORTEST and len(right) == len(typed) + 1
    slip = slips == 1 and (longer or sorted(typed) == sorted(right))
    return slip or not _differs(typed, right)


def meant(typed: str, words: Iterable[str], commonness: Callable[[str], float]) -> str:
    """The word of `words` that was probably meant: with the fewest slips, then the fewest unlikely ones, then the
    commonest; "" where none is near. Names and words of fewer than PLAIN letters may have no unlikely slip, names only
    one slip at all, other words one unlikely slip: an unknown plain word is near to many."""
    lower = typed.lower()
    named = typed.istitle()
    most = 0 if len(typed) < PLAIN or named else 1
    rated = [
        (OSA.distance(lower, word), _unlikely(lower, word), -commonness(word), word)
        for word in near(lower, words)
    ]
    likely = [rate for rate in rated if rate[1] <= most and not (named and rate[0] > 1)]
    return min(likely)[-1] if likely else ""


def chosen(typed: str, words: Iterable[str], times: Callable[[str], float], ranks: Mapping[str, int]) -> str:
    """The word that was probably meant: one of `words`, which the corpus has so many `times`, or an English one; "" for
    none. It is never a number word: a wrong one would make another question of it."""
    here, there = meant(typed, set(words), times), english(typed, ranks)
    right = meant(typed, filter(None, (here, there)), lambda word: float(word == here)) or there
    return "" if quantities(right) else right


def by_texts(text: str, texts: Iterable[str], ranks: Mapping[str, int]) -> tuple[Correction, ...]:
    """The words of an English `text` that neither `texts` nor English (`ranks`: lower case, with their rank) have, each
    with the word of `texts` or of English that was probably meant."""
    if is_foreign(text):
        return ()
    times = Counter(word for one in texts for word in words(one))
    pairs = {typed: right for typed, right in small(text, ranks) if typed not in times}
    pairs |= feasts(text, lambda name: [word for word in words(name) if word not in times])
    pairs |= parted(text, lambda word: word not in times)
    looked_at = [word for word in times if word.isalpha() and len(word) >= SHORTEST]
    for typed in unknown(text, times.keys() | ranks.keys()):
        if typed not in pairs:
            pairs[typed] = chosen(typed, looked_at, times.__getitem__, ranks)
    return tuple(pair for pair in pairs.items() if pair[1])


def feasts(text: str, strange: Callable[[str], Collection[str]]) -> list[Correction]:
    """The days of the year that `text` calls by a name with a `strange` word in it: a name that the documents have
    stays. `strange` returns the words of a name that the documents do not have.

    >>> feasts("Are you open on Christmas Eve?", str.split)
    [('Christmas Eve', '24 December')]
    """
    days = tuple(_FEASTS.values())
    named = {match.group(): days[(match.lastindex or 1) - 1] for match in _FEAST.finditer(text)}
    return [(name, day) for name, day in named.items() if strange(name)]


def parted(text: str, strange: Callable[[str], object]) -> list[Correction]:
    """The numbers of `text` with a space or hyphen before their unit that the documents write as one word. `strange`
    tells whether they lack a word.

    >>> parted("a 32 bit machine", lambda word: word != "32bit")
    [('32 bit', '32bit')]
    """
    found = {match.group(): (match[1], match[1] + match[2].lower()) for match in _PARTED.finditer(text)}
    return [(typed, word) for typed, (number, word) in found.items() if strange(number) and not strange(word)]


def english(typed: str, ranks: Mapping[str, int]) -> str:
    """The English word that was probably meant: the commonest of those one likely slip away, where "f" for "ph" is no
    slip; "" for none and for names. In words of fewer than PLAIN letters only a double letter is a likely slip: others
    are often words that few know ("modem", "wifi")."""
    lower = typed.lower() if typed[:1].islower() else ""
    for spelt in dict.fromkeys((lower, lower.replace("f", "ph"))):
        words = [
            word for word in near(spelt, ranks) if ranks[word] < COMMON and OSA.distance(spelt, word) <= 1
        ]
        if right := meant(spelt, words, lambda word: -ranks[word]):
            likely = len(spelt) >= PLAIN and not _unlikely(spelt, right)
            return right if likely or _single(spelt) == _single(right) else ""
    return ""


def _single(word: str) -> str:
    """The word with every double letter once."""
    return "".join(letter for letter, _ in groupby(word))


def begins_like(typed: str, word: str) -> bool:
    """Whether both begin with the same letter, or with the same two that changed places."""
    return word[:1] in typed[:2] and typed[:1] in word[:2]


def _slips(word: str) -> int:
    return 2 if len(word) >= LONG else 1


def _unlikely(typed: str, word: str) -> int:
    """How many slips a hand or an ear rarely makes: a consonant for a letter that neither sounds like it nor lies
    beside it on the keyboard, or a letter too many that does not double its neighbour. Left-out letters are the
    commonest slips of all."""
    count = 0
    if sorted(typed) == sorted(word):
        return int(typed[0] != word[0])
    for edit in Levenshtein.editops(typed, word):
        letter = typed[edit.src_pos : edit.src_pos + 1]
        if edit.tag == "delete":
            count += letter not in (
                typed[edit.src_pos - 1 : edit.src_pos],
                typed[edit.src_pos + 1 : edit.src_pos + 2],
            )
        elif edit.tag == "replace":
            both = {letter, word[edit.dest_pos]}
            count += not (both <= _VOWELS or both in _ALIKE or both in _NEIGHBOURS)
    return count


def corrected(text: str, corrections: Sequence[Correction]) -> str:
    """`text` with each word as it was probably meant."""
    meant = dict(corrections)
    for typed, word in corrections:
        text = text if WORD.fullmatch(typed) else text.replace(typed, word)
    return WORD.sub(lambda match: meant.get(match.group(), match.group()), text)
