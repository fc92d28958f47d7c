"""One place that says which documents are for fitting and which for reporting."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from random import Random

from equipoise_lab.bench import scripts

SEED = 20261121
FIT = frozenset(
    {"sq-Normans", "sq-Computational_complexity_theory", "sq-Steam_engine", "sq-European_Union_law"}
)
"""The squad2 articles used to fit thresholds and to try prompts; all the others are for reporting."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one paragraph; `gold` holds (start, end, text) of the accepted answers in it."""

    question_id: str
    question: str
    doc_id: str
    title: str
    paragraph: str
    gold: tuple[tuple[int, int, str], ...]

    @property
    def answerable(self) -> bool:
        """Whether the paragraph answers it."""
        return bool(self.gold)


def squad2(data: Path, *, fit: bool) -> list[Question]:
    """All squad2 questions of the fitting or of the reporting articles."""
    documents = {row["doc_id"]: row for row in scripts.read(data / "squad2" / "documents.jsonl")}
    rows = [row for row in scripts.read(data / "squad2" / "questions.jsonl") if (row["doc_id"] in FIT) == fit]
    return [
        Question(
            row["question_id"],
            row["question"],
            row["doc_id"],
            documents[row["doc_id"]]["title"],
            documents[row["doc_id"]]["paragraphs"][row["paragraph"]],
            tuple((a["start"], a["start"] + len(a["text"]), a["text"]) for a in row["answers"]),
        )
        for row in rows
    ]


def elsewhere(questions: list[Question]) -> list[Question]:
    """Each answerable question with a paragraph of another article, which cannot answer it."""
    asked = [q for q in questions if q.answerable]
    drawn = Random(SEED).sample(asked, len(asked))
    pairs = []
    for question in asked:
        other = next(q for q in drawn[len(pairs) % len(drawn) :] + drawn if q.doc_id != question.doc_id)
        pairs.append(
            replace(question, title=other.title, paragraph=other.paragraph, doc_id=other.doc_id, gold=())
        )
    return pairs


def repliqa(data: Path) -> list[Question]:
    """Every repliqa_mini question twice: with its own document, and with the next one, which cannot answer."""
    documents = {
        row["doc_id"]: row["text"] for row in scripts.read(data / "repliqa_mini" / "documents.jsonl")
    }
    after = dict(zip(documents, [*list(documents)[1:], next(iter(documents))], strict=True))
    pairs = []
    for row in scripts.read(data / "repliqa_mini" / "questions.jsonl"):
        if row["answerable"]:
            own, other = row["doc_id"], after[row["doc_id"]]
            gold = ((row["start"], row["start"] + len(row["passage"]), row["annotated_answer"]),)
            pairs += [
                Question(row["question_id"], row["question"], own, "", documents[own], gold),
                Question(row["question_id"] + "-other", row["question"], other, "", documents[other], ()),
            ]
    return pairs


def bias_report(query_ids: Sequence[str]) -> list[str]:
    """The attacked debate questions to report on: every second one in the order of their ids.

    The others are for fitting from now on. BiasDef's defaults were chosen on a half of these questions that
    was not recorded, so for them this half is not sure to be unseen.
    """
    return sorted(query_ids)[1::2]


def part_of(doc_id: str, *, report: float, validate: float) -> str:
    """ "report", "validate" or "train" for a document: by a hash of its id, so that nothing has to be listed.

    `report` documents are never trained on and nothing is chosen on them.
    """
    place = int(sha256(f"{SEED} {doc_id}".encode()).hexdigest()[:8], 16) / 16**8
    return "report" if place < report else "validate" if place < report + validate else "train"


def covid_part(doc_id: str) -> str:
    """The part of a covid_qa document: 20 of 70 report, 10 validate."""
    return part_of(doc_id, report=0.33, validate=0.1)


def bioasq_part(question_id: str) -> str:
    """The part of a bioasq12b question and its snippets: 96 of 202 report, 13 validate."""
    return part_of(question_id, report=0.45, validate=0.1)
