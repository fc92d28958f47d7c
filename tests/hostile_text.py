"""Hostile forms of text: repeated many times, each made some function of `equipoise.text` slow, or might.

python tests/hostile_text.py        prints how the time of every case grows
"""

from collections.abc import Callable
from functools import partial

from equipoise.core.types import Document, Span
from equipoise.corpus.chunks import passages
from equipoise.rag.highlighters.quotations import declines
from equipoise.text.align import align
from equipoise.text.blocks import blocks
from equipoise.text.fence import fenced
from equipoise.text.labels import is_fragment
from equipoise.text.normal import normalise
from equipoise.text.numerals import quantities
from equipoise.text.outline import headings_at, outlined
from equipoise.text.polar import has_sides, is_yes_no, reversed_claims
from equipoise.text.questions import split_questions
from equipoise.text.quotes import quotes_for_spans, stretches_to_read
from equipoise.text.references import follows_up, refers_back
from equipoise.text.sentences import sentence_spans, units
from equipoise.text.spans import canonicalize
from equipoise.text.support import stem, unsupported
from equipoise.text.tokens import names, words
from equipoise.text.visible import title, visible
from equipoise_lab.text.calls import calls

Case = tuple[Callable[[str], object], Callable[[int], str]]

QUOTE = "In 1851 two miners from Dublin found 1,200 ounces of gold near Ballarat, worth 2.5 million dollars."
ANSWER = "The UNESCO Group and A.B.C. found three million ounces in zq-zq."


def spans_of_all_kinds(text: str) -> object:
    """Canonical form of every sentence, every run up to the end, and pieces that cut words."""
    sentences = sentence_spans(text)
    document = Document("d", text, "test", sentences=sentences)
    cut = [Span("d", start + 1, len(text) - 1 - n % 9) for n, (start, _) in enumerate(sentences)]
    few = [Span("d", 1, end) for _, end in sentences]
    odd = [Span("d", 10**30 + n, None) for n in range(len(sentences))]
    return canonicalize([*(Span("d", *pair) for pair in sentences), *cut, *few, *odd], {"d": document})


def one_giant_sentence(text: str) -> object:
    """Many spans inside a sentence that is as long as the text."""
    document = Document("d", text, "test", sentences=((0, len(text)),))
    return canonicalize([Span("d", at, at + 9) for at in range(0, len(text), 500)], {"d": document})


