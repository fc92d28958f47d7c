"""Whether what was read answers the question: features of a Reading, and a logistic model over them.

The model stands in `reader.json`, made by `benchmarks/calibration/reader.py`, which says on what.
"""

import json
import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.fuzz import ratio

from equipoise.core.types import Passage, Query
from equipoise.corpus.spelling import is_foreign
from equipoise.rag.highlighters.amounts import missing_numbers
from equipoise.rag.highlighters.reading import Reading, Window
from equipoise.text.function_words import FUNCTION_WORDS, UMLAUTS
from equipoise.text.months import CALENDAR
from equipoise.text.normal import without_accents
from equipoise.text.numerals import quantities
from equipoise.text.quotes import MAX_QUOTE_WORDS
from equipoise.text.spans import SpanPolicy
from equipoise.text.tokens import WORD, content_words, names, numbers, words

FEATURES = (
    "passage",
    "window",
    "missing_names",
    "missing_terms",
    "missing_numbers",
    "out_of_corpus_unknown",
    "out_of_corpus_names",
    "anything_absent",
    "decision",
)
"""In order: the highest logit of a passage or window; that of a window; the shares of the question's names, terms and
numbers that no passage has; whether words of it that no document has are unknown, or names; whether any of these is
above 0; the logit of `deciding.py`. They tell near misses (another version, an option that does not exist). Others did
not help: margins to the next best, words missing in passage or window, the cosine of question and passage."""
ABSENT = FEATURES[2:-2]
"""The features that speak of something absent."""
SCALE, DECIDED = 10.0, 2.5
"""Logits are divided by SCALE, so that all features are of like size; the decision's by DECIDED, since the ridge would
else hold down the best feature: AUC .884 and .835 in place of .875 and .812 where it was chosen, on the questions
over fields and manuals that are kept from training (benchmarks/LOG.md)."""
FOREIGN = 3.0
"""The decision's logit is also divided by this if the question is not in English, the only language it was taught."""
ALIKE = 80.0
"""From this similarity (RapidFuzz ratio, 0 to 100) on, a word of the text counts as the question's, misspelt."""
STEM = 5
PART = 4
"""Letters of a part of a compound."""
SHORTEST = 3
"""Letters of a noun without its ending."""
_NOUN = re.compile(
    r"\b(?:(?:le|la|les|une?|des?|du|aux?|cette?|ces|quel(?:le)?s?|combien de|el|l[ao]s|un[ao]s?|del?|al"
    r"|qué|cuánt[ao]s?)\s|[ld]['’])(?:[ld]['’])?(\w{4,40})",
    re.IGNORECASE,
)
"""A French or Spanish word behind an article or another word that comes before nouns."""
_SMALL_NOUN = re.compile(r"\b(?:[mk]?ein(?:e[mnrs]?)?|d(?:er|ie|as|e[mn])|[ai]m|zu[mr]|vom|beim)\s(\w{4,40})")
"""The same for a German question that is typed without capitals."""
_ENDINGS = ("es", "en", "er", "s", "n", "e")
ASKING = frozenset(
    """
    long much many often old cost costs get gets got allowed possible
    permitted okay ok right correct true wrong please want wants know tell explain say mean means happens happen
    difference called name hello hi thanks
    """.split()  # noqa: SIM905
)
"""Words of questions that say how something is asked for, and not what: an answer rarely has them."""
RELATIVES = frozenset(
    """
    brother dad daughter father gran grandad granddad grandfather grandma grandmother grandpa husband mom mother mum nan
    sister son wife
    """.split()  # noqa: SIM905
)
"""Those for whom people ask ("my mum is 67"): a text about everybody, or about an age, need not name them."""
SAYING_NOTHING = ASKING | CALENDAR | FUNCTION_WORDS | RELATIVES
MOST_WORDS = 40
"""Words of a question that are looked for."""

Floats = NDArray[np.float64]
POLICY = SpanPolicy()
"""The default limits of canonical spans."""
_TERM = re.compile(r"(?<![\w-])--?[A-Za-z]\w*+(?:-\w++)*+|\w++(?:[._:]\w++)*+")


