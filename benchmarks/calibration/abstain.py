"""Fits, for one language model, the probability that passages answer a question: `abstention.json`.

    python benchmarks/calibration/abstain.py [--llm local/qwen2.5-coder-1.5b] [--cache DIR] [--data data]

A logistic model over two log-odds, "yes" as the first token of a plain check and the second opinion (`reader`, or
`sentence` for other languages than English), on the questions of the fitting sets of benchmarks/field (fetch them
first) and half of those on squad2 that `reader.py` draws, through retrieval and reranking as in the product. Both
sources weigh the same. The threshold is the highest that still lets RECALL of the answerable questions through;
probabilities for it come from folds that leave whole sets and articles out. Rows and replies are kept, so that
interrupted runs resume. Fit the reader first: a change of it wants another --out.
"""

import asyncio
import json
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence

import numpy as np
import reader
from fit import logistic

from equipoise.core import settings as layers
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions
from equipoise.evaluation.results import Lines, check_config
from equipoise.models.odds import LIMIT
from equipoise.rag import build
from equipoise.rag.highlighters import evidence, sentence
from equipoise.rag.highlighters.abstention import check_odds, log_odds
from equipoise.rag.highlighters.reader import ReaderHighlighter
from equipoise.rag.highlighters.sentence import SentenceHighlighter
from equipoise_lab.maths.calibration import auc, best_threshold

TARGET = reader.ROOT / "src" / "equipoise" / "rag" / "highlighters" / "abstention.json"
CHECK, SECOND = "check", ("reader", "sentence")
RECALL, FOLDS = 0.88, 8
OF_SAMPLE = 2  # every second one of the squad2 questions of reader.py
Row = reader.Row


def main() -> None:
    """Ask, fit, write."""
    parser = reader.options(__doc__, "bench-abstain")
    parser.add_argument("--llm", default="local/qwen2.5-coder-1.5b")
    arguments = parser.parse_args()
    check_config(arguments.out, {"llm": arguments.llm, "reader": evidence.calibration().weights.tolist()})
    flags = {"model.llm": arguments.llm, "model.replay": str(arguments.out / "replies.db")}
    chat = build.chat_model(layers.load(flags, environment={}).settings.model)
    with Lines(arguments.out / "rows.jsonl", reader.KEY) as lines:
        for name in arguments.only or [*reader.field_names(), "squad2"]:
            asyncio.run(_collect(name, chat, arguments, lines))
        rows = lines.rows()
    table = report(rows, arguments.llm)
    if not arguments.dry:
        stored = json.loads(TARGET.read_text("utf-8"))
        stored[chat.name] = {name: fitted(rows, name) for name in SECOND}
        TARGET.write_text(json.dumps(stored, indent=2) + "\n", "utf-8")
        (reader.HERE / "abstain.md").write_text(table, "utf-8")
    print(table)


async def _collect(name: str, chat: ChatModel, arguments: Namespace, lines: Lines) -> None:
    ranker = reader.Reader()
    second = {
        "reader": ReaderHighlighter(ranker.reranker, evidence.calibration(), 0.0),
        "sentence": SentenceHighlighter(ranker.encoder, sentence.calibration(), 0.0),
    }
    number = 0
    async for key, question, answerable, is_gold, store in reader.cases(name, arguments, lines):
        number += 1
        if lines.key_of(key) in lines or (name in reader.SAMPLE and number % OF_SAMPLE):
            continue
        query = ranker.query(store, question)
        passages = ranker.ranked(store, query)[1].passages[: reader.K]
        odds, _ = await check_odds(chat, query, passages, ChatOptions())
        row = {**key, "answerable": answerable, "check": cut(odds)}
        row["read"] = any(is_gold(passage, 0, len(passage.text)) for passage in passages)
        for kind, highlighter in second.items():
            proposal = await highlighter.highlight(query, passages)
            row[kind] = round(log_odds(proposal.probability or 0.0), 4)
        lines.append(row)
        print(f"{name} {number}", file=sys.stderr)


def cut(odds: float) -> float:
    """Between -LIMIT and LIMIT."""
    return round(max(-LIMIT, min(LIMIT, odds)), 4)


def fitted(rows: Sequence[Row], second: str) -> dict[str, float]:
    """The calibration of the check with that second opinion."""
    weights, bias = _logistic(rows, [CHECK, second])
    chance, truth = out_of_fold(rows, [CHECK, second]), _truth(rows)
    threshold = float(np.quantile(chance[truth], 1 - RECALL, method="lower"))
    values = {CHECK: weights[0], "second": weights[1], "bias": bias, "threshold": threshold}
    return {name: round(float(value), 4) for name, value in values.items()}


def out_of_fold(rows: Sequence[Row], names: Sequence[str]) -> np.ndarray:
    """(n,) probabilities, each fitted on the folds without the row's set or article."""
    groups = {name: n % FOLDS for n, name in enumerate(sorted({(r["source"], r["group"]) for r in rows}))}
    fold = np.array([groups[row["source"], row["group"]] for row in rows])
    chance = np.zeros(len(rows))
    for n in sorted(set(fold.tolist())):
        weights, bias = _logistic([row for row, f in zip(rows, fold, strict=True) if f != n], names)
        mine = np.flatnonzero(fold == n)
        chance[mine] = 1 / (1 + np.exp(-(_matrix([rows[i] for i in mine], names) @ weights + bias)))
    return chance


def _logistic(rows: Sequence[Row], names: Sequence[str]) -> tuple[np.ndarray, float]:
    count = Counter(row["source"] for row in rows)
    weights = np.array([1 / count[row["source"]] for row in rows])
    return logistic(_matrix(rows, names), _truth(rows).astype(float), weights, reader.RIDGE)


def _matrix(rows: Sequence[Row], names: Sequence[str]) -> np.ndarray:
    return np.array([[row[name] for name in names] for row in rows])


def _truth(rows: Sequence[Row]) -> np.ndarray:
    return np.array([row["answerable"] for row in rows])


def report(rows: Sequence[Row], model: str) -> str:
    """The figures, out of fold, in Markdown."""
    lines = [
        f"# {model}",
        "",
        f"Out of fold; the threshold lets {RECALL:.0%} of all answerable questions through.",
        "",
        "| | n | with answer | by | AUC | best F1 of declining | answered, with answer | declined, without | F1 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for names in ([CHECK], *([each] for each in SECOND), *([CHECK, each] for each in SECOND)):
        chance, truth = out_of_fold(rows, names), _truth(rows)
        threshold = np.quantile(chance[truth], 1 - RECALL, method="lower")
        for source in ("field", "squad2"):
            mine = np.array([row["source"] == source for row in rows])
            lines.append(_line(source, " and ".join(names), chance[mine], truth[mine], threshold))
    return "\n".join(lines) + "\n"


def _line(source: str, by: str, chance: np.ndarray, truth: np.ndarray, threshold: float) -> str:
    declined = chance < threshold
    both, counted = int((declined & ~truth).sum()), int(declined.sum() + (~truth).sum())
    figures = [
        auc(chance, truth),
        best_threshold(chance, truth).score,
        np.mean(~declined[truth]),
        np.mean(declined[~truth]),
        2 * both / counted if counted else 0.0,
    ]
    cells = [source, str(len(truth)), str(int(truth.sum())), by, *(f"{value:.2f}" for value in figures)]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
