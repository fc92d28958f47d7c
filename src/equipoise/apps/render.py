"""Prints answers for people (rich).

Whoever runs the command line is the operator: so it also shows what failed, which others who ask must not see.
"""

from collections import Counter
from collections.abc import Sequence, Set
from itertools import pairwise
from pathlib import Path
from textwrap import shorten

from equipoise.apps.indexed import MULTILINGUAL
from equipoise.apps.terminal import Terminal, complain, one_line, print_json, styled
from equipoise.core.results import Answer, Others, Reason, Refusal, SubAnswer, placed
from equipoise.core.types import Highlight, Passage, Trust
from equipoise.corpus.files import LeftOut
from equipoise.rag import saying
from equipoise.rag.summarizers.layout import joined_rows, rows
from equipoise.text.outline import path_line
from equipoise.text.support import content_stems
from equipoise.text.visible import flowing

BEGINNING = 160
"""Characters shown of a passage that is only listed."""
TITLE = 60
"""Characters of a title among others."""
NAMED = 20
"""Files named for each reason why files are left out."""


def show(
    result: Answer | Refusal, console: Terminal, *, trace: bool = False, shown: Sequence[SubAnswer] = ()
) -> None:
    """The quotes and the answer that was written of them, or the refusal with its reason; then what the filter took
    out.

    Several questions are shown one after the other, each with its own quotes. `shown` are those whose quotes
    `show_quotes` has printed already: they are not printed again.
    """
    for number, part in enumerate(result.sub_answers or (SubAnswer("", result),), 1):
        if number > len(shown):
            _show_question(part, number if result.sub_answers else 0, console)
        told = shown[number - 1].result if number <= len(shown) else part.result
        _show_written(
            part.result, told, console, heading=f"Answer to {number}" if result.sub_answers else "Answer"
        )
    flagged = result.trace.flagged
    if flagged:
        console.print(styled(("\nTaken out before the answer", "yellow"), f" ({len(flagged)}):"))
    for taken in flagged:
        source, why = one_line(where(taken.passage)), one_line(taken.reason)
        console.paragraph(styled((source, "cyan"), f", {why} (score {taken.score:.2f})"))
    if trace:
        print_json(result.trace.to_dict() | {"timings": result.trace.timings})


def show_failure(result: Answer | Refusal) -> None:
    """Tell the operator, on stderr, what failed: the refusal is for the person who asked, and does not say."""
    if result.trace.failure:
        complain("model failed:", result.trace.failure)


def show_quotes(parts: Sequence[SubAnswer], console: Terminal) -> None:
    """The quotes of every question, or why it has none, before anything is written about them."""
    for number, part in enumerate(parts, 1):
        _show_question(part, number if len(parts) > 1 else 0, console)


def _show_question(part: SubAnswer, number: int, console: Terminal) -> None:
    """A question, where it has a number, and its quotes or its refusal."""
    if number:
        gap = "\n" if number > 1 else ""
        console.print(styled(gap, (f"{number}.", "bold cyan"), " ", (one_line(part.question), "italic")))
    result = part.result
    if result.trace.read_as:
        console.print(styled((f"read as: {one_line(result.trace.read_as)}", "dim")))
    for typed, meant in result.trace.spelling:
        console.print(styled((f"{one_line(typed)} is read as {one_line(meant)}", "dim")))
    if result.trace.notice:
        console.print(styled((f"{result.trace.notice} To read it: {MULTILINGUAL}", "yellow")))
    if isinstance(result, Refusal):
        _show_refusal(result, console, part.question)
    elif result.weak:
        console.print(styled(("Weak evidence: this may not be what was asked.", "yellow")))
    elif result.trust is Trust.UNTRUSTED and result.others:
        _show_others(result.others, console)
        return
    for rank, item in enumerate(result.quotes, 1):
        console.print(styled((f"[{rank}] {_place(item)}", "cyan")))
        for line in lines(item):
            console.paragraph(styled(*line))
        if item.context:
            console.paragraph(styled((f"read within: {' '.join(item.context.split())}", "dim")))


def _show_others(others: Others, console: Terminal) -> None:
    """What untrusted documents say, claim by claim."""
    if others.silent:
        console.print(styled((saying.SILENT, "bold yellow")))
    console.print(styled((saying.HEADING, "bold yellow")))
    if others.contested:
        console.print(styled((saying.CONTESTED, "yellow")))
    for claim in others.claims:
        for one in claim.shown:
            side = f"{claim.side.value}: " if claim.side else ""
            place = one_line(where(one.highlights[0]))
            console.print(styled((f"{side}{place} (untrusted)", "yellow")))
            if one.impersonates:
                console.print(styled((f"it is not {one_line(one.impersonates)}, which it looks like", "red")))
            console.paragraph(styled(saying.quotes_text(one)))
        console.paragraph(styled((one_line(saying.support(claim)), "dim")))


def _show_refusal(result: Refusal, console: Terminal, asked: str) -> None:
    if result.reason is Reason.NO_QUESTION:
        console.print(styled(one_line(result.detail)))
        return
    detail = f" ({result.reason.value}): {one_line(result.detail)}"
    console.print(styled(("No answer", "bold yellow"), detail))
    show_passages(result.nearest, console, asked, title="Nearest passages:")