def quoted(text: str) -> object:
    """The headings of a few places of a document of blocks, and what is shown of its last units."""
    structure = outlined(blocks(text))
    document = Document("d", text, "test", sentences=units(text, structure), blocks=structure)
    for row in range(0, len(structure), 1 + len(structure) // 20):
        headings_at(document, structure[row].start)
    last = document.sentences[-20:]
    return (
        passages(document),
        quotes_for_spans(document, last),
        [stretches_to_read(document, unit) for unit in last],
    )


def asked_of_itself(text: str) -> object:
    """An answer of many acronyms and compounds, judged by as long an evidence."""
    return unsupported(text, [text.swapcase()])


FUNCTIONS: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "sentences": (
        sentence_spans,
        ("\"'", "“", "”", "«", "‘", "'", "`", '“a. ', '"a. ', "(a. ", "a", " ", ". ", ".", ".)", "? ", " ;", "a,",
         "A. ", "Dr. ", "approx. ", "1. ", "1.1 a ", "- a\n", "> a\n", "| a |\n", "a\t", "```\n", "a\n", "中。"),
    ),
    "short sentences": (partial(sentence_spans, max_chars=20), ("a", " ", "a, ", "“a. ")),
    "long sentences": (partial(sentence_spans, max_chars=10**9), ("a", "“", ".)", "; ")),
    "blocks": (
        blocks,
        (" ", "|", " | ", "a | ", "a\t", "\t", "1.", "1.1 ", "1.1 a ", ".'", ".' ", "=", "= ", "    a;", "- ", "> ",
         "#", "# ", "***\n", "\r", "1.1 A\n", "- a\n  - b\n", "a:\n\n    b()\n", "A b\n\n", "A\n=\n", "=\nA\n=\n",
         "[a](b) ", "[a", "[[a]", "![", "<a ", "<a>", "</h1", "<h1>a", "**a",
         ".. a::\n\n   b\n\n", ".. a:", "....", ". . 1",
         "a  1\n", "1. A\n\n", "  - a\n\n", "~~~\n", "::\n\n  a\n", "---\n"),
    ),
    "quotes": (
        quoted,
        ("# a\n", "###### a\n\nb.\n\n", "- a\n", "a:\n\n- b\n\n", "| a | b |\n", "```\na\n\n", "1.1 A\n",
         "a. ", "<h1>a</h1>\n\n"),
    ),
    "questions": (
        split_questions,
        ("? ", "?", "?!", "a? ", "who is it? ", "(? ", '"? ', '?"', "?) ", "is it so? ", "1. Who is it?\n", "- a\n",
         "I am so. ", "[who? "),
    ),
    "references": (
        refers_back, ("it takes ", "is that ", "that ", "there,", "it is ok ", "he. ", "A: ")
    ),
    "follow-ups": (
        follows_up,
        ("and ", "ok ", "Thanks! ", "hm", "which is ", "what about", "in ", "if ", "If a, ", "the a when ", "n't there",
         "such a ", "who else ", "the one ", "A, ", "says ", "as ", "without xing "),
    ),
    "yes or no": (
        is_yes_no,
        (", is ", ": is? ", "or ", "or not ", "?", "? ", ". can you ", "can you tell ", "can i me "),
    ),
    "sides": (has_sides, (", is ", "should ", "a, should ", "who ", "a b c should ", "?", "can you tell ")),
    "reversed claims": (
        partial(reversed_claims, quotes=[QUOTE]),
        ("no, ", "not ", "never ", "n't ", "\"'", "a b c; ", "and ", ". ", "–\n", "yes"),
    ),
    "words": (words, ("1", "1.", "1,000", ",000", "-1", "A.", "a.", "x's", "x'", "''", "a-", "_", "1a", "中", "é")),
    "names": (names, ("A. ", "Ab ", "AB", '"A', "\n#A ", "* > A ")),
    "numerals": (
        quantities,
        ("1", "1 million ", "million ", "one ", "one hundred thousand ", "two hundred and ", "one million ",
         "twenty-", "one-", "1.", "1,000,", "1st ", "hundred "),
    ),
    "support": (
        partial(unsupported, evidence=[QUOTE]),
        ("zq-", "ZQ ", "ZQ-", "Z.Q. ", "one ", "1 million ", "[1]", "[1, ", "1. ", "- ", " ", "x's ", "Qy Qx ", "q"),
    ),
    "evidence": (
        lambda text: unsupported(ANSWER, [text]), ("A ", "A.", "AB ", "zq-", "1 million ", "a", "U N ", "the ")
    ),
    "support of itself": (asked_of_itself, ("zq-", "Ab ", "AB ", "A.B. ")),
    "stems": (stem, ("s", "ss", "ing", "eed", "ies", "ed", "x", "ch")),
    "normalise": (normalise, ("a-\n", "-\n", "-", "- ", "\n", " ", "…", "a-\n\n", "\u200d", "“")),
    "quotation": (
        lambda text: align(text, QUOTE), ("a", ".", ".)", ". a", " ", "- ", "- a", "...", "•", "> ", '"', "1. ", "*")
    ),
    "aligned text": (
        lambda text: align("Two miners 'found' silver.", text, fuzzy=False), ("Two miners ", "“", "a-\n", " ", "T")
    ),
    "calls": (
        lambda text: calls(text, "send_email", ("to", "body")),
        ("send_email(", "send_email('", 'send_email("a", "', "send_email(a='", "send_email(`", "send_email", "send\\_",
         "send_email`", "send_email ", "send_email({", "send_email(a, "),
    ),
    "one call": (
        lambda text: calls(f"send_email({text}", "send_email", ("to", "body")),
        ("a", "a=", "a:", ", ", '"', '"a" ', '",', '", ', '" ]', '"\\n', "\\", '\\"', "'''", "f'", " ", "{", "“"),
    ),
    "spans": (spans_of_all_kinds, ("a. ", "Ab cd. ", "... \n\n", "- \n\n", "ab\n\n", "a")),
    "giant sentence": (one_giant_sentence, ("a b ", ". ", "a")),
    "visible": (visible, ("a", "\x1b", "\u202e", "\ud800", "\n")),
    "title": (title, ("a", "\x1b", " ", "\n")),
    "fence": (fenced, ("a", "\n", "\r", "\u2028", " ")),
    "fragments": (is_fragment, (".", ".'", ".''", "a ", "1", "one", "a", "'", ". ")),
    "declines": (declines, (" ", "NONE", "*", "NONE ", "_")),
}  # fmt: skip

TAIL = "\0x"
"""What no pattern of ours wants: the repeats before it have matched for nothing."""


def repeated(unit: str, size: int) -> str:
    """`unit` so often that it has about `size` characters, and TAIL."""
    return unit * (size // len(unit)) + TAIL


CASES: dict[str, Case] = {
    f"{name}: {unit!a}": (function, partial(repeated, unit))
    for name, (function, units) in FUNCTIONS.items()
    for unit in units
}
