"""A list is quoted whole where what its lead-in names is asked for in the plural."""

import pytest

from blocks_of import passage_of
from equipoise.rag.highlighters.lists import asked_list_items
from equipoise.rag.highlighters.reading import Window

PORTS = """Release 11 runs on the following architectures:

- arm64: supports the latest 64-bit devices.
- mips: big machines, Indy; mipsel: little ones.
- s390x: 64-bit port for System z.

It also has these ports:

- hurd: not yet.
"""
ROOMS = "We have these rooms:\n\n- Gull: two beds and a balcony.\n- Tern: one bed.\n"


def items(question, text, which):
    passage = passage_of(text)
    rows = enumerate(zip(passage.sentences, passage.readings, strict=True))
    windows = [Window(passage, start, end, n, n + 1, read_stretches=read) for n, ((start, end), read) in rows]
    best = next(window for window in windows if which in window.own)
    return [window.own.split(":")[0] for window in asked_list_items(question, [best])][1:]


@pytest.mark.parametrize("which", ["arm64", "mips", "s390x"])
@pytest.mark.parametrize(
    "question",
    [
        "Which architectures does release 11 support?",
        "list all of the architectures",
        "What kinds of architectures?",
    ],
)
def test_all_that_the_lead_in_names_is_quoted(question, which):
    assert items(question, PORTS, which) == ["- arm64", "- mips", "- s390x"]


@pytest.mark.parametrize(
    ("question", "text", "which"),
    [
        ("Which architecture is for System z?", PORTS, "s390x"),
        ("Which architectures have a port for System z?", PORTS, "s390x"),
        ("Which devices are supported?", PORTS, "arm64"),
        ("Which architectures does it run on?", PORTS, "following"),
        ("Which rooms have a balcony?", ROOMS, "Gull"),
        ("Which rooms are there?", ROOMS.replace("bed.", "bed" + " and one chair" * 130), "Gull"),
        ("Which plans are there?", "| Plans | Fee |\n|---|---|\n| A | 1 |\n| B | 2 |\n", "A"),
    ],
)  # fmt: skip
def test_one_that_answers_by_itself_is_left_alone(question, text, which):
    assert not items(question, text, which)
