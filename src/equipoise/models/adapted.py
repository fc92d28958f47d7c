"""The embedded models made from the cross-encoder: one ranks passages, one tells which answer a text argues for, and
one tells whether texts answer a question."""

from typing import ClassVar

from equipoise.models.crossencoder import CrossEncoder, weights_of
from equipoise.models.encoder import checked
from equipoise.models.sessions import Session, session


class AdaptedCrossEncoder(CrossEncoder):
    """The cross-encoder, or some of its layers, with low-rank changes (LoRA, arXiv 2106.09685).

    All other large tensors are read from the cross-encoder's file. Otherwise it works the same: English, question and
    text are read together up to `max_tokens`, and a score is a function of question and text alone.
    """

    task: ClassVar[str]
    form: ClassVar[str] = "l12-lora"
    version: ClassVar[int] = 1

    @classmethod
    def graph(cls) -> str:
        """The name of its ONNX file."""
        return f"{cls.task}-{cls.form}.onnx"

    @property
    def name(self) -> str:
        """The scale of the scores: changes whenever they would."""
        return f"{self.task}-{self.form}/{self.version}/{self._max_tokens}"

    def _session(self) -> Session:
        weights_of(self._folder)
        return session(checked(self._folder, self.graph(), f"{self.task}.toml", "build_adapted.py"))


class RankingModel(AdaptedCrossEncoder):
    """Ranks passages by what the cross-encoder would say of them, in two thirds of the time: logits, about -12 to
    11, as learnt by `equipoise train ranking`."""

    task, form, version = "ranking", "l8", 2


class StanceModel(AdaptedCrossEncoder):
    """Tells which answer a text argues for: logits that it argues for yes, about -3 to 3, as learnt by
    `benchmarks/stance/train.py`."""

    task, version = "stance", 2


class DecisionModel(AdaptedCrossEncoder):
    """Tells whether the best windows, read together, answer the question: logits, about -6 to 6, as learnt by
    `equipoise train decision`."""

    task, version = "decision", 3


RANKING, STANCE, DECISION = RankingModel(), StanceModel(), DecisionModel()
"""The package's own, shared by everybody in this process."""
