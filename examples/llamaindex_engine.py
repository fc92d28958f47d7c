"""Filter, highlighter and blind synthesizer behind a retriever of LlamaIndex. It needs no language model.

pip install 'equipoise[llamaindex]'
python examples/llamaindex_engine.py
"""

import re
from pathlib import Path

from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import TextNode

from equipoise.integrations.llamaindex import query_engine
from equipoise.models.encoder import EmbeddedEncoder

FAQ = Path(__file__).parent / "sqlite" / "faq.md"
ENCODER = EmbeddedEncoder()


class Embedding(BaseEmbedding):
    """Stands for the embedding of your own: the encoder that comes with equipoise."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return ENCODER.encode([text])[0].tolist()

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


paragraphs = re.finditer(r"(?s)\S.*?(?=\n\n|\Z)", FAQ.read_text("utf-8"))
nodes = [
    TextNode(
        text=paragraph.group(),
        start_char_idx=paragraph.start(),
        end_char_idx=paragraph.end(),
        metadata={"file_name": FAQ.name},
    )
    for paragraph in paragraphs
]
index = VectorStoreIndex(nodes, embed_model=Embedding())

engine = query_engine(index.as_retriever(similarity_top_k=10))
for question in ("Is SQLite threadsafe?", "How much does a ticket for the Paris metro cost?"):
    response = engine.query(question)
    print(question, "->", "refused:" if response.metadata["refused"] else "answered:", response)
    for hit in response.source_nodes:
        print("   ", hit.metadata["file_name"], hit.node.start_char_idx, hit.node.end_char_idx)
