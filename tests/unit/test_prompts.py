"""Prompts are complete, and those that read the same text begin alike."""

from pathlib import Path

import pytest

from equipoise import prompts

NAMES = sorted(path.stem for path in Path(prompts.__file__).parent.glob("*.toml"))
READING = ["vanilla-v2", "structured-v2"]
EVIDENCE = ["evidence-check-v1", "evidence-pick-v1", "evidence-verdict-v1"]


def test_a_missing_prompt_is_an_error():
    with pytest.raises(FileNotFoundError):
        prompts.load("no-such-prompt-v1")


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_says_what_it_wants(name):
    with pytest.raises(TypeError, match="no variable surplus"):
        prompts.load(name, surplus="x")


def beginning(name, **variables):
    system, user = prompts.load(name, question="Who?", **variables)
    before, task, after = user.content.partition("Task: ")
    assert task
    assert after
    return system.content, before


@pytest.mark.parametrize("name", READING)
def test_what_reads_documents_begins_alike(name):
    """So a server with a prompt cache reads the documents of a question once."""
    assert beginning(name, documents="It is red.") == (
        "You get documents, a question and a task. Do the task from the documents alone.",
        "Documents:\nIt is red.\n\nQuestion: Who?\n\n",
    )


def test_what_reads_numbered_sentences_begins_alike():
    rest = {"evidence-pick-v1": {"most": "3"}}
    shown = {beginning(name, sentences="[1] It is red.", **rest.get(name, {})) for name in EVIDENCE}
    assert len(shown) == 1
