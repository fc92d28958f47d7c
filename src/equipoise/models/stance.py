"""The embedded model of stance: which answer a text argues for, by what was learnt on top of the cross-encoder."""

from equipoise.models.crossencoder import MANIFEST, MODEL, CrossEncoder
from equipoise.models.encoder import checked
from equipoise.models.sessions import Session, session

GRAPH, GRAPH_MANIFEST = "stance-l12-lora.onnx", "stance.toml"


class StanceModel(CrossEncoder):
    """Tells which answer a text argues for; English, question and text are read together up to `max_tokens`.

    Scores are logits that the text argues for yes, about -3 to 3. The net is the cross-encoder's, with low-rank changes
    (LoRA, arXiv 2106.09685) learnt by `benchmarks/stance/train.py`; its large tensors are read from that model's file.
    All else is as there: a score is a function of question and text alone.
    """

    @property
    def name(self) -> str:
        """The scale of the scores: changes whenever they would."""
        return f"stance-l12-lora/1/{self._max_tokens}"

    def _session(self) -> Session:
        checked(self._folder, MODEL, MANIFEST, "build_crossencoder.py")
        checked(self._folder, GRAPH, GRAPH_MANIFEST, "build_stance.py")
        return session(self._folder / GRAPH)


STANCE = StanceModel()
"""The package's, for everybody in this process."""
