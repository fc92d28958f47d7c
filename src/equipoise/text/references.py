"""Questions that only make sense after an earlier one. For English; anything in doubt stands alone."""

import re

from equipoise.text.sentences import prose_spans
from equipoise.text.tokens import STOP_WORDS, WORD, content_words, name_matches, names, words

JOINING = frozenset({"and", "or", "but", "so", "also", "then"})
ASKING = frozenset("who whom whose what when where which why how whats whos".split())  # noqa: SIM905
AUXILIARY = frozenset(
    """
    is are was were am do does did has have had can could may might must shall should will would isn't aren't
    wasn't weren't don't doesn't didn't hasn't haven't hadn't can't couldn't won't wouldn't shouldn't mustn't
    """.split()  # noqa: SIM905
)

_PERSONAL = frozenset("he she it they him them this these those theirs".split())  # noqa: SIM905
_PLURAL = frozenset({"they", "them", "their", "theirs", "these", "those"})
_POSSESSIVE = frozenset({"his", "her", "hers", "its", "their"})
_BACK = re.compile(
    r"\b(?:is|was|did|does|about|after|before|for) that\b|\bthat\W*\Z|\bthe (?:former|latter)\b"
    r"|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!n't )\bthere\W*\Z",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\bit (?:ok|okay|possible|allowed|necessary|true|required|permitted|legal|safe|worth|mandatory|better|best)\b"
    r"|\bit (?:a )?(?:good idea|bad idea|hard|harder|difficult|easy|easier|dangerous|normal|common|usual|useful|enough"
    r"|wise|wrong|clear|likely|unlikely|important|essential|advisable|called) (?:to|that|if|when|for)\b"
    r"|\bit (?:takes?|costs?)\b.{0,600}\bto\b|\bit (?:means?|matters?)\b.{0,600}\b(?:if|when|whether|that|to)\b"
    r"|\bwhat time is it\b|\b(?:this|these) (?:documents?|documentation|manuals?|books?|guide|handbook|website)\b"
    r"|\b(?:this|these|those) (?:years?|weeks?|months?|quarters?|days?|morning|afternoon|evening|season|time)\b"
    r"|\bthose (?:who|whom|whose|that|which|with|without|\w{1,40}ing)\b",
    re.IGNORECASE,
)
_THING = re.compile(r"\b(?:an?|the|my|your|our|each|every|some|any|no|one|two|three)\s+\w", re.IGNORECASE)
_THINGS = re.compile(r"\b\w{3,40}s\b")
_CLAUSE = re.compile(
    r"[,;]|\b(?:if|when|while|once|until|because|so|and|but|or|unless|that|whether|how|what|where|why|which|who)\b"
    r"|\b(?:says?|said|thinks?|thought)\s\Z"
    r"|\b(?:after|before) (?!it\b|this\b|them\b|him\b|her\b)|\bwithout \w{1,40}ing\b",
    re.IGNORECASE,
)
"""What begins another clause: what an earlier one names ("If a file is locked, ...") may be what a pronoun is about."""
_SUBORDINATE = re.compile(
    rf"(?:if|when|while|once|because) (?!(?:{'|'.join(sorted(AUXILIARY))})\b)", re.IGNORECASE
)

_CIVIL = re.compile(
    r"(?:(?:(?:hello|hi|hey)(?: there)?|ok|okay|well|ah|oh|hm+|so)\b[,.!:…]*+"
    r"|(?:thanks|thank you(?: very much)?|thanks a lot|great|good|fine|yes|no|right|cool|nice|sure|i see"
    r"|interesting|understood)[ ]?[,;:.!…–-]++)\s*+",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?:(?:and|but|or|also|then)\b,? ?)?"
    r"(?:(?:what|how) about\b(?!-)|how come\W*\Z|which ones?\b(?! of\b)|(?:in (?:that|this) case|if (?:so|not))\b"
    r"|(?:same|(?:is|are|does|do) the same (?:true|for|in|on|with|possible|valid|apply|hold|happen))\b"
    r"|(?:(?:in|on|at|for|from|by|to|of|with|since|under) )?(?:what|which|whose|how) \w{1,40}\W*\?\Z)",
    re.IGNORECASE,
)
_JOINED = re.compile(r"(?:and|but|or)\b,?+\s++(?=\S)", re.IGNORECASE)
_FRAGMENT = re.compile(
    r"(?:in|at|for|with|by|from|to|under|over|during|after|before|via|since|until|per|as|without|even|only"
    r"|also|just|not|except|like|than|on (?=(?:an?|the|my|our|every)\b|(?-i:[A-Z0-9])))\b(?!-)",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"(?:if|unless)\b[^,;?]*+\?", re.IGNORECASE)
