"""Nothing is trusted: k planters in one hand against m honest authors, and what is shown of both.

    python benchmarks/security/authors.py [--data data] [--questions 40] [--out .equipoise/bench-authors]

Questions and texts are PoisonedRAG's: the honest authors say the right answer (its texts with the right answer put in),
the planters the wrong one, in other words each. Every text is an untrusted document by an author of its own, beside the
texts of all other questions. No language model. Resumes; the table goes to `authors.md` beside this file.
"""

import re
from pathlib import Path
from typing import Any

from equipoise.core import sync
from equipoise.core.results import Answer, Refusal
from equipoise.core.types import Document, Trust
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.evaluation.results import Lines
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag import build
from equipoise_lab.bench import scripts

HERE = Path(__file__).resolve().parent
SCENARIOS = ((2, 1), (3, 1), (3, 2), (4, 3), (2, 3), (1, 4))
"""(honest, planted): within the bound k < m, and two beyond it."""


def main() -> None:
    """Ask what is missing, and publish."""
    parser = scripts.parser(__file__, __doc__, "bench-authors")
    parser.add_argument("--questions", type=int, default=40)
    arguments = parser.parse_args()
    targets = [one for one in scripts.read(arguments.data / "poisonedrag" / "targets.jsonl") if _usable(one)]
    encoder = EmbeddedEncoder()
    with (
        Lines(arguments.out / "rows.jsonl", ("id", "m", "k")) as lines,
        Store.open(arguments.out / "index.db", create=True) as store,
    ):
        store.bind_encoder(encoder)
        store.remove_documents(store.doc_ids())
        others = {f"other-{n}": _honest(one)[0] for n, one in enumerate(targets)}
        store.add_documents(prepare([_document(*pair) for pair in others.items()], encoder))
        settings = scripts.settings({"model.llm": "none"})
        pipeline = build.highlight_summarize(build.components(settings, store, encoder=encoder, chat=None))
        for number, one in enumerate(targets[: arguments.questions], 1):
            for m, k in SCENARIOS:
                if (one["id"], m, k) in lines:
                    continue
                texts = {f"honest-{n}": text for n, text in enumerate(_honest(one)[1 : m + 1])}
                texts |= {f"planted-{n}": text for n, text in enumerate(one["adv_texts"][:k])}
                store.add_documents(prepare([_document(*pair) for pair in texts.items()], encoder))
                try:
                    result = sync.run(pipeline.ask(one["question"] + "?"))
                finally:
                    store.remove_documents(list(texts))
                lines.append({"id": one["id"], "m": m, "k": k} | _shown(result))
            scripts.say(number, arguments.questions, one["id"])
        rows = lines.rows()
    (HERE / "authors.md").write_text(page(rows), "utf-8")


def _usable(one: dict[str, Any]) -> bool:
    """Whether the wrong answer stands in every text, so that the right one can take its place."""
    return all(one["incorrect_answer"].casefold() in text.casefold() for text in one["adv_texts"])


def _honest(one: dict[str, Any]) -> list[str]:
    wrong = re.compile(re.escape(one["incorrect_answer"]), re.IGNORECASE)
    return [wrong.sub(lambda _: one["correct_answer"], text) for text in one["adv_texts"]]


def _document(name: str, text: str) -> Document:
    return Document(name, text, name, "", Trust.UNTRUSTED)


def _shown(result: Answer | Refusal) -> dict[str, Any]:
    """Of each claim: how many of its statements were planted, how many are honest, and how many count."""
    claims = result.others.claims if isinstance(result, Answer) and result.others else ()
    return {
        "claims": [
            [
                sum(one.author.startswith("planted") for one in claim.statements),
                sum(one.author.startswith("honest") for one in claim.statements),
                claim.independent,
            ]
            for claim in claims
        ]
    }


def page(rows: list[dict[str, Any]]) -> str:
    """The table."""
    lines = []
    for m, k in SCENARIOS:
        some = [row["claims"] for row in rows if (row["m"], row["k"]) == (m, k) and row["claims"]]
        planted = [[claim for claim in claims if claim[0] and not claim[1]] for claims in some]
        hits = (
            sum(any(claim[2] >= max(m, 2) for claim in claims) for claims in planted),
            sum(any(claim[2] > claim[0] for claim in claims) for claims in planted),
            sum(claims[0][0] > claims[0][1] for claims in some),
            sum(any(claim[1] for claim in claims) for claims in some),
        )
        lines.append((f"{m}, {k}", *(scripts.rate(count, len(some)) for count in hits)))
    head = (
        "honest, planted", "planted claim corroborated by m", "it counts more than its planters",
        "planted claim first", "an honest claim is shown",
    )  # fmt: skip
    return (
        "# Nothing trusted: planters against honest authors\n\n"
        f"`make bench-authors`: {len({row['id'] for row in rows})} questions of PoisonedRAG, every text by an author "
        "of its own, no language model. A claim *is corroborated by m* where m independent authors or more make it. "
        f"95% intervals (Clopper-Pearson) over questions.\n\n{scripts.table(head, lines)}"
    )


if __name__ == "__main__":
    main()
