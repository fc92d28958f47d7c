"""How long many HTML pages take until words, and until meaning, finds all of them.

    python benchmarks/speed/pages.py [--pages 3000] [--folder FOLDER]

Pages are the docstrings of Python's standard library, 28 drawn anew for each, so that no two are the same; with
--folder the HTML files below it. Beside it, in the same run, the encoder alone on some of the passages that came of
it: speeds are of the clock, work is processor time. Writes pages.md beside this file.
"""

import ast
import random
import sysconfig
import time
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from equipoise import Library
from equipoise.core.types import Trust
from equipoise.corpus.pieces import search_text
from equipoise.corpus.writing import IndexProgress
from equipoise.models.encoder import EmbeddedEncoder
from equipoise_lab.bench import scripts
from equipoise_lab.bench.tables import grid

HERE = Path(__file__).resolve().parent
SEED, SECTIONS, ALONE = 20261130, 28, 2_000
OFFICIAL = 3_000


def docstrings() -> list[tuple[str, str]]:
    """The name and the docstring of each module, class and function of the standard library that has one."""
    library = Path(sysconfig.get_paths()["stdlib"])
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    every = []
    for path in sorted(library.glob("*.py")):
        nodes = (node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, kinds))
        every += [
            (getattr(node, "name", path.stem), said) for node in nodes if (said := ast.get_docstring(node))
        ]
    return every


def made(number: int, folder: Path) -> None:
    """`number` pages in `folder`, with a fixed seed."""
    draw, every = random.Random(SEED), docstrings()
    for n in range(number):
        some = draw.sample(every, SECTIONS)
        body = "".join(
            f"<h2>{escape(name)}</h2>" + "".join(f"<p>{escape(part)}</p>" for part in said.split("\n\n"))
            for name, said in some
        )
        page = f"<!doctype html><html><head><title>{escape(some[0][0])} {n}</title></head><body>{body}</body></html>"
        (folder / f"page{n:05}.html").write_text(page, "utf-8")


def measured(files: Sequence[Path], folder: Path) -> Iterator[tuple[str, str]]:
    """What and how much."""
    read: list[float] = []

    def progress(step: IndexProgress) -> None:
        if step.passages and not read:
            read.append(time.perf_counter())

    with Library.create(folder / "index.db", settings=scripts.settings({"model.llm": "none"})) as library:
        began = time.perf_counter()
        clock, work = scripts.spent(lambda: library.index(files, progress=progress))
        partition = library.store.partition(Trust.TRUSTED)
        texts = [
            search_text(passage)
            for each in library.store.numbered()
            for passage in partition.passages_of(each.entry.document.doc_id)
        ]
    some = random.Random(SEED).sample(texts, min(ALONE, len(texts)))
    encoder = EmbeddedEncoder()
    alone_clock, alone_work = scripts.spent(lambda: encoder.encode(some))
    yield "pages", f"{len(files):,}"
    yield "passages", f"{len(texts):,}"
    yield "words of a passage, mean", f"{sum(len(text.split()) for text in texts) / len(texts):.0f}"
    yield "until words find all", f"{read[0] - began:.1f} s"
    yield "until meaning finds all", f"{clock:.1f} s"
    yield "processor time of a passage", f"{1e3 * work / len(texts):.2f} ms"
    yield "the encoder alone, the same", f"{1e3 * alone_work / len(some):.2f} ms"
    yield "speed against the encoder alone", f"{alone_clock / len(some) / (clock / len(texts)):.2f}"
    yield (
        "processor time, encoder alone / whole indexing",
        f"{alone_work / len(some) / (work / len(texts)):.2f}",
    )


def main() -> None:
    """Measure, print, write."""
    parser = scripts.parser(__file__, __doc__, data=False)
    parser.add_argument("--pages", type=int, default=OFFICIAL)
    parser.add_argument("--folder", type=Path, help="HTML files below it, instead of made pages")
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        if not given.folder:
            made(given.pages, folder)
        files = sorted((given.folder or folder).rglob("*.html"))
        random.Random(SEED).shuffle(files)
        rows = list(measured(files[: given.pages], folder))
    page = f"`make bench-speed`: {scripts.machine()}.\n\n{grid(('indexing of HTML pages', ''), rows)}\n"
    (HERE / "pages.md").write_text(page, "utf-8")
    print(page)


if __name__ == "__main__":
    main()
