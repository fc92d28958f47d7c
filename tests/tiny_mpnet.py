"""A tiny MPNet that nobody trained: its graph is a fixture (scripts/build_mpnet.py), its weights are made here."""

import hashlib
import json
from pathlib import Path

import numpy as np

from equipoise.models.mpnet import MpnetEncoder

GRAPH = Path(__file__).parent / "fixtures" / "mpnet-tiny.onnx"
LAYERS, HIDDEN, HEADS, INNER, WORDS, PLACES, BUCKETS = 2, 24, 4, 48, 30_527, 514, 32


def weights() -> dict[str, np.ndarray]:
    """Every tensor by its published name; norms and biases are not the neutral ones, so that leaving one out shows."""
    rng = np.random.default_rng(7)
    shapes = {
        "embeddings.word_embeddings.weight": (WORDS, HIDDEN),
        "embeddings.position_embeddings.weight": (PLACES, HIDDEN),
        "encoder.relative_attention_bias.weight": (BUCKETS, HEADS),
        "pooler.dense.weight": (HIDDEN, HIDDEN),
    }
    norms = ["embeddings"]
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        norms += [f"{prefix}.attention", f"{prefix}.output"]
        for name, shape in {
            **{f"attention.attn.{part}": (HIDDEN, HIDDEN) for part in "qkvo"},
            "intermediate.dense": (INNER, HIDDEN),
            "output.dense": (HIDDEN, INNER),
        }.items():
            shapes |= {f"{prefix}.{name}.weight": shape, f"{prefix}.{name}.bias": shape[:1]}
    for name in norms:
        shapes |= {f"{name}.LayerNorm.{part}": (HIDDEN,) for part in ("weight", "bias")}
    made = {name: rng.normal(0, 0.3, shape).astype("<f4") for name, shape in shapes.items()}
    made["embeddings.position_embeddings.weight"] *= 0.1  # meaning is in the words
    return {
        name: values + np.float32(1) if name.endswith("LayerNorm.weight") else values
        for name, values in made.items()
    }


def save(folder: Path) -> Path:
    """Write the weights as safetensors, and a catalogue that has them under the name `mpnet`; returns the catalogue."""
    folder.mkdir(parents=True, exist_ok=True)
    header, blob = {"__metadata__": {"format": "pt"}}, b""
    places = np.arange(PLACES, dtype="<i8")[None]
    for name, values in {"embeddings.position_ids": places, **weights()}.items():
        kind = "I64" if values.dtype == "<i8" else "F32"
        content = values.tobytes()
        header[name] = {
            "dtype": kind,
            "shape": list(values.shape),
            "data_offsets": [len(blob), len(blob) + len(content)],
        }
        blob += content
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    content = len(head).to_bytes(8, "little") + head + blob
    (folder / "tiny.safetensors").write_bytes(content)
    catalogue = folder / "catalogue.toml"
    catalogue.write_text(
        '[mpnet]\ntitle = "Tiny"\nrole = "encoder"\nlicence = "none"\nfile = "tiny.safetensors"\n'
        f'size = {len(content)}\nsha256 = "{hashlib.sha256(content).hexdigest()}"\n'
    )
    return catalogue


class TinyMpnet(MpnetEncoder):
    """The encoder with these weights."""

    dimensions = HIDDEN

    def __init__(self, folder: Path, **options) -> None:
        super().__init__(folder=folder, catalogue=save(folder), graph=GRAPH.read_bytes(), **options)
