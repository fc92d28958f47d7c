"""`equipoise budget`: how much of the summarizer's input a question can choose, in bits."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.apps import progress
from equipoise.apps.docs import indexed
from equipoise.apps.options import PathOption, StoreOption, group
from equipoise.apps.terminal import Terminal, number_of, print_json, styled
from equipoise.corpus.store import Store
from equipoise.maths.choices import bits
from equipoise.rag.budget import EXTRACTS, PROMPT_TOKENS, Budget, Counted, budget, free_extracts, free_prompt
from equipoise.text.visible import title

app = group()

REFERENCE = 6_000
"""Characters of the document for which the paper's reference implementation is counted."""


@app.command("budget")
def control_budget(
    store: StoreOption = None,
    docs: Annotated[list[Path] | None, PathOption("--docs", help="Count for these files or folders.")] = None,
    llm: Annotated[str | None, typer.Option("--llm", help="As for `ask`.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Count the different inputs one question can force on the summarizer, and what each setting saves."""
    chosen = indexed({"store.path": store, "model.llm": llm}, docs)
    with Store.open(chosen.store.path, read_only=True) as opened, progress.counted() as report:
        result = budget(opened, chosen, progress=report)
    if as_json:
        print_json(as_dict(result))
    else:
        _show(result, Terminal())


def as_dict(result: Budget) -> dict[str, Any]:
    """The budget as one object; counts are strings, since they outgrow numbers."""
    deployment = result.deployment
    return {
        "documents": result.documents,
        "passages": result.passages,
        "sentences": result.sentences,
        "read_by_a_model": deployment.writes,
        "short_quotes_left_out": deployment.only_long,
        "tags": deployment.tags,
        "questions": deployment.questions,
        "sets_are_exact": not result.counted.relaxed,
        "upper_bound_since": list(result.counted.relaxed),
        **_counts(result.counted),
        "worst_documents": [
            {
                "source": document.source,
                "sentences": document.sentences,
                "question_bits": round(bits(document.question), 2),
                "free_extracts_bits": round(document.free_extracts, 2),
            }
            for document in result.worst
        ],
        "changes": [
            {"setting": change.setting, "from": change.before, "to": change.after, **_counts(change.counted)}
            for change in result.changes
        ],
        "free_prompt_bits": round(free_prompt(), 2),
        "free_extracts_bits_of_6000_characters": round(free_extracts(REFERENCE), 2),
    }


def _counts(counted: Counted) -> dict[str, Any]:
    return {
        "question_sets_of_quotes": str(counted.sets),
        "question_inputs": str(counted.question),
        "question_bits": round(bits(counted.question), 2),
        "message_inputs_at_most": str(counted.message),
        "message_bits_at_most": round(bits(counted.message), 2),
    }


def _show(result: Budget, console: Terminal) -> None:
    within = f"{number_of(result.passages, 'passage')} of {number_of(result.documents, 'document')}"
    console.print(styled((f"{number_of(result.sentences, 'sentence')} in {within}", "bold")))
    for line in _notes(result):
        console.print(line)
    console.table(("who chooses", "bits"), list(_beside(result)))
    console.print("Documents with the largest budgets, each by itself:")
    console.table(
        ("document", "sentences", "bits of one question", f"bits of {EXTRACTS} free extracts"),
        [
            (
                title(document.source),
                f"{document.sentences:,}",
                _bits(document.question),
                f"{document.free_extracts:,.1f}",
            )
            for document in result.worst
        ],
    )
    console.print("One setting changed, all others as they are:")
    now = result.counted
    rows = [
        (change.setting, change.before, change.after, *_changed(change.counted.question, now.question),
         *_changed(change.counted.message, now.message))
        for change in result.changes
    ]  # fmt: skip
    console.table(("setting", "now", "then", "question", "change", "message, at most", "change"), rows)


def _beside(result: Budget) -> Iterator[tuple[str, str]]:
    """Rows that compare it with free extracts and a free prompt."""
    now, several = result.counted, result.deployment.questions
    shown = f"{now.question:,} inputs" if now.question < 10**9 else f"{now.question:.2e} inputs"
    bound = now.relaxed or result.deployment.tags
    yield f"one question, here: {'at most ' if bound else ''}{shown}", _bits(now.question)
    if several > 1:
        yield f"one message of up to {several} questions, here: at most", _bits(now.message)
    yield (
        f"{EXTRACTS} free extracts of a document of {REFERENCE:,} characters",
        f"{free_extracts(REFERENCE):,.1f}",
    )
    yield f"a free prompt of {PROMPT_TOKENS} tokens", f"{free_prompt():,.0f}"


def _notes(result: Budget) -> Iterator[str]:
    deployment = result.deployment
    if not deployment.writes:
        yield "No language model writes answers here: what is counted is which quotes can be made an answer."
    tags = ", each with and without the one yes or no that it may bear out" if deployment.tags else ""
    yield (
        f"Counted is every canonical set of quotes from any {deployment.k} passages read together, whatever search, "
        f"filter and highlighter do{tags}."
    )
    if deployment.only_long:
        yield "One or two short sentences are the answer as they are; they are counted, and no model reads them."
    if result.counted.relaxed:
        yield f"An upper bound: {'; '.join(result.counted.relaxed)}."


def _bits(count: int) -> str:
    return f"{bits(count):,.1f}"


def _changed(count: int, now: int) -> tuple[str, str]:
    change = round(bits(count) - bits(now), 1) + 0.0  # no minus before a nought
    return _bits(count), f"{change:+,.1f}"