@dataclass(frozen=True, slots=True)
class Calibration:
    """`weights` (features,) and `bias` are a logistic model of "the best windows answer the question", which must reach
    `threshold`. At most `most` windows are highlighted, worth at most `keep` less than the best one.
    """

    reranker: str
    weights: Floats
    bias: float
    threshold: float
    keep: float
    most: int

    def probability(self, values: Floats, shift: float = 0.0) -> float:
        """0 to 1, from values (features,); `shift` is added to the log-odds."""
        return float(1.0 / (1.0 + np.exp(-(values @ self.weights + self.bias + shift))))

    def choose(self, windows: Sequence[Window]) -> list[Window]:
        """The windows to highlight, best first: of one passage at most MAX_QUOTE_WORDS words, or one window; and no
        more short pieces than `SpanPolicy` keeps, since that keeps the first of a document and not the best."""
        chosen: list[Window] = []
        for window in windows[: self.most]:
            said = [each.own for each in (*chosen, window) if each.passage == window.passage]
            fits = len(said) == 1 or sum(len(text.split()) for text in said) <= MAX_QUOTE_WORDS
            near = window.worth >= windows[0].worth - self.keep
            if fits and near and not _is_piece_too_many(window, chosen):
                chosen.append(window)
        return chosen


def _is_piece_too_many(window: Window, chosen: Sequence[Window]) -> bool:
    """Whether a window is one short piece more than canonical spans may have, and adjoins no chosen window."""
    pieces = [one for one in (*chosen, window) if len(words(one.own)) < POLICY.min_words]
    beside = any(
        one.passage == window.passage and (one.last == window.first or window.last == one.first)
        for one in chosen
    )
    return window in pieces and len(pieces) > POLICY.max_pieces and not beside


@cache
def calibration() -> Calibration:
    """The fitted values that ship with the package."""
    fitted = json.loads(files(__package__).joinpath("reader.json").read_text("utf-8"))
    weights = np.array([fitted["weights"][name] for name in FEATURES])
    return Calibration(
        fitted["reranker"], weights, *(fitted[name] for name in ("bias", "threshold", "keep", "most"))
    )


def features(query: Query, reading: Reading, decision: float) -> Floats:
    """The FEATURES (features,) of a reading with at least one window; `decision` is the decision model's logit."""
    typed = query.newest
    question = typed.lower() if typed.isupper() else typed
    every = everything(reading.passages)
    foreign = is_foreign(question)
    named = sought_names(question, foreign=foreign)
    said = absent_words(query, every)
    window = max(each.score for each in reading.windows)
    values = {
        "passage": max(float(reading.scores[0]), window) / SCALE,
        "window": window / SCALE,
        "missing_names": _names_missing(named, every, foreign=foreign) if said.isdisjoint(named) else 1.0,
        "missing_terms": terms_missing(question, every),
        "missing_numbers": len(missing_numbers(question, every)) / max(1, len(set(numbers(question)))),
        **_unheard(said, frozenset(query.unknown), frozenset(named)),
    }
    values["anything_absent"] = float(any(values[name] > 0.0 for name in ABSENT))
    values["decision"] = decision / (DECIDED * FOREIGN if foreign else DECIDED)
    return np.array([values[name] for name in FEATURES])


def everything(passages: Iterable[Passage]) -> str:
    """The texts of all passages, each below its title and headings, as one text."""
    return "\n".join("\n".join((passage.title, *passage.headings, passage.text)) for passage in passages)


def sought_names(question: str, *, foreign: bool) -> list[str]:
    """The names in a question, case-folded, without months and weekdays. In other languages than English nouns count as
    names: words behind an article and the like, and words with a capital, as German writes nouns."""
    if not foreign:
        return [name for each in names(question)[:MOST_WORDS] if (name := each.casefold()) not in CALENDAR]
    german = names(question) or _SMALL_NOUN.findall(question)
    nouns = (each.casefold() for each in (*german, *_NOUN.findall(question)))
    return list(dict.fromkeys(noun for noun in nouns if noun not in SAYING_NOTHING))[:MOST_WORDS]


def _names_missing(named: Sequence[str], text: str, *, foreign: bool) -> float:
    """The share (0 to 1) of the names that the text has in no similar form. In another language than English a name may
    stand in the text in parts, and all names weigh the same."""
    if not foreign:
        return missing(named, text)
    return len(_missing_nouns(named, text)) / max(1, len(named))


def _missing_nouns(nouns: Iterable[str], text: str) -> frozenset[str]:
    """The nouns that a text in another language than English has in no form: with no other ending, and not in parts."""
    there = _plain(text)
    whole = set(words(there))
    return frozenset(
        noun for noun in nouns if not (in_parts(plain := _plain(noun), there) or _ends(plain, whole))
    )


