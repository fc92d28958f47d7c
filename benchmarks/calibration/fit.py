"""Fits the sentence highlighter: weights over its features, the least probability that answers.

    python benchmarks/calibration/fit.py [--encoder multilingual] [--limit 300] [--data data]

Ranking: logistic regression over the sentences of answerable questions for "overlaps a gold answer".
Answerability: logistic regression over the features of each question's best sentence. Threshold: the one that
handles the largest weighted share of questions right (evidence found, or declined where there is none).

Fitted on the squad2 articles of `splits.FIT`, each question against its own paragraph (half of them look
answerable and are not) and against a paragraph of another article, and on repliqa_mini questions against
their own and another document. Writes the encoder's part of sentence.json, and the figures on the reporting articles
to result.md (result-ENCODER.md); nothing is chosen on those. `--limit` draws so many questions of each kind. With
`multilingual` and a limit of 300 it took five minutes of processor time, and all of it takes about twice as long.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
from scipy.optimize import minimize

from equipoise.core.protocols import Encoder
from equipoise.core.types import Passage
from equipoise.models.encoder import encode_questions, is_e5
from equipoise.rag import build
from equipoise.rag.highlighters.features import FEATURES, features
from equipoise.rag.highlighters.sentence import Calibration
from equipoise.rag.highlighters.sentences import sentences_of
from equipoise_lab.bench import scripts

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from splits import SEED, Question, elsewhere, repliqa, squad2  # noqa: E402

TARGET = HERE.parents[1] / "src" / "equipoise" / "rag" / "highlighters" / "sentence.json"
KEEP, MOST, RIDGE = 0.5, 3, 1e-4
E5_SPREAD = 1 / 6
"""E5's cosines lie in about a sixth of the width of MiniLM's; a weight on them is as much larger, which is not the
ridge's business."""
COSINES = frozenset({"similarity", "window_similarity", "passage_similarity", "below_best"})
Case = tuple[np.ndarray, np.ndarray, bool]


class Remembering:
    """An encoder that encodes each text, and each question, once."""

    def __init__(self, inner: Encoder) -> None:
        self.inner, self.texts, self.questions = inner, {}, {}

    def learn(self, texts: Sequence[str], *, asked: bool = False) -> dict[str, np.ndarray]:
        known = self.questions if asked else self.texts
        new = sorted({text for text in texts if text not in known}, key=len)
        for start in range(0, len(new), 256):
            batch = new[start : start + 256]
            rows = encode_questions(self.inner, batch) if asked else self.inner.encode(batch)
            known.update(zip(batch, rows, strict=True))
            print(f"encoded {start + len(batch)}/{len(new)}", file=sys.stderr)
        return known

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        known = self.learn(texts)
        return np.stack([known[text] for text in texts])

    def encode_questions(self, questions: Sequence[str]) -> np.ndarray:
        known = self.learn(questions, asked=True)
        return np.stack([known[text] for text in questions])


def cases(questions: Sequence[Question], encoder: Remembering, *, beside: int = 0) -> list[Case]:
    """(features (n, f), gold (n,), answerable) of every question over its paragraph.

    With `beside`, over so many of the article's other paragraphs too, the nearest to the question.
    """
    articles: dict[str, dict[str, Passage]] = {}
    for q in questions:
        articles.setdefault(q.doc_id, {})[q.paragraph] = _passage(q)
    encoder.learn([q.question for q in questions], asked=True)
    encoder.learn([p for a in articles.values() for p in a] if beside else [])
    encoder.learn([s.text for a in articles.values() for s in sentences_of(list(a.values()))])
    rows = []
    for q in questions:
        group = sentences_of([_passage(q), *_nearest(q, articles[q.doc_id], encoder, beside)])
        own = [s.passage.text == q.paragraph for s in group]
        gold = [
            mine and any(s.start < b and a < s.end for a, b, _ in q.gold)
            for s, mine in zip(group, own, strict=True)
        ]
        rows.append((features(q.question, group, encoder), np.array(gold), q.answerable))
    return rows


