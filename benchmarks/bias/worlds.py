"""The worlds of the bias benchmark: every filter, and every ingredient of voices, where it could flatter itself.

    python benchmarks/bias/worlds.py [--data data] [--out .equipoise/bench-bias] [--llm NAME]
        [--held-out | --fitting] [--table]

Resumes: what stands in the output folder is not measured again, and no side is asked for twice. Records, sides,
summary, table and figure are put beside this file: ids and numbers, no text. Without `--llm` the rows with a model's
stance are made from the sides that are here. With --held-out only the questions are asked that the embedded model of
stance was not trained on (`benchmarks/stance/stance_texts.py`), its rows beside the others, and all of it is put into
`held_out`. With --fitting only the others are, by the rows of FITTING, into `fitting`: what is chosen is chosen there,
and the embedded stance looks better there than it is. With --table nothing is measured: summary, table and figure are
made once more.
"""

import argparse
import json
import shutil
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.corpus.store import Store
from equipoise.evaluation.records import RecordFile, content, read_records
from equipoise.evaluation.results import check_config, fingerprint
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.rag.stance import ChatStance, EmbeddedStance
from equipoise_lab.bench import tables
from equipoise_lab.bench.bias import attacked_questions, attacks, corpora
from equipoise_lab.bench.bias.vectors import Workspace
from equipoise_lab.bench.bias.worlds import figure, plantings, rows, run, summary
from equipoise_lab.bench.bias.worlds import tables as layout
from equipoise_lab.bench.bias.worlds.plantings import Key, Known
from equipoise_lab.bench.bias.worlds.run import WORLDS, WorldRecord
from equipoise_lab.bench.bias.worlds.sides import KeptSides, SideRecord, TrueSides
from equipoise_lab.bench.bias.worlds.summary import WorldsSummary
from equipoise_lab.bench.page import as_text

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "stance"))

import stance_texts  # noqa: E402

HELD_OUT, FITTING_FOLDER = "held_out", "fitting"
FITTING = ("none", "biasdef", "near", "voices-embedded", "voices-embedded-near")
SIDES, SUMMARY, TABLE, FOLDER = "sides.jsonl", "worlds.json", "worlds.md", "worlds"
FIGURES = "figures"


def main() -> None:
    """Run what is missing, then write summary and table."""
    arguments = _arguments()
    here = HERE / _part(arguments)
    config = None
    if not arguments.table:
        config = measure(tomllib.loads((HERE / "config.toml").read_text("utf-8")), arguments, here)
    publish(here, here, config)


def measure(config: dict[str, Any], arguments: argparse.Namespace, here: Path) -> dict[str, Any]:
    """Run what is missing, and copy records and sides to `here`; returns what was measured on what."""
    part = _part(arguments)
    out = arguments.out / (f"{FOLDER}-{part}" if part else FOLDER)
    for folder in (out, here):
        folder.mkdir(parents=True, exist_ok=True)
    if (here / SIDES).exists() and not (out / SIDES).exists():
        shutil.copyfile(here / SIDES, out / SIDES)
    corpus = corpora.read(arguments.data / config["corpus"])
    written = attacks.read(arguments.data / config["attacks"], corpus)
    encoder = EmbeddedEncoder()
    kept = Workspace(encoder, arguments.out, _say)
    embedded = attacked_questions.embedded(corpus, kept)
    asked = attacked_questions.attacked_questions(written, corpus, embedded, kept)
    scene = plantings.attacked_corpus(corpus, embedded, asked, kept)
    found = {
        "corpus": corpus.name,
        "attacks_sha256": fingerprint(
            [p.text for one in written for of in one.passages.values() for p in of]
        )[:16],
        "encoder": encoder.name,
        "k": config["k"],
        "candidates": config["candidates"],
    } | ({part: True} if part else {})
    check_config(out, found)
    settings = layers.load(_flags(arguments.llm, arguments.out), environment={}, folder=HERE).settings
    with (
        Store.open(arguments.out / "index.db", create=True) as store,
        RecordFile(out / SIDES, SideRecord) as sides,
    ):
        components = Components(settings, store, encoder, build.chat_model(settings.model))
        texts = scene.texts()
        small = EmbeddedStance() if part else None
        filters = rows.rows(components, TrueSides(texts), _judge(components, texts, sides), small)
        if arguments.fitting:
            filters = {name: filters[name] for name in FITTING}
        wanted = stance_texts.held_out(arguments.data, encoder) if part else set()
        worlds = [
            one
            for one in plantings.worlds(scene)
            if not part or (one.attacked.attack.query_id in wanted) is arguments.held_out
        ]
        sync.run(
            run.run(
                scene, worlds, filters, replace(kept, out=out),
                k=config["k"], candidates=config["candidates"], asks=components.chat is not None,
            )
        )  # fmt: skip
        sides.finish()
    records = read_records(out / WORLDS, WorldRecord)
    # what could not be measured is tried again by every run, and is a gap in the tables
    (here / WORLDS).write_bytes(content([one for one in records if not one.failed]))
    if told := read_records(out / SIDES, SideRecord):
        (here / SIDES).write_bytes(content(told))
    return found


