"""Processor seconds that fastembed takes for texts with the package's encoder: a program of its own for `anchors.py`.

fastembed needs an older huggingface_hub than the rest, hence another environment (`make bench-speed` makes it), in
which equipoise is not there. Standard input is JSON: `texts`, and of the encoder `model` and `tokenizer` (paths),
`dimensions` and `tokens`, the most it reads.
"""

import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

NAME = "equipoise/encoder"
BATCH = 32
"""Of its 256 by default, padded to the longest, working memory is 3 GB."""


def main() -> None:
    """Print them."""
    given = json.load(sys.stdin)
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.onnx").symlink_to(given["model"])
        (folder / "tokenizer.json").symlink_to(given["tokenizer"])
        (folder / "config.json").write_text('{"pad_token_id": 0}')
        settings = {"model_max_length": given["tokens"], "pad_token": "[PAD]"}
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
        TextEmbedding.add_custom_model(
            model=NAME,
            pooling=PoolingType.DISABLED,  # the file pools and normalises itself
            normalization=False,
            sources=ModelSource(hf=NAME),
            dim=given["dimensions"],
            model_file="model.onnx",
        )
        model = TextEmbedding(NAME, specific_model_path=name)
        list(model.embed(["warm up"]))
        began = time.process_time()
        list(model.embed(given["texts"], batch_size=BATCH))
        print(time.process_time() - began)


if __name__ == "__main__":
    main()
