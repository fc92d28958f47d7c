"""Asks the questions of the field benchmark and counts right quotes and right refusals.

    python benchmarks/field/run.py [SET ...] [--half fitting] [--out .equipoise/bench-field] [--set KEY=VALUE ...]

Each set is indexed by itself, through `equipoise.rag.library`, and asked with the pipeline's own settings; without
`--set model.llm=...` there is no language model. Without SET and --half the sets kept apart are left out: they are for
one last run, which names them. A run resumes: a question that stands in the output folder's
rows.jsonl is not asked again. Rows hold places of quotes, never text. The table goes to standard output.

With --trust untrusted anybody may have written the documents, so that the filters look at them; with --sides only those
questions are asked that yes or no answers, at which `coordinated` looks.
"""

import argparse
import re
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import questions
import sets
from questions import Question
from sets import DocumentSet
from tables import page

from equipoise.core import settings as layers
from equipoise.core.errors import CorpusError, EquipoiseError, InputError
from equipoise.core.results import Answer, Refusal
from equipoise.core.settings import Layered
from equipoise.core.types import Trust
from equipoise.corpus import loaders
from equipoise.corpus.roots import Gone
from equipoise.rag.library import Library, update
from equipoise.text.polar import has_sides
from equipoise_lab.evaluation.results import Lines, check_config, fingerprint

ROOT = sets.HERE.parents[1]
KEY = ("id", "version")
LONGEST = 120
"""Words of a quote, at most, for it to be right."""
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff][^\s\u3040-\u30ff\u3400-\u9fff]*"
)


def main() -> None:
    """Ask what is missing, then print the table."""
    arguments = _arguments()
    layered = _settings(arguments.set)
    kept = {key: value for key, value, _origin in layered.rows() if key != "store.path"}
    config = {"pipeline": arguments.pipeline, "settings": kept}
    asked_otherwise = {"plain": True} if arguments.plain else {}
    asked_otherwise |= {"trust": arguments.trust} if arguments.trust != Trust.TRUSTED else {}
    check_config(arguments.out, config | asked_otherwise)
    rows: list[dict[str, Any]] = []
    with Lines(arguments.out / "rows.jsonl", KEY) as lines:
        for one in _wanted(arguments.sets, arguments.half):
            some = questions.load(one.name)[:: arguments.every]
            asked = {
                _key(question): question
                for question in some
                if not arguments.sides or has_sides(question.question)
            }
            missing = [question for key, question in asked.items() if key not in lines]
            if missing:
                _ask(one, missing, layered, arguments, lines)
            rows += [row for row in lines.rows() if lines.key_of(row) in asked]
    print(page(rows))


def _wanted(names: list[str], half: str | None) -> tuple[DocumentSet, ...]:
    """The sets to ask: those kept apart only where their name or their half is given."""
    some = sets.chosen(names, half=half)
    if names or half:
        return some
    asked = " or ".join(f"--half {one}" for one in sets.HALVES if one in sets.KEPT)
    print(f"the sets kept apart are left out: {asked} asks them", file=sys.stderr)
    return tuple(one for one in some if one.half not in sets.KEPT)


def plain(folder: Path, out: Path) -> Path:
    """`out` with the text of every document of `folder` as a text file that bears its name: no headings, lists or
    tables, as a reader of text alone would have it."""
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with suppress(CorpusError):
            texts = [document.text for document in loaders.load(path, path.read_bytes())]
            name = path.relative_to(folder).as_posix().replace("/", "--")
            (out / f"{name}.txt").write_text("\n\n".join(texts), "utf-8")
    return out


def outcome(question: Question, result: Answer | Refusal) -> str:
    """How a question ended: right, wrong_quote or wrongly_refused; rightly_refused or wrongly_answered."""
    if isinstance(result, Refusal):
        return "wrongly_refused" if question.answerable else "rightly_refused"
    if not question.answerable:
        return "wrongly_answered"
    return "right" if _ranks(question, _short(result)) else "wrong_quote"


def words(text: str) -> int:
    """How many words `text` has, marks alone being none and a Chinese or Japanese character one."""
    return len(_WORD.findall(text))


def _short(result: Answer | Refusal) -> list[str]:
    """The quotes shown, an empty one in place of each that is too long to be right."""
    texts = (quote.text for quote in result.highlights.items)
    return [text if words(text) <= LONGEST else "" for text in texts]