def _plain(text: str) -> str:
    """In lower case and without accents, an umlaut as the letter below its dots, however it is written."""
    return without_accents(text.casefold()).replace("ae", "a").replace("oe", "o").replace("ue", "u")


def _ends(name: str, whole: Set[str]) -> bool:
    """Whether one of the words begins or ends with the name without its ending: "Schwimmbad" for "Bades"."""
    bare = next((name.removesuffix(end) for end in _ENDINGS if name.endswith(end)), name)
    bare = bare if len(bare) >= SHORTEST else name
    return any(word.startswith(bare) or word.endswith(bare) for word in whole)


def absent_words(query: Query, text: str) -> frozenset[str]:
    """The words of the question that no document has; without SAYING_NOTHING, without numbers, which have a feature of
    their own, and without compounds of which a word in the text makes up half ("scale" of "limescale"). In another
    language than English only words with a capital count, as German writes its nouns, and they may stand in the text in
    parts: "Beitrag" in "Jahresbeitrag"."""
    said = (word for word in query.out_of_corpus if word not in SAYING_NOTHING and not quantities(word))
    if not is_foreign(query.text):
        there = text.casefold().translate(UMLAUTS)
        strange = {word: word.translate(UMLAUTS) for word in query.unknown if len(word) >= STEM}
        whole = {word for word in words(there) if len(word) >= STEM} if strange else frozenset()
        return frozenset(said) - {
            word for word, plain in strange.items() if plain in there or _is_compound(plain, whole)
        }
    lower = {match.group() for match in WORD.finditer(query.text) if match.group().islower()}
    return _missing_nouns((word for word in said if word not in lower), text)


def _is_compound(word: str, whole: Set[str]) -> bool:
    """Whether one of the words in `whole` is the beginning or end of `word`, and at least half of it."""
    return any(
        2 * len(part) >= len(word) and (word.startswith(part) or word.endswith(part)) for part in whole
    )


def in_parts(word: str, there: str) -> bool:
    """Whether the text has the word but for its end, or two parts of it: "Spanischkurs" where it has "Spanisch" and
    "Kurse"; both case-folded and without umlauts."""
    if len(word) >= PART and word[: max(PART, len(word) - 1)] in there:
        return True
    cuts = range(PART, len(word) - PART + 1)
    return any(word[:cut] in there and word[cut:] in there for cut in cuts)


def _unheard(said: Set[str], unknown: Set[str], named: Set[str]) -> dict[str, float]:
    """Two features (0 or 1): the absent words that are `said` hold an unknown word; they hold a known word, a name."""
    return {
        "out_of_corpus_unknown": float(not said.isdisjoint(unknown)),
        "out_of_corpus_names": float(bool((said - unknown) & named)),
    }


def terms_missing(question: str, text: str) -> float:
    """The share (0 to 1) of the question's terms, such as onRedirect, smtp_delay, --dry-run, MT940 or 4.2.1, that the
    text does not hold; case aside."""
    terms = [term for term in _TERM.findall(question) if _is_term(term)]
    there = text.casefold()
    return sum(term.casefold() not in there for term in terms) / len(terms) if terms else 0.0


def _is_term(word: str) -> bool:
    inner = any(map(str.isupper, word[1:])) and not word.isupper()
    mixed = any(map(str.isdigit, word)) and not word.isdigit()
    return inner or mixed or word.startswith("-") or any(mark in word for mark in "_.")


def missing(wanted: Sequence[str], text: str) -> float:
    """The share (0 to 1) of the words that the text has in no like form; long words weigh more."""
    there = set(content_words(text))
    stems = {word[:STEM] for word in there if len(word) >= STEM}
    weights = {word: min(len(word), 2 * STEM) for word in wanted}
    absent = [word for word in weights if not _has(word, there, stems)]
    return sum(weights[word] for word in absent) / sum(weights.values()) if weights else 0.0


def _has(word: str, there: set[str], stems: set[str]) -> bool:
    if word in there or (len(word) >= STEM and word[:STEM] in stems):
        return True
    near = (other for other in there if abs(len(other) - len(word)) <= 2)
    return len(word) >= STEM - 1 and not word.isdigit() and any(ratio(word, other) >= ALIKE for other in near)
