"""The EBI attack by the paper, step by step, with a model of one's own: its passages are planted, and filters measured.

    python benchmarks/bias/own.py --llm local[/NAME] [--data data] [--out .equipoise/bench-bias/own] [--corpus FOLDER]
        [--answers]

The passages of `run.py` are ready-made, and follow the synthetic passage that is extreme by its author's stance. Here
the model writes all of them, and step 3 is the paper's (Eq. 7): the adversarial ones follow the synthetic passage of
highest or lowest PS. Resumes passage by passage. Records, summary and table go to `own/` beside this file; the passages
stay in the output folder. Beside the tables: whose side the passages of step 3 take (`step3.py`).

With `--corpus` the questions of another corpus folder are attacked, such as that of `hotpotqa.py`: results go to
`own-NAME/`. With `--answers` the same model answers from what each filter kept (Tables 5, 6 and 8).
"""

import shutil
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from equipoise.core import sync
from equipoise.core.errors import ModelReplyError
from equipoise.core.protocols import ChatModel, Encoder
from equipoise_lab.attacks.ebi import EbiAttack, EbiSettings
from equipoise_lab.attacks.passages import AttackPassage, Kind, PassageFile
from equipoise_lab.bench import scripts
from equipoise_lab.bench.bias import attacks, bench, corpora, planting, report
from equipoise_lab.bench.bias.asked import ANSWERS, Asking
from equipoise_lab.bench.bias.attacks import WrittenAttack
from equipoise_lab.bench.bias.bench import PROFILES, BiasOptions
from equipoise_lab.bench.bias.numbers import Numbers
from equipoise_lab.bench.bias.planting import Workspace
from equipoise_lab.bench.bias.records import AnswerRecord, BiasPlan
from equipoise_lab.bench.output import SUMMARY
from equipoise_lab.evaluation.records import content, read_records, without_text
from equipoise_lab.evaluation.results import fingerprint
from equipoise_lab.evaluation.run import RESULTS
from equipoise_lab.redteam.attack_types import AttackCase

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import step3  # noqa: E402

SIGNS = (Kind.ADV_NEG, Kind.ADV_POS)
WRITTEN = "attack.jsonl"
"""The passages; `passages.jsonl` is what the benchmark itself writes of them."""


def main() -> None:
    """Write what is missing, plant it, publish."""
    arguments = _arguments()
    config = scripts.config(HERE)
    folder = arguments.corpus or arguments.data / config["corpus"]
    out = arguments.out or HERE.parents[1] / ".equipoise" / "bench-bias" / _name(arguments.corpus)
    corpus = corpora.read(folder)
    ready = _without_attacks(corpus)
    if arguments.corpus is None:
        ready = attacks.read(arguments.data / config["attacks"], corpus)
    own = config["own"]
    plan = BiasPlan(tuple(own["filters"]), tuple(own["injections"]), config["k"], config["candidates"])
    with scripts.components(out, {"model.llm": arguments.llm}) as components:
        chat, encoder = components.need_chat("writing the attack"), components.encoder
        written = [p for part in _attacks(ready, chat, encoder, own, out) for p in part]
        # other passages, other results
        measured = out / fingerprint([passage.text for passage in written])[:8]
        measured.mkdir(exist_ok=True)
        file = measured / WRITTEN
        scripts.write(file, [passage.row() for passage in written])
        asked = "".join(f"{one.query_id}\t{one.question}\n" for one in ready)
        (measured / attacks.QUESTIONS).write_text(f"query-id\tquestion\n{asked}", "utf-8")
        planting.borrow(out.parent, measured)
        options = BiasOptions(folder, file, Asking(answers=arguments.answers))
        parts = components if arguments.answers else replace(components, chat=None)
        summary = sync.run(bench.bench(plan, options, parts, Workspace(encoder, measured, scripts.say)))
    mine = attacks.read(file, corpus)
    chosen = step3.page(step3.chosen(mine, encoder, f"passages by {chat.name}"))
    here = HERE / _name(arguments.corpus)
    _publish(summary, chosen, _left_out(ready, mine), model=chat.name, own=own, here=here, out=measured)


def _name(corpus: Path | None) -> str:
    """Of the folder with what is published: that of another corpus has its name."""
    return "own" if corpus is None else f"own-{corpus.resolve().name}"