def _nearest(
    question: Question, article: dict[str, Passage], encoder: Remembering, count: int
) -> list[Passage]:
    others = [text for text in article if text != question.paragraph]
    if not count or not others:
        return []
    scores = encoder.encode(others) @ encoder.encode_questions([question.question])[0]
    return [article[others[row]] for row in np.argsort(-scores, kind="stable")[:count]]


def logistic(
    x: np.ndarray, y: np.ndarray, weight: np.ndarray, ridge: float = RIDGE
) -> tuple[np.ndarray, float]:
    """Weights and bias of a logistic regression with a ridge."""
    weight = weight / weight.sum()

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        z = x @ theta[1:] + theta[0]
        error = weight * (1 / (1 + np.exp(-z)) - y)
        value = float(weight @ (np.logaddexp(0, z) - y * z) + ridge * theta[1:] @ theta[1:])
        return value, np.concatenate([[error.sum()], x.T @ error + 2 * ridge * theta[1:]])

    best = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B").x
    return best[1:], float(best[0])


def fit(groups: Sequence[tuple[float, Sequence[Case]]], spread: float = 1.0) -> Calibration:
    """Ranking on all answerable questions, then answerability on the best sentence of every question.

    `groups` are (weight, cases); weights say how much each kind of question counts. `spread` is the width of the
    encoder's cosines, that of MiniLM being 1.
    """
    unit = np.array([spread if name in COSINES else 1.0 for name in FEATURES])
    asked = [case for _, rows in groups for case in rows if case[2]]
    x = np.concatenate([matrix for matrix, _, _ in asked])
    y = np.concatenate([gold for _, gold, _ in asked]).astype(float)
    rank = logistic(x / unit, y, np.ones(len(y)))[0] / unit
    best = np.array([matrix[np.argmax(matrix @ rank)] for _, rows in groups for matrix, _, _ in rows])
    answers = np.array([a for _, rows in groups for _, _, a in rows], dtype=float)
    weight = np.array([share / len(rows) for share, rows in groups for _ in rows])
    scaled, bias = logistic(best / unit, answers, weight)
    answer = scaled / unit
    rough = Calibration(rank, answer, bias, 0.0, KEEP, MOST)
    thresholds = np.linspace(0.02, 0.9, 89)
    threshold = max(thresholds, key=lambda t: sum(w * right(rows, rough, t) for w, rows in groups))
    return Calibration(rank, answer, bias, float(threshold), KEEP, MOST)


def right(rows: Sequence[Case], fitted: Calibration, threshold: float | None = None) -> float:
    """Share of questions handled right: evidence found, or declined where there is none."""
    picked = [(fitted.choose(matrix, threshold), gold, answerable) for matrix, gold, answerable in rows]
    return float(np.mean([bool(gold[c].any()) if answerable else not c for c, gold, answerable in picked]))


def report(yes: Sequence[Case], no: Sequence[Case], fitted: Calibration) -> dict[str, float]:
    """Evidence hit and declining at the fitted threshold; AUC of the probability that it answers."""
    chances = [
        np.array([fitted.probability(matrix[np.argmax(matrix @ fitted.rank)]) for matrix, _, _ in rows])
        for rows in (yes, no)
    ]
    wrong = sum(not fitted.choose(matrix) for matrix, _, _ in yes)
    declined = sum(not fitted.choose(matrix) for matrix, _, _ in no)
    precision, recall = declined / (wrong + declined), declined / len(no)
    return {
        "answerable": len(yes),
        "not answerable": len(no),
        "best sentence is gold": float(np.mean([bool(g[np.argmax(m @ fitted.rank)]) for m, g, _ in yes])),
        "AUC answerable": float((chances[0][:, None] > chances[1][None, :]).mean()),
        "evidence hit": right(yes, fitted),
        "sentences highlighted": float(np.mean([len(fitted.choose(m)) for m, _, _ in yes])),
        "decline precision": float(precision),
        "decline recall": float(recall),
        "decline F1": float(2 * precision * recall / (precision + recall)),
    }


