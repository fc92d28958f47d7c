"""HotpotQA for the bias benchmark: its closed questions rewritten into open-ended ones by a chat model.

The paper has ChatGPT-5 extend "some close-form questions" (section 5.2, footnote 5) and prints one example, no prompt.
Here a question is rewritten with the titles of its supporting paragraphs in view, and the rewriting is checked by rule:
one question, not closed, about one of its subjects. What no attempt made usable is left out, and says why.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel

from equipoise.core.errors import InputError, ModelReplyError
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions
from equipoise.models.structured import complete_as
from equipoise.text.fence import fenced
from equipoise.text.tokens import content_words
from equipoise_lab import prompts
from equipoise_lab.bench.bias import attacks, corpora
from equipoise_lab.bench.bias.corpora import BeirCorpus, CorpusText
from equipoise_lab.bench.resumed import each
from equipoise_lab.evaluation.jsonl import lines
from equipoise_lab.evaluation.records import Record
from equipoise_lab.evaluation.results import write_atomically
from equipoise_lab.evaluation.run import Progress, Ran, silent
from equipoise_lab.text.rows import Words, parsed

PROMPT = "open-ended-v1"
NAME = "hotpotqa-open-ended"
REWRITTEN = "rewritten.jsonl"
WORDS = 30
"""The most words of a rewritten question; the paper's example has 19."""
FEWEST = 6
ATTEMPTS = 3
MAX_TOKENS = 120
TEMPERATURE, WARMER = 0.3, 0.2
"""Of the first attempt, and what each further one adds."""
_CLOSED = """
am are is was were do does did has have had can could will would may might must who whom whose whats when where"""
_COUNTED = """
many much old long far tall big high deep fast often year date day month name country city state nationality is are was
were"""
CLOSED = frozenset(_CLOSED.split())
"""First words of a question that one fact or a yes answers."""
COUNTED = frozenset(_COUNTED.split())
"""Second words that make "how", "what" and "which" closed ones."""


class OpenEnded(BaseModel):
    """A rewritten question as the model sends it."""

    question: str


class _Paragraph(BaseModel):
    title: str
    sentences: list[str]


class _Row(BaseModel):
    question_id: Words
    question: Words
    paragraphs: list[_Paragraph]
    supporting: list[tuple[str, int]]


class Rewriting(Record):
    """What a model made of a question; `rewritten` is None where nothing was usable, for the reason `why`."""

    KEY: ClassVar[tuple[str, ...]] = ("model", "query_id")

    model: str
    query_id: str
    question: str
    rewritten: str | None
    why: str = ""

    @property
    def failed(self) -> bool:
        """See Record: what failed is tried again."""
        return self.rewritten is None


@dataclass(frozen=True, slots=True)
class Closed:
    """A question, and the titles of the paragraphs that hold its answer."""

    query_id: str
    question: str
    subjects: tuple[str, ...]


def read(path: Path) -> BeirCorpus:
    """The corpus of a file of HotpotQA rows: paragraphs are documents by their titles, those with supporting sentences
    relevant. One JSON object a line: `question_id`, `question`, `paragraphs` ({title, sentences}), `supporting`
    ([title, number of the sentence]). Raises InputError with file and line."""
    documents: dict[str, CorpusText] = {}
    queries: dict[str, str] = {}
    relevant: dict[str, frozenset[str]] = {}
    for line, where in lines(path):
        row = parsed(_Row, line, where)
        if row.question_id in queries:
            raise InputError(
                f"{where}: the question {row.question_id!r} is here for the second time: remove one"
            )
        queries[row.question_id] = " ".join(row.question.split())
        shown = {
            (name := one.title.strip()): CorpusText(name, "".join(one.sentences).strip())
            for one in row.paragraphs
        }
        documents = shown | documents
        relevant[row.question_id] = frozenset(title for title, _ in row.supporting) & shown.keys()
    if not queries:
        raise InputError(f"{path} holds no question: give the file of HotpotQA's questions")
    return BeirCorpus(NAME, documents, queries, relevant)


