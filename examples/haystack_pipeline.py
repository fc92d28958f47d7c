"""A Haystack pipeline whose summarizer cannot see the question, over Haystack's own store and retriever. Offline.

pip install 'equipoise[haystack]'
python examples/haystack_pipeline.py "Does SQLite support foreign keys?"
"""

import sys
from pathlib import Path

from haystack import Pipeline
from haystack.components.converters import TextFileToDocument
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from equipoise.integrations.haystack import Boundary, Filter, Highlighter, Summarizer, assert_no_path

FOLDER = Path(__file__).resolve().parent / "sqlite"


def indexed() -> InMemoryDocumentStore:
    """The text files of the folder, a few paragraphs to a document."""
    loaded = TextFileToDocument().run(sources=sorted([*FOLDER.glob("*.md"), *FOLDER.glob("*.txt")]))
    pieces = DocumentSplitter(split_by="passage", split_length=3).run(documents=loaded["documents"])
    store = InMemoryDocumentStore()
    store.write_documents(pieces["documents"])
    return store


def pipeline(store: InMemoryDocumentStore) -> Pipeline:
    """filter -> highlighter -> boundary -> summarizer, proved."""
    made = Pipeline()
    made.add_component("retriever", InMemoryBM25Retriever(store, top_k=20))
    made.add_component("filter", Filter())
    made.add_component("highlighter", Highlighter())
    made.add_component("boundary", Boundary())
    made.add_component("summarizer", Summarizer())
    made.connect("retriever.documents", "filter.documents")
    made.connect("filter.documents", "highlighter.documents")
    made.connect("filter.documents", "boundary.documents")
    made.connect("highlighter.picks", "boundary.picks")
    made.connect("boundary.quotes", "summarizer.quotes")
    assert_no_path(made, "summarizer")
    return made


def main(question: str) -> None:
    """Print the answer and where each quote stands."""
    asked = {name: {"query": question} for name in ("retriever", "filter", "highlighter")}
    result = pipeline(indexed()).run(asked)["summarizer"]
    print(result["answer"])
    for quote in result["quotes"]:
        place = quote.meta
        print(f"- {place['source']}, {place['quote_start']}-{place['quote_end']}: {quote.content}")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "Does SQLite support foreign keys?")
