"""The encoder all-mpnet-base-v2, on the CPU, without torch; pulled by `equipoise models pull`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from equipoise.core.types import Array
from equipoise.models import weights
from equipoise.models.control import encodable
from equipoise.models.encoder import DATA, MAX_CHARACTERS, TOKENIZER, checked
from equipoise.models.sessions import AtFirstUse, Session, session

WEIGHTS = "mpnet"
GRAPH, MANIFEST, SCRIPT = "mpnet-base-v2.onnx", "mpnet.toml", "build_mpnet.py"
DIMENSIONS = 768
MAX_TOKENS = 384  # max_seq_length of the published model
UNUSED = "pooler."
"""Prefix of weights in the file that are not used: a vector is the mean of the last token states."""
BEGIN, END, SHIFT = 0, 2, 4
"""The model's vocabulary is `<s>`, `<pad>`, `</s>` and `<unk>`, then that of the embedded encoder."""


class MpnetEncoder(AtFirstUse):
    """Song and others 2020 ("MPNet"), trained by the authors of sentence-transformers: 768 dimensions, English.

    Texts are read up to 384 tokens, one by one: a vector is a function of the text alone, bit for bit on one machine.
    The weights are the published ones in full precision, memory-mapped from their file. Each text takes about eight
    times the work of the embedded encoder. Objects are thread safe and load the weights at the first use.
    """

    name = "all-mpnet-base-v2/fp32-1"
    """The vector space: changes whenever vectors would."""
    dimensions = DIMENSIONS

    def __init__(
        self,
        *,
        folder: Path | None = None,
        threads: int | None = None,
        catalogue: Path = weights.CATALOGUE,
        graph: bytes | None = None,
    ) -> None:
        """`folder` holds the weights; by default EQUIPOISE_MODEL_FOLDER, else the user's cache. `threads` texts are
        read at a time; by default one for each processor, at most 8. With `catalogue` and `graph` the weights are
        another model's of this architecture, and so is what `dimensions` says."""
        self._folder = folder
        self._catalogue, self._graph = catalogue, graph
        super().__init__(threads)
        self._held: Mapping[str, Array] = {}  # keeps the arrays alive: the session does not own them

    def encode(self, texts: Sequence[str]) -> Array:
        """(n, 768) float32 rows of length 1, in the order of `texts`; (0, 768) for none.

        An empty text has a vector too. Raises ModelUnavailable where the weights were not pulled, WeightsError where
        they are not the published ones, TypeError for a single string.
        """
        if isinstance(texts, str):
            raise TypeError("encode() takes a sequence of texts: pass [text] for one")
        tokenizer, running, pool = self._load()

        def read(text: str) -> Array:
            ids = tokenizer.encode(encodable(text[:MAX_CHARACTERS]), add_special_tokens=False).ids
            tokens = np.array([BEGIN, *(number + SHIFT for number in ids), END], np.int64)
            vector: Array = running.run(["embedding"], {"input_ids": tokens})[0]
            return vector

        return np.array(list(pool.map(read, texts)), np.float32).reshape(len(texts), self.dimensions)

    def _tokenizer(self) -> Tokenizer:
        tokenizer = Tokenizer.from_file(str(checked(DATA, TOKENIZER)))
        tokenizer.enable_truncation(MAX_TOKENS - 2)
        return tokenizer

    def _session(self) -> Session:
        path = weights.needed(WEIGHTS, folder=self._folder, catalogue=self._catalogue)
        graph = self._graph or checked(DATA, GRAPH, MANIFEST, SCRIPT)
        self._held = {name: values for name, values in tensors(path).items() if not name.startswith(UNUSED)}
        return session(graph, self._held)


def tensors(path: Path) -> Mapping[str, Array]:
    """The float32 tensors of a safetensors file by name, memory-mapped: nothing is loaded before it is used.

    Only for files from a known source: their offsets are not checked. (8 bytes with the length of the header, the
    header as JSON, then the values: https://github.com/huggingface/safetensors#format)
    """
    whole = np.memmap(path, np.uint8, "r")
    begin = 8 + int.from_bytes(whole[:8].tobytes(), "little")
    header = json.loads(whole[8:begin].tobytes())
    values = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            first, last = (begin + offset for offset in entry["data_offsets"])
            values[name] = whole[first:last].view("<f4").reshape(entry["shape"])
    return values
