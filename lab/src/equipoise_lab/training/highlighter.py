"""A trained folder as a highlighter, with torch: to try a model where it was trained."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

from equipoise.core.errors import InputError
from equipoise.core.types import Passage, Proposal, Query, Span
from equipoise_lab.training import heads
from equipoise_lab.training.batches import Cut, labelled, tensors
from equipoise_lab.training.evaluation import BATCH
from equipoise_lab.training.examples import Example
from equipoise_lab.training.extras import library
from equipoise_lab.training.heads import BestSpan


class TrainedHighlighter:
    """Highlights the best span of all passages, or nothing where no margin is above `threshold`.

    `folder` is what `training.run.train` left. Objects are thread safe. Raises InputError or ModelUnavailable
    for a folder that holds no model.
    """

    def __init__(self, folder: Path, *, threshold: float = 0.0, max_tokens: int = 256) -> None:
        if not (folder / "config.json").is_file():
            raise InputError(f"{folder} holds no trained model: name the folder `model` of a training run")
        self.threshold, self.max_tokens = threshold, max_tokens
        self._head, self._tokenizer = heads.load(folder), heads.tokenizer_of(str(folder)).backend_tokenizer
        self._head.module.eval()
        self._lock = threading.Lock()

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """See `core.protocols.Highlighter`."""
        return await asyncio.to_thread(self._highlight, query.text, passages)

    def _highlight(self, question: str, passages: Sequence[Passage]) -> Proposal:
        with self._lock:
            best = [(self._best(question, passage.text), passage) for passage in passages]
        above = [
            (prediction, passage)
            for prediction, passage in best
            if prediction.margin > self.threshold and any(prediction.span)
        ]
        if not above:
            return Proposal(())
        prediction, passage = max(above, key=lambda pair: pair[0].margin)
        start, end = prediction.span
        return Proposal((Span(passage.doc_id, passage.start + start, passage.start + end),))

    def _best(self, question: str, text: str) -> BestSpan:
        best = BestSpan((0, 0), float("-inf"))
        if not text.strip():
            return best
        example = Example(question, text, "")
        cut: Cut = "sentences" if self._head.cut == "pieces" else "windows"
        items = labelled([example], self._tokenizer, "passage", self.max_tokens, cut)
        with library("torch").inference_mode():
            for at in range(0, len(items), BATCH):
                group = items[at : at + BATCH]
                best = max([best, *self._head.find(tensors(group, "cpu"), group)], key=lambda f: f.margin)
        return best
