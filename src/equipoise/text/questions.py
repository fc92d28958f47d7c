"""A message that asks several questions, cut into its questions. For English; anything in doubt stays together.

A question ends with a question mark outside quotation marks and brackets, and has a question word or begins with
an auxiliary verb; or it is an item of a list whose items all are questions. Where one joins two with "and", it is cut
there (`coordinated`): what comes after the "and" must ask by itself, as word order shows: "and how is it paid?" does,
"and how it is paid" goes with what stands before it ("Who knows when it ends and ...").

What only makes sense after an earlier question is read with it: with one of the same message, or of the messages
that the same person typed before.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain, pairwise

from equipoise.text.references import ASKING, AUXILIARY, JOINING, could_stand_alone, follows_up
from equipoise.text.replacing import replaced
from equipoise.text.sentences import prose_spans
from equipoise.text.tokens import content_words, words

MOST = 3
"""Most questions that one sentence is cut into; the last one keeps any further ones."""
LONGEST = 500  # characters of a sentence that is looked at
_LEAST_FIRST = 3  # words of the first question: "Where and when was it found?" is one

_PREPOSITIONS = frozenset(
    "in on at to into from for with by of after before under since until within".split()  # noqa: SIM905
)
_PREPOSITION = rf"(?:(?:{'|'.join(sorted(_PREPOSITIONS))}) )?"
_ASKING = "(?:what|which|who|whom|whose|where|when|why|how)"
_AND = re.compile(rf"(?P<comma>,)? and (?:also )?(?={_PREPOSITION}{_ASKING} )", re.IGNORECASE)
_LEADING = re.compile(rf"\A{_PREPOSITION}", re.IGNORECASE)
_OPENING = re.compile(rf"(?:(?:{'|'.join(sorted(JOINING))})\b,? )?{_PREPOSITION}(\w+)", re.IGNORECASE)
_AND_IS = re.compile(
    rf", and (?:also )?(?=(?:{'|'.join(sorted(AUXILIARY))}) (?:an?|the|it|i|you|we|they|there|my|this|any|one)\b)",
    re.IGNORECASE,
)
_BEGINS_SUBJECT = frozenset(
    "a an the it i you we they he she this that these those there my your our their his her its one".split()  # noqa: SIM905
)
_PHRASE = 6  # words from the question word to the auxiliary: "how soon before the end does"


def coordinated(question: str) -> tuple[str, ...]:
    """The questions of a sentence that asks two or more, each with a question mark; else the question alone.

    >>> coordinated("How long may I stay, and who pays?")
    ('How long may I stay?', 'who pays?')
    """
    line = " ".join(question.split())
    cut = _cut(line)
    questions: list[str] = []
    while cut and len(questions) < MOST - 1:
        questions.append(f"{line[: cut.start()].rstrip(' ,;')}?")
        line = line[cut.end() :]
        cut = _cut(line)
    return (*questions, line) if questions else (question,)


def _cut(line: str) -> re.Match[str] | None:
    """The first "and" between two questions."""
    if len(line) > LONGEST or not _opens(line):
        return None
    places = sorted([*_AND.finditer(line), *_AND_IS.finditer(line)], key=re.Match.start)
    return next(
        (place for place in places if _is_whole(line[: place.start()]) and _is_asked(line, place)), None
    )


def _opens(text: str) -> bool:
    """Whether it begins as a question does."""
    opening = _OPENING.match(text)
    return opening is not None and opening[1].casefold() in ASKING | AUXILIARY


def _is_whole(first: str) -> bool:
    tokens = words(first)
    return len(tokens) >= _LEAST_FIRST and bool(content_words(first))


def _is_asked(line: str, cut: re.Match[str]) -> bool:
    """Whether what comes after the cut is in the order of a question: question word, its noun, auxiliary; or "who" or
    "what" and a verb, where a comma stands before it and nothing but the first word asked so far."""
    tokens = words(_LEADING.sub("", line[cut.end() :]))
    if cut.re is _AND_IS or len(tokens) < 2:
        return cut.re is _AND_IS
    verb = next((n for n, word in enumerate(tokens[1 : _PHRASE + 1], 1) if word in AUXILIARY), 0)
    if verb and len(tokens) > verb + 1 and not _has_subject(tokens[1:verb]):
        return True
    asked = ASKING & set(words(line[: cut.start()])[2:])
    return bool(cut["comma"]) and tokens[0] in ("who", "what") and tokens[1].endswith("s") and not asked


def _has_subject(phrase: list[str]) -> bool:
    """Whether a subject stands between question word and verb, as in "how it is paid": what follows a preposition
    ("how soon before the end is") is none."""
    pairs = zip(["", *phrase], phrase, strict=False)
    return any(word in _BEGINS_SUBJECT and before not in _PREPOSITIONS for before, word in pairs)


MAX_QUESTION = 4_000
"""Characters of a question, with all that is read with it."""
EARLIER = 20
"""Messages of a session that are remembered."""
STORY = 45
"""A message of more words is a story, of which only the sentences that ask are read (`_point`)."""

_INDIRECT = re.compile(
    r"\bwhether\b|\b(?:ask|asks|know|tell|wonder|wondering)\b.{0,40}\b(?:if|how|what|when|where|which|who|why)\b",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?<![?!])!*+\?[?!]*+(?:[\"'”’»)\]]+(?!\s+[a-z]))?(?=\s|\Z)")
_ITEM = re.compile(r"\s*(?:\(?\d{1,2}[.)]|[-*•–])\s+(?=\S)")
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"))
_MARKS = ('"', *chain(*_PAIRS))
_ORDERS = frozenset(
    {"explain", "describe", "name", "list", "tell", "give", "compare", "summarise", "summarize"}
)
_LEAST = 3  # words: "And when?" goes with the question before it
_FEW = 1  # words that say something: "Which kinds are there, and what is the default?"

_POLITE = frozenset(
    """
    please answer answers question questions following help hello hi hey dear thanks thank tell know need want
    like some two three four five couple quick today sorry wonder wondering asking ask list good morning
    afternoon evening team everyone
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a message: its `text` there, and what stands `before` it when it is asked by itself.

    `alone`: it makes sense without an earlier question. `either`: it may stand alone, or follow up the earlier one.
    """

    text: str
    before: tuple[str, ...] = ()
    alone: bool = True
    either: bool = False

    @property
    def whole(self) -> str:
        """The question with all it needs."""
        return " ".join((*self.before, self.text))

    @property
    def ways(self) -> tuple["Question", ...]:
        """How it can be read: with what stands `before` it and, if it is `either`, also by itself."""
        return (self, Question(self.text)) if self.either and self.before else (self,)


def split_questions(message: str, before: Sequence[str] = ()) -> tuple[Question, ...]:
    """The questions of `message`, in order and each once; the message itself where it does not hold several.

    What is said before the first question, pleasantries aside, goes with each of them. A question that only makes
    sense after an earlier one ("When did he die?"), or is joined to it and of few words, has in `whole` the last
    question before it that stands alone: of this message, else of `before`, the messages typed earlier, oldest first.
    The items of a list with a lead-in have that instead.
    """
    listed = _listed(message)
    lead, asked = listed or _marked(message)
    cut = [coordinated(text) for text in asked]
    texts = [part for parts in cut for part in parts]
    joined = {part for parts in cut for part in parts[1:] if len(set(content_words(part))) <= _FEW}
    first = {text.casefold().rstrip("?! "): text for text in reversed(texts)}
    texts = [first[key] for key in reversed(first)]
    if len(texts) < 2:
        return (one_question(message, before),)
    lead = lead if _says(lead) else ""
    questions: list[Question] = []
    anchor = "" if lead else _standing(before, len(message))
    for text in texts:
        goes_on = follows_up(text)
        follows = (goes_on or text in joined) and not (listed and lead)
        earlier = anchor if follows else ""
        anchor = anchor if earlier else text
        questions.append(
            Question(
                text,
                tuple(context for context in (lead, earlier) if context),
                bool(lead) or not follows,
                bool(earlier) and not lead and (could_stand_alone(text) or not goes_on),
            )
        )
    return tuple(questions)


def one_question(message: str, before: Sequence[str] = ()) -> Question:
    """`message` as one question. If it only makes sense after an earlier one, it is read with the last question that
    stands alone of `before` (the earlier messages, oldest first), unless both together are over MAX_QUESTION.

    >>> one_question("And who elects him?", ["Who is the president of Mali?", "And where does he live?"]).whole
    'Who is the president of Mali? And who elects him?'
    """
    text = _point(message)
    alone = not follows_up(text)
    earlier = "" if alone else _standing(before, len(text))
    return Question(text, (earlier,) if earlier else (), alone, not alone and could_stand_alone(text))


def _point(message: str) -> str:
    """The sentences of a story that ask; other messages as they are. The reader model takes in only the first words of
    a question, and the rest of a story leads the search astray."""
    if len(message.split()) <= STORY:
        return message
    sentences = [message[start:end] for start, end in prose_spans(message)]
    asking = [said for said in sentences if (_asks(said) or _INDIRECT.search(said)) and _says(said)]
    return " ".join(asking) or message


def _standing(before: Sequence[str], length: int) -> str:
    """The last question of the last EARLIER messages that stands alone or could, with what later ones name in the place
    of what it names; empty if there is none, or if it and a text of `length` characters are over MAX_QUESTION."""
    later: list[str] = []
    for said in reversed(before[-EARLIER:]):
        for question in reversed(split_questions(said) if len(said) <= MAX_QUESTION else ()):
            if (question.alone or question.either) and _says(question.whole):
                earlier = reduce(replaced, reversed(later), question.whole)
                return earlier if len(earlier) < MAX_QUESTION - length else ""
            later.append(question.text)
    return ""


def _says(text: str) -> bool:
    """Whether it holds more than pleasantries."""
    return bool(set(content_words(text)) - _POLITE)


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
    tokens = words(text)
    opens = bool(tokens) and tokens[0] in ASKING | AUXILIARY | _ORDERS
    return opens or (bool(tokens) and _ENDING.search(text) is not None)


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
    """`piece` without the number or bullet it begins with."""
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
    tokens = words(piece)
    marked = _ENDING.search(piece) is not None
    if len(tokens) < _LEAST or (not marked and piece.endswith((".", "!", ":"))):
        return False
    last = _last_sentence(piece)
    openings = [words(last), words(last[last.rfind(": ") + 1 :])]
    first = {next((word for word in opening if word not in JOINING), "") for opening in openings}
    return bool(first & (ASKING | AUXILIARY)) or (marked and bool(ASKING & set(tokens) or first & _ORDERS))


def _last_sentence(text: str) -> str:
    spans = prose_spans(text)
    return text[spans[-1][0] :] if spans else text


def _line(text: str) -> str:
    return " ".join(text.split())
