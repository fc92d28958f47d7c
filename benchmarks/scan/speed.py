"""How much processor time the scan of 100,000 sentences takes.

    python benchmarks/scan/speed.py [--data data] [--sentences 100000]

Texts of covid_qa, debate_passages, squad2 and pubmedqa, taken again (with their number in each paragraph) until there
are enough; cutting them into sentences is not counted, since reading and cutting files is what `index` does too.
"""

import argparse
import gzip
import json
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from run import document, lines, rows, squad

from equipoise.core.types import Document
from equipoise.redteam.scan import Scanned, load, scan


def texts(data: Path) -> Iterator[str]:
    """The texts once."""
    with gzip.open(data / "covid_qa" / "documents.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from (json.loads(line)["text"] for line in file)
    yield from (text for _, text in lines("debate_passages/corpus.jsonl", "text", "_id")(data))
    yield from (text for _, text in squad(data))
    yield from ("\n\n".join(row["context"]) for row in rows(data / "pubmedqa" / "questions.jsonl"))


def enough(data: Path, sentences: int) -> list[Document]:
    """Documents with so many sentences or a few more."""
    documents: list[Document] = []
    left = sentences
    for turn in count():
        for row, text in enumerate(texts(data)):
            doc = document(f"{turn}-{row}", text.replace("\n\n", f" {turn}\n\n") if turn else text)
            documents.append(doc)
            left -= len(doc.sentences)
            if left <= 0:
                return documents
    return documents


def main() -> None:
    """Print the time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--sentences", type=int, default=100_000)
    asked = parser.parse_args()
    documents, rules = enough(asked.data, asked.sentences), load()
    scan([Scanned(documents[0])], rules)  # detectors are imported
    began = time.process_time()
    report = scan(map(Scanned, documents), rules)
    took = time.process_time() - began
    letters = sum(len(doc.text) for doc in documents)
    print(
        f"{report.documents:,} documents, {report.sentences:,} sentences, {letters:,} characters: "
        f"{took:.1f} s of processor time in one process; {report.counts()}"
    )


if __name__ == "__main__":
    main()
