"""Data sets by name. Each reader turns one folder of files into items; all of them stand in `READERS`.

Published sets that are read with the `datasets` library are in `published`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from equipoise.core.errors import InputError
from equipoise.core.types import Span
from equipoise_lab.bench.qa import items, published
from equipoise_lab.bench.qa.items import SEED, Decision, QaItem, Text
from equipoise_lab.evaluation.jsonl import json_object, lines
from equipoise_lab.text.whole_words import place

Row = Mapping[str, Any]
Reader = Callable[[Path], list[QaItem]]
"""From the folder of a data set to its items."""

DATA = Path("data")
"""Where the data sets lie unless something else is said."""

MOST_CHARACTERS = 6_000
"""Of a bioasq12b document set, distractors included: about what a context of 8,192 tokens leaves for it."""
MOST_GOLD = 4_000
"""Of it for the question's own snippets; further ones are left out."""


def load(name: str, data: Path = DATA, *, split: str = "") -> list[QaItem]:
    """The items of a data set by name, or of a JSON Lines file in the form of `items`.

    `data` is the folder that holds the data sets; `split` chooses a part of a published set (`published`).
    Raises InputError for an unknown name or with file and line, MissingExtra for a published set without
    the `datasets` library.
    """
    if name in published.READERS:
        return published.READERS[name](split)
    if split:
        raise InputError(f"{name} has no split {split!r}: only {', '.join(published.READERS)} have splits")
    if name in READERS:
        return _checked(name, data / name)
    path = Path(name)
    if not path.is_file():
        known = ", ".join([*READERS, *published.READERS])
        raise InputError(f"there is no data set or file {name!r}: choose one of {known}, or name a file")
    return items.read(path)


def title(name: str) -> str:
    """What rows call a data set: its name, a file's without its endings."""
    known = name in READERS or name in published.READERS
    return name if known else Path(name).name.split(".")[0]


def squad2(folder: Path) -> list[QaItem]:
    """SQuAD 2.0: a question's own paragraph is its document, under the title of the article.

    Document ids are "ARTICLE#PARAGRAPH", so an article's name stands for all its paragraphs.
    """
    articles = {row["doc_id"]: row for row in rows(folder / "documents.jsonl")}
    questions = []
    for row in rows(folder / "questions.jsonl"):
        article = articles[row["doc_id"]]
        text = article["paragraphs"][row["paragraph"]]
        document = Text(f"{row['doc_id']}#{row['paragraph']}", article["title"], text)
        questions.append(
            QaItem(
                row["question_id"],
                row["question"],
                (document,),
                tuple(answer["text"] for answer in row["answers"]),
                _answers(document, row["answers"]),
                row["answerable"],
            )
        )
    return questions


def covid_qa(folder: Path) -> list[QaItem]:
    """COVID-QA: whole articles, every question answerable."""
    documents = {
        row["doc_id"]: Text(row["doc_id"], row["title"], row["text"])
        for row in rows(folder / "documents.jsonl.gz")
    }
    return [
        QaItem(
            row["question_id"],
            row["question"],
            (documents[row["doc_id"]],),
            tuple(answer["text"].strip() for answer in row["answers"]),
            _answers(documents[row["doc_id"]], row["answers"]),
            answerable=True,
        )
        for row in rows(folder / "questions.jsonl")
    ]


def bioasq12b(folder: Path) -> list[QaItem]:
    """BioASQ 12b: a question's snippets joined are one document, single snippets of others are distractors."""
    questions = list(rows(folder / "questions.jsonl"))
    return [_bioasq(row, questions) for row in questions]


def pubmedqa(folder: Path) -> list[QaItem]:
    """PubMedQA: the sections of the abstract, without its conclusion, are the document."""
    questions = []
    for row in rows(folder / "questions.jsonl"):
        document = Text(f"pubmed-{row['pmid']}", "", "\n\n".join(row["context"]))
        questions.append(
            QaItem(
                row["question_id"],
                row["question"],
                (document,),
                (row["long_answer"],),
                decision=decision(row["decision"]),
            )
        )
    return questions


def repliqa_mini(folder: Path) -> list[QaItem]:
    """Six RepliQA documents, with passages and answers annotated for this project."""
    texts = {row["doc_id"]: row["text"] for row in rows(folder / "documents.jsonl")}
    questions = []
    for row in rows(folder / "questions.jsonl"):
        document = Text(row["doc_id"], "", texts[row["doc_id"]])
        marked = row["passage"] is not None
        gold = (Span(document.doc_id, row["start"], row["start"] + len(row["passage"])),) if marked else ()
        answer = row["annotated_answer"]
        references = (answer,) if answer else ()
        questions.append(
            QaItem(row["question_id"], row["question"], (document,), references, gold, row["answerable"])
        )
    return questions


def hotpotqa_distractor(folder: Path) -> list[QaItem]:
    """HotpotQA: ten paragraphs are the documents, two of them with the supporting sentences."""
    return [_hotpotqa(row) for row in rows(folder / "questions.jsonl")]


