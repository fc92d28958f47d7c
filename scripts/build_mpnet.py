"""Build the graph of all-mpnet-base-v2: how it computes, as one ONNX file without a weight in it.

    python scripts/build_mpnet.py           writes src/equipoise/models/data/ and the tiny graph of the tests

The weights stay in the published `model.safetensors`, which `equipoise models pull mpnet` fetches: the graph names
each of them as the file does, and ONNX Runtime reads them where they lie. So nothing is converted, and no torch is
needed. The graph reads one text; the same script gives the same bytes.
"""

import hashlib
from dataclasses import dataclass, field

import numpy as np
import onnx
from build_encoder import DATA
from onnx import TensorProto, helper, numpy_helper

NAME, MANIFEST = "mpnet-base-v2.onnx", "mpnet.toml"
TINY = DATA.parents[3] / "tests" / "fixtures" / "mpnet-tiny.onnx"
BUCKETS, FURTHEST = 32, 128
"""Of relative positions (Song and others 2020, "MPNet", and `relative_position_bucket` of its reference code)."""
FIRST_PLACE = 2
"""Position 0 and 1 of the table are never used: the model counts places from its padding token's number on."""
EPSILON = 1e-5  # layer_norm_eps in the model's config.json
OUTSIDE = "weights"
"""Where the weights are said to be; whoever loads the graph puts the real ones in."""


@dataclass(frozen=True)
class Shape:
    """The sizes of a model: as in its config.json."""

    layers: int = 12
    hidden: int = 768
    heads: int = 12
    inner: int = 3072
    words: int = 30_527
    places: int = 514


PUBLISHED = Shape()
OF_TESTS = Shape(layers=2, hidden=24, heads=4, inner=48)


