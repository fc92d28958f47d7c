"""Indexing of HTML pages against the encoder alone, in the same run, and `fastembed` with the same model and texts.

    python benchmarks/speed/pages.py [--pages 40] [--rounds 2] [--folder FOLDER]
    python benchmarks/speed/pages.py --pages 3000 --alone     indexing, questions during and after it: make bench-pages
    make bench-fastembed                                      the first one in an environment that has fastembed

The pages are the docstrings of Python's standard library, one page a module, drawn with a fixed seed; with --folder
they are the HTML files below it. Rounds are interleaved: whole indexing into a new store, the bare encoder on the
passages that came of it, fastembed on them. Rates are medians, ratios are medians of those of each round. Beside other
work processor time says more than speed. `fastembed` gets our model file as a custom model: it fetches nothing.

With --alone `equipoise ask` is run as a command as soon as all files are read, while no passage has a vector yet
(indexing waits for it), and again by a library when indexing has ended.
"""

import argparse
import ast
import json
import os
import random
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from equipoise import Library
from equipoise.core import settings
from equipoise.core.types import Array, Trust
from equipoise.corpus.embedding import texts_of
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from equipoise.models.encoder import DATA, DIMENSIONS, MAX_TOKENS, MODEL, TOKENIZER, EmbeddedEncoder

SEED, PAGES, ROUNDS = 20261123, 40, 2
LEAST = 2_000
"""Characters of docstrings from which a module makes a page."""
FASTEMBED_BATCH = 32
"""Of its 256 by default, padded to the longest, working memory is 3 GB."""
KEYWORDS = "return"
QUESTION = "Which function opens a file and returns a file object?"
SECOND_QUESTION = "How is a temporary directory removed?"
SPEED, WORK = "passages a second", "processor ms a passage"


@dataclass
class Timed:
    """The encoder; at its first call, when all files are read, another connection searches, or a command asks."""

    encoder: EmbeddedEncoder
    path: Path
    began: float = field(default_factory=time.perf_counter)
    read: float = 0.0
    answered: float = 0.0
    matches: int = 0
    asks: bool = False

    @property
    def name(self) -> str:
        return self.encoder.name

    @property
    def dimensions(self) -> int:
        return self.encoder.dimensions

    def encode(self, texts: Sequence[str]) -> Array:
        if not self.answered:
            self.read = time.perf_counter() - self.began
            if self.asks:
                ask(self.path)
            with Store.open(self.path, read_only=True) as store:
                hits = store.partition(Trust.TRUSTED).bm25(KEYWORDS, 20)
                self.matches = len(store.passages(number for number, _ in hits))
            self.answered = time.perf_counter() - self.began
        return self.encoder.encode(texts)


def ask(path: Path) -> None:
    """`equipoise ask` as a command of its own."""
    program = "from equipoise.apps.cli import program; program()"
    words = ["ask", QUESTION, "--store", str(path), "--llm", "none"]
    subprocess.run([sys.executable, "-c", program, *words], stdout=subprocess.DEVNULL, check=True)


def alone(files: Sequence[Path]) -> dict[str, float]:
    """Indexing, a question while no vectors are there, and the first one afterwards, which loads the models."""
    encoder = EmbeddedEncoder()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index.db"
        row, _ = whole(files, encoder, path, asks=True)
        row["whole indexing, minutes"] = row["whole indexing, s"] / 60
        begin, worked = time.perf_counter(), processor_time()
        with Library.open(path, settings=settings.load({"model.llm": "none"}).settings) as library:
            library.ask(QUESTION)
            row["first question after it, s"] = time.perf_counter() - begin
            row["first question after it, processor s"] = processor_time() - worked
            begin = time.perf_counter()
            library.ask(SECOND_QUESTION)
            row["second question, s"] = time.perf_counter() - begin
    return row


def measure(files: Sequence[Path], rounds: int) -> dict[str, float]:
    """What the table shows, by its names."""
    encoder = EmbeddedEncoder()
    encoder.encode(["warm up"])
    rows: list[dict[str, float]] = []
    with TemporaryDirectory() as made:
        other = fastembed(Path(made))
        for number in range(rounds):
            row, texts = whole(files, encoder, Path(made) / f"{number}.db")
            bare = costs(lambda texts=texts: encoder.encode(texts), len(texts))
            row |= {f"encoder alone, {name}": value for name, value in bare.items()}
            row["speed: whole indexing / encoder alone"] = ratio(row, "whole indexing", "encoder alone")
            row["work: encoder alone / whole indexing"] = (
                row[f"encoder alone, {WORK}"] / row[f"whole indexing, {WORK}"]
            )
            if other is not None:
                theirs = costs(lambda texts=texts: other(texts), len(texts))
                row |= {f"fastembed, {name}": value for name, value in theirs.items()}
                row["speed: whole indexing / fastembed"] = ratio(row, "whole indexing", "fastembed")
            print({name: round(value, 2) for name, value in row.items()}, flush=True)
            rows.append(row)
    return {name: median(row[name] for row in rows) for name in rows[0]}


