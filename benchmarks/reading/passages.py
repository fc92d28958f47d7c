"""Makes the passages of the training questions, of the packages and commits that `sources.tsv` pins.

    python benchmarks/reading/passages.py [SET ...] [--cache DIR] [--out .equipoise/training/manuals]

`questions.jsonl.xz` beside this file has 12,858 questions of ours over manuals, policies and handbooks; the documents
are other people's and not in this repository. A question names the units that answer it (`gold`), and its passage by
the longest units in it (`at`), by a digest of their words, so that they are found again however passages are cut: what
today's loaders read otherwise is left out and counted. Written is a folder for `equipoise train reader --data`:
`questions.jsonl.xz` and `passages.jsonl.xz`. Debian packages come through `apt-get download` (nothing is installed),
repositories through `git fetch`. Made sets are kept, so that a run resumes. Exit code 1 where a set cannot be had.
"""

import argparse
import gzip
import json
import lzma
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.core.errors import CorpusError, EquipoiseError
from equipoise.core.types import Array, Passage, Trust
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from equipoise.rag.highlighters.sentences import sentences_of
from equipoise.text.labels import is_fragment
from equipoise_lab.evaluation.jsonl import json_object, lines

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
QUESTIONS, PASSAGES = "questions.jsonl.xz", "passages.jsonl.xz"
NEAR, AT = 9, 2
"""Passages that words find for a question, its own left out; and units that a passage is known again by."""
Row = dict[str, Any]


class _NoVectors:
    """An encoder for a store that is searched by words alone."""

    name, dimensions = "no vectors", 1

    def encode(self, texts: Sequence[str]) -> Array:
        return np.ones((len(texts), 1), np.float32)


def main() -> int:
    """Make what is missing, then put the sets together."""
    arguments = _arguments()
    asked: dict[str, list[Row]] = defaultdict(list)
    for text, where in lines(HERE / QUESTIONS):
        row = json_object(text, where)
        asked[row["set"]].append(row)
    parts, failed = arguments.out / "sets", 0
    parts.mkdir(parents=True, exist_ok=True)
    for line in (HERE / "sources.tsv").read_text("utf-8").splitlines():
        name, kind, pin = line.split("\t")
        if arguments.sets and name not in arguments.sets:
            continue
        try:
            if not (parts / f"{name}.json").exists():
                folder = _fetched(name, kind, pin, arguments.cache)
                made = _made(name, folder, asked[name])
                (parts / f"{name}.json").write_text(json.dumps(made), "utf-8")
        except EquipoiseError as error:
            failed = 1
            print(f"{name}: left out: {error}", file=sys.stderr)
            continue
        made = json.loads((parts / f"{name}.json").read_text("utf-8"))
        print(f"{name}: {len(made['questions'])} of {len(asked[name])} questions", flush=True)
    _joined(parts, arguments.out)
    return failed


def digest(text: str) -> str:
    """Of its words, whatever stands between them."""
    return sha256(" ".join(re.findall(r"\w+", text.casefold())).encode()).hexdigest()[:10]


def _fetched(name: str, kind: str, pin: str, cache: Path) -> Path:
    """The folder with a set's files; it ends with `.part` until all are there."""
    folder = cache / name
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, suffix=".part") as work:
        unpacked = Path(work) / "made"
        if kind == "debian":
            _run(["dpkg-deb", "-x", str(_package(pin, Path(work))), str(unpacked)], Path(work))
            for packed in unpacked.rglob("usr/share/doc/**/*.gz"):
                packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        else:
            _run(["git", "init", "--quiet", str(unpacked)], Path(work))
            _run(["git", "fetch", "--quiet", "--depth", "1", f"https://github.com/{kind}", pin], unpacked)
            _run(["git", "checkout", "--quiet", "FETCH_HEAD"], unpacked)
        unpacked.rename(folder)
    return folder


def _package(pin: str, folder: Path) -> Path:
    """The package of that version, else, since units are known by their words, of the one that there is."""
    name, version, architecture = pin.split("_")
    try:
        _run(["apt-get", "download", f"{name}:{architecture}={version}"], folder)
    except CorpusError:
        _run(["apt-get", "download", f"{name}:{architecture}"], folder)
        print(f"{name}: {version} is gone, another version is read", file=sys.stderr)
    return next(folder.glob("*.deb"))


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise CorpusError(f"`{' '.join(command)}` failed: {why}")


def _made(name: str, folder: Path, asked: Sequence[Row]) -> Row:
    """The passages of a set, and its questions with the numbers of their units."""
    with tempfile.TemporaryDirectory() as work, Store.open(Path(work) / "set.db", create=True) as store:
        index([folder], store, _NoVectors())
        every = [passage for each in store.doc_ids() for passage in store.passages_of(each)]
        names = {passage.passage_id: f"{name}:{n}" for n, passage in enumerate(every)}
        rows = {names[passage.passage_id]: _row(names[passage.passage_id], passage) for passage in every}
        known: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for row in rows.values():
            for n, (start, end, *_) in enumerate(row["units"]):
                known[digest(row["text"][start:end])].append((row["passage"], n))
        words = store.partition(Trust.TRUSTED)
        questions = []
        for one in asked:
            own, gold = _found(one, known)
            if own:
                found = [names[passage_id] for passage_id, _ in words.bm25(one["question"], NEAR + 1)]
                near = [each for each in found if each != own][:NEAR]
                questions.append(one | {"passage": own, "gold": gold, "near": near})
        used = {each for one in questions for each in (one["passage"], *one["near"])}
        for one in questions:
            one.pop("at")
    return {"questions": questions, "passages": [row for key, row in rows.items() if key in used]}


def _found(one: Row, known: dict[str, list[tuple[str, int]]]) -> tuple[str, list[int]]:
    """The passage that has all the units that answer, and their numbers; for a near miss the one it was written for."""
    wanted = one["gold"] or one["at"]
    places = [dict(reversed(known.get(each, ()))) for each in wanted]
    shared = set(places[0]).intersection(*places[1:]) if one["gold"] else set().union(*places)
    own = min(shared, key=lambda name: int(name.rpartition(":")[2]), default="")
    return own, sorted(place[own] for place in places) if own and one["gold"] else []


def _row(name: str, passage: Passage) -> Row:
    units = [
        [one.start, one.end, passage.path_at(one.start)[-1], int(is_fragment(one.text))]
        for one in sentences_of([passage])
    ]
    return {
        "passage": name,
        "document": passage.doc_id,
        "title": passage.title,
        "headings": list(passage.headings),
        "text": passage.text,
        "units": units,
    }


def _joined(parts: Path, out: Path) -> None:
    made = [json.loads(path.read_text("utf-8")) for path in sorted(parts.glob("*.json"))]
    for file, kind in ((QUESTIONS, "questions"), (PASSAGES, "passages")):
        with lzma.open(out / file, "wt", encoding="utf-8") as written:
            written.writelines(
                json.dumps(row, ensure_ascii=False) + "\n" for one in made for row in one[kind]
            )
    print(f"{sum(len(one['questions']) for one in made):,} questions of {len(made)} sets in {out}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help="only these sets")
    parser.add_argument("--cache", type=Path, default=ROOT / ".equipoise" / "training" / "sources")
    parser.add_argument("--out", type=Path, default=ROOT / ".equipoise" / "training" / "manuals")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