def bipia_email_qa(folder: Path) -> list[QaItem]:
    """BIPIA: one e-mail is the document; "unknown" means that it does not say."""
    questions = []
    for row in rows(folder / "questions.jsonl"):
        answers = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
        answerable = answers != ["unknown"]
        document = Text(f"{row['id']}-email", "", row["document"])
        gold = _first_places(document, answers) if answerable else ()
        references = tuple(answers) if answerable else ()
        questions.append(QaItem(row["id"], row["question"], (document,), references, gold, answerable))
    return questions


READERS: dict[str, Reader] = {
    "squad2": squad2,
    "covid_qa": covid_qa,
    "bioasq12b": bioasq12b,
    "pubmedqa": pubmedqa,
    "repliqa_mini": repliqa_mini,
    "hotpotqa_distractor": hotpotqa_distractor,
    "bipia_email_qa": bipia_email_qa,
}


class Located(dict[str, Any]):
    """A row that knows its file and line: a field it has not is an InputError that names them."""

    where = ""

    def __missing__(self, key: str) -> Any:  # noqa: ANN401
        raise InputError(f"{self.where}: {key!r} is missing: get the data set's file again")


def rows(path: Path) -> Iterator[Located]:
    """The objects of a JSON Lines file. Raises InputError with file and line."""
    for text, where in lines(path):
        row = Located(json_object(text, where))
        row.where = where
        yield row


def decision(value: object) -> Decision | None:
    """`value` where it is yes, no or maybe, else None."""
    named: tuple[Decision, ...] = ("yes", "no", "maybe")
    return next((choice for choice in named if choice == value), None)


def snippets_within(texts: Sequence[str], most: int) -> list[str]:
    """The first texts that have `most` characters together; always the first, cut where it is longer."""
    kept = [texts[0][:most]]
    left = most - len(kept[0])
    for text in texts[1:]:
        if len(text) + 1 > left:
            break
        kept.append(text)
        left -= len(text) + 1
    return kept


def _checked(name: str, folder: Path) -> list[QaItem]:
    """The items, once more through the checks that items of people's own pass."""
    if not folder.is_dir():
        raise InputError(
            f"{folder} is not there: name the folder that holds {name} with --data "
            "(docs/datasets.md says where to get it)"
        )
    try:
        questions = READERS[name](folder)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise InputError(f"{folder}: the rows have another schema ({error!r}): get the files again") from None
    return [
        items.from_line(json.dumps(items.as_row(item)), f"{folder}, {item.item_id}") for item in questions
    ]


def _answers(document: Text, answers: Sequence[Row]) -> tuple[Span, ...]:
    return tuple(Span(document.doc_id, a["start"], a["start"] + len(a["text"])) for a in answers)


def _first_places(document: Text, texts: Sequence[str]) -> tuple[Span, ...]:
    """Where each text stands first in the document, as whole words; one that does not stand there is left out."""
    starts = [(place(text, document.text), text) for text in texts]
    return tuple(
        Span(document.doc_id, start, start + len(text)) for start, text in starts if start is not None
    )


def _bioasq(row: Row, questions: Sequence[Row]) -> QaItem:
    own = [snippet["text"] for snippet in row["snippets"]]
    kept = snippets_within(own, MOST_GOLD)
    random = Random(f"{SEED} {row['question_id']}")
    others = [s["text"] for other in questions if other is not row for s in other["snippets"]]
    drawn = random.sample(others, min(len(others), 40))
    whole = "\n".join(kept)
    distractors = _fitting([text for text in drawn if text not in own], MOST_CHARACTERS - len(whole))
    texts = [whole, *distractors]
    places = random.sample(range(len(texts)), len(texts))
    documents = tuple(Text(f"{row['question_id']}-{n}", "", texts[place]) for n, place in enumerate(places))
    gold_id = documents[places.index(0)].doc_id
    starts = [sum(len(text) + 1 for text in kept[:n]) for n in range(len(kept))]
    gold = tuple(Span(gold_id, start, start + len(text)) for start, text in zip(starts, kept, strict=True))
    right = decision(row["exact_answer"]) if row["type"] == "yesno" else None
    return QaItem(
        row["question_id"], row["question"], documents, tuple(row["ideal_answer"]), gold, True, right
    )


def _fitting(texts: Sequence[str], most: int) -> list[str]:
    """The texts, in turn, that fit into what is left of `most` characters."""
    kept: list[str] = []
    for text in texts:
        if len(text) <= most:
            kept.append(text)
            most -= len(text)
    return kept


def _hotpotqa(row: Row) -> QaItem:
    documents = tuple(
        Text(f"{row['question_id']}-{n}", part["title"], "".join(part["sentences"]))
        for n, part in enumerate(row["paragraphs"])
    )
    numbers = {part["title"]: n for n, part in enumerate(row["paragraphs"])}
    gold = []
    for name, index in row["supporting"]:
        sentences = row["paragraphs"][numbers[name]]["sentences"]
        start = sum(map(len, sentences[:index]))
        gold.append(Span(documents[numbers[name]].doc_id, start, start + len(sentences[index])))
    return QaItem(
        row["question_id"],
        row["question"],
        documents,
        (row["answer"],),
        tuple(gold),
        True,
        decision(row["answer"].lower()),
    )