def split(rows: Sequence[Case]) -> tuple[list[Case], list[Case]]:
    """Answerable and not answerable."""
    return [row for row in rows if row[2]], [row for row in rows if not row[2]]


def main() -> None:
    """Fit, write, report."""
    parser = scripts.parser(__file__, __doc__)
    parser.add_argument("--encoder", default="minilm", help="minilm, multilingual or hf/NAME")
    parser.add_argument("--limit", type=int, help="questions of each kind; by default all")
    arguments = parser.parse_args()
    data, limit, inner = arguments.data, arguments.limit, build.encoder(arguments.encoder)
    encoder = Remembering(inner)
    old, new = drawn(squad2(data, fit=True), limit), drawn(squad2(data, fit=False), limit)
    yes, hard = split(cases(old, encoder))
    wide, _ = split(cases(old, encoder, beside=4))
    off = cases(elsewhere(old), encoder, beside=4)
    story, other = split(cases(drawn(repliqa(data), limit), encoder))
    groups = [(0.2, yes), (0.2, wide), (0.2, hard), (0.2, off), (0.1, story), (0.1, other)]
    of_e5 = arguments.encoder == "multilingual" or is_e5(arguments.encoder)
    fitted = fit(groups, E5_SPREAD if of_e5 else 1.0)
    stored = json.loads(TARGET.read_text("utf-8")) | {inner.name: _stored(fitted, len(old))}
    TARGET.write_text(json.dumps(stored, indent=2) + "\n")
    new_yes, new_hard = split(cases(new, encoder))
    new_wide, new_wide_hard = split(cases(new, encoder, beside=4))
    new_off = cases(elsewhere(new), encoder, beside=4)
    tables = {
        "fitting: squad2, look-alike questions": report(yes, hard, fitted),
        "fitting: squad2, five paragraphs of another article": report(wide, off, fitted),
        "fitting: repliqa_mini, another document": report(story, other, fitted),
        "reporting: squad2, look-alike questions": report(new_yes, new_hard, fitted),
        "reporting: squad2, look-alike questions, five paragraphs": report(new_wide, new_wide_hard, fitted),
        "reporting: squad2, five paragraphs of another article": report(new_wide, new_off, fitted),
    }
    ending = "" if arguments.encoder == "minilm" else f"-{arguments.encoder.replace('/', '-')}"
    (HERE / f"result{ending}.md").write_text(_markdown(tables))
    print(_markdown(tables), json.dumps(stored[inner.name], indent=2))


def drawn(questions: list[Question], limit: int | None) -> list[Question]:
    """So many of the questions, in their order."""
    if not limit or limit >= len(questions):
        return questions
    return [questions[row] for row in sorted(Random(SEED).sample(range(len(questions)), limit))]


def _stored(fitted: Calibration, asked: int) -> dict:
    return {
        "fitted_by": f"benchmarks/calibration/fit.py on {asked} questions of squad2 (4 of 9 articles) and repliqa_mini",
        "rank": {name: round(float(w), 4) for name, w in zip(FEATURES, fitted.rank, strict=True)},
        "answer": {name: round(float(w), 4) for name, w in zip(FEATURES, fitted.answer, strict=True)},
        "bias": round(fitted.bias, 4),
        "threshold": round(fitted.threshold, 4),
        "keep": fitted.keep,
        "most": fitted.most,
    }


def _markdown(tables: dict[str, dict[str, float]]) -> str:
    names = list(next(iter(tables.values())))
    lines = ["| | " + " | ".join(names) + " |", "|" + "---|" * (len(names) + 1)]
    for name, row in tables.items():
        cells = [f"{row[n]:.2f}" if isinstance(row[n], float) else str(row[n]) for n in names]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _passage(question: Question) -> Passage:
    return Passage(1, question.doc_id, 0, len(question.paragraph), question.paragraph, question.title)


if __name__ == "__main__":
    main()
