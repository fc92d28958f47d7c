"""Training data from the measuring data: train.jsonl and validate.jsonl, which stay out of the repository.

    python benchmarks/training/convert.py [--data data] [--out .equipoise/training] [--sets squad2 ...]

Which documents are for training, for validation and for reporting is said in benchmarks/splits.py; of the
last nothing is written. Unanswerable rows: squad2's own; a question with the other paragraph of its article, or
the other passage of its document, that shares most words with it; a bioasq question with another question's
snippets; a hotpotqa question with a paragraph that distracts; and with `--swapped`, a question in which a name or a
number that its text holds is replaced by another one. (`--foreign` of the trainer adds texts of other documents.)
"""

import argparse
import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from equipoise.core.types import Document
from equipoise.corpus import chunks
from equipoise.text.tokens import content_words, names, numbers

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from splits import SEED, VALIDATE, bioasq_part, covid_part, hotpot_part, squad2  # noqa: E402

Row = dict
NEAR = {"squad2": 0.15, "covid_qa": 0.3, "bioasq12b": 0.3}
"""The share of answerable questions that are also asked of a near text that does not hold the answer."""


def squad_rows(data: Path, random: Random) -> Iterator[tuple[str, Row]]:
    """(part, row) of the fitting articles."""
    questions = squad2(data, fit=True)
    paragraphs: dict[str, list[str]] = {}
    for q in questions:
        if q.paragraph not in paragraphs.setdefault(q.doc_id, []):
            paragraphs[q.doc_id].append(q.paragraph)
    for q in questions:
        part = "validate" if q.doc_id in VALIDATE else "train"
        yield part, row(q.question, q.paragraph, q.doc_id, answers=[[a, b] for a, b, _ in q.gold])
        if q.answerable and random.random() < NEAR["squad2"]:
            others = [text for text in paragraphs[q.doc_id] if text != q.paragraph]
            yield part, row(q.question, nearest(q.question, others), q.doc_id)


