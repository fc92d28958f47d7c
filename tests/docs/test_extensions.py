"""The examples of docs/extensions.md run, and the chat model of its first one answers."""

import re
from pathlib import Path

from equipoise import Answer, Library

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extensions.md"
NEEDS_MORE = ("highlighter/model",)
"""What stands in an example that needs a trained model and torch."""


def blocks():
    examples = re.findall(r"(?ms)^```python\n(.*?)^```", PAGE.read_text("utf-8"))
    return [block for block in examples if not any(word in block for word in NEEDS_MORE)]


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


def test_the_scorer_of_the_page_measures_two_systems(tmp_path):
    (example,) = [block for block in blocks() if "class Brief" in block]
    names = {}
    exec(compile(example, str(PAGE), "exec"), names)
    (tmp_path / "ferry.txt").write_text(
        "The ferry to Orkney leaves at nine.\n\nTickets cost twelve pounds for each and every person who travels on "
        "the ferry to Orkney, children and dogs included.",
        "utf-8",
    )
    asked = {
        "when": "When does the ferry to Orkney leave?",
        "cost": "What do tickets cost?",
        "moon": "Is it full moon?",
    }
    questions = [names["Question"](name, text) for name, text in asked.items()]

    class Silent:
        name = "silent"

        async def __call__(self, sample):
            return ""

    with Library.create(tmp_path / "index.db", chat=None) as library:
        library.index(tmp_path / "ferry.txt")
        table = names["brevity"](
            questions, [names["Asked"]("equipoise", library), Silent()], tmp_path / "out"
        )
    ours = table["equipoise"]
    assert (ours.value, ours.n + ours.unscored) == (0.5, 3)
    assert table["silent"] is None
