"""`trained` against `sentence` on documents neither was fitted on: rows in results.jsonl, table.md beside this file.

    python benchmarks/training/run.py [--data ../shared/data] [--fit | --table]

Four sets: squad2 questions with their own paragraph, half of them look-alikes that it does not answer; squad2
questions with five paragraphs of another article; covid_qa questions with the passage that answers and the four
others of the article nearest to the question, and with the five nearest of another article; bioasq12b questions with
one of their snippets among four of other questions. Nothing was chosen on these (benchmarks/splits.py). Both
highlighters are asked the same question one after the other, so that seconds are comparable. `--fit` runs on the
fitting documents instead, a few questions a set, and writes nothing.
"""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from equipoise.core import sync
from equipoise.core.types import Document, Passage, Query, Span
from equipoise.corpus import chunks
from equipoise.maths.statistics import mcnemar_exact
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.models.reader import SentenceReader
from equipoise.rag.highlighters.sentence import SentenceHighlighter, calibration
from equipoise.rag.highlighters.sentences import sentences_of
from equipoise.rag.highlighters.trained import TrainedHighlighter

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent / "quality"))

from splits import SEED, Question, balanced, bioasq_part, covid_part, elsewhere, squad2  # noqa: E402
from table import f1, share  # noqa: E402

RESULTS, TABLE = HERE / "results.jsonl", HERE / "table.md"
BESIDE, FOREIGN = 4, 150
"""Passages beside the first one; questions about another article."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question over passages; `gold` are the answers' places in the documents, none where nothing answers."""

    suite: str
    case_id: str
    question: str
    passages: tuple[Passage, ...]
    gold: tuple[Span, ...]


class Nearest:
    """Finds the texts nearest to a question, each encoded once."""

    def __init__(self, encoder: EmbeddedEncoder) -> None:
        self.encoder, self.known = encoder, {}

    def __call__(self, question: str, texts: Sequence[str], count: int) -> list[str]:
        new = [text for text in texts if text not in self.known]
        self.known.update(zip(new, self.encoder.encode(new), strict=True))
        scores = np.stack([self.known[text] for text in texts]) @ self.encoder.encode([question])[0]
        return [texts[row] for row in np.argsort(-scores, kind="stable")[:count]]


def squad_cases(data: Path, nearest: Nearest, *, fit: bool) -> Iterator[Case]:
    """Look-alikes over one paragraph, then questions over five paragraphs of another article."""
    questions = squad2(data, fit=fit)
    for q in questions:
        passage = Passage(1, q.doc_id, 0, len(q.paragraph), q.paragraph, q.title)
        gold = tuple(Span(q.doc_id, a, b) for a, b, _ in q.gold)
        yield Case("squad2, look-alikes", q.question_id, q.question, (passage,), gold)
    articles: dict[str, list[str]] = {}
    for q in questions:
        if q.paragraph not in articles.setdefault(q.doc_id, []):
            articles[q.doc_id].append(q.paragraph)
    for q in Random(SEED).sample(elsewhere(questions), FOREIGN):
        yield Case("squad2, another article", q.question_id, q.question, _five(q, articles, nearest), ())


def _five(question: Question, articles: dict[str, list[str]], nearest: Nearest) -> tuple[Passage, ...]:
    others = [text for text in articles[question.doc_id] if text != question.paragraph]
    return _passages([question.paragraph, *nearest(question.question, others, BESIDE)], question.title)