def _without_attacks(corpus: corpora.BeirCorpus) -> tuple[WrittenAttack, ...]:
    """The questions of a corpus for which there is no attack yet."""
    nothing: dict[Kind, tuple[AttackPassage, ...]] = dict.fromkeys(Kind, ())
    return tuple(WrittenAttack(query, corpus.queries[query], 1, nothing) for query in sorted(corpus.queries))


def _publish(
    summary: Numbers,
    chosen: str,
    left_out: Sequence[str],
    *,
    model: str,
    own: dict[str, Any],
    here: Path,
    out: Path,
) -> None:
    """Records, summary and table; answers without their texts."""
    here.mkdir(exist_ok=True)
    for name in (RESULTS, PROFILES, SUMMARY):
        shutil.copyfile(out / name, here / name)
    if said := read_records(out / ANSWERS, AnswerRecord):
        (here / ANSWERS).write_bytes(content(without_text(said)))
    questions, corpus = summary["queries"], summary["config"]["corpus"]
    parts = [
        "# The attack by the paper's steps",
        f"`python benchmarks/bias/own.py --llm ...`: {questions} questions of {corpus}, all "
        f"passages by {model}, {own['synthetic']} synthetic and up to {own['adversarial']} adversarial ones a sign. "
        f"Left out, because it wrote too few in {own['attempts']} tries for each: {', '.join(left_out) or 'none'}.",
        chosen.replace("# Step 3", "### Step 3").rstrip(),
        report.markdown(summary).rstrip(),
    ]
    (here / "table.md").write_text("\n\n".join(parts) + "\n", "utf-8")


def _attacks(
    ready: Sequence[WrittenAttack], chat: ChatModel, encoder: Encoder, own: dict[str, Any], out: Path
) -> list[list[AttackPassage]]:
    """The passages of the first questions that the model can write enough for; what it cannot is said and left out."""
    written: list[list[AttackPassage]] = []
    for one in ready:
        if len(written) == own["questions"]:
            break
        try:
            found = _written(one, chat, encoder, own, out)
        except ModelReplyError as error:
            print(f"{one.query_id} is left out: {error}", file=sys.stderr)
            continue
        fewest = min(sum(passage.kind is sign for passage in found) for sign in SIGNS)
        if fewest < max(own["injections"]):
            print(f"{one.query_id} is left out: {fewest} passages for a side", file=sys.stderr)
            continue
        written.append(found)
    return written


def _left_out(ready: Sequence[WrittenAttack], written: Sequence[WrittenAttack]) -> list[str]:
    """The questions before the last one of `written` that are not among these."""
    asked, kept = [one.query_id for one in ready], [one.query_id for one in written]
    return [one for one in asked[: max(map(asked.index, kept))] if one not in kept]


def _written(
    one: WrittenAttack, chat: ChatModel, encoder: Encoder, own: dict[str, Any], out: Path
) -> list[AttackPassage]:
    """The passages for a question, those that its file holds and those that it lacks."""
    counts = EbiSettings(
        own["synthetic"],
        own["adversarial"],
        batch=own["batch"],
        words=own["words"],
        attempts=own["attempts"],
        concurrency=1,
    )
    journal = PassageFile(out / f"{one.query_id}.jsonl")
    attack = EbiAttack(
        chat, encoder, counts, journal, lambda *said: scripts.say(*said[:2], f"{one.query_id}: {said[2]}")
    )
    found = sync.run(attack.run(AttackCase(one.query_id, one.question)))
    for line in found.missing:
        print(f"{one.query_id}: {line}", file=sys.stderr)
    return [replace(passage, claim_polarity=one.polarity) for passage in found.passages]


def _arguments() -> Namespace:
    parser = scripts.parser(__file__, __doc__)
    parser.add_argument(
        "--out", type=Path, help="by default .equipoise/bench-bias/own, or own-NAME of the corpus"
    )
    parser.add_argument("--corpus", type=Path, help="attack the questions of this corpus folder instead")
    parser.add_argument("--answers", action="store_true", help="have the model answer, too")
    parser.add_argument("--llm", required=True, help="local[/NAME], openai/NAME: who writes the passages")
    return parser.parse_args()


if __name__ == "__main__":
    main()
