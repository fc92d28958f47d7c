"""`equipoise status`: what a question would be answered with."""

from typing import Annotated

import typer

from equipoise.apps.options import StoreOption, group
from equipoise.apps.terminal import Terminal, one_line, print_json
from equipoise.core import settings as layers
from equipoise.corpus.store import Store
from equipoise.models.encoder import is_multilingual
from equipoise.rag import build
from equipoise.rag.components import resolve

app = group()
MODES = {
    "trusted-first": "witnesses: quoted apart, where trusted ones do not answer (trusted-first)",
    "trusted-only": "never read (trusted-only)",
    "equal": "read like trusted ones: whoever writes them can change answers (equal)",
}
"""What untrusted documents are used for, by `trust.mode`."""


@app.command()
def status(
    store: StoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what would answer a question now: index, encoder, language model, settings."""
    layered = layers.load({"store.path": store})
    chosen = layered.settings
    with Store.open(chosen.store.path, read_only=True) as opened:
        counts, kept = opened.counts(), opened.encoder_name()
        multilingual = is_multilingual(build.encoder(chosen.retrieval.encoder, opened))
    model = build.detected_model(chosen.model)
    facts = {
        "index": str(chosen.store.path),
        "files": counts.files,
        "documents": counts.documents,
        "trusted documents": counts.trusted,
        "untrusted documents": counts.documents - counts.trusted - counts.held,
        "documents held back": counts.held,
        "untrusted documents are": MODES[chosen.trust.mode],
        "passages": counts.passages,
        "passages without vectors": counts.pending,
        "encoder": kept,
        "language model": model,
        "highlighter": resolve(chosen, model, multilingual=multilingual).highlighter,
        "filter": chosen.filter.name,
        "settings files": settings_files(layered),
    }
    if as_json:
        print_json({name.replace(" ", "_"): value for name, value in facts.items()})
        return
    rows = [
        (name, ", ".join(value) if isinstance(value, list) else str(value)) for name, value in facts.items()
    ]
    Terminal().table(("what", "value"), [(name, one_line(value) or "none") for name, value in rows])


def settings_files(layered: layers.Layered) -> list[str]:
    """The settings files that something comes from."""
    return list(dict.fromkeys(o.place for _, _, o in layered.rows() if o.layer in ("user", "project")))
