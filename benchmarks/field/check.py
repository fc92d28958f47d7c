"""Holds the questions against the documents.

    python benchmarks/field/check.py [SET ...] [--cache DIR]

Each gold pattern of a question with an answer must match in one of its files, as equipoise loads it; for a PDF
`pdftotext`, where it is installed, is asked as well, so that what a loader spoils is told from a wrong pattern.
A pattern that matches in very many places is not specific and is named. What is said to be absent must not be
found in any file of the set. That a question has no answer at all cannot be proved. Exit code 1 where something
is wrong.
"""

import argparse
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import questions
import sets
from questions import Question

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders import LOADERS, load

_MANY = 12  # places in the named files that one pattern may match


def main() -> int:
    """Check and count."""
    arguments = _arguments()
    wrong, kinds = 0, Counter[str]()
    for one in sets.chosen(arguments.sets):
        asked = questions.load(one.name)
        kinds.update(question.kind for question in asked)
        faults = [*_repeats(asked), *check(asked, sets.folder(arguments.cache, one.name))]
        wrong += len(faults)
        print(f"{one.name}: {len(asked)} questions, {len(faults)} faults")
        for fault in faults:
            print(f"  {fault}")
    print(", ".join(f"{kind} {count}" for kind, count in kinds.most_common()), "together", kinds.total())
    return min(wrong, 1)


def check(asked: Iterable[Question], folder: Path) -> Iterator[str]:
    """What is wrong with the questions of a set whose documents are in `folder`, one sentence for each."""
    if not folder.is_dir():
        yield f"its documents are not there: run fetch.py (looked in {folder})"
        return
    texts = dict(_texts(folder))
    for question in asked:
        for file in question.files:
            if file not in texts:
                yield f"{question.id}: there is no readable file {file}"
        yield from _gold_faults(question, texts, folder)
        for source in question.absent:
            found = [file for file, text in texts.items() if questions.pattern(source).search(text)]
            if found:
                yield f"{question.id}: {source!r} is said to be absent and is in {found[0]}"


def _gold_faults(question: Question, texts: Mapping[str, str], folder: Path) -> Iterator[str]:
    named = {file: texts[file] for file in question.files if file in texts}
    for source in question.gold:
        wanted = questions.pattern(source)
        places = sum(len(wanted.findall(text)) for text in named.values())
        if places > _MANY:
            yield f"{question.id}: {source!r} matches {places} places: make it specific"
        elif not places and any(wanted.search(_pdf_text(folder / file)) for file in named):
            yield f"{question.id}: {source!r} matches by pdftotext and not as equipoise loads the file"
        elif not places:
            yield f"{question.id}: {source!r} matches nowhere in {', '.join(question.files)}"


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix.lower() in LOADERS:
            try:
                documents = load(path, path.read_bytes())
            except UnreadableFile:
                continue
            yield path.relative_to(folder).as_posix(), "\n\n".join(one.text for one in documents)


def _pdf_text(path: Path) -> str:
    program = shutil.which("pdftotext")
    if path.suffix.lower() != ".pdf" or program is None:
        return ""
    done = subprocess.run([program, str(path), "-"], capture_output=True, timeout=120, check=False)
    return done.stdout.decode("utf-8", "replace")


def _repeats(asked: Iterable[Question]) -> Iterator[str]:
    for name, count in Counter(question.id for question in asked).items():
        if count > 1:
            yield f"the id {name} is there {count} times"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help="only these sets")
    parser.add_argument("--cache", type=Path, default=sets.default_cache())
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
