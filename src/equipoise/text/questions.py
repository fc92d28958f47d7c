"""A message that asks several questions, cut into its questions. For English; anything in doubt stays together.

A question ends with a question mark outside quotation marks and brackets, and has a question word or begins with
an auxiliary verb; or it is an item of a list whose items all are questions.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from equipoise.text.sentences import sentence_spans
from equipoise.text.tokens import STOP_WORDS, content_words, name_matches, words

_ENDING = re.compile(r"(?<![?!])!*+\?[?!]*+(?:[\"'”’»)\]]+(?!\s+[a-z]))?(?=\s|\Z)")
_ITEM = re.compile(r"\s*(?:\(?\d{1,2}[.)]|[-*•–])\s+(?=\S)")
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"))
_MARKS = ('"', *chain(*_PAIRS))
_JOINING = frozenset({"and", "or", "but", "so", "also", "then"})
_ASKING = frozenset("who whom whose what when where which why how whats whos".split())  # noqa: SIM905
_AUXILIARY = frozenset(
    """
    is are was were am do does did has have had can could may might must shall should will would isn't aren't
    wasn't weren't don't doesn't didn't hasn't haven't hadn't can't couldn't won't wouldn't shouldn't mustn't
    """.split()  # noqa: SIM905
)
_ORDERS = frozenset(
    {"explain", "describe", "name", "list", "tell", "give", "compare", "summarise", "summarize"}
)
_LEAST = 3  # words: "And when?" goes with the question before it

_POLITE = frozenset(
    """
    please answer answers question questions following help hello hi hey dear thanks thank tell know need want
    like some two three four five couple quick today sorry wonder wondering asking ask list good morning
    afternoon evening team everyone
    """.split()  # noqa: SIM905
)
_PERSONAL = frozenset("he she it they him them this these those theirs".split())  # noqa: SIM905
_POSSESSIVE = frozenset({"his", "her", "hers", "its", "their"})
_BACK = re.compile(
    r"\b(?:is|was|did|does|about|after|before|for) that\b|\b(?:that|there)\W*\Z|\bthe (?:former|latter)\b",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\bit (?:ok|okay|possible|allowed|necessary|true|required|permitted|legal|safe|worth|mandatory|better|best)\b"
    r"|\bit (?:takes?|costs?)\b.{0,600}\bto\b|\bwhat time is it\b"
    r"|\b(?:this|these|those) (?:years?|weeks?|months?|quarters?|days?|morning|afternoon|evening|season|time)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a message: its `text` there, and what stands `before` it when it is asked by itself."""

    text: str
    before: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """The question with all it needs."""
        return " ".join((*self.before, self.text))


def split_questions(message: str) -> tuple[Question, ...]:
    """The questions of `message`, in order and each once; the message itself where it does not hold several.

    What is said before the first question belongs to all of them, pleasantries aside. A question that only makes
    sense after an earlier one ("When did he die?") has in `whole` the last one before it that stands alone; in a
    list with something said before it, that is what it has.
    """
    listed = _listed(message)
    lead, texts = listed or _marked(message)
    first = {text.casefold().rstrip("?! "): text for text in reversed(texts)}
    texts = [first[key] for key in reversed(first)]
    if len(texts) < 2:
        return (Question(message),)
    lead = lead if set(content_words(lead)) - _POLITE else ""
    questions: list[Question] = []
    anchor = ""
    for text in texts:
        before = anchor if refers_back(text) and not (listed and lead) else ""
        anchor = anchor if before else text
        questions.append(Question(text, tuple(part for part in (lead, before) if part)))
    return tuple(questions)


