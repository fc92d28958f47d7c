"""The fuzz target's inputs and checks for functions over text."""

import unicodedata
from itertools import pairwise
from random import Random
from zlib import crc32

import seeds
from mutate import mutated

from equipoise.core.types import Document, Span
from equipoise.text.align import align
from equipoise.text.blocks import blocks
from equipoise.text.fence import fenced
from equipoise.text.normal import normalise
from equipoise.text.numerals import quantities
from equipoise.text.polar import is_yes_no
from equipoise.text.questions import split_questions
from equipoise.text.sentences import sentence_spans
from equipoise.text.spans import canonicalize
from equipoise.text.support import stem, unsupported
from equipoise.text.tokens import content_words, names, numbers, words
from equipoise.text.visible import MAX_TITLE, title, visible
from equipoise_lab.text.calls import calls


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def make_text(rng: Random) -> bytes:
    return mutated(rng.choice(seeds.TEXTS), rng, seeds.TEXTS).encode("utf-8", "surrogatepass")


def _sentences(data: bytes) -> None:
    text = _text(data)
    at = 0
    for start, end in sentence_spans(text):
        assert at <= start < end <= start + 600, "sentences overlap or are too long"
        assert not text[at:start].strip(), "text between sentences"
        at = end
    assert not text[at:].strip(), "text after the last sentence"
    structure = blocks(text)
    assert all(a.end <= b.start for a, b in pairwise(structure)), "blocks overlap"
    assert all(-1 <= block.intro < row for row, block in enumerate(structure)), "a lead comes later"
    covered = "".join("".join(text[block.start : block.end].split()) for block in structure)
    assert covered == "".join(text.split()), "text outside of blocks"


def _questions(data: bytes) -> None:
    message = _text(data)
    questions = split_questions(message)
    flat = " ".join(message.split())
    assert questions, "no question"
    assert len(questions) == 1 or all(question.text in flat for question in questions), (
        "a question was made up"
    )
    assert all(question.whole.endswith(question.text) for question in questions[:20]), (
        "a question lost its text"
    )
    is_yes_no(message)


def _counted(data: bytes) -> None:
    text = _text(data)
    tokens = words(text)
    assert len(content_words(text)) <= len(tokens), "more content words than words"
    assert len(numbers(text)) <= len(tokens) and set(names(text)) <= set(names(text + " "))
    assert all(0 <= quantity.start < quantity.end <= len(text) for quantity in quantities(text)), (
        "a number outside the text"
    )
    stem(text)
    for arguments in calls(text, "send_email", ("to", "body")):
        assert set(arguments) <= {"to", "body"}, "an argument nobody named"
    normal = normalise(text)
    assert len(normal.text) == len(normal.offsets), "offsets are missing"


def _spans(data: bytes) -> None:
    text, rng = _text(data), Random(crc32(data))
    documents = {
        name: Document(name, part, "fuzz", sentences=sentence_spans(part))
        for name, part in (("a", text), ("b", text[len(text) // 2 :]))
    }
    odd = (0, -1, len(text), 10**30, 10**5_000, None, True, "1", 0.5)
    offsets = [rng.randrange(len(text) + 1) for _ in range(90)] + [rng.choice(odd) for _ in range(10)]
    proposed = [Span(rng.choice(("a", "b", "c", "a")), *rng.sample(offsets, 2)) for _ in range(50)]
    proposed += [
        Span(name, *pair) for name, document in documents.items() for pair in document.sentences[:20]
    ]
    canonical, dropped = canonicalize(proposed, documents)
    assert canonicalize(canonical, documents) == (canonical, ()), "canonical spans change"
    rng.shuffle(proposed)
    assert canonicalize(proposed, documents) == (canonical, dropped), "the order of spans matters"
    for span in canonical:
        starts, ends = zip(*documents[span.doc_id].sentences, strict=True)
        assert span.start in starts and span.end in ends, "a span cuts a sentence"


def _support(data: bytes) -> None:
    text = _text(data)
    assert unsupported(text, [text]) == (), "a text does not support itself"
    assert all(term in text for term in unsupported(text, [seeds.PROSE])), "a term was made up"


def _place(data: bytes) -> None:
    text, rng = _text(data), Random(crc32(data))
    start = rng.randrange(len(text) + 1)
    piece = text[start : start + rng.choice((5, 40, 400, 20_000))]
    match = align(piece, text)
    if piece.strip():
        assert match is not None and text[match.start : match.end] == piece.strip(), "a copy was not found"
    for quotation in (piece[1::2], f"- {piece.swapcase()}...", seeds.PROSE):
        match = align(quotation, text)
        assert match is None or 0 <= match.start < match.end <= len(text), "a place outside the text"


def _titles(data: bytes) -> None:
    text = _text(data)
    line, shown = title(text), visible(text)
    acting = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    kept = set("\u00ad\u200c\u200d")
    assert len(line) <= MAX_TITLE and title(line) == line, "a title of a title differs"
    assert not any(unicodedata.category(c) in acting for c in set(line) - kept), "a title acts"
    assert not any(unicodedata.category(c) in acting for c in set(shown) - kept - set("\n\t")), "it acts"
    assert visible(shown) == shown, "what is visible changes"
    assert all(row.startswith("|") for row in fenced(text).splitlines()), "a line took off its bar"


CHECKS = {
    "sentences": _sentences, "questions": _questions, "words": _counted, "spans": _spans, "support": _support,
    "align": _place, "titles": _titles,
}  # fmt: skip
