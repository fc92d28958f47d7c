"""The fields that reading is measured on, as cases: a question, texts that were found for it, and what answers in them.

Draws are fixed. None of these sets is in the repository; a field whose files are not there is left out.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from equipoise_lab.bench import scripts
from equipoise_lab.training.reader import is_held_out

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from splits import FIT

Row = dict[str, Any]
Place = tuple[int, int, int]
"""Text number, start, end."""

FAR, LONGEST, OTHERS = 30, 1500, 19
ANSWERED, NEAR = 140, 60


@dataclass(frozen=True, slots=True)
class Case:
    """`texts` below their `titles`; `units` are the places of what a system that picks one may pick, each below its
    heading in `above`; `gold` are the places of what answers, of each annotator, none where nothing does."""

    name: str
    question: str
    titles: Sequence[str]
    texts: Sequence[str]
    units: Sequence[Place]
    above: Sequence[str]
    gold: Sequence[Sequence[Place]]

    def read(self, unit: int) -> str:
        """A unit as it is read: below its heading, unless it has that in itself."""
        text, heading = self.at(self.units[unit]), self.above[unit]
        return f"{heading}\n{text}" if heading and heading not in text else text

    def at(self, place: Place) -> str:
        """What stands there."""
        row, start, end = place
        return self.texts[row][start:end]


def sentences(text: str) -> list[tuple[int, int]]:
    """Roughly."""
    return [(m.start(), m.end()) for m in re.finditer(r"\S.*?(?:[.!?](?=\s)|\n|$)", text, re.S)]


def places(texts: Sequence[str]) -> list[Place]:
    """Of all their sentences."""
    return [(row, *span) for row, text in enumerate(texts) for span in sentences(text)]


def overlapping(units: Sequence[Place], row: int, start: int, end: int) -> list[Place]:
    """Those of a text that share a character with a stretch of it."""
    return [unit for unit in units if unit[0] == row and unit[1] < end and start < unit[2]]


def kept_apart(folder: str, wanted: Callable[[Row], bool]) -> Callable[[Path], Iterator[Case]]:
    """Questions with an answer and near misses of ours, each with its passage and those that its words find."""

    def read(data: Path) -> Iterator[Case]:
        draw = Random(5)
        passages = {row["passage"]: row for row in scripts.read(data / folder / "passages.jsonl.xz")}
        apart = [row for row in scripts.read(data / folder / "questions.jsonl.xz") if wanted(row)]
        yes, no = ([row for row in apart if bool(row["gold"]) is answered] for answered in (True, False))
        for row in [*draw.sample(yes, min(ANSWERED, len(yes))), *draw.sample(no, min(NEAR, len(no)))]:
            names = list(dict.fromkeys([*row["near"], row["passage"]]))
            found = [passages[name] for name in draw.sample(names, len(names))]
            cut = [
                (n, start, end, heading)
                for n, one in enumerate(found)
                for start, end, heading, fragment in one["units"]
                if not fragment and start < LONGEST
            ]
            at = next(n for n, one in enumerate(found) if one["passage"] == row["passage"])
            gold = [(at, *found[at]["units"][n][:2]) for n in row["gold"]]
            yield Case(
                f"{row['set']}/{row['id']}",
                row["question"],
                [" > ".join(filter(None, [one["title"], *one["headings"]])) for one in found],
                [one["text"] for one in found],
                [unit[:3] for unit in cut],
                [unit[3] for unit in cut],
                [gold] if gold else [],
            )

    return read


def clapnq(data: Path) -> Iterator[Case]:
    """Questions over passages of an encyclopaedia whose answers need several sentences; all there are."""
    for name in ("answerable", "unanswerable"):
        for row in scripts.read(data / "clapnq" / f"{name}.jsonl"):
            ends = np.cumsum([len(sentence) + 1 for sentence in row["sentences"]]).tolist()
            units = [
                (0, end - len(one) - 1, end - 1) for one, end in zip(row["sentences"], ends, strict=True)
            ]
            gold = [[units[n] for n in selected] for selected in row.get("selected", ()) if selected]
            text, asked = " ".join(row["sentences"]), f"{row['question']}?"
            yield _case(row["id"], asked, [row["title"]], [text], units, gold)


def some(cases: Callable[[Path], Iterator[Case]], most: int = 150) -> Callable[[Path], Iterator[Case]]:
    """`most` of them with an answer, and as many without."""

    def read(data: Path) -> Iterator[Case]:
        draw, every = Random(5), list(cases(data))
        for answered in (True, False):
            part = [case for case in every if bool(case.gold) is answered]
            yield from draw.sample(part, min(most, len(part)))

    return read


def of_squad2(data: Path, *, fitting: bool = False) -> tuple[dict[str, Row], list[Row]]:
    """The articles by their ids, and the questions about those that something was trained on, or about the others."""
    articles = {one["doc_id"]: one for one in scripts.read(data / "squad2/documents.jsonl")}
    asked = scripts.read(data / "squad2/questions.jsonl")
    return articles, [row for row in asked if (row["doc_id"] in FIT) is fitting]


def squad2(data: Path, most: int = 100) -> Iterator[Case]:
    """A paragraph and a question that it answers, or a look-alike that it does not."""
    draw = Random(11)
    documents, asked = of_squad2(data)
    parts = ([row for row in asked if row["answerable"] is answered] for answered in (True, False))
    for row in [row for part in parts for row in draw.sample(part, most)]:
        text = documents[row["doc_id"]]["paragraphs"][row["paragraph"]]
        units = places([text])
        told = [overlapping(units, 0, x["start"], x["start"] + len(x["text"])) for x in row["answers"]]
        gold = told if row["answerable"] else []
        yield _case(row["question_id"], row["question"], [""], [text], units, gold)


def covid_qa(data: Path) -> Iterator[Case]:
    """Up to thirty pieces of six sentences of an article; a piece is what may be picked, a sentence what answers."""
    draw = Random(12)
    documents = {one["doc_id"]: one["text"] for one in scripts.read(data / "covid_qa/documents.jsonl.gz")}
    for n, row in enumerate(draw.sample(scripts.read(data / "covid_qa/questions.jsonl"), 30)):
        text = documents[row["doc_id"]]
        spans = sentences(text)
        cuts = [(spans[n][0], spans[min(n + 5, len(spans) - 1)][1]) for n in range(0, len(spans), 6)]
        answers = [x["start"] for x in row["answers"]]
        gold = {n for n, (start, end) in enumerate(cuts) if any(start <= x < end for x in answers)}
        if gold and len(cuts) > 3:
            kept = sorted({*gold, *draw.sample(range(len(cuts)), min(FAR, len(cuts)))})
            texts = [text[slice(*cuts[n])] for n in kept]
            told = [
                overlapping(places(texts), row_of, at, at + 1)
                for x in answers
                for row_of, n in enumerate(kept)
                if 0 <= (at := x - cuts[n][0]) < cuts[n][1] - cuts[n][0]
            ]
            units = [(n, 0, len(piece)) for n, piece in enumerate(texts)]
            yield _case(n, row["question"], [""] * len(texts), texts, units, [one for one in told if one])


def bioasq(data: Path) -> Iterator[Case]:
    """A snippet of a question among nineteen of others; and these nineteen alone."""
    draw = Random(13)
    asked = scripts.read(data / "bioasq12b/questions.jsonl")
    for n, row in enumerate(draw.sample(asked, 60)):
        others = draw.sample([other for other in asked if other is not row], OTHERS)
        texts = [draw.choice(one["snippets"])["text"] for one in (row, *others)]
        for name, given, own in ((f"{n}", texts, 1), (f"{n}-others", texts[1:], 0)):
            units = [(n, 0, len(text)) for n, text in enumerate(given)]
            yield _case(name, row["question"], [""] * len(given), given, units, [units[:1]] * own)


def hotpotqa(data: Path) -> Iterator[Case]:
    """The sentences that support an answer, in ten paragraphs."""
    for n, row in enumerate(
        Random(14).sample(scripts.read(data / "hotpotqa_distractor/questions.jsonl"), 60)
    ):
        titles, texts, units, gold = [], [], [], []
        for paragraph in row["paragraphs"]:
            at = 0
            for number, sentence in enumerate(paragraph["sentences"]):
                units.append((len(texts), at, at + len(sentence)))
                gold += [units[-1]] if [paragraph["title"], number] in row["supporting"] else []
                at += len(sentence) + 1
            titles.append(paragraph["title"])
            texts.append(" ".join(paragraph["sentences"]))
        yield _case(n, row["question"], titles, texts, units, [gold])


def repliqa(data: Path) -> Iterator[Case]:
    """The document that answers; another document, which does not."""
    draw = Random(15)
    documents = {one["doc_id"]: one["text"] for one in scripts.read(data / "repliqa_mini/documents.jsonl")}
    for n, row in enumerate(scripts.read(data / "repliqa_mini/questions.jsonl")):
        if row["answerable"] and row.get("passage"):
            text = documents[row["doc_id"]]
            other = documents[draw.choice([name for name in documents if name != row["doc_id"]])]
            gold = overlapping(places([text]), 0, row["start"], row["start"] + len(row["passage"]))
            yield _case(n, row["question"], [""], [text], places([text]), [gold])
            yield _case(f"{n}-other", row["question"], [""], [other], places([other]), [])


def papers(data: Path) -> Iterator[Case]:
    """Keyword queries, each with five passages of papers, of which people marked what answers (KRLabsOrg/acl-verbatim,
    Apache-2.0); each passage is a case."""
    for row in scripts.read(data / "acl_verbatim/gold.jsonl"):
        for one in row["results"]:
            text = one["chunk"]
            marked = (
                re.search(r"\s+".join(map(re.escape, said.split())), text, re.IGNORECASE)
                for said in one["gold_extraction"]
            )
            gold = [(0, *found.span()) for found in marked if found]
            name = f"{row['query']}/{one['document_id']}/{one['chunk_number']}"
            yield _case(name, row["query"], [one["title"]], [text], places([text]), [gold] if gold else [])


def _case(  # noqa: PLR0917  (as the fields of a Case)
    name: object,
    question: str,
    titles: Sequence[str],
    texts: Sequence[str],
    units: Sequence[Place],
    gold: Sequence[Sequence[Place]],
) -> Case:
    return Case(str(name), question, titles, texts, units, [titles[unit[0]] for unit in units], gold)


FIELDS: dict[str, tuple[str, Callable[[Path], Iterator[Case]]]] = {
    "manuals": ("manual_questions", kept_apart("manual_questions", is_held_out)),
    "papers, security, short documents": ("field_questions", kept_apart("field_questions", is_held_out)),
    "law": ("field_questions", kept_apart("field_questions", lambda row: row["set"] == "dc-law")),
    "papers, keywords": ("acl_verbatim", papers),
    "clapnq": ("clapnq", some(clapnq)),
    "squad2": ("squad2", squad2),
    "covid_qa": ("covid_qa", covid_qa),
    "bioasq": ("bioasq12b", bioasq),
    "hotpotqa": ("hotpotqa_distractor", hotpotqa),
    "repliqa": ("repliqa_mini", repliqa),
}
"""By name: the folder that it is read from, and its cases."""
