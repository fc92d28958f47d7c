"""Build the stance model: what was learnt on top of the cross-encoder, as one small ONNX file, without torch.

    python scripts/build_stance.py ADAPTER --from RUN/model          writes src/equipoise/models/data/
    python scripts/build_stance.py ADAPTER --from RUN/model --check   compares the committed file

ADAPTER is the `adapter.safetensors` that `benchmarks/stance/train.py` leaves, `--from` as in `build_crossencoder.py`.
The large tensors stay in the cross-encoder's file beside it: the graph says at which byte each begins, so both tasks
share 32 MB. The same adapter gives the same bytes; a training done anew gives another adapter, whose sides `--check`
holds against the committed file's.
"""

import hashlib
import re
import sys
import tempfile
from pathlib import Path

import build_crossencoder as base
import numpy as np
import onnx
from build_encoder import DATA
from onnx import TensorProto
from safetensors.numpy import load as load_safetensors

MODEL, MANIFEST = "stance-l12-lora.onnx", "stance.toml"
SCALE = 2.0
"""Of the low-rank changes: alpha 16 over rank 8, as in training."""
LARGE = 100_000
"""Bytes from which a tensor stays in the cross-encoder's file."""
LIKENESS = 0.9
"""The least correlation of two trainings' logits."""


def read(adapter: Path, source: base.Source) -> base.Source:
    """The cross-encoder's weights with pooler, classifier and changes of the adapter."""
    learnt = load_safetensors(adapter.read_bytes())
    whole = {place for place in ("bert.pooler.dense", "classifier") if f"{place}.weight" in learnt}
    matrices = {place: base._columns(learnt[f"{place}.weight"].T) for place in whole}
    biases = {f"{place}.bias": learnt[f"{place}.bias"] for place in whole}
    inner = [name.removesuffix(".a") for name in learnt if name.endswith(".a")]
    changes = {place: (learnt[f"{place}.a"], learnt[f"{place}.b"] * np.float32(SCALE)) for place in inner}
    return base.Source(source.weights | biases, source.matrices | matrices, changes)


def build(source: base.Source) -> bytes:
    """The ONNX file; inputs and output as the cross-encoder's."""
    model = onnx.load_from_string(base.build(source, int8=True))
    model.graph.name = "stance-l12-lora"
    beside = (DATA / base.MODEL).read_bytes()
    for tensor in model.graph.initializer:
        raw = tensor.raw_data
        if len(raw) >= LARGE and (place := beside.find(raw)) >= 0:
            tensor.ClearField("raw_data")
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", base.MODEL), ("offset", place), ("length", len(raw))):
                tensor.external_data.add(key=key, value=str(value))
    return model.SerializeToString(deterministic=True)


def check(made: bytes) -> bool:
    """Print how far the committed file and `made` agree; True when it is far enough."""
    card = (DATA.parents[3] / "README.md").read_text("utf-8")
    texts = [line for line in dict.fromkeys(card.splitlines()) if len(re.findall(r"\w+", line)) >= 3]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / base.MODEL).write_bytes((DATA / base.MODEL).read_bytes())
        (Path(folder) / MODEL).write_bytes(made)
        anew = base.scores(Path(folder) / MODEL, texts)
    together = float(np.corrcoef(base.scores(DATA / MODEL, texts), anew)[0, 1])
    print(f"the committed file is this one: {(DATA / MODEL).read_bytes() == made}; {len(made) / 1e6:.2f} MB")
    print(f"{len(texts)} pairs: correlation of logits {together:.4f}")
    return together >= LIKENESS


def main() -> None:
    parser = base.options(__doc__)
    parser.add_argument("adapter", type=Path, help="what training has left")
    arguments = parser.parse_args()
    content = build(read(arguments.adapter, base.chosen(arguments)))
    if arguments.check:
        sys.exit(0 if check(content) else 1)
    (DATA / MODEL).write_bytes(content)
    line = f'"{MODEL}" = "{hashlib.sha256(content).hexdigest()}"\n'
    (DATA / MANIFEST).write_text(f"# Made by scripts/build_stance.py: sha256.\n{line}", "utf-8")
    print(f"{MODEL}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