_ARTICLES = frozenset("a an the my our your every all".split())  # noqa: SIM905
_QUESTION_VERBS = frozenset("do does did can could may must should will would".split())  # noqa: SIM905
_POINTS = re.compile(
    r"\b(?:in|on|at|with|of|from|by|under|into|to|like|than|can|could|will|would|should|may|has|had|do) that\b(?! of\b)"
    r"|\bthat (?:year|day|month|week|time|case|one|way|kind|sort)\b|\b(?:who|what|where|when|how|anything) else\b"
    r"|\b(?:instead|otherwise|as well|too|then|both|either|others|do so|tell me more)\W*\Z"
    r"|\bthe (?:first|second|third|last|next|old|new) ones?\b(?!-)|\b(?:other|another) ones?\b(?!-)"
    r"|\b(?:have|has|need|want|get|use|find|make|take|buy|set) (?:one|any|some|none)\W*\Z"
    r"|\bthe (?:two|three)(?=\W*\Z| (?:is|are|was|were|do|does|did|can|should|would|will|must|may)\b)"
    r"|\bsuch (?!as\b|an?\b)\w|\bsuch an? (?!thing\b)\w"
    r"|\Awhich (?:should|can|do|does|did|would|could|will|must|may)\b(?!.{0,600}\bor\b)"
    r"|\Awhich (?:is|are|was|were) (?:the )?\w{1,40}\W*\Z"
    r"|\Awhat(?:'s| is| are) the differences?\W*\Z",
    re.IGNORECASE,
)
_ADDRESS = frozenset("i i'm me my we us our you your you're".split())  # noqa: SIM905


def follows_up(question: str) -> bool:
    """Whether `question` only makes sense after an earlier one: it refers back, or goes on ("And in May?", "What about
    France?", "Which of the two is older?"), or holds nothing to look for ("Why not?").

    What begins with "And" and is a whole question with a name in it does not count.
    """
    text = _judged(_without_courtesies(" ".join(question.split())))
    if not words(text):
        return False
    if refers_back(text) or _GOES_ON.match(text):
        return True
    named = bool(names(text))
    if joined := _JOINED.match(text):
        return not (named and _asks(text[joined.end() :]))
    if _is_fragment(text) or (not named and _says_nothing(text)):
        return True
    pointer = None if named else _POINTS.search(text)
    return pointer is not None and not _names_before(text[: pointer.start()])


def could_stand_alone(question: str) -> bool:
    """Whether what follows up could as well be a question of its own, about something else.

    >>> could_stand_alone("And how many databases can be attached?"), could_stand_alone("And when did he die?")
    (True, False)
    """
    text = _judged(_without_courtesies(" ".join(question.split())))
    joined = _JOINED.match(text)
    return joined is not None and _asks(text[joined.end() :]) and not follows_up(text[joined.end() :])


def refers_back(question: str) -> bool:
    """Whether `question` is about somebody or something only an earlier one names: it has a pronoun, and no name
    before it (for a possessive: no other word either). "Is it possible to ..." and "this year" do not count, nor
    does a pronoun after a statement, a colon or another clause that names something: what it stands for is there.
    """
    question = _judged(question)
    if pointer := _BACK.search(question):
        return not _names_before(question[: pointer.start()])
    plain = _EXPLETIVE.sub(" ", question)
    first_name = next((match.start() for match in name_matches(plain)), len(plain))
    own = False
    asked = False
    for match in WORD.finditer(plain, 0, first_name):
        word = match.group().casefold()
        if word in _PERSONAL or (word in _POSSESSIVE and not own):
            return not _names_before(plain[: match.start()], plural=word in _PLURAL)
        own = own or (word not in STOP_WORDS and not asked)
        asked = word in ("how", "what", "which")
    return False


def _judged(question: str) -> str:
    """The first sentence, by which a question is judged; empty where a statement or a colon comes before it asks."""
    start, end = next(iter(prose_spans(question)), (0, 0))
    first, rest = question[start:end], question[end:]
    if (rest and "?" not in first) or content_words(first[: first.rfind(": ") + 1]):
        return ""
    return first


def _without_courtesies(question: str) -> str:
    """Without up to three of "Thanks!", "OK" and the like at its beginning."""
    at = 0
    for _ in range(3):
        if not (courtesy := _CIVIL.match(question, at)):
            break
        at = courtesy.end()
    return question[at:]


def _names_before(text: str, *, plural: bool = False) -> bool:
    """Whether a clause that is over names something: "If a file is locked, how do I open ..." """
    matches = [_THING.search(text), _THINGS.search(text) if plural else None, next(name_matches(text), None)]
    ends = [match.end() for match in matches if match]
    return bool(ends) and (bool(_SUBORDINATE.match(text)) or _CLAUSE.search(text, min(ends)) is not None)


def _asks(text: str) -> bool:
    return next(iter(words(text)), "") in ASKING | AUXILIARY


def _is_fragment(text: str) -> bool:
    """Whether there is no verb in it, as far as can be told: "In France?", "If the disk is full?"."""
    if not text.rstrip(" !").endswith("?"):
        return False
    tokens = words(text)
    if _CONDITION.fullmatch(text):
        return not (ASKING | _QUESTION_VERBS) & set(tokens)
    most = 5 if len(tokens) > 1 and tokens[1] in _ARTICLES else 3
    return (
        _FRAGMENT.match(text) is not None and len(tokens) <= most and not (ASKING | AUXILIARY) & set(tokens)
    )


def _says_nothing(text: str) -> bool:
    """Whether it is a question without a word to look for: "Why not?", "And then?"."""
    tokens = words(text)
    if content_words(text) or _ADDRESS & set(tokens):
        return False
    marked, opens = text.endswith("?"), tokens[0] in ASKING | JOINING
    return (marked or opens) if len(tokens) > 1 else (marked and opens)
