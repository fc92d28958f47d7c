"""No file costs a loader more than its length: processor time at n and at 2n, for every hostile form we know.

Those that the HTML library takes longer for are ended by the limits of their process (test_workers.py).
"""

from pathlib import Path

import pytest

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import Document
from equipoise.corpus.chunks import passages
from equipoise.corpus.loaders import load
from hostile_files import ENDED, HOSTILE
from timing import LINEAR, growth


def read(file):
    name, data = file
    try:
        load(Path(name), data)
    except UnreadableFile as error:
        assert len(error.reason) < 300


@pytest.mark.parametrize("form", HOSTILE)
def test_a_hostile_file_is_read_or_refused(form):
    read(HOSTILE[form](200))


@pytest.mark.nightly
@pytest.mark.parametrize("form", [form for form in HOSTILE if form not in ENDED])
def test_the_cost_of_a_file_grows_with_its_length(form):
    def work_of(n):
        file = HOSTILE[form](n)
        return lambda: read(file)

    assert growth(work_of, least=1_000, most=256_000).ratio < LINEAR


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("text", "sentence"),
    [("x" * 20, 20), ("x. ", 2), ("x.\n\n", 2), ("# x\n\n", 3), ("x.\n    \n   \n", 2)],
)
def test_the_cost_of_cutting_passages_grows_with_the_text(text, sentence):
    def work_of(n):
        starts = range(0, n * len(text), len(text))
        spans = tuple((start, start + sentence) for start in starts)
        document = Document("d", text * n, "d.txt", sentences=spans)
        return lambda: passages(document)

    assert growth(work_of, least=1_000, most=256_000).ratio < LINEAR


def test_one_sentence_of_any_length_is_one_passage():
    text = "x" * 1_000_000
    assert passages(Document("d", text, "d.txt", sentences=((0, len(text)),))) == [(0, len(text))]
