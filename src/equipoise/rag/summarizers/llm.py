"""Blind summarizer (H&S, section 4.1): guesses the question from the quotes where a monitor wants that, and answers it.

`request` is the whole of what the model receives, a pure function of highlights and tags: this module
has no access to the question and does not import its type. The answer is checked against the quotes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    WithJsonSchema,
    create_model,
    field_validator,
)

from equipoise import prompts
from equipoise.core.errors import ModelReplyError
from equipoise.core.protocols import ChatModel
from equipoise.core.settings import Settings
from equipoise.core.types import ChatOptions, Highlight, Highlights, Message, Summary, Tag
from equipoise.models.roles import SUMMARIZER, for_role
from equipoise.models.structured import complete_as
from equipoise.rag.components import Components
from equipoise.rag.summarizers.extractive import joined
from equipoise.text.polar import reversed_claims
from equipoise.text.sentences import sentence_spans
from equipoise.text.support import unsupported
from equipoise.text.tokens import has_words
from equipoise.text.visible import flowing, title

MOST_SENTENCES = 2
SHORT = 400
AS_IT_IS = 300
"""Most characters of quotes that need no summary, if they are at most MOST_SENTENCES sentences."""
WATCHED = 5
"""Guesses for a monitor; each one costs about as much time as a short answer."""
ONE_QUESTION = r'^[^?"\\\n\r\t]{1,200}[?]$'
"""A question ends at its question mark: small models put one after another into a single entry until they are cut."""


def first_question(guess: object) -> object:
    """A guess up to its first question mark, for models that no schema binds."""
    return guess[: guess.index("?") + 1] if isinstance(guess, str) and "?" in guess else guess


Guess = Annotated[
    str, BeforeValidator(first_question), WithJsonSchema({"type": "string", "pattern": ONE_QUESTION})
]


def _worded(answer: str) -> str:
    if not has_words(answer):
        raise ValueError("the answer is empty")
    return answer


Said = Annotated[str, AfterValidator(_worded)]


class AnswerReply(BaseModel):
    """The answer alone."""

    answer: Said

    @property
    def guesses(self) -> tuple[str, ...]:
        """No guesses: the model was not asked for any."""
        return ()


class SummaryReply(BaseModel):
    """Guesses come first: they settle what the answer is about. Without one the monitor would see nothing."""

    guessed_questions: list[Guess]
    answer: Said

    @field_validator("guessed_questions")
    @classmethod
    def _guess_something(cls, guesses: list[str]) -> list[str]:
        if not (worded := [guess for guess in guesses if has_words(guess)]):
            raise ValueError("no question is guessed")
        return worded

    @property
    def guesses(self) -> tuple[str, ...]:
        """The guessed questions, each once."""
        return distinct(self.guessed_questions)


@dataclass(frozen=True, slots=True)
class LlmSummarizer:
    """`guesses` questions at most (0 to 10). With `only_long` quotes that are short are the answer as they are."""

    chat: ChatModel
    options: ChatOptions = ChatOptions()
    guesses: int = 0
    only_long: bool = False

    @classmethod
    def from_components(cls, components: Components) -> "LlmSummarizer":
        """Built from the settings."""
        chat = for_role(components.need_chat("the summarizer 'llm'"), SUMMARIZER)
        settings = components.settings
        return cls(chat, components.options, guesses_of(settings), asks_only_long(settings))

    async def summarize(self, highlights: Highlights, *, tags: frozenset[Tag] = frozenset()) -> Summary:
        """The model's answer; the quotes where it says what they do not, or twice wrote nothing usable.

        Raises ModelUnavailable.
        """
        if self.only_long and is_short(highlights):
            return Summary(joined(highlights.items, tags))
        messages = request(highlights, tags, guesses=self.guesses)
        options = replace(
            self.options, max_tokens=min(self.options.max_tokens, room(highlights, self.guesses))
        )
        try:
            reply, usage = await complete_as(self.chat, messages, reply_schema(self.guesses), options=options)
        except ModelReplyError as error:
            return Summary(
                joined(highlights.items, tags), grounded=False, failure=str(error), usage=error.usage
            )
        guessed = reply.guesses[: self.guesses]
        written = opening(reply.answer, most=max(MOST_SENTENCES, sentences(highlights)))
        supports = evidence(highlights)
        invented = (*unsupported(written, supports), *reversed_claims(written, supports, tags))
        lost = missing(written, highlights)
        grounded = not (invented or lost)
        answer = written if grounded else joined(highlights.items, tags)
        return Summary(answer, guessed, grounded, invented, lost, usage=usage)


def guesses_of(settings: Settings) -> int:
    """How many questions the model guesses: without a setting, only for a monitor."""
    return settings.summarize.guesses or (WATCHED if settings.monitor.min_similarity is not None else 0)


def asks_only_long(settings: Settings) -> bool:
    """Whether short quotes are the answer as they are, so that no model reads them."""
    wanted = settings.summarize
    return wanted.when == "long" and wanted.context == "none" and not guesses_of(settings)


def is_short(highlights: Highlights) -> bool:
    """Whether the quotes can be read as they are: one or two sentences were chosen, AS_IT_IS characters at most."""
    chosen = [text for item in highlights.items for text in item.marked]
    return sum(map(len, chosen)) <= AS_IT_IS and sum(map(_sentences, chosen)) <= MOST_SENTENCES


def sentences(highlights: Highlights) -> int:
    """How many sentences the quotes have."""
    return sum(_sentences(item.text) for item in highlights.items)


def _sentences(text: str) -> int:
    return len(sentence_spans(text))


def request(highlights: Highlights, tags: frozenset[Tag], *, guesses: int) -> tuple[Message, ...]:
    """The messages for these highlights. Equal highlights and tags give equal bytes.

    Where highlights have a context, it stands apart from the quotes. Each of the four forms has a prompt of its own.
    """
    quotes = _blocks(highlights, lambda item: f"- {flowing(item.text)}")
    around = _blocks(highlights, lambda item: flowing(item.context))
    verdicts = [f"The answer to the question is: {tag.value}." for tag in sorted(tags)]
    version, asked = ("v2", {"guesses": str(guesses)}) if guesses else ("v3", {})
    if not around:
        return prompts.load(f"summarize-{version}", quotes="\n\n".join([*quotes, *verdicts]), **asked)
    surroundings = "\n\n".join([*around, *verdicts])
    return prompts.load(
        f"summarize-context-{version}", quotes="\n\n".join(quotes), surroundings=surroundings, **asked
    )


def _blocks(highlights: Highlights, line: Callable[[Highlight], str]) -> list[str]:
    """For each document its title and its lines, each line once; no block where all lines are empty.

    Titles and texts are folded to one line each, whatever breaks lines in them (`str.splitlines`): no document
    writes a line of its own into the request.
    """
    blocks = []
    for _, group in groupby(highlights.items, key=lambda item: item.doc_id):
        items = list(group)
        lines = [text for text in dict.fromkeys(map(line, items)) if text]
        if lines:
            blocks.append("\n".join([f"From {title(items[0].title) or 'a document'}:", *lines]))
    return blocks


@cache
def reply_schema(guesses: int) -> type[AnswerReply | SummaryReply]:
    """The reply's schema with the number of guesses bounded; a reply that holds more is cut."""
    if not guesses:
        return AnswerReply
    cut = BeforeValidator(lambda said: said[:guesses] if isinstance(said, list) else said)
    bounded: Any = (Annotated[list[Guess], cut], Field(min_length=1, max_length=guesses))
    return create_model("SummaryReply", __base__=SummaryReply, guessed_questions=bounded)


