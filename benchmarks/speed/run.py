"""Speed of search, next to numpy alone and faiss on the same vectors.

    python benchmarks/speed/run.py [--sizes 1000,10000,100000,1000000] [--repeats 50] [--hnsw-to 100000]

Synthetic text with Zipf-distributed words; vectors of 384 dimensions mixed from those of the passages of
examples/sqlite, and noise; fixed seed. Recall is that of the exact best 20 among the 50 that hybrid search takes.
HNSW (M 32, built with 80, searched with 128) takes long to build: it is left out beyond --hnsw-to. Prints medians
in milliseconds and, since machines differ and are shared, ratios to numpy alone in the same run. Writes
results.json and table.md beside this file.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import faiss
import numpy as np

from equipoise import Library
from equipoise.core import sync
from equipoise.core.types import Array, Document, Query, Trust
from equipoise.corpus.record_types import IndexEntry
from equipoise.corpus.store import Store
from equipoise.models.scripted import ScriptedChat
from equipoise.rag.filters import NoFilter
from equipoise.rag.highlighters.indexed import IndexedHighlighter
from equipoise.rag.pipeline import HighlightSummarize
from equipoise.rag.retrieval import DEPTH, HybridRetriever, dense
from equipoise.rag.summarizers.llm import LlmSummarizer
from equipoise.text.sentences import sentence_spans
from equipoise_lab.bench import scripts
from equipoise_lab.bench.tables import grid

HERE = Path(__file__).resolve().parent
SEED, DIMENSIONS, VOCABULARY = 20261121, 384, 20_000
SCRIPT = {
    "You find evidence": '{"answerable": true, "sentences": [1, 2]}',
    "somebody highlighted": '{"guessed_questions": ["What?"], "answer": "It is so."}',
}


@dataclass
class FixedEncoder:
    """Answers at once, so that only what is around the encoder is timed."""

    vectors: Array
    name: str = "fixed"
    dimensions: int = DIMENSIONS

    def encode(self, texts: list[str]) -> Array:
        rows = [hash(text) % len(self.vectors) for text in texts]
        return self.vectors[rows]


def main() -> None:
    """Measure, print, write."""
    parser = scripts.parser(__file__, __doc__, data=False, table=True)
    parser.add_argument("--sizes", default="1000,10000,100000,1000000", help="passages, with commas")
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--hnsw-to", type=int, default=100_000, metavar="N")
    arguments = parser.parse_args()
    results = json.loads((HERE / "results.json").read_text("utf-8"))
    if not arguments.table:
        rng = np.random.default_rng(SEED)
        words, sizes = MadeWords(rng), map(int, arguments.sizes.split(","))
        rows = [search(size, words, rng, arguments.repeats, arguments.hnsw_to) for size in sizes]
        results |= {"machine": scripts.machine(), "repeats": arguments.repeats, "search": rows}
        (HERE / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    (HERE / "table.md").write_text(table(results))
    print(table(results))


class MadeWords:
    """Sentences of Zipf-distributed invented words."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
        self.words = ["".join(rng.choice(letters, rng.integers(2, 10))) for _ in range(VOCABULARY)]
        shares = 1.0 / np.arange(1, VOCABULARY + 1)
        self.shares = np.cumsum(shares / shares.sum())

    def sentence(self, n: int) -> str:
        rows = np.searchsorted(self.shares, self.rng.random(n))
        return " ".join(self.words[min(row, VOCABULARY - 1)] for row in rows).capitalize() + "."

    def text(self, sentences: int) -> str:
        return " ".join(self.sentence(15) for _ in range(sentences))


def search(
    size: int, words: MadeWords, rng: np.random.Generator, repeats: int, hnsw_to: int
) -> dict[str, float | None]:
    """Medians in ms for one size of store, and shares of what exact search finds."""
    vectors = mixed(size, rng)
    questions = [words.sentence(8) for _ in range(repeats)]
    with TemporaryDirectory() as folder:
        with Store.open(Path(folder) / "index.db", create=True) as store:
            encoder = FixedEncoder(vectors)
            store.bind_encoder(encoder)
            fill(store, vectors, words)
            store.optimize()
        before = memory_mb()
        with Store.open(Path(folder) / "index.db", read_only=True) as store:
            asked, exact = asked_near(vectors, repeats, rng)
            partition = store.partition(Trust.TRUSTED)
            begin = time.perf_counter()
            dense(partition, asked[0], DEPTH)
            loaded = time.perf_counter() - begin
            retriever = HybridRetriever(partition, encoder)
            found = [[n - 1 for n, _ in dense(partition, vector, DEPTH)] for vector in asked]
            row: dict[str, float | None] = {
                "passages": size,
                "load_s": loaded,
                "recall": recall(exact, found),
                "memory_mb": memory_mb() - before,
                "hybrid": timed(lambda i: retriever.retrieve(Query(questions[i]), k=20), repeats),
                "dense": timed(lambda i: dense(partition, asked[i], 20), repeats),
                "bm25": timed(lambda i: partition.bm25(questions[i], 20), repeats),
                "numpy": timed(lambda i: plain(vectors, asked[i], 20), repeats),
            }
            row |= beside(vectors, asked, exact, repeats, hnsw=size <= hnsw_to)
            row["ask"] = ask(store, encoder, questions)
            return row