def _judge(
    components: Components, texts: Mapping[Key, Known], sides: RecordFile[SideRecord]
) -> KeptSides | None:
    """Who tells sides: the model named, or what the only model of the file has said; None where there is neither."""
    if chat := components.chat:
        return KeptSides(chat.name, texts, sides, ChatStance(chat, components.options))
    models = {one.model for one in sides}
    return KeptSides(models.pop(), texts, sides, None) if len(models) == 1 else None


def _flags(llm: str, out: Path) -> dict[str, str | None]:
    return {"model.llm": llm} | ({} if llm == "none" else {"model.replay": str(out / "replies.db")})


def _summary(records: list[WorldRecord], sides: list[SideRecord], config: dict[str, Any]) -> WorldsSummary:
    """The model with most sides is the one of the rows."""
    names = Counter(one.model for one in sides)
    name = names.most_common(1)[0][0] if names else ""
    told = summary.judged([one for one in sides if one.model == name])
    return summary.summarise(records, list(layout.ROWS), config, told)


def again(folder: Path, config: dict[str, Any] | None = None) -> WorldsSummary:
    """The summary once more from the records in `folder`, with the configuration that stands there, or this one."""
    config = config or json.loads((folder / SUMMARY).read_text("utf-8"))["config"]
    return _summary(
        read_records(folder / WORLDS, WorldRecord), read_records(folder / SIDES, SideRecord), config
    )


def publish(folder: Path, here: Path, config: dict[str, Any] | None = None) -> None:
    """Write summary, table and figure from the records in `folder`."""
    found = again(folder, config)
    (here / SUMMARY).write_text(as_text(found), "utf-8")
    (here / TABLE).write_text(page(found), "utf-8")
    if drawn := figure.figure(found):
        (here / FIGURES).mkdir(exist_ok=True)
        (here / FIGURES / "worlds.svg").write_text(drawn, "utf-8")


def page(found: WorldsSummary) -> str:
    """The tables as Markdown."""
    made_by, which = "bench-bias", ""
    if "held_out" in found.config:
        made_by, which = "bench-stance", " that the embedded model of stance never saw"
    if FITTING_FOLDER in found.config:
        which = (
            ", those that filters are chosen on, some of which the embedded model of stance was trained on"
        )
    parts = [
        "# Worlds in which a filter could flatter itself",
        f"`make {made_by}`: {found.questions} questions of {found.config['corpus']}{which}, both sides, the top "
        f"{found.config['k']} of {found.config['candidates']} candidates by {found.config['encoder']}. Intervals are "
        f"{found.level:.0%}, by bootstrap over questions. The oracle is told the side of every passage by its label: "
        "no filter that can be had. How the worlds are made stands in `README.md`.",
        *(tables.as_markdown(table).rstrip() for table in layout.tables(found)),
    ]
    return "\n\n".join(parts) + "\n"


def _part(arguments: argparse.Namespace) -> str:
    """The folder of the questions that are asked; empty for all."""
    return HELD_OUT if arguments.held_out else FITTING_FOLDER if arguments.fitting else ""


def _say(done: int, total: int, what: str) -> None:
    if done % 50 == 0:
        print(f"{done}/{total} {what}", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    root = HERE.parents[1]
    parser.add_argument("--data", type=Path, default=root / "data")
    parser.add_argument("--out", type=Path, default=root / ".equipoise" / "bench-bias")
    parser.add_argument("--llm", default="none", help="ask this model for sides: local[/NAME], openai/NAME")
    parser.add_argument(
        "--held-out", action="store_true", help="only questions the embedded stance never saw"
    )
    parser.add_argument("--fitting", action="store_true", help="only the other questions, a few rows")
    parser.add_argument("--table", action="store_true", help="only write summary and table again")
    return parser.parse_args()


if __name__ == "__main__":
    main()
