"""What others take for the same work in the same run: model2vec, fastembed, llama-index, txtai and LanceDB.

    python benchmarks/speed/anchors.py [--passages 100000] [--repeats 30]

The pages of examples/sqlite are indexed and asked about, each program with its defaults, and vectors of
`benchmarks/speed/run.py` are searched exactly. No published weights can be had without a hub, so all have those of the
package: llama-index, txtai and fastembed its encoder, model2vec a table of what the encoder makes of each token alone.
Processor time of this process and those it starts, since machines are shared; ratios to equipoise. fastembed runs in
the environment whose Python FASTEMBED names. Writes anchors.md beside this file.
"""

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import lancedb
import numpy as np
import run as speed
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from model2vec import StaticModel
from questions import QUESTIONS
from tokenizers import Tokenizer
from txtai.embeddings import Embeddings

from equipoise import Library
from equipoise.core.types import Array, Trust
from equipoise.corpus.pieces import search_text
from equipoise.corpus.store import Store
from equipoise.models.encoder import DATA, DIMENSIONS, MAX_TOKENS, MODEL, TOKENIZER, EmbeddedEncoder
from equipoise.rag.retrieval import dense
from equipoise_lab.bench import scripts
from equipoise_lab.bench.tables import grid

HERE = Path(__file__).resolve().parent
PAGES = HERE.parents[1] / "examples" / "sqlite"
ENCODER = EmbeddedEncoder()
K = 20
Row = tuple[str, str, str, str]


