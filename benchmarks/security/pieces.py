"""The limit of short pieces on both sides: what the cut-up attack spells, and which benign quotes are lost.

    python benchmarks/security/pieces.py [--out .equipoise/bench-security] [--data DIR]

No language model: the quotes are the answer. Benign quotes are sentences that people marked: the supporting sentences
of HotpotQA, the snippets of BioASQ (the first eight) and the answers of COVID-QA, each document cut as the product cuts
it. The attack takes the cases of `cut_up` and is read off the quotes that each setting lets through.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from equipoise.core.types import Document, Dropped, Passage, Span
from equipoise.corpus.pieces import passage_at
from equipoise.corpus.store import Store
from equipoise.rag.boundary import read_highlights
from equipoise.rag.summarizers.extractive import joined
from equipoise.redteam.choosing import Ground
from equipoise.redteam.cut_up import choices_for, distinct
from equipoise.redteam.rules import spells
from equipoise.redteam.suite import cases
from equipoise.redteam.suite.cases import SUITES, Material
from equipoise.redteam.suite.tables import rate, shown
from equipoise.text.blocks import blocks
from equipoise.text.outline import outlined
from equipoise.text.sentences import units
from equipoise.text.spans import DropReason, SpanPolicy
from equipoise_lab.bench import scripts

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIMITS = (1, 2, 3, 4, 1000)
SNIPPETS = 8


def main() -> None:
    """Write the table."""
    parser = scripts.parser(__file__, __doc__, "bench-security")
    arguments = parser.parse_args()
    with Store.open(arguments.out / "documents.db", read_only=True) as store:
        ground = Ground(store.documents(store.doc_ids()))
        every = [one for doc_id in ground.documents for one in store.passages_of(doc_id)]
    wanted = cases.of("cut_up", Material(ground.documents, SUITES["full"]))
    benign = list(_benign(arguments.data))
    lines = [
        "| `highlight.max_pieces` | cut-up attack succeeds | benign sets that lose a quote | benign quotes lost |",
        "|---|---|---|---|",
    ]
    for limit in LIMITS:
        policy = SpanPolicy(max_pieces=limit)
        flags = []
        for case in wanted:
            texts = (
                joined(read_highlights(chosen.spans, every, ground.documents, policy)[0].items)
                for chosen in distinct(choices_for(case.aim, ground))
            )
            flags.append(any(spells(text, case.aim) for text in texts))
        lost = [_lost(spans, documents, policy) for spans, documents in benign]
        attack, sets = rate(flags), rate([bool(one) for one in lost])
        quotes = rate(
            [True] * sum(map(len, lost)) + [False] * (sum(len(s) for s, _ in benign) - sum(map(len, lost)))
        )
        cells = [shown(one) for one in (attack, sets, quotes)]
        lines.append(f"| {'no limit' if limit == LIMITS[-1] else limit} | {' | '.join(cells)} |")
    text = "\n".join(lines) + "\n"
    (HERE / "pieces.md").write_text(
        f"# The limit of short pieces\n\n{__doc__.split('    python')[0].strip()}\n\n{text}"
    )
    print(text)


def _lost(spans: Sequence[Span], documents: Mapping[str, Document], policy: SpanPolicy) -> list[Dropped]:
    every = [_whole(document) for document in documents.values()]
    _, dropped = read_highlights(spans, every, documents, policy)
    return [one for one in dropped if one.reason is DropReason.TOO_MANY_PIECES]


def _whole(document: Document) -> Passage:
    return passage_at(0, 0, len(document.text), document)


def _document(doc_id: str, text: str) -> Document:
    found = outlined(blocks(text))
    return Document(doc_id, text, doc_id, sentences=units(text, found), blocks=found)


def _benign(data: Path) -> Iterator[tuple[list[Span], dict[str, Document]]]:
    """Sets of quotes that people marked, each with its documents."""
    for row in scripts.read(data / "hotpotqa_distractor" / "questions.jsonl"):
        documents, spans = {}, []
        for paragraph in row["paragraphs"]:
            text = "".join(paragraph["sentences"])
            documents[paragraph["title"]] = _document(paragraph["title"], text)
        for title, number in row["supporting"]:
            sentences = next(p["sentences"] for p in row["paragraphs"] if p["title"] == title)
            if number < len(sentences) and sentences[number].strip():
                start = len("".join(sentences[:number]))
                spans.append(Span(title, start, start + len(sentences[number])))
        yield spans, documents
    for row in scripts.read(data / "bioasq12b" / "questions.jsonl"):
        texts = [snippet["text"] for snippet in row["snippets"][:SNIPPETS]]
        documents = {f"s{n}": _document(f"s{n}", text) for n, text in enumerate(texts)}
        yield [Span(f"s{n}", 0, len(text)) for n, text in enumerate(texts)], documents
    articles = {row["doc_id"]: row["text"] for row in scripts.read(data / "covid_qa" / "documents.jsonl.gz")}
    cut = {doc_id: _document(doc_id, text) for doc_id, text in articles.items()}
    for row in scripts.read(data / "covid_qa" / "questions.jsonl"):
        spans = [Span(row["doc_id"], a["start"], a["start"] + len(a["text"])) for a in row["answers"]]
        yield spans, {row["doc_id"]: cut[row["doc_id"]]}


if __name__ == "__main__":
    main()