def refers_back(question: str) -> bool:
    """Whether `question` is about somebody or something only an earlier one names: it has a pronoun, and no name
    before it (for a possessive: no other word either). "Is it possible to ..." and "this year" do not count, nor
    does a pronoun after a statement or a colon: what it stands for is there.
    """
    start, end = next(iter(sentence_spans(question)), (0, 0))
    question, rest = question[start:end], question[end:]
    if (rest and "?" not in question) or content_words(question[: question.rfind(": ") + 1]):
        return False
    if _BACK.search(question):
        return True
    plain = _EXPLETIVE.sub(" ", question)
    first_name = next((words(match.group())[0] for match in name_matches(plain)), None)
    own = False
    asked = False
    for word in words(plain):
        if word == first_name:
            return False
        if word in _PERSONAL or (word in _POSSESSIVE and not own):
            return True
        own = own or (word not in STOP_WORDS and not asked)
        asked = word in ("how", "what", "which")
    return False


def _listed(message: str) -> tuple[str, list[str]] | None:
    """What stands before a list, and its items; None unless there are two or more and all are questions."""
    lead: list[str] = []
    items: list[list[str]] = []
    for line in message.splitlines():
        if marker := _ITEM.match(line):
            items.append([line[marker.end() :]])
        else:
            (items[-1] if items else lead).append(line)
    texts = [_line(" ".join(item)) for item in items]
    return (_line(" ".join(lead)), texts) if len(texts) > 1 and all(map(_is_item, texts)) else None


def _is_item(text: str) -> bool:
    found = words(text)
    opens = bool(found) and found[0] in _ASKING | _AUXILIARY | _ORDERS
    return opens or (bool(found) and _ENDING.search(text) is not None)


def _marked(message: str) -> tuple[str, list[str]]:
    """What is said before the first question, and the questions, cut after question marks."""
    texts = _joined([_line(piece) for piece in _pieces(message)])
    if len(texts) < 2:
        return "", texts
    question = _last_sentence(texts[0])
    statement = texts[0].removesuffix(question)
    if not _asks(question) or "?" in statement:
        return "", texts
    return statement.strip(), [question, *texts[1:]]


def _bare(piece: str) -> str:
    """Without the number or the bullet it begins with."""
    marker = _ITEM.match(piece)
    return piece[marker.end() :] if marker else piece


def _pieces(message: str) -> list[str]:
    """`message` cut after each question mark that stands outside quotation marks and brackets."""
    cuts: list[int] = []
    marks: Counter[str] = Counter()
    at = 0
    for match in _ENDING.finditer(message):
        marks.update({mark: message.count(mark, at, match.end()) for mark in _MARKS})
        at = match.end()
        if not _is_open(marks):
            cuts.append(at)
    pieces = [message[a:b] for a, b in pairwise([0, *cuts, len(message)])]
    return [piece for piece in pieces if words(piece)]


def _is_open(marks: Mapping[str, int]) -> bool:
    """Whether a text with so many of each of _MARKS ends within quotation marks or brackets."""
    return marks['"'] % 2 == 1 or any(marks[a] > marks[b] for a, b in _PAIRS)


def _joined(pieces: Sequence[str]) -> list[str]:
    """The pieces, with what does not ask by itself joined to the one before it, or at first to the one after.

    The number or bullet that one begins with goes where the piece is the first of its group.
    """
    groups: list[list[str]] = []
    complete = False
    for piece in pieces:
        bare = _bare(piece)
        asks = _asks(bare)
        if groups and not (asks and complete):
            groups[-1].append(piece)
        else:
            groups.append([bare])
        complete = complete or asks
    return [" ".join(group) for group in groups]


def _asks(piece: str) -> bool:
    """Whether `piece` is a question: marked as one and with a question word, or beginning like one."""
    found = words(piece)
    marked = _ENDING.search(piece) is not None
    if len(found) < _LEAST or (not marked and piece.endswith((".", "!", ":"))):
        return False
    last = _last_sentence(piece)
    openings = [words(last), words(last[last.rfind(": ") + 1 :])]
    first = {next((word for word in opening if word not in _JOINING), "") for opening in openings}
    return bool(first & (_ASKING | _AUXILIARY)) or (marked and bool(_ASKING & set(found) or first & _ORDERS))


def _last_sentence(text: str) -> str:
    spans = sentence_spans(text)
    return text[spans[-1][0] :] if spans else text


def _line(text: str) -> str:
    return " ".join(text.split())
