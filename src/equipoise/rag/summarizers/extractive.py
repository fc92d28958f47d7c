"""Extractive summarizer: the quotes joined, no language model."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from equipoise.core.types import Highlight, Highlights, Summary, Tag
from equipoise.rag.components import Components
from equipoise.rag.summarizers.layout import joined_rows


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
    """The quotes as text: prose flows, code, lists and tables keep their lines; a new line for each document, a tag in
    front."""
    documents = groupby(quotes, key=lambda item: item.doc_id)
    lines = [joined_rows(item.text for item in items) for _, items in documents]
    verdicts = [f"{tag.value.capitalize()}." for tag in sorted(tags)]
    return " ".join([*verdicts, "\n".join(lines)])
