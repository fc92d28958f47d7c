"""`equipoise highlight`: finds the sentences in some texts that answer a question, without an index."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from equipoise.apps.options import PathArgument, group
from equipoise.apps.render import lines_of
from equipoise.apps.terminal import Terminal, complain, one_line, print_json, styled
from equipoise.audit.scan.files import ScannedFiles
from equipoise.core.errors import InputError
from equipoise.core.types import Document
from equipoise.integrations.plain import highlight_documents

app = group()
STDIN = Path("-")


@app.command("highlight")
def highlight_files(
    question: Annotated[str, typer.Argument(help="The question.")],
    paths: Annotated[
        list[Path], PathArgument(help="Files and folders; - reads text from the standard input.")
    ],
    threshold: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Minimum probability of an answer; 0: always the best spans."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find the sentences in some texts that answer a question, without an index. Each span has its probability.

    Every text is read whole, so it is for passages and short files; `index` and `ask` are for many.
    """
    corpus = ScannedFiles.at([path for path in paths if path != STDIN])
    documents = [scanned.document for scanned in corpus]
    if STDIN in paths:
        documents.append(Document(str(STDIN), sys.stdin.read(), str(STDIN), ""))
    for failure in corpus.failed:
        complain("failed:", str(failure))
    if not any(document.text.strip() for document in documents):
        raise InputError("there is no text to read there: give another path")
    sources = [document.source for document in documents]
    found = highlight_documents(question, documents, threshold=threshold)
    if as_json:
        spans = [
            {
                "source": sources[span.row],
                "start": span.start,
                "end": span.end,
                "text": span.text,
                "chosen": span.chosen,
                "probability": span.probability,
            }
            for span in found.spans
        ]
        print_json({"probability": found.probability, "spelling": dict(found.spelling), "spans": spans})
    else:
        console = Terminal()
        for span in found.spans:
            sure = "" if span.probability is None else f" ({span.probability:.2f})"
            console.print(styled((one_line(sources[span.row]), "cyan"), sure))
            for line in lines_of(
                span.text, [(start - span.start, end - span.start) for start, end in span.chosen]
            ):
                console.paragraph(styled(*line))
        if not found.spans:
            console.print("Nothing in these texts seems to answer this question.")
