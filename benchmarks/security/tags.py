"""What the check of verdicts costs and buys: right and wrong tags before the conclusions of PubMedQA.

    python benchmarks/security/tags.py --data DIR

Each question there wants yes or no, and its conclusion is what a highlighter would quote. Written out is how often the
right tag crosses the boundary before that quote, and how often the wrong one does.
"""

from pathlib import Path

from equipoise.core.types import Tag
from equipoise.redteam.suite.tables import rate, shown
from equipoise.text.polar import borne, is_yes_no
from equipoise_lab.bench import scripts

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Write the table."""
    parser = scripts.parser(__file__, __doc__)
    path = parser.parse_args().data / "pubmedqa" / "questions.jsonl"
    rows = scripts.read(path)
    lines = [
        "| right answer | right tag crosses | wrong tag crosses | of the right form |",
        "|---|---|---|---|",
    ]
    for right, wrong in ((Tag.YES, Tag.NO), (Tag.NO, Tag.YES)):
        mine = [row for row in rows if row["decision"] == right.value]
        flags = [
            [bool(borne({right}, [row["long_answer"]])) for row in mine],
            [bool(borne({wrong}, [row["long_answer"]])) for row in mine],
            [is_yes_no(row["question"]) for row in mine],
        ]
        cells = [shown(rate(one)) for one in flags]
        lines.append(f"| {right.value} | {' | '.join(cells)} |")
    text = "\n".join(lines) + "\n"
    (HERE / "tags.md").write_text(f"# Verdicts that cross\n\n{__doc__.split('    python')[0].strip()}\n\n"
                                  f"{(__doc__.split('DIR')[-1]).strip()}\n\n{text}")  # fmt: skip
    print(text)


if __name__ == "__main__":
    main()
