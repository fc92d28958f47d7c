"""How often `text.claims` says that quotes agree where they do, and where they do not.

    python benchmarks/claims/agreement.py [--data DIR] [--half reporting|fitting]

Labelled pairs of our own (tests/fixtures/claim_pairs); of PoisonedRAG, texts of one question for the same wrong answer
against each other, and against themselves with the right answer in its place; of SQuAD 2.0, the sentence with the
answer against the others of its paragraph.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from splits import squad2  # noqa: E402

from equipoise.text.claims import agree, contradict  # noqa: E402
from equipoise.text.sentences import sentence_spans  # noqa: E402
from equipoise_lab.maths.statistics import wilson  # noqa: E402

FITTING = 60
"""The first questions of PoisonedRAG, on which thresholds were tried."""

Triple = tuple[str, str, str]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=ROOT / "data")
    parser.add_argument("--half", choices=("reporting", "fitting"), default="reporting")
    arguments = parser.parse_args()
    fit = arguments.half == "fitting"
    _report_pairs("tuning" if fit else "held")
    targets = _rows(arguments.data / "poisonedrag" / "targets.jsonl")
    targets = targets[:FITTING] if fit else targets[FITTING:]
    _report("PoisonedRAG, the same answer", [triple for row in targets for triple in _same(row)])
    _report("PoisonedRAG, another answer", [triple for row in targets for triple in _swapped(row)])
    _report("SQuAD 2.0, no answer", list(_beside_the_answer(arguments.data, fit=fit)))


def _report_pairs(name: str) -> None:
    rows = _rows(ROOT / "tests" / "fixtures" / "claim_pairs" / f"{name}.jsonl")
    for relation, says in (("agree", agree), ("contradict", contradict)):
        said = [says(row["question"], row["first"], row["second"]) for row in rows]
        right = [row["relation"] == relation for row in rows]
        both = sum(map(bool.__and__, said, right))
        print(f"{name}, {len(rows)} pairs, {relation}: precision {_share(both, sum(said))}, ", end="")
        print(f"recall {_share(both, sum(right))}")


def _report(name: str, triples: list[Triple]) -> None:
    agreed = sum(agree(*triple) for triple in triples)
    against = sum(contradict(*triple) for triple in triples)
    print(f"{name}: agree {_share(agreed, len(triples))}, contradict {_share(against, len(triples))}")


def _share(count: int, of: int) -> str:
    interval = wilson(count, of)
    return f"{count}/{of}" + (f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else "")


def _texts(row: dict) -> list[str]:
    """The texts that name the wrong answer and not the right one."""
    wrong, right = row["incorrect_answer"].casefold(), row["correct_answer"].casefold()
    return [text for text in row["adv_texts"] if wrong in text.casefold() and right not in text.casefold()]


def _same(row: dict) -> Iterator[Triple]:
    yield from ((row["question"], first, second) for first, second in combinations(_texts(row), 2))


def _swapped(row: dict) -> Iterator[Triple]:
    for text in _texts(row):
        other = re.sub(re.escape(row["incorrect_answer"]), lambda _: row["correct_answer"], text, flags=re.I)
        yield from ((row["question"], other, second) for second in _texts(row))


def _beside_the_answer(data: Path, *, fit: bool) -> Iterator[Triple]:
    for question in squad2(data, fit=fit):
        if question.answerable:
            text, start = question.paragraph, question.gold[0][0]
            spans = sentence_spans(text)
            telling = next((text[a:b] for a, b in spans if a <= start < b), None)
            answers = [gold.casefold() for _, _, gold in question.gold]
            for a, b in spans:
                other = text[a:b]
                if telling and other != telling and not any(gold in other.casefold() for gold in answers):
                    yield question.question, telling, other


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    main()
