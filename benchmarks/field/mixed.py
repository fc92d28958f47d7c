"""A third of the documents untrusted: does what the trusted ones answer stay as right as with all of them trusted?

    python benchmarks/field/mixed.py [SET ...] [--out .equipoise/bench-field-mixed]

Of each set every third file, by a hash of its name, is marked untrusted. Asked are the questions with an answer, once
with all documents trusted and once so; reported apart are those whose gold stands in a trusted document. No language
model. Resumes question by question; rows and table go to `mixed/` beside this file.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import questions
import sets
from questions import Question

from equipoise.core import settings as layers
from equipoise.core.results import Answer
from equipoise.core.types import Trust
from equipoise.corpus.roots import Gone
from equipoise.maths.rates import clopper_pearson
from equipoise.rag.library import Library, update
from equipoise_lab.maths.statistics import mcnemar_exact

SETS = ("fastify", "homebank", "beets", "node-packages", "borg", "mutt", "exim")
ROOT = sets.HERE.parents[1]


def main() -> None:
    """Ask what is missing, and publish."""
    arguments = _arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "rows.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    done = {row["id"] for row in rows}
    settings = layers.load({"model.llm": "none"}, environment={}, folder=sets.HERE).settings
    with path.open("a", encoding="utf-8") as out:
        for name in arguments.sets or SETS:
            asked = [one for one in questions.load(name) if one.answerable and not one.before]
            if all(one.id in done for one in asked):
                continue
            folder = sets.folder(arguments.cache, name)
            index = arguments.out / f"{name}.db"
            update(index, [folder], gone=Gone.DROP)
            with Library.create(index, settings=settings) as library:
                every = library.documents()
                untrusted = [one.doc_id for one in every if _is_untrusted(one.path)]
                for one in asked:
                    if one.id in done:
                        continue
                    library.store.set_trust([each.doc_id for each in every], Trust.TRUSTED)
                    before = _right(one, library)
                    library.store.set_trust(untrusted, Trust.UNTRUSTED)
                    texts = library.store.documents(each.doc_id for each in every).values()
                    trusted = any(one.matches(text.text) for text in texts if text.trust is Trust.TRUSTED)
                    row = {"id": one.id, "set": name, "gold_is_trusted": trusted, "all": before}
                    row |= {"mixed": _right(one, library)}
                    rows.append(row)
                    out.write(json.dumps(row) + "\n")
                    out.flush()
                    print(len(rows), row, file=sys.stderr)
    _publish(rows)


def _is_untrusted(path: str) -> bool:
    return int(hashlib.sha256(Path(path).name.encode()).hexdigest(), 16) % 3 == 0


def _right(question: Question, library: Library) -> str:
    """right, wrong or refused; "untrusted" before it where the answer rests on untrusted documents."""
    result = library.ask(question.question)
    if not isinstance(result, Answer):
        return "refused"
    found = any(question.matches(item.text) for item in result.highlights.items)
    return ("untrusted " if result.trust is Trust.UNTRUSTED else "") + ("right" if found else "wrong")


def _publish(rows: list[dict[str, Any]]) -> None:
    folder = sets.HERE / "mixed"
    folder.mkdir(exist_ok=True)
    ordered = sorted(rows, key=lambda row: row["id"])
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ordered), "utf-8")
    lines = [
        "# A third of the documents untrusted",
        "",
        f"`make bench-field-mixed`: {len(rows)} questions with an answer, {len({row['set'] for row in rows})} sets, no "
        "language model. *Right*: a quote holds the answer, whoever wrote it. 95% intervals (Clopper-Pearson); p by "
        "McNemar's exact test.",
        "",
        "| gold stands in | n | right, all trusted | right, a third untrusted | of these as untrusted | p |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, trusted in (("a trusted document", True), ("untrusted ones only", False)):
        some = [row for row in ordered if row["gold_is_trusted"] is trusted]
        if some:
            lines.append(f"| {name} | {len(some)} | {' | '.join(_figures(some))} |")
    (folder / "table.md").write_text("\n".join(lines) + "\n", "utf-8")


def _figures(rows: list[dict[str, Any]]) -> tuple[str, str, str, str]:
    before, after = ([row[name].endswith("right") for row in rows] for name in ("all", "mixed"))
    only = sum(b and not a for b, a in zip(before, after, strict=True))
    other = sum(a and not b for b, a in zip(before, after, strict=True))
    marked = sum(row["mixed"] == "untrusted right" for row in rows)
    return (
        _rate(sum(before), len(rows)),
        _rate(sum(after), len(rows)),
        str(marked),
        f"{mcnemar_exact(only, other):.2f}",
    )


def _rate(hits: int, of: int) -> str:
    interval = clopper_pearson(hits, of)
    return f"{hits} ({hits / of:.2f} [{interval.low:.2f}, {interval.high:.2f}])" if interval else "-"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help="only these sets")
    parser.add_argument("--cache", type=Path, default=sets.default_cache())
    parser.add_argument("--out", type=Path, default=ROOT / ".equipoise" / "bench-field-mixed")
    return parser.parse_args()


if __name__ == "__main__":
    main()