def covid_cases(data: Path, nearest: Nearest, part: str) -> Iterator[Case]:
    """Each question over five passages of its own article, and over five of the next one."""
    with gzip.open(data / "covid_qa" / "documents.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = {row["doc_id"]: row["text"] for row in map(json.loads, file)}
    mine = [name for name in documents if covid_part(name) == part]
    after = dict(zip(mine, [*mine[1:], mine[0]], strict=True))
    cut = {name: chunks.passages(Document(name, documents[name], name)) for name in mine}
    for row in _rows(data / "covid_qa" / "questions.jsonl"):
        name = row["doc_id"]
        if name not in cut:
            continue
        text, asked = documents[name], row["question"]
        gold = [(a["start"], a["start"] + len(a["text"])) for a in row["answers"]]
        holding = [(a, b) for a, b in cut[name] if any(a < e and s < b for s, e in gold)][:1]
        others = [text[a:b] for a, b in cut[name] if not any(a < e and s < b for s, e in gold)]
        if not holding:
            continue
        (first, last) = holding[0]
        passages = _passages([text[first:last], *nearest(asked, others, BESIDE)])
        spans = tuple(Span("p0", max(0, s - first), e - first) for s, e in gold if s < last and first < e)
        yield Case("covid_qa, own article", row["question_id"], asked, passages, spans)
        foreign = [documents[after[name]][a:b] for a, b in cut[after[name]]]
        passages = _passages(nearest(asked, foreign, BESIDE + 1))
        yield Case("covid_qa, another article", row["question_id"], asked, passages, ())


def bioasq_cases(data: Path, part: str) -> Iterator[Case]:
    """Each question over one of its snippets among four of other questions, and over those four alone."""
    random = Random(SEED)
    mine = [q for q in _rows(data / "bioasq12b" / "questions.jsonl") if bioasq_part(q["question_id"]) == part]
    for row in mine:
        own = [s["text"] for s in row["snippets"]]
        others = [s["text"] for q in mine if q is not row for s in q["snippets"] if s["text"] not in own]
        beside, gold = random.sample(others, BESIDE), random.choice(own)
        spans = (Span("p0", 0, len(gold)),)
        yield Case(
            "bioasq12b, own snippet",
            row["question_id"],
            row["question"],
            _passages([gold, *beside]),
            spans,
        )
        yield Case("bioasq12b, other snippets", row["question_id"], row["question"], _passages(beside), ())


def _passages(texts: Sequence[str], title: str = "") -> tuple[Passage, ...]:
    return tuple(Passage(n, f"p{n}", 0, len(text), text, title) for n, text in enumerate(texts))


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def measure(cases: Sequence[Case], encoder: EmbeddedEncoder) -> Iterator[dict]:
    """A row for each case and highlighter."""
    known = {
        "sentence": SentenceHighlighter(encoder, calibration()),
        "trained": TrainedHighlighter(SentenceReader()),
    }
    for number, case in enumerate(cases, 1):
        for name, highlighter in known.items():
            begin = time.perf_counter()
            spans = sync.run(highlighter.highlight(Query(case.question), case.passages)).spans
            seconds = time.perf_counter() - begin
            hit = any(
                s.doc_id == g.doc_id and s.start < g.end and g.start < s.end for s in spans for g in case.gold
            )
            yield {
                "suite": case.suite,
                "case_id": case.case_id,
                "highlighter": name,
                "answerable": bool(case.gold),
                "declined": not spans,
                "evidence_hit": hit if case.gold else None,
                "highlighted": len(spans),
                "sentences": len(sentences_of(case.passages)),
                "seconds": round(seconds, 5),
            }
        if number % 100 == 0:
            print(f"{number}/{len(cases)}", file=sys.stderr)


def table(rows: Sequence[dict], first: frozenset[str]) -> str:
    """Markdown; `first` are the ids of the 200 look-alike questions of splits.balanced."""
    head = (
        "| questions | highlighter | n | evidence hit | decline precision | decline recall | decline F1 "
        "| sentences highlighted | ms a sentence |"
    )
    lines = [head, "|" + "---|" * 9]
    alike = [r for r in rows if r["suite"] == "squad2, look-alikes"]
    suites = {"squad2, look-alikes, 200 of splits.balanced": [r for r in alike if r["case_id"] in first]}
    suites["squad2, look-alikes"] = alike
    for name in ("squad2, another article", "covid_qa", "bioasq12b"):
        suites[name] = [r for r in rows if r["suite"].startswith(name)]
    for name, mine in suites.items():
        for highlighter in ("sentence", "trained"):
            lines.append(_line(name, highlighter, [r for r in mine if r["highlighter"] == highlighter]))
        lines.append(_paired(name, mine))
    return "\n".join(lines) + "\n"


def _line(name: str, highlighter: str, rows: Sequence[dict]) -> str:
    yes, no = [r for r in rows if r["answerable"]], [r for r in rows if not r["answerable"]]
    declined = [r for r in rows if r["declined"]]
    cells = [
        share(yes, lambda r: r["evidence_hit"]),
        share(declined, lambda r: not r["answerable"]) if yes else "-",
        share(no, lambda r: r["declined"]),
        f1(rows) if yes else "-",
        f"{np.mean([r['highlighted'] for r in yes or rows]):.2f}",
        f"{1000 * sum(r['seconds'] for r in rows) / sum(r['sentences'] for r in rows):.1f}",
    ]
    return f"| {name} | `{highlighter}` | {len(rows)} | {' | '.join(cells)} |"


def _paired(name: str, rows: Sequence[dict]) -> str:
    """Evidence hits and declines that only one of the two has, with McNemar's exact p; the ratio of seconds."""
    by = {(r["suite"], r["case_id"], r["highlighter"]): r for r in rows}
    pairs = [(r, by[r["suite"], r["case_id"], "trained"]) for r in rows if r["highlighter"] == "sentence"]
    cells = []
    for answerable, field in ((True, "evidence_hit"), (False, "declined")):
        mine = [(a[field], b[field]) for a, b in pairs if a["answerable"] == answerable]
        lost, won = sum(a and not b for a, b in mine), sum(b and not a for a, b in mine)
        cells.append(f"+{won} -{lost} (p {mcnemar_exact(won, lost):.2g})" if mine else "-")
    ratio = sum(b["seconds"] for _, b in pairs) / sum(a["seconds"] for a, _ in pairs)
    return f"| {name} | difference | {len(pairs)} | {cells[0]} | | {cells[1]} | | | x {ratio:.2f} |"


def main() -> None:
    """Measure and write, or write the table again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE.parents[2] / "shared" / "data")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    wanted = balanced(squad2(arguments.data, fit=arguments.fit), 200)
    first = frozenset(q.question_id for q in wanted)
    if arguments.table:
        TABLE.write_text(table(_rows(RESULTS), first), "utf-8")
        return
    encoder = EmbeddedEncoder()
    nearest, part = Nearest(encoder), "validate" if arguments.fit else "report"
    cases = [
        *squad_cases(arguments.data, nearest, fit=arguments.fit),
        *covid_cases(arguments.data, nearest, part),
        *bioasq_cases(arguments.data, part),
    ]
    if arguments.fit:
        cases = Random(SEED).sample(cases, 120)
    rows = list(measure(cases, encoder))
    if not arguments.fit:
        RESULTS.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        TABLE.write_text(table(rows, first), "utf-8")
    print(table(rows, first))


if __name__ == "__main__":
    main()
