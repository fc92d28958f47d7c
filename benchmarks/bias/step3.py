"""Which passage step 3 of the attack follows (EBI, section 4) by the attacker's encoder, without a language model.

    python benchmarks/bias/step3.py [--data data] [--table]

The paper's attacker does not know the retriever's encoder and takes another one. Here both choose among the ready-made
synthetic passages, one with the weights of `python scripts/fetch_weights.py bge-small`. Writes own/step3.json, .md.
"""

import json
from pathlib import Path

from own import SIGNS

from equipoise.models.bge import BgeEncoder
from equipoise.models.encoder import EmbeddedEncoder
from equipoise_lab.attacks.ebi import extreme
from equipoise_lab.attacks.passages import Kind
from equipoise_lab.attacks.properties import yardstick
from equipoise_lab.bench import scripts
from equipoise_lab.bench.bias import attacks, corpora
from equipoise_lab.bench.bias.numbers import SIDE

HERE = Path(__file__).resolve().parent
OUT = HERE / "own" / "step3.json"


def main() -> None:
    """Choose with each encoder, and write both files."""
    arguments = scripts.parser(__file__, __doc__, table=True).parse_args()
    if not arguments.table:
        config = scripts.config(HERE)
        corpus = corpora.read(arguments.data / config["corpus"])
        rows = []
        for encoder in (EmbeddedEncoder(), BgeEncoder()):
            for one in attacks.read(arguments.data / config["attacks"], corpus):
                anchors = one.passages[Kind.SYNTHETIC]
                measured = yardstick(encoder, one.question, anchors).measure(anchors)
                for sign in SIGNS:
                    side, chosen = SIDE[sign.value], extreme(measured, SIDE[sign.value])
                    place = {"question": one.query_id, "sign": sign, "encoder": encoder.name}
                    rows.append(place | {"id": chosen.passage_id, "side": side * (chosen.stance or 0)})
        OUT.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    OUT.with_suffix(".md").write_text(page(json.loads(OUT.read_text("utf-8"))), "utf-8")


def page(rows: list[scripts.Row]) -> str:
    """How often the chosen passage argues for the side that is to be pushed, and is the retriever's choice."""
    by: dict[str, list[scripts.Row]] = {}
    for row in rows:
        by.setdefault(row["encoder"], []).append(row)
    first = next(iter(by.values()))
    table = [
        (
            name,
            scripts.rate(sum(row["side"] > 0 for row in mine), len(mine)),
            scripts.rate(
                sum(row["id"] == other["id"] for row, other in zip(mine, first, strict=True)), len(mine)
            ),
        )
        for name, mine in by.items()
    ]
    head = (
        "attacker's encoder",
        "argues for the side that is to be pushed",
        "the passage that the retriever's chooses",
    )
    said = "`python benchmarks/bias/step3.py`: the synthetic passage of extreme PS; 22 questions, 2 signs."
    return f"# Step 3 by the attacker's encoder\n\n{said}\n\n{scripts.table(head, table)}"


if __name__ == "__main__":
    main()
