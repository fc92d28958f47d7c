"""Counts quotes that answer nothing: a lead-in, a heading or a fragment, and nothing else.

    python benchmarks/field/quotes.py [SET ...] [--half fitting] [--count 500] [--seed 0] [--show]

Sentences that a highlighter may choose are drawn at random, as many of each set, and what would be shown for each is
judged: without an index and without a model. With --show the quotes are printed, to be read.
"""

import argparse
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median

import sets

from equipoise.core.errors import CorpusError
from equipoise.core.types import BlockKind, Document, Highlight, Span
from equipoise.corpus import loaders
from equipoise.corpus.indexing import cut
from equipoise.corpus.pieces import passage_at
from equipoise.rag.boundary import read_quotes
from equipoise.text.blocks import blocks
from equipoise.text.outline import outlined
from equipoise.text.tokens import words

FILES = 40
_EMPTY = re.compile(
    r"(?:see also|see|contents|example|note)\b.{0,20}|(?:\W|\d|\b\w\b)*", re.IGNORECASE | re.DOTALL
)


def main() -> None:
    """Draw, judge and print."""
    arguments = _arguments()
    chance = random.Random(arguments.seed)
    chosen = [one for one in sets.chosen(arguments.sets, half=arguments.half) if one.half != "later"]
    share = -(-arguments.count // len(chosen))
    drawn: list[Highlight] = []
    for one in chosen:
        drawn += list(_quotes(sets.folder(arguments.cache, one.name), share, chance))
    chance.shuffle(drawn)
    drawn = drawn[: arguments.count]
    empty = [quote for quote in drawn if says_nothing(quote.text)]
    for quote in drawn if arguments.show else empty:
        print(f"--- {Path(quote.source).name}{' NOTHING' if quote in empty else ''}\n{quote.text}\n")
    lengths = sorted(len(quote.text.split()) for quote in drawn)
    print(
        f"{len(empty)} of {len(drawn)} quotes are a lead-in, a heading or a fragment alone; words of a quote: median "
        f"{median(lengths):.0f}, nine in ten at most {lengths[len(lengths) * 9 // 10]}, longest {lengths[-1]}"
    )


def says_nothing(text: str) -> bool:
    """Whether a quote ends where what it announces begins, points elsewhere, or has no words.

    >>> says_nothing("To install on Fedora:"), says_nothing("[6] 10."), says_nothing("Run: make")
    (True, True, False)
    """
    last = blocks(text)[-1:]
    announces = text.rstrip().endswith((":", "：")) and last[0].kind is not BlockKind.CODE
    return announces or _EMPTY.fullmatch(text.strip()) is not None or not words(text)


def _quotes(folder: Path, most: int, chance: random.Random) -> Iterator[Highlight]:
    """The quotes of `most` sentences of a folder that may be chosen, from FILES of its files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    spans = [(document, span) for path in chance.sample(files, min(FILES, len(files)))
             for document in _documents(path) for span in _offered(document)]  # fmt: skip
    for document, span in chance.sample(spans, min(most, len(spans))):
        yield from read_quotes([span], document)


def _documents(path: Path) -> Iterator[Document]:
    with suppress(CorpusError):
        for loaded in loaders.load(path, path.read_bytes()):
            structure = outlined(loaded.blocks or blocks(loaded.text))
            yield cut(Document(path.name, loaded.text, path.name, loaded.title, blocks=structure))[0]


def _offered(document: Document) -> list[Span]:
    passage = passage_at(0, 0, len(document.text), document)
    return [Span(document.doc_id, start, end) for start, end in passage.sentences or ()]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help="only these sets")
    parser.add_argument("--half", choices=sets.HALVES[:-1], help="only the sets of this half")
    parser.add_argument("--cache", type=Path, default=sets.default_cache())
    parser.add_argument("--count", type=int, default=500, metavar="N", help="quotes to judge")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another draw")
    parser.add_argument("--show", action="store_true", help="print the quotes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