def whole(
    files: Sequence[Path], encoder: EmbeddedEncoder, path: Path, *, asks: bool = False
) -> tuple[dict[str, float], list[str]]:
    """One run of `index` into a new store, and the texts that were embedded."""
    with Store.open(path, create=True) as store:
        timed, worked = Timed(encoder, path, asks=asks), processor_time()
        report = index(files, store, timed)
        seconds, worked = time.perf_counter() - timed.began, processor_time() - worked
        texts = [
            text
            for doc_id in store.doc_ids()
            for text in texts_of(
                store.document(doc_id),
                [(passage.start, passage.end) for passage in store.passages_of(doc_id)],
            )
        ]
    if report.failed or not timed.matches:
        raise SystemExit(f"not a fair run: {report.failed}, {timed.matches} found")
    return {
        "pages": report.added,
        "passages": report.passages,
        f"whole indexing, {SPEED}": report.passages / seconds,
        f"whole indexing, {WORK}": worked / report.passages * 1e3,
        "whole indexing, s": seconds,
        "until words find all, s": timed.read,
        f"first answer of {'a question' if asks else 'keyword search'}, s": timed.answered,
    }, texts


def costs(encode: Callable[[], object], texts: int) -> dict[str, float]:
    """Texts a second, and what each took of all processors together."""
    begin, worked = time.perf_counter(), processor_time()
    encode()
    seconds, worked = time.perf_counter() - begin, processor_time() - worked
    return {SPEED: texts / seconds, WORK: worked / texts * 1e3}


def ratio(row: dict[str, float], faster: str, slower: str) -> float:
    """How many times as fast the first is as the second."""
    return row[f"{faster}, {SPEED}"] / row[f"{slower}, {SPEED}"]


def processor_time() -> float:
    """Seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def fastembed(folder: Path) -> Callable[[Sequence[str]], object] | None:
    """It, reading our model file, as it is by default but for the size of batches; None where it is not installed."""
    try:
        from fastembed import TextEmbedding  # noqa: PLC0415
        from fastembed.common.model_description import ModelSource, PoolingType  # noqa: PLC0415
    except ImportError as error:
        print(f"without fastembed ({error}): pip install fastembed")
        return None
    for name in (MODEL, TOKENIZER):
        (folder / name).symlink_to(DATA / name)
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"model_max_length": MAX_TOKENS, "pad_token": "[PAD]"})
    )
    TextEmbedding.add_custom_model(
        model="equipoise/minilm",
        pooling=PoolingType.DISABLED,  # the file pools and normalises itself
        normalization=False,
        sources=ModelSource(hf="equipoise/none"),
        dim=DIMENSIONS,
        model_file=MODEL,
    )
    model = TextEmbedding("equipoise/minilm", specific_model_path=str(folder))
    list(model.embed(["warm up"]))
    return lambda texts: list(model.embed(list(texts), batch_size=FASTEMBED_BATCH))


def made_pages(folder: Path, number: int) -> list[Path]:
    """`number` pages in `folder`; modules come again, as other files, where there are not as many."""
    library = Path(sysconfig.get_paths()["stdlib"])
    modules = sorted(
        path for path in library.rglob("*.py") if not {"test", "tests", "site-packages"} & {*path.parts}
    )
    random.Random(SEED).shuffle(modules)
    pages = list(islice(filter(None, map(page_of, modules)), number))
    paths = [folder / f"page{n:05}.html" for n in range(number)]
    for n, path in enumerate(paths):
        path.write_text(pages[n % len(pages)], "utf-8")
    return paths


def page_of(module: Path) -> str:
    """The docstrings of a module as a page with headings and paragraphs, "" where they are short."""
    try:
        tree = ast.parse(module.read_bytes())
    except (SyntaxError, ValueError):
        return ""
    parts = list(sections(tree, module.stem))
    if sum(map(len, parts)) < LEAST:
        return ""
    title = f"<title>{escape(module.stem)}</title>"
    return f"<!doctype html><html><head>{title}</head><body>{''.join(parts)}</body></html>"


def sections(tree: ast.Module, name: str) -> Iterator[str]:
    """A heading and the paragraphs of the docstring for the module and every class and function with one."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in (node for node in ast.walk(tree) if isinstance(node, kinds)):
        if said := ast.get_docstring(node):
            level = "h1" if isinstance(node, ast.Module) else "h2"
            heading = f"<{level}>{escape(getattr(node, 'name', name))}</{level}>"
            yield heading + "".join(f"<p>{escape(part)}</p>" for part in said.split("\n\n"))


def table(results: dict[str, float]) -> str:
    """Markdown."""
    lines = ["| indexing of HTML pages | |", "|---|---|"]
    lines += [
        f"| {name} | {value:,.0f} |" if value == int(value) else f"| {name} | {value:,.2f} |"
        for name, value in results.items()
    ]
    return "\n".join(lines) + "\n"


def on_made_pages() -> dict[str, float]:
    """`measure` on pages that are made and removed again."""
    with TemporaryDirectory() as folder:
        return measure(made_pages(Path(folder), PAGES), ROUNDS)


def pages_of(folder: Path, number: int) -> list[Path]:
    """`number` of the HTML files below `folder`, drawn with a fixed seed."""
    files = sorted(folder.rglob("*.html"))
    random.Random(SEED).shuffle(files)
    return files[:number]


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--alone", action="store_true")
    chosen = parser.parse_args()
    with TemporaryDirectory() as made:
        files = (
            pages_of(chosen.folder, chosen.pages) if chosen.folder else made_pages(Path(made), chosen.pages)
        )
        print(table(alone(files) if chosen.alone else measure(files, chosen.rounds)))


if __name__ == "__main__":
    main()