def row_of(question: Question, result: Answer | Refusal, folder: Path, seconds: float) -> dict[str, Any]:
    """What is kept of an answer: no text of the documents, of the question or of a model."""
    quotes = result.highlights.items
    return {
        "id": question.id,
        "version": _key(question)[1],
        "set": question.set,
        "kind": question.kind,
        "vague": question.vague,
        "outcome": outcome(question, result),
        "reason": str(result.reason) if isinstance(result, Refusal) else "",
        "parts": question.matches("\n\n".join(_short(result))),
        "parts_wanted": len(question.gold) if question.kind == "several_documents" else 1,
        "passages_right": _ranks(question, (one.passage.text for one in result.trace.passages)),
        "quotes_right": _ranks(question, _short(result)),
        "words": [words(quote.text) for quote in quotes],
        "quotes": [[_relative(quote.source, folder), quote.start, quote.end] for quote in quotes],
        "probability": result.trace.probability,
        "seconds": round(seconds, 3),
    }


def _ask(
    one: DocumentSet, asked: list[Question], layered: Layered, arguments: argparse.Namespace, lines: Lines
) -> None:
    folder = sets.folder(arguments.cache, one.name)
    if not folder.is_dir():
        raise CorpusError(f"the documents of {one.name} are not in {folder}: run fetch.py first")
    if arguments.plain:
        folder = plain(folder, arguments.out / "plain" / one.name)
    index = arguments.out / "indexes" / f"{one.name}.db"
    index.parent.mkdir(parents=True, exist_ok=True)
    trust, encoder = Trust(arguments.trust), layered.settings.retrieval.encoder
    report = update(index, [folder], trust=trust, gone=Gone.DROP, encoder=encoder)
    print(f"{one.name}: {report.documents} documents, {report.passages} passages", file=sys.stderr)
    with Library.open(index, settings=layered.settings, pipeline=arguments.pipeline) as library:
        for question in asked:
            lines.append(_row(question, library, folder))


def _row(question: Question, library: Library, folder: Path) -> dict[str, Any]:
    began = time.monotonic()
    try:
        result = library.ask(question.question, before=question.before)
    except EquipoiseError as error:
        failed = {
            "set": question.set,
            "kind": question.kind,
            "vague": question.vague,
            "outcome": "error",
            "reason": type(error).__name__,
        }
        return dict(zip(KEY, _key(question), strict=True)) | failed
    return row_of(question, result, folder, time.monotonic() - began)


def _key(question: Question) -> tuple[str, str]:
    """The id, and a hash of everything that a row depends on: a question that was fixed is asked again."""
    told = [question.question, question.kind, *question.before, "gold", *question.gold]
    return question.id, fingerprint(told)[:12]


def _ranks(question: Question, texts: Iterable[str]) -> list[int]:
    """Which of the texts (from 1) one of the gold patterns matches."""
    return [rank for rank, text in enumerate(texts, 1) if question.matches(text)]


def _relative(source: str, folder: Path) -> str:
    """The file inside the set, so that no place on this machine is kept."""
    path = Path(source).resolve()
    return (
        path.relative_to(folder.resolve()).as_posix() if path.is_relative_to(folder.resolve()) else path.name
    )


def _settings(pairs: Iterable[str]) -> Layered:
    """Only what stands on the command line counts: no settings file and no environment."""
    flags: dict[str, Any] = {"model.llm": "none"}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise InputError(f"--set {pair!r}: KEY=VALUE is wanted, such as retrieval.k=8")
        flags[key] = value
    return layers.load(flags, environment={}, folder=sets.HERE)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help="only these sets")
    parser.add_argument("--half", choices=sets.HALVES, help="only the sets of this half")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth question of a set")
    parser.add_argument("--cache", type=Path, default=sets.default_cache())
    parser.add_argument("--out", type=Path, default=ROOT / ".equipoise" / "bench-field")
    parser.add_argument("--pipeline", default="hs")
    parser.add_argument("--plain", action="store_true", help="index the bare text of each document")
    parser.add_argument(
        "--trust", choices=[one.value for one in Trust], default="trusted", help="of the documents"
    )
    parser.add_argument("--sides", action="store_true", help="only questions that yes or no answers")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting")
    return parser.parse_args()


if __name__ == "__main__":
    main()
