"""The prompts of the laboratory are complete, and found in its own package."""

from pathlib import Path

import pytest

from equipoise_lab import prompts

NAMES = sorted(path.stem for path in Path(prompts.__file__).parent.glob("*.toml"))


def test_a_prompt_of_the_product_is_not_one_of_the_laboratory():
    with pytest.raises(FileNotFoundError):
        prompts.load("summarize-v3")


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_says_what_it_wants(name):
    with pytest.raises(TypeError, match="no variable surplus"):
        prompts.load(name, surplus="x")