async def rewrite(
    corpus: BeirCorpus,
    chat: ChatModel,
    out: Path,
    *,
    progress: Progress = silent,
    concurrency: int = 1,
    limit: int | None = None,
) -> list[Rewriting]:
    """A rewriting of each question of `corpus`, or of the first `limit`, that the folder `out` does not hold yet.

    Raises ModelUnavailable; what was rewritten before stays.
    """
    samples = {
        (chat.name, query): Closed(
            query, corpus.queries[query], tuple(sorted(corpus.relevant.get(query, ())))
        )
        for query in sorted(corpus.queries)[:limit]
    }
    run = await each(
        Rewriting, samples, chat.name, lambda sample: _rewritten(sample, chat), _fields, out, REWRITTEN,
        progress=progress, concurrency=concurrency,
    )  # fmt: skip
    return run.records


def open_ended(corpus: BeirCorpus, rewritings: Sequence[Rewriting]) -> BeirCorpus:
    """The corpus with its questions rewritten; without those that were not, whose paragraphs stay as background."""
    queries = {made.query_id: made.rewritten for made in rewritings if made.rewritten is not None}
    return replace(corpus, queries=queries, relevant={query: corpus.relevant[query] for query in queries})


def write(corpus: BeirCorpus, folder: Path) -> None:
    """Write the corpus in the benchmark's form, and its questions as `questions.tsv` for the attack's file."""
    corpora.write(corpus, folder)
    rows = [f"{query}\t{question}" for query, question in corpus.queries.items()]
    text = "\n".join(["query-id\tquestion", *rows, ""])
    write_atomically(folder / attacks.QUESTIONS, text.encode("utf-8"))


def unusable(rewritten: str, sample: Closed) -> str:
    """Why `rewritten` cannot stand for the question; empty where it can.

    Worked value: "Was Ed Wood an American?" is closed; "How did films change?" names no subject of a question about Ed
    Wood; "How did Ed Wood's nationality shape his films?" is usable.
    """
    words = rewritten.lower().split()
    if not FEWEST <= len(words) <= WORDS:
        return f"it has {len(words)} words, {FEWEST} to {WORDS} are wanted"
    if not rewritten.endswith("?") or rewritten.count("?") > 1:
        return "it is not one question"
    if words[0] in CLOSED or (words[0] in ("how", "what", "which") and words[1] in COUNTED):
        return f"it is closed: it begins with {' '.join(words[:2])!r}"
    known = _names(sample)
    if known and not known & _words(rewritten):
        return "it names none of its subjects"
    return ""


async def _rewritten(sample: Closed, chat: ChatModel) -> tuple[str | None, str]:
    """(the open-ended question, ""), or (None, why)."""
    messages = prompts.load(
        PROMPT,
        words=str(WORDS),
        question=fenced(sample.question),
        subjects=fenced("\n".join(sample.subjects)),
    )
    problem = ""
    for attempt in range(ATTEMPTS):
        options = ChatOptions(TEMPERATURE + attempt * WARMER, max_tokens=MAX_TOKENS, seed=attempt)
        try:
            reply, _ = await complete_as(chat, messages, OpenEnded, options=options)
        except ModelReplyError as error:
            problem = str(error)
            continue
        question = " ".join(reply.question.split())
        problem = unusable(question, sample)
        if not problem:
            return question, ""
    return None, f"{problem} ({ATTEMPTS} tries)"


def _fields(sample: Closed, ran: Ran[tuple[str | None, str]]) -> dict[str, Any]:
    rewritten, why = ran.value
    return {"question": sample.question, "rewritten": rewritten, **({"why": why} if why else {})}


def _names(sample: Closed) -> frozenset[str]:
    """Words that name the subjects: of the titles, and capitalised ones within the question."""
    inside = [word for word in sample.question.split()[1:] if word[:1].isupper()]
    return _words(" ".join([*sample.subjects, *inside]))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.removesuffix("'s") for word in content_words(text))
