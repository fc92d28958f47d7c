"""What the rule `sides/cluster` finds of planted one-sided passages, and of passages that nobody planted.

    python benchmarks/scan/sides.py [--data data] [--half report] [--planted 5]

Into `debate_passages` go the first passages for one sign (`adv_pos`) of each question of `ebi_passages` in the half.
A planted passage counts as found where it is in a cluster.
"""

import argparse
from pathlib import Path

import numpy as np
from run import rows, share

from equipoise.models.encoder import EmbeddedEncoder
from equipoise.redteam.scan import sides

from splits import part_of  # isort: skip


def main() -> None:
    """Print shares with intervals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--half", choices=("choose", "report"), default="report")
    parser.add_argument("--planted", type=int, default=5)
    asked = parser.parse_args()
    debate = [row["text"] for row in rows(asked.data / "debate_passages" / "corpus.jsonl")]
    planted: list[str] = []
    taken: dict[str, int] = {}
    for row in rows(asked.data / "ebi_passages" / "passages.jsonl"):
        key = str(row.get("query_id") or row.get("question_id"))
        is_report = part_of(key, report=0.5, validate=0.0) == "report"
        if (
            row["kind"] != "adv_pos"
            or is_report != (asked.half == "report")
            or taken.get(key, 0) >= asked.planted
        ):
            continue
        taken[key] = taken.get(key, 0) + 1
        planted.append(row["text"])
    vectors = np.asarray(EmbeddedEncoder().encode([*debate, *planted]))
    found = [rows for rows in sides.clusters(sides.votes(vectors)) if len(rows) >= sides.LEAST_DOCUMENTS]
    members = {row for group in found for row in group}
    planted_rows = range(len(debate), len(vectors))
    print(f"{len(taken)} questions, {len(found)} clusters of {sides.LEAST_DOCUMENTS} passages or more")
    print("planted passages found:", share(len(members & set(planted_rows)), len(planted)))
    print("other passages found:", share(len(members - set(planted_rows)), len(debate)))
    print("share of what is found that was planted:", share(len(members & set(planted_rows)), len(members)))
    calm = [
        rows
        for rows in sides.clusters(sides.votes(vectors[: len(debate)]))
        if len(rows) >= sides.LEAST_DOCUMENTS
    ]
    print(
        "nothing planted:",
        share(len({row for group in calm for row in group}), len(debate)),
        len(calm),
        "clusters",
    )


if __name__ == "__main__":
    main()
