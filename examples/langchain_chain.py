"""A LangChain runnable whose summarizer cannot see the question, over any retriever. Offline.

pip install 'equipoise[langchain]'
python examples/langchain_chain.py "Does SQLite support foreign keys?"
"""

import sys
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore

from equipoise.integrations.langchain import EncoderEmbeddings, HighlightSummarize

FOLDER = Path(__file__).resolve().parent / "sqlite"


def indexed() -> InMemoryVectorStore:
    """The paragraphs of the folder's Markdown in LangChain's own store; any other embeddings do as well."""
    store = InMemoryVectorStore(EncoderEmbeddings())
    for path in sorted(FOLDER.glob("*.md")):
        paragraphs = path.read_text("utf-8").split("\n\n")
        store.add_documents(
            [Document(text, metadata={"source": path.name}) for text in paragraphs if text.strip()]
        )
    return store


def main(question: str) -> None:
    """Print the answer and its citations."""
    chain = HighlightSummarize(retriever=indexed().as_retriever(search_kwargs={"k": 20}))
    message = chain.invoke(question)
    for block in message.content_blocks:
        print(block["text"])
        for cited in block.get("annotations", []):
            print(f"- {cited['url']}: {cited['cited_text']}")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "Does SQLite support foreign keys?")
