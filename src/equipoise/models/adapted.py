"""The embedded models that were learnt on top of the cross-encoder: which answer a text argues for, and whether texts
answer a question."""

from typing import ClassVar

from equipoise.models.crossencoder import MANIFEST, MODEL, CrossEncoder
from equipoise.models.encoder import checked
from equipoise.models.sessions import Session, session


class AdaptedCrossEncoder(CrossEncoder):
    """The cross-encoder with low-rank changes (LoRA, arXiv 2106.09685) and a logit of its own.

    Its large tensors are read from the cross-encoder's file. All else is as there: English, question and text are read
    together up to `max_tokens`, and a score is a function of question and text alone.
    """

    task: ClassVar[str]
    version: ClassVar[int] = 1

    @classmethod
    def graph(cls) -> str:
        """The name of its file."""
        return f"{cls.task}-l12-lora.onnx"

    @property
    def name(self) -> str:
        """The scale of the scores: changes whenever they would."""
        return f"{self.task}-l12-lora/{self.version}/{self._max_tokens}"

    def _session(self) -> Session:
        checked(self._folder, MODEL, MANIFEST, "build_crossencoder.py")
        checked(self._folder, self.graph(), f"{self.task}.toml", "build_adapted.py")
        return session(self._folder / self.graph())


class StanceModel(AdaptedCrossEncoder):
    """Tells which answer a text argues for: logits that it argues for yes, about -3 to 3, as learnt by
    `benchmarks/stance/train.py`."""

    task = "stance"


class DecisionModel(AdaptedCrossEncoder):
    """Tells whether the best windows, read together, answer the question: logits, about -6 to 6, as learnt by
    `equipoise train decision`."""

    task = "decision"


STANCE, DECISION = StanceModel(), DecisionModel()
"""The package's, for everybody in this process."""
