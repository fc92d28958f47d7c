"""Writes the questions of squad2's fitting articles as a folder that `equipoise train` takes as --data.

    python benchmarks/calibration/squad2_questions.py [--data data] [--out .equipoise/squad2-questions]

Half of them are near misses that people wrote; the articles that `splits.py` keeps for reporting are left out.
"""

import json
import lzma
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from equipoise_lab.bench import scripts
from equipoise_lab.training.reader import PASSAGES, QUESTIONS

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reading"))

from fields import of_squad2, overlapping, places

BESIDE = 4
"""Paragraphs of an article before and after one, that may be found with it."""
Row = dict[str, Any]


def main() -> None:
    """Write both files."""
    arguments = scripts.parser(__file__, __doc__, "squad2-questions").parse_args()
    articles, asked = of_squad2(arguments.data, fitting=True)
    used = [article for name, article in articles.items() if name in {row["doc_id"] for row in asked}]
    arguments.out.mkdir(parents=True, exist_ok=True)
    _write(arguments.out / PASSAGES, (_passage(article, n) for article in used for n in _each(article)))
    _write(arguments.out / QUESTIONS, (_question(row, articles[row["doc_id"]]) for row in asked))


def _each(article: Row) -> range:
    return range(len(article["paragraphs"]))


def _passage(article: Row, n: int) -> Row:
    text = article["paragraphs"][n]
    units = [(start, end, "", 0) for _, start, end in places([text])]
    title = article["title"].replace("_", " ")
    return {"passage": _name(article, n), "title": title, "headings": [], "text": text, "units": units}


def _question(row: Row, article: Row) -> Row:
    n = row["paragraph"]
    units = places([article["paragraphs"][n]])
    told = [overlapping(units, 0, x["start"], x["start"] + len(x["text"])) for x in row["answers"]]
    gold = sorted({units.index(unit) for some in told for unit in some}) if row["answerable"] else []
    near = [_name(article, k) for k in _each(article) if 0 < abs(k - n) <= BESIDE]
    own = {"id": row["question_id"], "set": row["doc_id"].removeprefix("sq-"), "passage": _name(article, n)}
    return own | {"kind": "plain", "question": row["question"], "gold": gold, "near": near}


def _name(article: Row, n: int) -> str:
    return f"{article['doc_id']}:{n}"


def _write(path: Path, rows: Iterable[Row]) -> None:
    with lzma.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)


if __name__ == "__main__":
    main()
