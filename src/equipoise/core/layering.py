"""The layers that settings come from, and which endpoint a model's key goes with. Later layers win."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from equipoise.core.errors import SettingsError

Layer = Literal["default", "user", "project", "environment", "flag"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from: the layer, and the file or variable in it."""

    layer: Layer = "default"
    place: str = ""

    def __str__(self) -> str:
        return self.place or self.layer


@dataclass(frozen=True, slots=True)
class Values:
    """One layer: its values by key, and the place of each of them."""

    layer: Layer
    values: Mapping[str, Any]
    places: Mapping[str, str]

    @property
    def owner(self) -> str:
        return "project" if self.layer == "project" else "user"


def of_file(layer: Layer, path: Path, values: Mapping[str, Any]) -> Values:
    """The layer of a settings file."""
    return Values(layer, values, dict.fromkeys(values, str(path)))


def unpaired(layers: Iterable[Values], merged: dict[str, Values]) -> tuple[str, ...]:
    """Puts the API key of the endpoint in force into `merged`; returns the key setting as left out if none fits.

    A key belongs to the endpoint that its own side (the folder's file, or all other layers) has named so far; if that
    named none, to the one of OPENAI_BASE_URL and the like, on which no settings file may rely.
    """
    named: dict[str, object] = {}
    force: tuple[str, object] = ("user", None)
    owners: list[tuple[tuple[str, object], Values]] = []
    for layer in layers:
        if "model.base_url" in layer.values:
            named[layer.owner] = _address(layer.values["model.base_url"])
            force = (layer.owner, named[layer.owner])
        elif "model.api_key" in layer.values and layer.layer in ("user", "project"):
            raise SettingsError(
                f"{layer.places['model.api_key']}: model.api_key stands without its endpoint: "
                "write model.base_url beside it"
            )
        if "model.api_key" in layer.values:
            owners.append(((layer.owner, named.get(layer.owner)), layer))
    fitting = [layer for pair, layer in owners if pair == force]
    if fitting:
        merged["model.api_key"] = fitting[-1]
    return () if fitting or not owners else ("model.api_key",)


def _address(value: object) -> object:
    return (value.strip().rstrip("/") or None) if isinstance(value, str) else value