@dataclass
class Graph:
    """Collects nodes, small constants and the names of weights; methods return the name of the tensor they add."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    tensors: list[onnx.TensorProto] = field(default_factory=list)

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attributes: object) -> str:
        name = f"{kind}_{len(self.nodes)}"
        names = [name] if outputs == 1 else [f"{name}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=name, **attributes))
        return name

    def constant(self, values: object) -> str:
        name = f"c{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def weight(self, name: str, *dims: int) -> str:
        """A tensor that the safetensors file has under this name."""
        made = TensorProto(
            name=name, data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL
        )
        place = made.external_data.add()
        place.key, place.value = "location", OUTSIDE
        self.tensors.append(made)
        return name

    def linear(self, x: str, name: str, outputs: int, inputs: int) -> str:
        """x @ weight.T + bias for x (length, inputs)."""
        weight, bias = self.weight(f"{name}.weight", outputs, inputs), self.weight(f"{name}.bias", outputs)
        return self.op("Gemm", x, weight, bias, transB=1)

    def norm(self, x: str, name: str, width: int) -> str:
        scale, bias = (self.weight(f"{name}.LayerNorm.{part}", width) for part in ("weight", "bias"))
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=EPSILON)


def buckets(places: int) -> np.ndarray:
    """(2 * places - 1,) the bucket of each difference of two places, from -(places - 1) on.

    Half of them is for what comes before; near ones have one each, far ones grow as the logarithm.
    """
    ahead = np.arange(-(places - 1), places)
    half, exact = BUCKETS // 2, BUCKETS // 4
    far = np.abs(ahead).astype(np.float32)
    grown = np.log(np.maximum(far, 1) / np.float32(exact)) / np.float32(np.log(FURTHEST / exact))
    large = np.minimum(exact + (grown * np.float32(half - exact)).astype(np.int64), half - 1)
    return np.where(ahead > 0, half, 0) + np.where(far < exact, far.astype(np.int64), large)


def places_of(graph: Graph, shape: Shape) -> tuple[str, str]:
    """(0 to length - 1, the bias of attention by relative position (heads, length, length))."""
    zero, one = graph.constant(np.int64(0)), graph.constant(np.int64(1))
    length = graph.op("Squeeze", graph.op("Shape", "input_ids"))
    here = graph.op("Range", zero, length, one)
    rows, columns = (graph.op("Unsqueeze", here, graph.constant(np.array([axis]))) for axis in (1, 0))
    most = shape.places - FIRST_PLACE
    ahead = graph.op("Add", graph.op("Sub", columns, rows), graph.constant(np.int64(most - 1)))
    bucket = graph.op("Gather", graph.constant(buckets(most)), ahead)
    table = graph.weight("encoder.relative_attention_bias.weight", BUCKETS, shape.heads)
    return here, graph.op("Transpose", graph.op("Gather", table, bucket), perm=[2, 0, 1])


def attention(graph: Graph, x: str, bias: str, prefix: str, shape: Shape) -> str:
    """Multi-head self-attention of x (length, hidden)."""
    width, size = shape.hidden, shape.hidden // shape.heads
    apart = graph.constant(np.array([0, shape.heads, size]))
    query, key, value = (
        graph.op(
            "Transpose",
            graph.op("Reshape", graph.linear(x, f"{prefix}.{part}", width, width), apart),
            perm=order,
        )
        for part, order in (("q", [1, 0, 2]), ("k", [1, 2, 0]), ("v", [1, 0, 2]))
    )
    scores = graph.op("Div", graph.op("MatMul", query, key), graph.constant(np.float32(np.sqrt(size))))
    chances = graph.op("Softmax", graph.op("Add", scores, bias), axis=-1)
    mixed = graph.op("Transpose", graph.op("MatMul", chances, value), perm=[1, 0, 2])
    flat = graph.op("Reshape", mixed, graph.constant(np.array([0, width])))
    return graph.linear(flat, f"{prefix}.o", width, width)


def layer(graph: Graph, x: str, bias: str, prefix: str, shape: Shape) -> str:
    """Attention and a feed-forward net with exact (erf) GELU, each added and normalised."""
    attended = attention(graph, x, bias, f"{prefix}.attention.attn", shape)
    x = graph.norm(graph.op("Add", x, attended), f"{prefix}.attention", shape.hidden)
    wide = graph.op("Gelu", graph.linear(x, f"{prefix}.intermediate.dense", shape.inner, shape.hidden))
    changed = graph.linear(wide, f"{prefix}.output.dense", shape.hidden, shape.inner)
    return graph.norm(graph.op("Add", x, changed), f"{prefix}.output", shape.hidden)


def build(shape: Shape) -> bytes:
    """The ONNX file: input_ids (length) int64 -> embedding (hidden) float32 of length 1."""
    graph = Graph()
    here, bias = places_of(graph, shape)
    words = graph.op(
        "Gather", graph.weight("embeddings.word_embeddings.weight", shape.words, shape.hidden), "input_ids"
    )
    table = graph.weight("embeddings.position_embeddings.weight", shape.places, shape.hidden)
    place = graph.op("Gather", table, graph.op("Add", here, graph.constant(np.int64(FIRST_PLACE))))
    x = graph.norm(graph.op("Add", words, place), "embeddings", shape.hidden)
    for number in range(shape.layers):
        x = layer(graph, x, bias, f"encoder.layer.{number}", shape)
    mean = graph.op("ReduceMean", x, graph.constant(np.array([0])), keepdims=0)
    length = graph.op("ReduceL2", mean, graph.constant(np.array([0])), keepdims=1)
    graph.nodes.append(helper.make_node("Div", [mean, length], ["embedding"]))
    made = helper.make_graph(
        graph.nodes,
        "all-mpnet-base-v2",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["length"])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [shape.hidden])],
        graph.tensors,
    )
    model = helper.make_model(made, producer_name="", opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 9
    return model.SerializeToString(deterministic=True)


def main() -> None:
    graph = build(PUBLISHED)
    (DATA / NAME).write_bytes(graph)
    said = f'# Made by scripts/build_mpnet.py: sha256.\n"{NAME}" = "{hashlib.sha256(graph).hexdigest()}"\n'
    (DATA / MANIFEST).write_text(said, "utf-8")
    TINY.write_bytes(build(OF_TESTS))
    for path in (DATA / NAME, TINY):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