def room(highlights: Highlights, guesses: int) -> int:
    """Tokens for a reply: 30 a guess, and half as many as the quotes have characters, which is about twice
    what it takes to repeat them; an eighth for their contexts, of which conditions are taken. A reply that runs
    on is cut here, not at the end of the context."""
    contexts = sum(map(len, {item.context for item in highlights.items}))
    return 60 + 30 * guesses + sum(len(item.text) for item in highlights.items) // 2 + contexts // 8


def opening(answer: str, *, most: int) -> str:
    """The first `most` sentences: what a small model adds after them repeats or invents."""
    spans = sentence_spans(answer)[:most]
    return answer[: spans[-1][1]].strip() if spans else answer.strip()


def missing(answer: str, highlights: Highlights) -> tuple[str, ...]:
    """Facts that were chosen, `SHORT` characters together, and that the answer dropped: names, numbers and rare words.

    None unless a number is among them or they are more than half of all. A summary of longer quotes leaves things out:
    that is what it is for.
    """
    quotes = " ".join(text for item in highlights.items for text in item.marked)
    if len(quotes) > SHORT:
        return ()
    facts = unsupported(quotes, [])
    lost = unsupported(quotes, [answer, *(item.title for item in highlights.items)])
    number = any(any(c.isdigit() for c in fact) for fact in lost)
    return lost if number or len(lost) > len(facts) / 2 else ()


def distinct(questions: Sequence[str]) -> tuple[str, ...]:
    """The questions without repeats (case and spacing aside) and without blanks, in order."""
    first = {" ".join(question.casefold().split()): question.strip() for question in reversed(questions)}
    return tuple(first[key] for key in reversed(first) if key)


def evidence(highlights: Highlights) -> list[str]:
    """Everything an answer may rest on: the quotes, the titles of their documents, the text around them."""
    return [text for item in highlights.items for text in (item.text, item.title, item.context)]
