"""A third of the documents untrusted: does what the trusted ones answer stay as right as with all of them trusted?

    python benchmarks/field/mixed.py [SET ...] [--out .equipoise/bench-field-mixed]

Of each set every third file, by a hash of its name, is marked untrusted. Asked are the questions with an answer, once
with all documents trusted and once so; reported apart are those whose gold stands in a trusted document. No language
model. Resumes question by question; rows and table go to `mixed/` beside this file.
"""

import hashlib
from argparse import Namespace
from pathlib import Path
from typing import Any

import questions
import sets
from questions import Question

from equipoise.core.results import Answer
from equipoise.core.types import Trust
from equipoise.corpus.roots import Gone
from equipoise.evaluation.results import Lines
from equipoise.rag.library import Library, update
from equipoise_lab.bench import scripts
from equipoise_lab.maths.statistics import mcnemar_exact

SETS = ("fastify", "homebank", "beets", "node-packages", "borg", "mutt", "exim")
SHOWN = "{hits} ({share:.2f} [{low:.2f}, {high:.2f}])"


def main() -> None:
    """Ask what is missing, and publish."""
    parser = scripts.parser(__file__, __doc__, "bench-field-mixed", data=False, table=True)
    parser.add_argument("sets", nargs="*", metavar="SET", help="only these sets")
    parser.add_argument("--cache", type=Path, default=sets.default_cache())
    arguments = parser.parse_args()
    here = sets.HERE / "mixed"
    if not arguments.table:
        scripts.write(here / "rows.jsonl", _asked(arguments))
    (here / "table.md").write_text(page(scripts.read(here / "rows.jsonl")), "utf-8")


def _asked(arguments: Namespace) -> list[dict[str, Any]]:
    with Lines(arguments.out / "rows.jsonl", ("id",)) as lines:
        for name in arguments.sets or SETS:
            asked = [one for one in questions.load(name) if one.answerable and not one.before]
            missing = [one for one in asked if (one.id,) not in lines]
            if not missing:
                continue
            index = arguments.out / f"{name}.db"
            update(index, [sets.folder(arguments.cache, name)], gone=Gone.DROP)
            with Library.create(index, settings=scripts.settings({"model.llm": "none"})) as library:
                every = library.documents()
                lots = {one.doc_id: hashlib.sha256(Path(one.path).name.encode()).hexdigest() for one in every}
                untrusted = [doc_id for doc_id, lot in lots.items() if int(lot, 16) % 3 == 0]
                for number, one in enumerate(missing, 1):
                    library.store.set_trust([each.doc_id for each in every], Trust.TRUSTED)
                    before = _right(one, library)
                    library.store.set_trust(untrusted, Trust.UNTRUSTED)
                    texts = library.store.documents(each.doc_id for each in every).values()
                    trusted = any(one.matches(text.text) for text in texts if text.trust is Trust.TRUSTED)
                    row = {"id": one.id, "set": name, "gold_is_trusted": trusted, "all": before}
                    lines.append(row | {"mixed": _right(one, library)})
                    scripts.say(number, len(missing), name)
        return lines.rows()


def _right(question: Question, library: Library) -> str:
    """right, wrong or refused; "untrusted" before it where the answer rests on untrusted documents."""
    result = library.ask(question.question)
    if not isinstance(result, Answer):
        return "refused"
    found = any(question.matches(item.text) for item in result.highlights.items)
    return ("untrusted " if result.trust is Trust.UNTRUSTED else "") + ("right" if found else "wrong")


def page(rows: list[dict[str, Any]]) -> str:
    """The table."""
    groups = {
        name: [row for row in rows if row["gold_is_trusted"] is trusted]
        for name, trusted in (("a trusted document", True), ("untrusted ones only", False))
    }
    head = (
        "gold stands in",
        "n",
        "right, all trusted",
        "right, a third untrusted",
        "of these as untrusted",
        "p",
    )
    made = scripts.table(
        head, [(name, str(len(some)), *_figures(some)) for name, some in groups.items() if some]
    )
    return (
        "# A third of the documents untrusted\n\n"
        f"`make bench-field-mixed`: {len(rows)} questions with an answer on {len({row['set'] for row in rows})} sets, "
        "no language model. *Right*: a quote holds the answer, whoever wrote it. 95% intervals (Clopper-Pearson); p by "
        f"McNemar's exact test.\n\n{made}"
    )


def _figures(rows: list[dict[str, Any]]) -> tuple[str, str, str, str]:
    before, after = ([row[name].endswith("right") for row in rows] for name in ("all", "mixed"))
    only = sum(b and not a for b, a in zip(before, after, strict=True))
    other = sum(a and not b for b, a in zip(before, after, strict=True))
    marked = sum(row["mixed"] == "untrusted right" for row in rows)
    return (
        scripts.rate(sum(before), len(rows), SHOWN),
        scripts.rate(sum(after), len(rows), SHOWN),
        str(marked),
        f"{mcnemar_exact(only, other):.2f}",
    )


if __name__ == "__main__":
    main()
