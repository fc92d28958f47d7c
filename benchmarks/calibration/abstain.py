"""Fits, for one language model, the probability that passages answer a question: `rag/abstention.json`.

    python benchmarks/calibration/abstain.py [--llm local/qwen2.5-coder-1.5b] [--limit 120] [--data ../shared/data]

A logistic model over two log-odds, "yes" as the first token of a plain check and the clues of the sentence
highlighter, on questions of the squad2 articles of `splits.FIT`, half of them not answerable. The threshold is the
one with the best F1 of declining on the same questions. What that comes to on other articles is measured by
`benchmarks/qa`. Replies are kept, so a stopped run goes on.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path

import numpy as np
from fit import logistic

from equipoise.core import settings as layers
from equipoise.core.types import Passage, Query
from equipoise.maths.calibration import auc, best_threshold
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag import build
from equipoise.rag.abstention import LIMIT, Check, calibration
from equipoise.rag.highlighters.sentences import sentences_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

from splits import Question, balanced, squad2  # noqa: E402

TARGET = ROOT / "src" / "equipoise" / "rag" / "abstention.json"
REPLIES = ROOT / ".equipoise" / "bench-abstain" / "replies.db"


def main() -> None:
    """Ask, fit, write."""
    arguments = _arguments()
    flags = {"model.llm": arguments.llm, "model.replay": str(REPLIES)}
    chat = build.chat_model(layers.load(flags, environment={}).settings.model)
    check = Check(chat, EmbeddedEncoder(), calibration(""))
    questions = balanced(squad2(arguments.data, fit=True), arguments.limit)
    odds = np.clip(asyncio.run(_odds(check, questions)), -LIMIT, LIMIT)
    answerable = np.array([q.answerable for q in questions])
    weights, bias = logistic(odds, answerable.astype(float), np.ones(len(odds)))
    chance = _probability(odds @ weights + bias)
    threshold = best_threshold(chance, answerable).value
    stored = json.loads(TARGET.read_text("utf-8"))
    fitted = {"check": weights[0], "clues": weights[1], "bias": bias, "threshold": threshold}
    stored["models"][chat.name] = {name: round(float(value), 4) for name, value in fitted.items()}
    TARGET.write_text(json.dumps(stored, indent=2) + "\n", "utf-8")
    rows = {"check alone": _probability(odds[:, 0]), "clues alone": _probability(odds[:, 1]), "both": chance}
    lines = [
        f"# {chat.name}, {len(questions)} questions of the fitting articles",
        "",
        "| | AUC | best F1 of declining |",
        "|---|---|---|",
        *(
            f"| {name} | {auc(found, answerable):.2f} | {best_threshold(found, answerable).score:.2f} |"
            for name, found in rows.items()
        ),
        "",
        "The best F1 is in sample: it flatters. `benchmarks/qa` has the figures on other articles.",
    ]
    (HERE / "abstain.md").write_text("\n".join(lines) + "\n", "utf-8")


async def _odds(check: Check, questions: list[Question]) -> np.ndarray:
    """(n, 2) log-odds of the check and of the clues."""
    rows = []
    for number, q in enumerate(questions, 1):
        passage = Passage(1, q.doc_id, 0, len(q.paragraph), q.paragraph, q.title)
        said, clues, _, _ = await check.odds(Query(q.question), sentences_of([passage]))
        rows.append((said, clues))
        print(f"{number}/{len(questions)}", file=sys.stderr)
    return np.array(rows)


def _probability(odds: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-odds))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--llm", default="local/qwen2.5-coder-1.5b")
    parser.add_argument("--limit", type=int, default=120)
    return parser.parse_args()


if __name__ == "__main__":
    main()
