"""Which passage step 3 of the attack follows (EBI, section 4) by the attacker's encoder, without a language model.

    python benchmarks/bias/step3.py [--data data] [--table]

The paper's attacker does not know the retriever's encoder and takes another one. Here both choose among the ready-made
synthetic passages, one with the weights of `python scripts/fetch_weights.py bge-small`. Writes own/step3.json, .md.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from equipoise.core.protocols import Encoder
from equipoise.models.bge import BgeEncoder
from equipoise.models.encoder import EmbeddedEncoder
from equipoise_lab.attacks.ebi import extreme
from equipoise_lab.attacks.passages import Kind
from equipoise_lab.attacks.properties import yardstick
from equipoise_lab.bench import scripts
from equipoise_lab.bench.bias import attacks, corpora
from equipoise_lab.bench.bias.attacks import WrittenAttack
from equipoise_lab.bench.bias.numbers import SIDE

HERE = Path(__file__).resolve().parent
OUT = HERE / "own" / "step3.json"


def main() -> None:
    """Choose with each encoder, and write both files."""
    arguments = scripts.parser(__file__, __doc__, table=True).parse_args()
    if not arguments.table:
        config = scripts.config(HERE)
        corpus = corpora.read(arguments.data / config["corpus"])
        ready = attacks.read(arguments.data / config["attacks"], corpus)
        rows = [row for one in (EmbeddedEncoder(), BgeEncoder()) for row in chosen(ready, one, one.name)]
        OUT.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    OUT.with_suffix(".md").write_text(page(json.loads(OUT.read_text("utf-8"))), "utf-8")


def chosen(written: Sequence[WrittenAttack], encoder: Encoder, by: str) -> list[scripts.Row]:
    """The synthetic passage of extreme PS of each question and sign (Eq. 7), and how far it argues for the side that is
    to be pushed; `by` says who chose."""
    rows = []
    for one in written:
        anchors = one.passages[Kind.SYNTHETIC]
        measured = yardstick(encoder, one.question, anchors).measure(anchors)
        for sign in attacks.SIGNS:
            side, passage = SIDE[sign.value], extreme(measured, SIDE[sign.value])
            place = {"question": one.query_id, "sign": sign, "encoder": by, "id": passage.passage_id}
            rows.append(place | {"side": side * (passage.stance or 0)})
    return rows


def page(rows: Sequence[scripts.Row]) -> str:
    """How often it argues for the side that is to be pushed, and is the choice of the first."""
    by: dict[str, list[scripts.Row]] = {}
    for row in rows:
        by.setdefault(row["encoder"], []).append(row)
    first = next(iter(by.values()))
    table = [
        (name, *(scripts.rate(sum(hits), len(hits)) for hits in ([row["side"] > 0 for row in mine], alike)))
        for name, mine in by.items()
        for alike in [[row["id"] == other["id"] for row, other in zip(mine, first, strict=True)]]
    ]
    head = ("chosen by", "argues for the side that is to be pushed", "the first one's choice")
    said = (
        "`python benchmarks/bias/step3.py`: the synthetic passage of extreme PS, of each question and sign."
    )
    return f"# Step 3: what PS chooses\n\n{said}\n\n{scripts.table(head, table)}"


if __name__ == "__main__":
    main()
