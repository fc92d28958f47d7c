"""Extractive summarizer: the quotes joined, no language model."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from equipoise.core.types import Highlight, Highlights, Summary, Tag
from equipoise.rag.components import Components
from equipoise.text.visible import flowing


@dataclass(frozen=True, slots=True)
class ExtractiveSummarizer:
    """Every word of the answer stands in the documents."""

    @classmethod
    def from_components(cls, components: Components) -> "ExtractiveSummarizer":
        """Needs nothing."""
        return cls()

    async def summarize(self, highlights: Highlights, *, tags: frozenset[Tag] = frozenset()) -> Summary:
        """The quotes in document order."""
        return Summary(joined(highlights.items, tags))


def joined(quotes: Iterable[Highlight], tags: Iterable[Tag] = ()) -> str:
    """The quotes as running text: white space folded, a new line for each document, a tag in front."""
    documents = groupby(quotes, key=lambda item: item.doc_id)
    lines = [" ".join(flowing(item.text) for item in items) for _, items in documents]
    verdicts = [f"{tag.value.capitalize()}." for tag in sorted(tags)]
    return " ".join([*verdicts, "\n".join(lines)])
