"""`equipoise ebi`: what an attacker would plant, for measuring defences on your own stores."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from equipoise.apps import progress
from equipoise.apps.options import PathArgument, PathOption, StoreOption, group, store_option
from equipoise.apps.terminal import Terminal, complain, number_of
from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.core.addresses import Place
from equipoise.core.errors import InputError, ModelUnavailable
from equipoise.core.protocols import Encoder
from equipoise.corpus.store import Store
from equipoise.rag import build
from equipoise_lab.attacks import planting
from equipoise_lab.attacks.ebi import EbiAttack, EbiResult, EbiSettings, Sign, case_for
from equipoise_lab.attacks.passages import AttackPassage, Kind, PassageFile, read_passages
from equipoise_lab.attacks.properties import benign_vectors, property_shares, rank_in
from equipoise_lab.redteam.planter import uproot as take_out

app = group("One-sided passages (Epistemic Bias Injection): write them, plant them, take them out.")

PARTLY_FAILED = 3
MOST = 1000
"""Passages of one run: each is a request or part of one."""
RankOption = Annotated[Any, store_option("Say how the passages would rank in this index.")]


@app.command()
def craft(
    question: Annotated[str, typer.Option(help="The question to attack.")],
    llm: Annotated[
        str | None, typer.Option("--llm", help="auto, local[/NAME], openai/NAME or azure/DEPLOYMENT.")
    ] = None,
    out: Annotated[Path, PathOption(help="Where the passages go; a run with the same file resumes.")] = Path(
        "ebi-passages.jsonl"
    ),
    sign: Annotated[
        Literal["positive", "negative", "both"], typer.Option(help="Which side of the question to argue for.")
    ] = "both",
    synthetic: Annotated[
        int, typer.Option(max=MOST, help="Synthetic passages with different views (J).")
    ] = 8,
    adversarial: Annotated[int, typer.Option(max=MOST, help="Adversarial passages for each sign (n).")] = 10,
    batch: Annotated[
        int | None,
        typer.Option(
            max=MOST, help="Synthetic passages in one reply; small models manage few. Default: all."
        ),
    ] = None,
    store: RankOption = None,
) -> None:
    """Epistemic Bias Injection: one-sided passages on a question, kept as JSON lines."""
    case = case_for(question, None if sign == "both" else Sign(sign))
    settings = EbiSettings(synthetic=synthetic, adversarial=adversarial, batch=batch)
    chosen = layers.load({"model.llm": llm}).settings
    chat = build.chat_model(chosen.model)
    if chat is None:
        raise ModelUnavailable(
            "the attack needs a language model: name one with --llm, or set one up for auto"
        )
    encoder, benign = build.encoder(chosen.retrieval.encoder), None
    if store:
        with Store.open(store, read_only=True) as opened:
            encoder = build.encoder(chosen.retrieval.encoder, opened)
            opened.check_encoder(encoder)
            benign = benign_vectors(opened, encoder, case.question)
    with progress.counted() as report:
        attack = EbiAttack(chat, encoder, settings, PassageFile(out), report)
        result = sync.run(attack.run(case, benign=benign))
    _show(result, _ranks(result, store, encoder, case.question) if store else None)
    Terminal().print(f"{number_of(len(result.passages), 'passage')} in {out}")
    for line in result.missing:
        complain("missing:", line)
    if result.missing:
        raise typer.Exit(PARTLY_FAILED)


@app.command()
def plant(
    file: Annotated[Path, PathArgument(help="Passages as JSON lines.")],
    kind: Annotated[
        Literal["adv_pos", "adv_neg"],
        typer.Option(help="Which passages to plant: the positive or the negative ones."),
    ],
    count: Annotated[int | None, typer.Option(min=1, help="Only the first so many of each question.")] = None,
    store: StoreOption = None,
) -> None:
    """Put attack passages into an index, marked as untrusted. `uproot` takes them out."""
    settings = layers.load({"store.path": store}).settings
    chosen = [p for p in read_passages(file) if p.kind is Kind(kind) and (count is None or p.n <= count)]
    if not chosen:
        raise InputError(
            f"{file} holds no passages of the kind {kind}: choose the other kind or another file"
        )
    with Store.open(settings.store.path) as opened:
        encoder = build.encoder(settings.retrieval.encoder, opened)
        doc_ids = planting.plant(opened, chosen, encoder)
    Terminal().print(f"{number_of(len(doc_ids), 'document')} planted in {settings.store.path}")


@app.command()
def uproot(store: StoreOption = None) -> None:
    """Take every planted document out of an index again."""
    path = layers.load({"store.path": store}).settings.store.path
    with Store.open(path) as opened:
        doc_ids = take_out(opened)
    Terminal().print(f"{number_of(len(doc_ids), 'document')} taken out of {path}")


def _ranks(result: EbiResult, path: Place, encoder: Encoder, question: str) -> dict[str, int]:
    with Store.open(path, read_only=True) as store:
        store.check_encoder(encoder)
        return {
            p.passage_id: rank_in(store, encoder, question, p.measures.ss)
            for p in result.passages
            if p.measures
        }


def _show(result: EbiResult, ranks: dict[str, int] | None) -> None:
    beside = ["rank", "property 1", "property 2"] if ranks is not None else []
    rows = [
        [*_row(passage), *(_standing(passage, ranks) if ranks is not None else [])]
        for passage in result.passages
    ]
    console = Terminal()
    console.table(("passage", "kind", "stance", "SS", "PS", *beside), rows)
    for sign in Sign:
        held = [(p.measures.property_1, p.measures.property_2) for p in result.of(sign.kind) if p.measures]
        if shares := property_shares(held):
            console.print(
                f"{sign}: both properties {shares['both']:.0%}, only 1 {shares['only_1']:.0%}, "
                f"only 2 {shares['only_2']:.0%}, neither {shares['neither']:.0%} of {shares['count']}"
            )


def _row(passage: AttackPassage) -> list[str]:
    measures = passage.measures
    scores = [f"{measures.ss:.3f}", f"{measures.ps:+.3f}"] if measures else ["", ""]
    return [
        passage.passage_id,
        passage.kind.value,
        "" if passage.stance is None else str(passage.stance),
        *scores,
    ]


def _standing(passage: AttackPassage, ranks: dict[str, int]) -> list[str]:
    measures = passage.measures
    verdicts = (measures.property_1, measures.property_2) if measures else (None, None)
    words = {True: "yes", False: "no", None: ""}
    return [str(ranks.get(passage.passage_id, "")), *(words[verdict] for verdict in verdicts)]
