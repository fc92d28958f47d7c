"""Build the embedded highlighter: a trained sentence head on MiniLM as one int8 ONNX file, without torch.

    python scripts/build_highlighter.py RUN/model        writes src/equipoise/models/data/
    python scripts/build_highlighter.py RUN/model --check     compares the committed file with float32

RUN/model is what `equipoise train highlighter --head sentence` left (how it was trained: benchmarks/training).
Weights are int8 with float32 scales and turned back at load, as in build_encoder.py, which gives the layers. One
window is read at a time: input_ids and token_type_ids (1, l), question (1, l) and pool (s, l), whose rows sum
to 1 over the question's and over each sentence's tokens -> margins (s,), the logit of each sentence less that
of "none of them".
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import onnx
from build_encoder import DATA, LAYERS, POSITIONS, Graph, layer, session
from onnx import TensorProto, helper
from safetensors.numpy import load as load_safetensors
from tokenizers import Tokenizer

from equipoise.models.windows import windows
from equipoise.text.sentences import sentence_spans

MODEL, MANIFEST = "sentence-reader-int8.onnx", "sentence-reader.toml"
Weights = dict[str, np.ndarray]


def read_model(folder: Path) -> tuple[Weights, Weights]:
    """Encoder and head."""
    head = json.loads((folder / "sentence_head.json").read_text("utf-8"))
    layers = {name: np.array(values, np.float32) for name, values in head.items()}
    return load_safetensors((folder / "model.safetensors").read_bytes()), layers


def embeddings(graph: Graph, weights: Weights) -> str:
    """Words + positions + token types, normalised: (1, length, 384)."""
    prefix = "embeddings."
    zero = graph.constant(np.array([0]))
    length = graph.op("Shape", "input_ids", start=1, end=2)
    places = graph.constant(weights[prefix + "position_embeddings.weight"][:POSITIONS])
    here = graph.op("Slice", places, zero, length, zero)
    kinds = graph.op(
        "Gather", graph.constant(weights[prefix + "token_type_embeddings.weight"]), "token_type_ids"
    )
    words = graph.words(weights[prefix + "word_embeddings.weight"])
    return graph.norm(graph.op("Add", graph.op("Add", words, here), kinds), weights, "embeddings")


def margins(graph: Graph, x: str, head: Weights) -> str:
    """The sentence head of equipoise.training.heads on states (1, length, 384)."""
    zero = graph.constant(np.array([0]))
    states = graph.op("Squeeze", x, zero)
    asked = graph.op("LpNormalization", graph.op("MatMul", "question", states), axis=-1, p=2)
    means = graph.op("MatMul", "pool", states)
    product = graph.op("Mul", graph.op("LpNormalization", means, axis=-1, p=2), asked)
    features = graph.op("Concat", product, means, axis=-1)
    sentences = _linear(graph, features, head, "sentence")
    first = graph.op("Slice", states, zero, graph.constant(np.array([1])), zero)
    less = graph.op("Sub", sentences, _linear(graph, first, head, "none"))
    return graph.op("Squeeze", less, graph.constant(np.array([1])))


def _linear(graph: Graph, x: str, head: Weights, name: str) -> str:
    """A small layer, kept in float32."""
    product = graph.op("MatMul", x, graph.constant(head[f"{name}.weight"].T))
    return graph.op("Add", product, graph.constant(head[f"{name}.bias"]))


def build(weights: Weights, head: Weights, *, int8: bool) -> bytes:
    """The ONNX file."""
    graph = Graph(int8=int8)
    x = embeddings(graph, weights)
    bias = graph.constant(np.zeros((1, 1, 1, 1), np.float32))
    for number in range(LAYERS):
        x = layer(graph, x, bias, weights, f"encoder.layer.{number}")
    graph.nodes.append(helper.make_node("Identity", [margins(graph, x, head)], ["margins"]))
    kinds = {"input_ids": TensorProto.INT64, "token_type_ids": TensorProto.INT64}
    kinds |= {"question": TensorProto.FLOAT, "pool": TensorProto.FLOAT}
    inputs = [
        helper.make_tensor_value_info(name, kind, ["sentences" if name == "pool" else 1, "length"])
        for name, kind in kinds.items()
    ]
    result = [helper.make_tensor_value_info("margins", TensorProto.FLOAT, ["sentences"])]
    made = helper.make_graph(graph.nodes, "sentence-reader", inputs, result, graph.constants)
    model = helper.make_model(made, producer_name="", opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 9
    onnx.checker.check_model(model)
    return model.SerializeToString(deterministic=True)


def check(weights: Weights, head: Weights) -> bool:
    """Print how the committed file compares with a rebuild and with float32; True when it is good enough."""
    committed = (DATA / MODEL).read_bytes()
    same = committed == build(weights, head, int8=True)
    text = (Path(__file__).resolve().parents[1] / "README.md").read_text("utf-8")
    ours, theirs = (
        scores(model, text) for model in (session(committed), session(build(weights, head, int8=False)))
    )
    apart = float(np.abs(ours - theirs).mean())
    together = float(np.corrcoef(ours, theirs)[0, 1])
    print(f"the committed file is a rebuild's: {same}; {len(committed) / 1e6:.2f} MB")
    print(f"{len(ours)} sentences: mean difference of margins {apart:.3f}, correlation {together:.4f}")
    return same and len(committed) <= 25e6 and together > 0.99


def scores(model: object, text: str) -> np.ndarray:
    """The margins of all sentences of `text` for one question."""
    tokenizer = Tokenizer.from_file(str(DATA / "tokenizer.json"))
    question = "Who cannot push the answers?"
    found = []
    for window in windows(tokenizer, question, text, sentence_spans(text), max_tokens=POSITIONS):
        shares = [window.question, *window.sentences.values()]
        rows = np.zeros((len(shares), len(window.ids)), np.float32)
        for row, (start, end) in zip(rows, shares, strict=True):
            row[start:end] = 1 / (end - start)
        feed = {"input_ids": np.array([window.ids]), "token_type_ids": np.array([window.types])}
        found.append(model.run(["margins"], feed | {"question": rows[:1], "pool": rows[1:]})[0])
    return np.concatenate(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder `model` of a training run")
    parser.add_argument("--check", action="store_true", help="compare the committed file, write nothing")
    arguments = parser.parse_args()
    weights, head = read_model(arguments.folder)
    if arguments.check:
        sys.exit(0 if check(weights, head) else 1)
    content = build(weights, head, int8=True)
    (DATA / MODEL).write_bytes(content)
    line = f'"{MODEL}" = "{hashlib.sha256(content).hexdigest()}"\n'
    (DATA / MANIFEST).write_text(f"# Made by scripts/build_highlighter.py: sha256.\n{line}", "utf-8")
    print(f"{MODEL}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
