"""The index of `--docs`: settings that point to it, and how it is kept up to date."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from equipoise.core import settings as layers
from equipoise.core.errors import InputError
from equipoise.core.settings import Settings


def settings_of(flags: Mapping[str, Any], docs: list[Path] | None) -> Settings:
    """The settings with these flags, and with the index of `docs` where there are any. Raises InputError for `docs` and
    a store."""
    if docs and flags["store.path"] is not None:
        raise InputError("--docs makes an index of its own: give --docs or --store, not both")
    chosen = layers.load(flags).settings
    if not docs:
        return chosen
    from equipoise.rag.updating import private_index  # noqa: PLC0415 - only where documents are given

    place = private_index(docs, chosen.retrieval.encoder)
    return chosen.model_copy(update={"store": chosen.store.model_copy(update={"path": place})})


def indexed(flags: Mapping[str, Any], docs: list[Path] | None) -> Settings:
    """`settings_of`, with the index of `docs`, if any, brought up to date; what could not be read is told."""
    chosen = settings_of(flags, docs)
    if docs:
        from equipoise.apps.indexing import index_into  # noqa: PLC0415 - only where documents are given
        from equipoise.corpus.roots import Gone  # noqa: PLC0415

        index_into(docs, chosen, gone=Gone.DROP)
    return chosen