def beside(
    vectors: Array, asked: list[Array], exact: list[set[int]], repeats: int, *, hnsw: bool
) -> dict[str, float | None]:
    """faiss on the same vectors: flat, and HNSW with its recall."""
    flat = faiss.IndexFlatIP(DIMENSIONS)
    flat.add(vectors)
    row: dict[str, float | None] = {
        "faiss": timed(lambda i: flat.search(asked[i][None], 20), repeats),
        "hnsw": None,
        "hnsw_recall": None,
    }
    if hnsw:
        graph = faiss.IndexHNSWFlat(DIMENSIONS, 32, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction, graph.hnsw.efSearch = 80, 128
        graph.add(vectors)
        row["hnsw"] = timed(lambda i: graph.search(asked[i][None], 20), repeats)
        row["hnsw_recall"] = recall(
            exact, [graph.search(vector[None], 20)[1][0].tolist() for vector in asked]
        )
    return row


def recall(exact: list[set[int]], approximate: list[list[int]]) -> float:
    """The mean share of the exact rows that were found."""
    return float(np.mean([len(a & set(b)) / len(a) for a, b in zip(exact, approximate, strict=True)]))


def mixed(size: int, rng: np.random.Generator) -> Array:
    """(size, d) unit vectors: each of three passages of examples/sqlite in random shares, and noise."""
    with TemporaryDirectory() as folder, Library.create(Path(folder) / "index.db") as library:
        library.index(HERE.parents[1] / "examples" / "sqlite")
        _, base = library.store.partition(Trust.TRUSTED).matrix()
    vectors = np.empty((size, DIMENSIONS), np.float32)
    for first in range(0, size, 50_000):
        rows = vectors[first : first + 50_000]
        shares = rng.dirichlet((1, 0.5, 0.5), len(rows)).astype(np.float32)
        picked = base[rng.integers(len(base), size=(len(rows), 3))]
        rows[:] = unit(np.einsum("ns,nsd->nd", shares, picked) + noise(rows.shape, 0.4, rng))
    return vectors


def asked_near(
    vectors: Array, questions: int, rng: np.random.Generator, k: int = 20
) -> tuple[list[Array], list[set[int]]]:
    """Vectors to ask for, each near one of these, and the rows of the exact best k of each."""
    near = vectors[rng.integers(len(vectors), size=questions)]
    asked = list(unit(near + noise(near.shape, 0.6, rng)))
    return asked, [set(plain(vectors, vector, k).tolist()) for vector in asked]


def noise(shape: tuple[int, ...], length: float, rng: np.random.Generator) -> Array:
    """Gaussian noise whose rows have about this length."""
    return rng.standard_normal(shape, np.float32) * np.float32(length / np.sqrt(shape[-1]))


def unit(rows: Array) -> Array:
    """The rows, each of length 1."""
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def fill(store: Store, vectors: Array, words: MadeWords) -> None:
    """One passage a vector, a hundred to a document; from 20,000 passages on texts come again."""
    pool = [words.text(8) for _ in range(min(len(vectors), 20_000))]
    texts = cycle(pool)
    for first in range(0, len(vectors), 100):
        block = vectors[first : first + 100]
        paragraphs = [next(texts) for _ in block]
        text = "\n\n".join(paragraphs)
        starts = np.cumsum([0, *(len(p) + 2 for p in paragraphs)])
        offsets = tuple((int(s), int(s) + len(p)) for s, p in zip(starts, paragraphs, strict=False))
        document = Document(f"doc{first}", text, f"doc{first}.txt", sentences=sentence_spans(text))
        store.add_documents([IndexEntry(document, offsets, block)])


def plain(matrix: Array, vector: Array, k: int) -> Array:
    """numpy alone: products, the k largest, sorted."""
    products = matrix @ vector
    rows = np.argpartition(products, -k)[-k:] if k < len(products) else np.arange(len(products))
    return rows[np.argsort(-products[rows])]


def ask(store: Store, encoder: FixedEncoder, questions: list[str]) -> float:
    """Whole questions through indexed + llm with models that answer at once."""
    chat = ScriptedChat(SCRIPT)
    pipeline = HighlightSummarize(
        HybridRetriever(store.partition(Trust.TRUSTED), encoder),
        NoFilter(),
        highlighter=IndexedHighlighter(chat),
        summarizer=LlmSummarizer(chat, guesses=1),
    )
    return timed(lambda i: sync.run(pipeline.ask(questions[i])), len(questions))


def timed(work: Callable[[int], object], repeats: int) -> float:
    """Median milliseconds after one warm-up."""
    work(0)
    seconds = []
    for number in range(repeats):
        begin = time.perf_counter()
        work(number)
        seconds.append(time.perf_counter() - begin)
    return median(seconds) * 1e3


def memory_mb() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def table(results: dict) -> str:
    """Markdown."""
    head = (
        "passages", "dense top 20", "recall", "numpy alone", "faiss flat", "faiss HNSW, recall", "BM25",
        "hybrid search", "ask, without models", "loading, s", "memory, MB",
    )  # fmt: skip
    lines = []
    for row in results["search"]:
        ratio = {name: f"{row[name]:.2f} ({row[name] / row['numpy']:.1f})" for name in ("dense", "faiss")}
        hnsw = "–" if row["hnsw"] is None else f"{row['hnsw']:.2f}, {row['hnsw_recall']:.3f}"
        times = (f"{row[name]:.2f}" for name in ("bm25", "hybrid", "ask", "load_s"))
        lines.append(
            (f"{row['passages']:,}", ratio["dense"], f"{row['recall']:.3f}", f"{row['numpy']:.2f}", ratio["faiss"],
             hnsw, *times, f"{row['memory_mb']:.0f}")
        )  # fmt: skip
    said = f"{results['machine']}; medians of {results['repeats']} in ms; ratio to numpy alone in brackets."
    return f"{said}\n\n{grid(head, lines)}\n"


if __name__ == "__main__":
    main()
