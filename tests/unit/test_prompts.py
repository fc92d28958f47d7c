import pytest

from equipoise import prompts


def test_a_missing_prompt_is_an_error():
    with pytest.raises(FileNotFoundError):
        prompts.load("no-such-prompt-v1")