class Embedding(BaseEmbedding):
    """The package's encoder for llama-index."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return ENCODER.encode([text])[0].tolist()

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return ENCODER.encode(texts).tolist()

    _get_query_embedding = _get_text_embedding

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def spent(work: Callable[[], object]) -> float:
    """Processor seconds."""
    return scripts.spent(work)[1]


def shown(what: str, rows: Sequence[tuple[str, float, str]], unit: str, factor: float) -> list[Row]:
    """The first row is ours."""
    own = rows[0][1]
    return [
        (what, name, f"{factor * seconds:.2f} {unit} ({seconds / own:.2f})", gives)
        for name, seconds, gives in rows
    ]


def reading(folder: Path, repeats: int) -> list[Row]:
    """Processor time of indexing pages, and of questions about them without a language model."""
    asked = [QUESTIONS[n % len(QUESTIONS)] for n in range(repeats)]
    with Library.create(folder / "index.db", settings=scripts.settings({"model.llm": "none"})) as library:
        whole = spent(lambda: library.index(PAGES))
        documents = [each.entry.document for each in library.store.numbered()]
        partition = library.store.partition(Trust.TRUSTED)
        texts = [search_text(passage) for each in documents for passage in partition.passages_of(each.doc_id)]
        library.ask(asked[0])
        ours = spent(lambda: [library.ask(question) for question in asked])
    embedding, model, made = Embedding(), StaticModel(token_vectors(), tokenizer()), []
    pages = [Document(text=each.text) for each in documents]
    theirs = spent(lambda: made.append(VectorStoreIndex.from_documents(pages, embed_model=embedding)))
    finder = made[0].as_retriever()
    chunks = [node.get_content() for node in made[0].docstore.docs.values()]
    hybrid = Embeddings(
        {
            "method": "external",
            "transform": lambda some: ENCODER.encode(list(some)),
            "hybrid": True,
            "content": True,
        }
    )
    txtai = spent(lambda: hybrid.index(chunks))
    indexed = [
        ("equipoise, all of it", whole, f"{len(texts)} passages, found by words and by meaning"),
        ("its encoder alone", spent(lambda: ENCODER.encode(texts)), "vectors"),
        (
            "model2vec's encoder alone",
            spent(lambda: model.encode(texts)),
            "vectors of tokens alone, added up",
        ),
        (
            "llama-index, without reading files",
            theirs,
            f"{len(chunks)} chunks, of each 256 tokens, found by meaning",
        ),
        ("txtai, of these chunks", txtai, "found by words and by meaning"),
        *fastembed(texts),
    ]
    found = spent(lambda: [finder.retrieve(question) for question in asked])
    searched = spent(lambda: [hybrid.search(question, 2) for question in asked])
    questions = [
        ("equipoise", ours, "sentences that answer, or a refusal"),
        ("llama-index", found, "the two nearest chunks"),
        ("txtai", searched, "the two best chunks, by words and by meaning"),
    ]
    by_passage = shown("indexing, a passage", indexed, "ms", 1e3 / len(texts))
    return [*by_passage, *shown("a question", questions, "ms", 1e3 / repeats)]


def fastembed(texts: Sequence[str]) -> list[tuple[str, float, str]]:
    """Its row, where there is an environment for it."""
    if not (python := os.environ.get("FASTEMBED")):
        return []
    given = {
        "texts": texts,
        "model": str(DATA / MODEL),
        "tokenizer": str(DATA / TOKENIZER),
        "dimensions": DIMENSIONS,
        "tokens": MAX_TOKENS,
    }
    done = subprocess.run(
        [python, HERE / "with_fastembed.py"],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    return [("fastembed, the same encoder alone", float(done.stdout), "vectors")]


def searching(folder: Path, size: int, repeats: int) -> list[Row]:
    """Of made vectors: the time of the clock, since these use both processors."""
    rng = np.random.default_rng(speed.SEED)
    vectors, words = speed.mixed(size, rng), speed.MadeWords(rng)
    asked, exact = speed.asked_near(vectors, repeats, rng, K)
    with Store.open(folder / "made.db", create=True) as store:
        store.bind_encoder(speed.FixedEncoder(vectors))
        speed.fill(store, vectors, words)
        partition = store.partition(Trust.TRUSTED)
        ours = _measured(lambda v: [n - 1 for n, _ in dense(partition, v, K)], asked, exact)
    rows = [
        ("equipoise", *ours),
        ("numpy alone", *_measured(lambda v: speed.plain(vectors, v, K).tolist(), asked, exact)),
        ("LanceDB without an index", *_measured(_lancedb(folder, vectors), asked, exact)),
    ]
    return shown(f"the {K} nearest of {size:,}", rows, "ms", 1e3)


def _measured(
    search: Callable[[Array], list[int]], asked: Sequence[Array], exact: list[set[int]]
) -> tuple[float, str]:
    """The median in seconds, and the recall."""
    seconds = speed.timed(lambda n: search(asked[n]), len(asked)) / 1e3
    found = [search(vector) for vector in asked]
    return seconds, f"recall {speed.recall(exact, found):.3f}"


def _lancedb(folder: Path, vectors: Array) -> Callable[[Array], list[int]]:
    rows = [{"id": n, "vector": row} for n, row in enumerate(vectors)]
    table = lancedb.connect(folder / "lance").create_table("v", rows)
    return lambda vector: [row["id"] for row in table.search(vector).distance_type("dot").limit(K).to_list()]


def tokenizer() -> Tokenizer:
    """The encoder's, in an object of its own: model2vec changes the one that it is given."""
    return Tokenizer.from_file(str(DATA / TOKENIZER))


def token_vectors() -> Array:
    """(tokens, d): what the encoder makes of each token alone."""
    tokens = tokenizer()
    return ENCODER.encode([tokens.id_to_token(n) for n in range(tokens.get_vocab_size())])


def main() -> None:
    """Measure, print, write."""
    parser = scripts.parser(__file__, __doc__, data=False)
    parser.add_argument("--passages", type=int, default=100_000, help="made vectors that are searched")
    parser.add_argument("--repeats", type=int, default=30)
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        rows = [*reading(folder, given.repeats), *searching(folder, given.passages, given.repeats)]
    head = ("what", "by whom", "time (ratio to equipoise)", "gives")
    said = f"`make bench-speed`: {scripts.machine()}; processor time, but of searching the time of the clock, medians."
    page = f"{said}\n\n{grid(head, rows)}\n"
    (HERE / "anchors.md").write_text(page, "utf-8")
    print(page)


if __name__ == "__main__":
    main()
