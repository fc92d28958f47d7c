"""Build a model learnt on top of the embedded cross-encoder, as one small ONNX file, without torch.

    python scripts/build_adapted.py --floats FOLDER           writes the cross-encoder that ships, to train on
    python scripts/build_adapted.py stance LEARNT             writes src/equipoise/models/data/
    python scripts/build_adapted.py decision LEARNT --check   compares the committed file

LEARNT is the `adapter.safetensors` that `benchmarks/stance/train.py` or `equipoise train decision` leaves, or
`model/model.safetensors` of `equipoise train ranking`, of whose learnt layers the changes are kept in low rank. The
large tensors stay in the cross-encoder's file beside it: the graph says at which byte each begins, so all tasks share
32 MB.
The same file gives the same bytes; a training done anew gives another one, whose logits `--check` holds against the
committed file's.
"""

import argparse
import hashlib
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import build_crossencoder as base
import numpy as np
import onnx
from bert_graph import HEADS, HIDDEN, Change, Matrix, Source, Weights, columns
from build_encoder import DATA
from onnx import TensorProto, numpy_helper
from safetensors.numpy import load as load_safetensors

from equipoise.models.adapted import DecisionModel, RankingModel, StanceModel

MODELS = {model.task: model for model in (RankingModel, StanceModel, DecisionModel)}
SCALE = 2.0
"""Of the low-rank changes: alpha 16 over rank 8, as in training."""
RANK = 16
"""Of the changes that are kept of whole learnt layers (benchmarks/LOG.md)."""
HEAD = ("bert.pooler.dense", "classifier")
LAYER = re.compile(r"(?<=bert\.encoder\.layer\.)\d+")
INNER = "bert.encoder.layer.{}.intermediate.dense.weight"
LARGE = 100_000
"""Bytes from which a tensor stays in the cross-encoder's file."""
LIKENESS = 0.9
"""The least correlation of two trainings' logits."""
QUERY_SCALE = float(np.sqrt(HIDDEN // HEADS))
"""The attention's scale, which the query's product is divided by."""


def committed() -> Source:
    """The weights of the cross-encoder that ships, read from its file in the order in which they were written."""
    graph = onnx.load(DATA / base.MODEL).graph
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    constants = [[arrays[name] for name in node.input if name in arrays] for node in graph.node]
    kinds = [node.op_type for node in graph.node]
    norms = (each for each, kind in zip(constants, kinds, strict=True) if kind == "LayerNormalization")
    source = Source({}, {})
    for place, start in zip(("word", "position", "token_type"), _tables(constants), strict=True):
        (values, *_), (zero,), (scale,) = constants[start], *(constants[start + n] for n in (2, 3))
        source.matrices[f"bert.embeddings.{place}_embeddings"] = Matrix(
            values, np.float64(scale.item()), int(zero.item())
        )
    _put_norm(source, "bert.embeddings", norms)
    products = (
        (values, scales, constants[at + 1][0])
        for at, kind in enumerate(kinds)
        if kind == "MatMulIntegerToFloat"
        for values, scales, _zero in [constants[at]]
    )
    layers = sum(kind == "Gelu" for kind in kinds)
    for number in range(layers):
        prefix = f"bert.encoder.layer.{number}"
        inner = ("query", "key", "value") if number < layers - 1 else ("key", "value")
        _put(source, next(products), *(f"{prefix}.attention.self.{name}" for name in inner))
        if number == layers - 1:
            _put(source, next(products), f"{prefix}.attention.self.query")
        for place in ("attention.output.dense", "intermediate.dense", "output.dense"):
            _put(source, next(products), f"{prefix}.{place}")
        _put_norm(source, f"{prefix}.attention.output", norms)
        _put_norm(source, f"{prefix}.output", norms)
    _put(source, next(products), "bert.pooler.dense")
    _put(source, next(products), "classifier")
    return source


def _tables(constants: list[list[Any]]) -> list[int]:
    """The nodes that read the tables of embeddings."""
    return [
        at for at, each in enumerate(constants) if each and each[0].ndim == 2 and each[0].dtype == np.uint8
    ]


def _put_norm(source: Source, place: str, norms: Iterator[list[Any]]) -> None:
    for part, values in zip(("weight", "bias"), next(norms), strict=True):
        source.weights[f"{place}.LayerNorm.{part}"] = values


def _put(source: Source, product: tuple[Any, Any, Any], *places: str) -> None:
    """A product, or several that are made as one."""
    values, scales, biases = (np.split(part, len(places), axis=-1) for part in product)
    for place, matrix, scale, bias in zip(places, values, scales, biases, strict=True):
        factor = QUERY_SCALE if place.endswith(".query") else 1.0
        source.matrices[place] = Matrix(matrix, scale.astype(np.float64) * factor)
        source.weights[f"{place}.bias"] = bias * np.float32(factor)


def read(adapter: Path, source: Source) -> Source:
    """The cross-encoder's weights with pooler, classifier and changes of the adapter."""
    learnt = load_safetensors(adapter.read_bytes())
    matrices = {place: columns(learnt[f"{place}.weight"].T) for place in HEAD if f"{place}.weight" in learnt}
    biases = {f"{place}.bias": learnt[f"{place}.bias"] for place in matrices}
    inner = [name.removesuffix(".a") for name in learnt if name.endswith(".a")]
    changes = {place: (learnt[f"{place}.a"], learnt[f"{place}.b"] * np.float32(SCALE)) for place in inner}
    return Source(source.weights | biases, source.matrices | matrices, changes)


def read_layers(learnt: Path, source: Source) -> Source:
    """The cross-encoder's tables and the layers that the learnt ones began as, with the RANK greatest parts of what
    training changed in their matrices; pooler, classifier, biases and norms as they are learnt."""
    trained, before = load_safetensors(learnt.read_bytes()), base.float_tensors(source)
    numbers = {number for name in trained for number in LAYER.findall(name)}
    began = {number: _nearest(number, trained, before) for number in numbers}
    matrices, changes = {}, {}
    for name, values in trained.items():
        place = name.removesuffix(".weight")
        if place in HEAD:
            matrices[place] = columns(values.T)
        elif values.ndim == 2:
            origin = LAYER.sub(lambda number: began[number.group()], place)
            matrices[place] = source.matrices[origin]
            if (change := values - before[f"{origin}.weight"]).any():
                changes[place] = _greatest(change.T)
    return Source({name: v for name, v in trained.items() if v.ndim == 1}, matrices, changes)


def _nearest(number: str, trained: Weights, before: Weights) -> str:
    """The cross-encoder's layer that a learnt one is least far from."""
    mine = trained[INNER.format(number)]
    return min(
        (str(n) for n in range(base.LAYERS)), key=lambda n: np.linalg.norm(mine - before[INNER.format(n)])
    )


def _greatest(change: np.ndarray) -> Change:
    """The two matrices of rank RANK whose product is nearest to it (Eckart and Young 1936)."""
    left, sizes, right = np.linalg.svd(change, full_matrices=False)
    root = np.sqrt(sizes[:RANK])
    return (left[:, :RANK] * root).astype(np.float32), (root[:, None] * right[:RANK]).astype(np.float32)


def build(source: Source, model_name: str) -> bytes:
    """The ONNX file; inputs and output as the cross-encoder's."""
    model = onnx.load_from_string(base.build(source, int8=True))
    model.graph.name = model_name
    beside = (DATA / base.MODEL).read_bytes()
    for tensor in model.graph.initializer:
        raw = tensor.raw_data
        if len(raw) >= LARGE and (place := beside.find(raw)) >= 0:
            tensor.ClearField("raw_data")
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", base.MODEL), ("offset", place), ("length", len(raw))):
                tensor.external_data.add(key=key, value=str(value))
    return model.SerializeToString(deterministic=True)


def check(made: bytes, model: str) -> bool:
    """Print how far the committed file and `made` agree; True when it is far enough."""
    card = (DATA.parents[3] / "README.md").read_text("utf-8")
    texts = [line for line in dict.fromkeys(card.splitlines()) if len(re.findall(r"\w+", line)) >= 3]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / base.MODEL).write_bytes((DATA / base.MODEL).read_bytes())
        (Path(folder) / model).write_bytes(made)
        anew = base.scores(Path(folder) / model, texts)
    together = float(np.corrcoef(base.scores(DATA / model, texts), anew)[0, 1])
    print(f"the committed file is this one: {(DATA / model).read_bytes() == made}; {len(made) / 1e6:.2f} MB")
    print(f"{len(texts)} pairs: correlation of logits {together:.4f}")
    return together >= LIKENESS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("task", nargs="?", choices=MODELS)
    parser.add_argument("learnt", nargs="?", type=Path, help="what training has left")
    parser.add_argument("--check", action="store_true", help="compare the committed file, write nothing")
    parser.add_argument("--floats", type=Path, help="write the cross-encoder's weights there, in float32")
    given = parser.parse_args()
    if given.floats:
        base.write_folder(committed(), given.floats)
        return
    if not given.learnt:
        parser.error("name a task and what training has left, or --floats FOLDER")
    model = MODELS[given.task].graph()
    source = (read_layers if given.task == "ranking" else read)(given.learnt, committed())
    content = build(source, model.removesuffix(".onnx"))
    if given.check:
        sys.exit(0 if check(content, model) else 1)
    (DATA / model).write_bytes(content)
    line = f'"{model}" = "{hashlib.sha256(content).hexdigest()}"\n'
    (DATA / f"{given.task}.toml").write_text(f"# Made by scripts/build_adapted.py: sha256.\n{line}", "utf-8")
    print(f"{model}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
