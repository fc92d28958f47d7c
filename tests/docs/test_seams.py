"""The examples of docs/seams.md run, and the chat model of its first one answers."""

import re
from pathlib import Path

from equipoise import Answer, Library

PAGE = Path(__file__).resolve().parents[2] / "docs" / "seams.md"
NEEDS_MORE = ("highlighter/model",)
"""What stands in an example that needs a trained model and torch."""


def blocks():
    found = re.findall(r"(?ms)^```python\n(.*?)^```", PAGE.read_text("utf-8"))
    return [block for block in found if not any(word in block for word in NEEDS_MORE)]


def test_the_examples_run_and_a_plain_model_answers(tmp_path):
    names = {}
    for block in blocks():
        exec(compile(block, str(PAGE), "exec"), names)
    (tmp_path / "ferry.txt").write_text(
        "The ferry to Orkney leaves at nine. A ticket costs twelve pounds.", "utf-8"
    )
    with Library.create(tmp_path / "index.db", chat=names["Echo"]()) as library:
        library.index(tmp_path / "ferry.txt")
        result = library.ask("When does the ferry to Orkney leave?")
    assert isinstance(result, Answer)
    assert "The ferry to Orkney leaves at nine." in result.text
