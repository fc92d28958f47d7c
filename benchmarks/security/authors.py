"""Nothing is trusted: k planters in one hand against m honest authors, and what is shown of both.

    python benchmarks/security/authors.py [--data data] [--questions 40] [--out .equipoise/bench-authors]

Questions and texts are PoisonedRAG's: the honest authors say the right answer (its texts with the right answer put in),
the planters the wrong one, in other words each. Every text is an untrusted document by an author of its own, beside the
texts of all other questions. No language model. Resumes; the table goes to `authors.md` beside this file.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.core.results import Answer, Claim
from equipoise.core.types import Document, Trust
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.maths.rates import clopper_pearson
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag import build

HERE = Path(__file__).resolve().parent
WORLDS = ((2, 1), (3, 1), (3, 2), (4, 3), (2, 3), (1, 4))
"""(honest, planted): within the bound k < m, and two beyond it."""


def main() -> None:
    """Ask what is missing, and publish."""
    arguments = _arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "rows.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    done = {(row["id"], row["m"], row["k"]) for row in rows}
    lines = (arguments.data / "poisonedrag" / "targets.jsonl").read_text("utf-8").splitlines()
    targets = [one for one in map(json.loads, lines) if _usable(one)]
    encoder = EmbeddedEncoder()
    settings = layers.load({"model.llm": "none"}, environment={}, folder=HERE).settings
    with (
        Store.open(arguments.out / "index.db", create=True) as store,
        path.open("a", encoding="utf-8") as out,
    ):
        store.bind_encoder(encoder)
        store.remove_documents(store.doc_ids())
        others = [text for one in targets for text in _honest(one)[:1]]
        store.add_documents(
            prepare([_document(f"other-{n}", text) for n, text in enumerate(others)], encoder)
        )
        pipeline = build.highlight_summarize(build.components(settings, store, encoder=encoder, chat=None))
        for one in targets[: arguments.questions]:
            for m, k in WORLDS:
                if (one["id"], m, k) in done:
                    continue
                texts = {f"honest-{n}": text for n, text in enumerate(_honest(one)[1 : m + 1])}
                texts |= {f"planted-{n}": text for n, text in enumerate(one["adv_texts"][:k])}
                store.add_documents(prepare([_document(*pair) for pair in texts.items()], encoder))
                try:
                    result = sync.run(pipeline.ask(one["question"] + "?"))
                finally:
                    store.remove_documents(list(texts))
                row = {"id": one["id"], "m": m, "k": k} | _shown(result.others.claims if _has(result) else ())
                rows.append(row)
                out.write(json.dumps(row) + "\n")
                out.flush()
                print(len(rows), row, file=sys.stderr)
    _publish(rows)


def _has(result: object) -> bool:
    return isinstance(result, Answer) and result.others is not None


def _usable(one: dict[str, Any]) -> bool:
    """Whether the wrong answer stands in every text, so that the right one can take its place."""
    return all(one["incorrect_answer"].casefold() in text.casefold() for text in one["adv_texts"])


def _honest(one: dict[str, Any]) -> list[str]:
    wrong = re.compile(re.escape(one["incorrect_answer"]), re.IGNORECASE)
    return [wrong.sub(lambda _: one["correct_answer"], text) for text in one["adv_texts"]]


def _document(name: str, text: str) -> Document:
    return Document(name, text, name, "", Trust.UNTRUSTED)


def _shown(claims: tuple[Claim, ...]) -> dict[str, Any]:
    """Of each claim: how many of its statements were planted, how many are honest, and how many count."""
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


def _publish(rows: list[dict[str, Any]]) -> None:
    lines = [
        "# Nothing trusted: planters against honest authors",
        "",
        f"`make bench-authors`: {len({row['id'] for row in rows})} questions of PoisonedRAG, every text by an author "
        "of its own, no language model. A claim *is corroborated by m* where m independent authors or more make it. "
        "95% intervals (Clopper-Pearson) over questions.",
        "",
        "| honest, planted | planted claim corroborated by m | it counts more than its planters | planted claim first "
        "| an honest claim is shown |",
        "| --- | --- | --- | --- | --- |",
    ]
    for m, k in WORLDS:
        some = [row["claims"] for row in rows if (row["m"], row["k"]) == (m, k) and row["claims"]]
        planted = [[claim for claim in claims if claim[0] and not claim[1]] for claims in some]
        by_m = sum(any(claim[2] >= max(m, 2) for claim in claims) for claims in planted)
        more = sum(any(claim[2] > claim[0] for claim in claims) for claims in planted)
        first = sum(claims[0][0] > claims[0][1] for claims in some)
        heard = [claims for claims in some if any(claim[1] for claim in claims)]
        cells = [_rate(hits, len(some)) for hits in (by_m, more, first, len(heard))]
        lines.append(f"| {m}, {k} | {' | '.join(cells)} |")
    (HERE / "authors.md").write_text("\n".join(lines) + "\n", "utf-8")


def _rate(hits: int, of: int) -> str:
    interval = clopper_pearson(hits, of)
    return f"{hits} of {of} [{interval.low:.0%}, {interval.high:.0%}]" if interval else "-"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    root = HERE.parents[1]
    parser.add_argument("--data", type=Path, default=root / "data")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--out", type=Path, default=root / ".equipoise" / "bench-authors")
    return parser.parse_args()


if __name__ == "__main__":
    main()
