"""The prompts of the laboratory are complete, and found in its own package."""

from pathlib import Path

import pytest

from equipoise import prompts as product
from equipoise_lab import prompts

NAMES = sorted(path.stem for path in Path(prompts.__file__).parent.glob("*.toml"))


def test_a_prompt_of_the_product_is_not_one_of_the_laboratory():
    with pytest.raises(FileNotFoundError):
        prompts.load("summarize-v3")


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_says_what_it_wants(name):
    with pytest.raises(TypeError, match="no variable surplus"):
        prompts.load(name, surplus="x")


@pytest.mark.parametrize("name", ["baseline-v2", "two-step-answer-v2", "span-v2"])
def test_what_reads_documents_begins_as_the_product_s_does(name):
    """So a server with a prompt cache reads the documents of a question once."""
    given = {"documents": "It is red.", "question": "Who?"}
    system, user = prompts.load(name, **given)
    theirs, asked = product.load("structured-v2", **given)
    assert system == theirs
    assert user.content.partition("Task: ")[0] == asked.content.partition("Task: ")[0]
