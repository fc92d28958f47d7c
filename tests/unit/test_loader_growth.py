"""No file costs a loader more than its length: processor time at n and at 4n, for every hostile form we know."""

from pathlib import Path

import pytest

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import Document
from equipoise.corpus.chunks import passages
from equipoise.corpus.loaders import load
from hostile_files import HOSTILE
from timing import seconds

SMALLEST = 1_000
ENOUGH = 0.02  # seconds of work, above which a factor means something
LARGEST = 256_000  # a form that costs less than that at this size does not grow with its square
FACTOR = 9.0  # linear work gives 4 for four times the length, quadratic 16
ROUNDS = 6


def read(file):
    name, data = file
    try:
        load(Path(name), data)
    except UnreadableFile as error:
        assert len(error.reason) < 300


def growth(work_of):
    """The factor from n to 4n, at an n where the work is long enough; 4 where it never is.

    The best of several rounds: noise makes work longer, never shorter.
    """
    n = SMALLEST
    while seconds(work_of(n), runs=1) < ENOUGH:
        n *= 2
        if n >= LARGEST:
            return 4.0
    short, long = work_of(n), work_of(4 * n)
    lower = upper = float("inf")
    for _ in range(ROUNDS):
        lower, upper = min(lower, seconds(short, runs=1)), min(upper, seconds(long, runs=1))
        if upper < FACTOR / 2 * lower:
            break
    return upper / lower


@pytest.mark.parametrize("form", HOSTILE)
def test_the_cost_of_a_file_grows_with_its_length(form):
    def work_of(n):
        file = HOSTILE[form](n)
        return lambda: read(file)

    assert growth(work_of) < FACTOR


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

    assert growth(work_of) < FACTOR


def test_one_sentence_of_any_length_is_one_passage():
    text = "x" * 1_000_000
    assert passages(Document("d", text, "d.txt", sentences=((0, len(text)),))) == [(0, len(text))]
