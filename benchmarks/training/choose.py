"""How THRESHOLD and KEEP of `trained` were chosen: its figures on the held-out documents, for a grid of both.

    python benchmarks/training/choose.py [--rows .equipoise/training/validate.jsonl]

The rows are those of convert.py, and half of the answerable questions again with another document's text.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from equipoise.core.types import Passage
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.models.reader import SentenceReader
from equipoise.rag.highlighters.clues import features
from equipoise.rag.highlighters.sentence import calibration
from equipoise.rag.highlighters.sentences import sentences_of
from equipoise.rag.highlighters.trained import choose
from equipoise.text.sentences import sentence_spans
from equipoise.training.examples import Example, foreign, read_examples

ROOT = Path(__file__).resolve().parents[2]
SEED = 20261121
Picked = tuple[list[int], np.ndarray]


def main() -> None:
    """Print the grid."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, default=ROOT / ".equipoise" / "training" / "validate.jsonl")
    own = read_examples([parser.parse_args().rows])
    examples = [*own, *foreign(own, 0.5, SEED)]
    kinds = [example.document[:2] for example in own] + ["foreign"] * (len(examples) - len(own))
    reader, encoder, fitted = SentenceReader(), EmbeddedEncoder(), calibration()
    gold, margins, clues = [], [], []
    for example in examples:
        spans = sentence_spans(example.text)
        wanted = example.targets("answer")
        gold.append(np.array([any(a < d and c < b for c, d in wanted) for a, b in spans]))
        margins.append(reader.margins(example.question, example.text, spans))
        title = example.document[3:].replace("_", " ") if example.document.startswith("sq-") else ""
        passage = Passage(1, example.document, 0, len(example.text), example.text, title)
        clues.append(features(example.question, sentences_of([passage]), encoder))
    print(
        "| | evidence hit | squad2 | covid_qa | declined: look-alikes | foreign | sentences |\n|" + "---|" * 7
    )
    print(
        line("sentence", examples, kinds, [(fitted.choose(c), g) for c, g in zip(clues, gold, strict=True)])
    )
    for keep in (1.0, 0.5, 0.2):
        for threshold in (0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6):
            picked = [(choose(m, threshold, keep), g) for m, g in zip(margins, gold, strict=True)]
            print(line(f"keep {keep}, threshold {threshold}", examples, kinds, picked))


def line(name: str, examples: Sequence[Example], kinds: Sequence[str], picked: Sequence[Picked]) -> str:
    """A row of the table."""
    kind, yes = np.array(kinds), np.array([example.answerable for example in examples])
    hit = np.array([bool(gold[rows].any()) if rows else False for rows, gold in picked])
    declined = np.array([not rows for rows, _ in picked])
    foreign_ = kind == "foreign"
    cells = [hit[yes], hit[yes & (kind == "sq")], hit[yes & (kind == "cq")]]
    cells += [declined[~yes & ~foreign_], declined[foreign_], np.array([len(p) for p, _ in picked])[yes]]
    return f"| {name} | {' | '.join(f'{cell.mean():.2f}' for cell in cells)} |"


if __name__ == "__main__":
    main()
