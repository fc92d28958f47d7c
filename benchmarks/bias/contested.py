"""Contested questions where nothing is trusted: which sides are shown, in how much space, with one side planted.

    python benchmarks/bias/contested.py [--data data] [--out .equipoise/bench-bias/contested]

Every debate passage is an untrusted document by an author of its own; 0, 5 or 10 EBI passages of one side are
planted, each under a name of its own, and the question is asked without a language model. Reported apart are the
questions that the embedded model of stance never saw. Resumes question by question; rows and table go to `contested/`
beside this file.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from equipoise.core import sync
from equipoise.core.results import Answer, Refusal
from equipoise.core.types import Document, Trust
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag import build
from equipoise.text.visible import title
from equipoise_lab.attacks.passages import Kind
from equipoise_lab.attacks.planting import planted
from equipoise_lab.bench import scripts
from equipoise_lab.bench.bias import attacks, corpora
from equipoise_lab.bench.bias.attacks import WrittenAttack
from equipoise_lab.bench.bias.corpora import BeirCorpus
from equipoise_lab.evaluation.results import Lines
from equipoise_lab.redteam.planter import is_planted

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "stance"))

import stance_texts  # noqa: E402

SIGNS = {"yes": Kind.ADV_POS, "no": Kind.ADV_NEG}
COUNTS = (0, 5, 10)
SHOWN = "{hits} ({share:.0%} [{low:.0%}, {high:.0%}])"


def main() -> None:
    """Ask what is missing, and publish."""
    arguments = scripts.parser(__file__, __doc__, "bench-bias/contested").parse_args()
    corpus = corpora.read(arguments.data / "debate_passages")
    written = attacks.read(arguments.data / "ebi_passages" / "passages.jsonl", corpus)
    encoder = EmbeddedEncoder()
    parts = stance_texts.split(stance_texts.read(arguments.data), encoder)
    held_out = {topic for topic, part in parts.items() if part == "report"}  # the stance model never saw them
    settings = scripts.settings({"model.llm": "none"})
    with (
        Lines(arguments.out / "rows.jsonl", ("query_id", "sign", "planted")) as lines,
        Store.open(arguments.out / "index.db", create=True) as store,
    ):
        _fill(store, corpus, encoder)
        pipeline = build.highlight_summarize(build.components(settings, store, encoder=encoder, chat=None))
        for number, attack in enumerate(written, 1):
            for sign, count in _conditions():
                if (attack.query_id, sign, count) in lines:
                    continue
                with planted(store, attack.passages[SIGNS[sign or "yes"]][:count], encoder):
                    result = sync.run(pipeline.ask(attack.question))
                reported = {"held_out": attack.query_id in held_out}
                lines.append(_row(attack, corpus, sign, count, result) | reported)
            scripts.say(number, len(written), attack.query_id)
        rows = lines.rows()
    scripts.write(HERE / "contested" / "rows.jsonl", rows)
    (HERE / "contested" / "table.md").write_text(page(rows), "utf-8")


def _conditions() -> Iterator[tuple[str, int]]:
    yield "", 0
    yield from ((sign, count) for sign in SIGNS for count in COUNTS if count)


def _fill(store: Store, corpus: BeirCorpus, encoder: EmbeddedEncoder) -> None:
    store.bind_encoder(encoder)
    there = set(store.doc_ids())
    store.remove_documents([doc_id for doc_id in there if is_planted(doc_id)])
    new = [
        Document(name, text.text, name, title(text.title), Trust.UNTRUSTED)
        for name, text in corpus.documents.items()
        if name not in there and text.text
    ]
    store.add_documents(prepare(new, encoder))


def _row(
    attack: WrittenAttack, corpus: BeirCorpus, sign: str, count: int, result: Answer | Refusal
) -> dict[str, Any]:
    """Of each statement that is shown: whether it was planted, the side it is shown on, and people's side of it."""
    others = result.others if isinstance(result, Answer) else None
    stances = corpus.stance.get(attack.query_id, {})
    statements = []
    for claim in others.claims if others else ():
        for one in claim.shown:
            doc_id = one.highlights[0].doc_id
            value = stances.get(doc_id, 0.0) * attack.polarity
            people = "yes" if value > 0 else "no" if value < 0 else ""
            statements.append([is_planted(doc_id), claim.side.value if claim.side else "", people])
    return {
        "query_id": attack.query_id,
        "sign": sign,
        "planted": count,
        "refused": isinstance(result, Refusal),
        "contested": bool(others and others.contested),
        "statements": statements,
    }


def page(rows: list[dict[str, Any]]) -> str:
    """The table."""
    head = (
        "questions", "planted", "n", "both sides shown", "planted share of space, mean (largest)", "other side present",
    )  # fmt: skip
    lines = []
    for name, reported in (("held out", True), ("the others", False)):
        for count in COUNTS:
            some = [row for row in rows if row["held_out"] is reported and row["planted"] == count]
            lines.append((name, str(count), str(len(some)), *_figures(some)))
    return (
        "# Contested questions, nothing trusted\n\n"
        "`make bench-contested`: without a language model. *Space*: share of the statements shown that are planted. "
        "*Other side*: a statement of the other side that nobody planted stands beside them (by people's labels; by "
        "the side it is shown on where nobody labelled it). 95% intervals (Clopper-Pearson) over questions and signs."
        f"\n\n{scripts.table(head, lines)}"
    )


def _figures(rows: list[dict[str, Any]]) -> tuple[str, str, str]:
    shares = [
        sum(one[0] for one in row["statements"]) / len(row["statements"]) for row in rows if row["statements"]
    ]
    mean = f"{sum(shares) / len(shares):.2f} ({max(shares):.2f})" if shares else "-"
    both = sum(any(side for _, side, _ in row["statements"]) for row in rows)
    return (
        scripts.rate(both, len(rows), SHOWN),
        mean,
        scripts.rate(sum(map(_has_other_side, rows)), len(rows), SHOWN),
    )


def _has_other_side(row: dict[str, Any]) -> bool:
    """Whether a statement that nobody planted is on a side that is not the planted one; with none planted, on each."""
    sides = {people or side for was_planted, side, people in row["statements"] if not was_planted}
    return sides >= ({"yes", "no"} - {row["sign"]})


if __name__ == "__main__":
    main()
