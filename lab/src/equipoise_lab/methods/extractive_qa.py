"""H&S DeBERTaV3 (paper, section 4.1): an extractive question answering model points to the answer.

Its answer is a few words; the whole sentences it stands in are highlighted, as in the reference. No prompt, so
no instruction in a question or a document can be followed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.core.errors import MissingExtra
from equipoise.core.types import Dropped, Passage, Proposal, Query, Span
from equipoise.models.pretrained import installed
from equipoise.rag.components import Components
from equipoise.rag.highlighters.sentences import sentences_of
from equipoise.text.spans import DropReason
from equipoise_lab.models.extractive import ExtractedSpan, ExtractiveQA

THRESHOLD = 0.5
"""The best span scores as high as "no answer": SQuAD 2.0's own default."""


@dataclass(frozen=True, slots=True)
class ExtractiveQAHighlighter:
    """Declines where no passage has an answer with at least the probability `threshold`. At most `most` passages
    are highlighted in, the likeliest ones; the reference takes one answer."""

    model: ExtractiveQA
    threshold: float = THRESHOLD
    most: int = 1

    @classmethod
    def from_components(cls, components: Components) -> "ExtractiveQAHighlighter":
        """Built from the settings; raises MissingExtra without transformers."""
        if not installed():
            raise MissingExtra("the library for the highlighter 'extractive_qa'", "hf")
        chosen = components.settings.highlight
        threshold = THRESHOLD if chosen.threshold is None else chosen.threshold
        return cls(ExtractiveQA(chosen.qa_model), threshold)

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """The sentences that the likeliest answer stands in; raises ModelUnavailable or InputError."""
        predictions = await self.model.find(query.text, [passage.text for passage in passages])
        answers = [
            (answer, passage)
            for answer, passage in zip(predictions, passages, strict=True)
            if answer and answer.probability >= self.threshold
        ]
        answers.sort(key=lambda pair: -pair[0].probability)
        spans = [_sentences(*pair) for pair in answers]
        over = tuple(Dropped(DropReason.OVER_THE_PICK, span) for span in spans[self.most :])
        return Proposal(tuple(spans[: self.most]), over)


def _sentences(answer: ExtractedSpan, passage: Passage) -> Span:
    """From the first to the last sentence of `passage` that holds a part of the answer."""
    touched = [s for s in sentences_of([passage]) if s.start < answer.end and answer.start < s.end]
    first, last = (touched[0].start, touched[-1].end) if touched else (answer.start, answer.end)
    return Span(passage.doc_id, passage.start + first, passage.start + last)