def _show_written(
    result: Answer | Refusal, told: Answer | Refusal, console: Terminal, *, heading: str
) -> None:
    """Print the written answer, unless the quotes are the answer; `told` is the result that is printed above."""
    if isinstance(result, Refusal):
        if not isinstance(told, Refusal):
            _show_refusal(result, console, "")
        return
    if not result.grounded:
        unsaid = "The written answer did not say what the quotes say: the quotes are the answer."
        console.print(styled((unsaid, "yellow")))
    if result.trust is Trust.UNTRUSTED and result.others:
        return
    if not _is_quotes(result):
        above = ("\n", (heading, "bold cyan"), "\n") if result.highlights.items else ()
        console.print(styled(*above, (result.text, "bold")))
    if result.others and result.others.claims:
        console.print("")
        _show_others(result.others, console)


def lines(item: Highlight) -> list[list[tuple[str, str]]]:
    """A quote as lines of (text, style)."""
    return lines_of(item.text, item.marks)


def lines_of(text: str, picked: Sequence[tuple[int, int]]) -> list[list[tuple[str, str]]]:
    """A text as lines of (text, style): paragraphs, items and rows are reflowed, items of a list within another are
    indented; code, settings, addresses and verses keep their lines. If it is more than what was picked of it, that is
    bold."""
    marks = picked if len(text) > sum(end - start for start, end in picked) else ()
    borders = {border for mark in marks for border in mark}
    shown = []
    for row in rows(text, verses=True):
        fold = str if row.is_code else _folded
        cuts = sorted({row.start, row.end, *(border for border in borders if row.start < border < row.end)})
        parts = [
            (fold(text[a:b]), "bold" if any(low <= a < high for low, high in marks) else "")
            for a, b in pairwise(cuts)
        ]
        while parts and not parts[-1][0].strip():
            parts.pop()
        if parts:
            *before, (last, style) = parts
            parts = [*before, (last.rstrip(), style)]
            shown.append([(row.margin + parts[0][0], parts[0][1]), *parts[1:]])
    return shown


def _folded(text: str) -> str:
    """The text on one line; white space at its ends becomes one space, since more of the line stands beside it."""
    if not text.strip():
        return " "
    return " " * text[:1].isspace() + flowing(text) + " " * text[-1:].isspace()


def grouped(left: Sequence[LeftOut]) -> list[str]:
    """A line for each reason: how many, the names of the first, and the types of the others."""
    groups: dict[str, list[str]] = {}
    for file in left:
        groups.setdefault(file.reason, []).append(file.path)
    lines = []
    for reason, names in groups.items():
        rest = Counter(Path(name).suffix.lower() or "no suffix" for name in names[NAMED:])
        kinds = ", ".join(f"{count:,} {suffix}" for suffix, count in rest.most_common())
        more = f", and {len(names) - NAMED:,} more ({kinds})" if rest else ""
        lines.append(f"{len(names):,} {reason}: {', '.join(names[:NAMED])}{more}")
    return lines


def show_passages(passages: Sequence[Passage], console: Terminal, asked: str, *, title: str = "") -> None:
    """Where each passage stands, and what it says from the sentence on that has the most words of what was asked."""
    if passages and title:
        console.print(title)
    for passage in passages:
        console.print(styled((_place(passage), "cyan")))
        console.paragraph(styled((_excerpt(passage, content_stems(asked)), "dim")))


def _place(item: Passage | Highlight) -> str:
    """Its place, trust and dates, and whether it is outdated, corrected or a correction."""
    said = one_line(where(item)) + ("" if item.trust is Trust.TRUSTED else f" ({item.trust})")
    if isinstance(item, Highlight):
        said += f", of {item.date}" if item.date else ""
        said += f", as of {item.read}" if item.read else ""
        said += f", an older version: {one_line(item.newer)} is newer" if item.newer else ""
        said += f", {one_line(item.said_corrected)}" if item.corrected else ""
        said += ", a correction" if item.correction else ""
    return said


def _excerpt(passage: Passage, stems: Set[str]) -> str:
    """The first words from the sentence on that has the most of the stems."""
    units = passage.sentences or ((0, 0),)
    start, _ = max(units, key=lambda unit: len(stems & content_stems(passage.text[slice(*unit)])))
    text = shorten(flowing(passage.text[start : start + 4 * BEGINNING]), BEGINNING, placeholder=" …")
    return text if start == units[0][0] else f"… {text}"


def show_subjects(titles: Sequence[str], console: Terminal) -> None:
    """What the documents are about, in one line."""
    if titles:
        short = [shorten(flowing(title), TITLE, placeholder=" …") for title in titles]
        console.print(styled(("The documents are about: ", "bold"), one_line("; ".join(short))))


def where(item: Highlight | Passage) -> str:
    """File, then page, line, or heading and paragraph."""
    return placed(item, item.heading if isinstance(item, Highlight) else path_line("", item.headings))


def _is_quotes(answer: Answer) -> bool:
    """Whether the written answer is the quotes, in any order."""
    quotes = joined_rows(item.text for item in answer.quotes)
    return sorted(answer.text.split()) == sorted(quotes.split())