def covid_rows(data: Path, random: Random) -> Iterator[tuple[str, Row]]:
    """(part, row): each question with the passage that holds its answer, and half of them with another one."""
    with gzip.open(data / "covid_qa" / "documents.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = {document["doc_id"]: document["text"] for document in map(json.loads, file)}
    cut = {name: chunks.passages(Document(name, text, name)) for name, text in texts.items()}
    for question in lines(data / "covid_qa" / "questions.jsonl"):
        name, part = question["doc_id"], covid_part(question["doc_id"])
        text = texts[name]
        gold = [(a["start"], a["start"] + len(a["text"])) for a in question["answers"]]
        holding = [(a, b) for a, b in cut[name] if any(a <= s and e <= b for s, e in gold)]
        for a, b in holding[:1]:
            inside = [[s - a, e - a] for s, e in gold if a <= s and e <= b]
            yield part, row(question["question"], text[a:b], name, answers=inside)
        others = [text[a:b] for a, b in cut[name] if not any(s < b and a < e for s, e in gold)]
        if others and random.random() < NEAR["covid_qa"]:
            yield part, row(question["question"], nearest(question["question"], others), name)


def bioasq_rows(data: Path, random: Random) -> Iterator[tuple[str, Row]]:
    """(part, row): each question with one of its snippets among others, and with the nearest others alone."""
    questions = lines(data / "bioasq12b" / "questions.jsonl")
    reported = {
        s["text"] for q in questions if bioasq_part(q["question_id"]) == "report" for s in q["snippets"]
    }
    for part in ("train", "validate"):
        mine = [q for q in questions if bioasq_part(q["question_id"]) == part]
        for q in mine:
            own = [s["text"] for s in q["snippets"] if s["text"] not in reported]
            others = [s["text"] for o in mine if o is not q for s in o["snippets"]]
            others = [text for text in others if text not in own and text not in reported]
            for gold in random.sample(own, min(1, len(own))):
                text = "\n\n".join(random.sample([gold, random.choice(others)], 2))
                start = text.index(gold)
                yield part, row(q["question"], text, q["question_id"], passages=[[start, start + len(gold)]])
            if random.random() < NEAR["bioasq12b"]:
                yield part, row(q["question"], nearest(q["question"], others), q["question_id"])


def hotpot_rows(data: Path, random: Random) -> Iterator[tuple[str, Row]]:
    """(part, row): each question with the paragraphs that support its answer, and the nearest one that does not."""
    for question in lines(data / "hotpotqa_distractor" / "questions.jsonl"):
        part = hotpot_part(question["question_id"])
        gold: dict[str, set[int]] = {}
        for title, number in question["supporting"]:
            gold.setdefault(title, set()).add(number)
        others = []
        for paragraph in question["paragraphs"]:
            sentences = [sentence.strip() for sentence in paragraph["sentences"]]
            text = " ".join(sentences)
            starts = [len(" ".join(sentences[:n])) + (n > 0) for n in range(len(sentences))]
            wanted = sorted(n for n in gold.get(paragraph["title"], ()) if n < len(sentences))
            if wanted:
                passages = [[starts[n], starts[n] + len(sentences[n])] for n in wanted]
                yield part, row(question["question"], text, question["question_id"], passages=passages)
            else:
                others.append(text)
        yield part, row(question["question"], nearest(question["question"], others), question["question_id"])


def swapped(rows: Sequence[Row], share: float, random: Random) -> list[Row]:
    """That share of the answerable rows with a name or number of the question replaced by one of another question
    that the text does not hold, so that the text no longer answers."""
    known = {kind: sorted({term for r in rows for term in kind(r["question"])}) for kind in (names, numbers)}
    made = []
    for example in random.sample(rows, len(rows)):
        if len(made) >= share * len(rows):
            break
        question, text = example["question"], example["text"]
        pairs = [(kind, term) for kind in (numbers, names) for term in kind(question) if term in text]
        if (example.get("answers") or example.get("passages")) and pairs:
            kind, old = random.choice(pairs)
            others = [term for term in known[kind] if term not in text and term not in question]
            made.append(row(question.replace(old, random.choice(others)), text, example["document"]))
    return made


def row(question: str, text: str, document: str, **gold: list[list[int]]) -> Row:
    """A row in the form of `equipoise_lab.training.examples`."""
    return {"question": question, "text": text, "document": document, **gold}


def nearest(question: str, texts: Sequence[str]) -> str:
    """The text that shares most content words with the question."""
    asked = set(content_words(question))
    return max(texts, key=lambda text: len(asked & set(content_words(text))))


def lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


SETS = {"squad2": squad_rows, "covid_qa": covid_rows, "bioasq12b": bioasq_rows, "hotpotqa": hotpot_rows}


def main() -> None:
    """Write both files and say what is in them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "data")
    parser.add_argument("--out", type=Path, default=HERE.parents[1] / ".equipoise" / "training")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=["squad2", "covid_qa", "bioasq12b"])
    parser.add_argument(
        "--swapped", type=float, default=0.0, help="share of rows with a name or number swapped"
    )
    arguments = parser.parse_args()
    random = Random(SEED)
    pairs = [pair for name in arguments.sets for pair in SETS[name](arguments.data, random)]
    arguments.out.mkdir(parents=True, exist_ok=True)
    for part in ("train", "validate"):
        rows = [r for where, r in pairs if where == part]
        rows += swapped(rows, arguments.swapped, random)
        text = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)
        (arguments.out / f"{part}.jsonl").write_text(text, "utf-8")
        answerable = sum(("answers" in r and bool(r["answers"])) or "passages" in r for r in rows)
        print(
            f"{part}: {len(rows)} rows, {answerable} answerable, {len({r['document'] for r in rows})} documents"
        )


if __name__ == "__main__":
    main()
