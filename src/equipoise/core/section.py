"""The base of every section of the settings: frozen, without unknown keys, strict about values."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, field_validator

MAX_TEXT = 4096
Words = Annotated[tuple[str, ...], BeforeValidator(lambda given: _listed(given, None))]
"""A list of texts; in an environment variable they are separated by white space (`Lines`: by line ends)."""
Lines = Annotated[tuple[str, ...], BeforeValidator(lambda given: _listed(given, "\n"))]


def _listed(given: object, between: str | None) -> object:
    return tuple(filter(None, map(str.strip, given.split(between)))) if isinstance(given, str) else given


class Section(BaseModel):
    """Keys that are not known are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _plain(cls, value: object, info: ValidationInfo) -> object:
        """Refuses true and false for a number, NUL characters, and text of more than MAX_TEXT characters."""
        kinds = str(cls.model_fields[info.field_name or ""].annotation)
        if isinstance(value, bool) and "bool" not in kinds:
            raise ValueError("true and false are no value for this setting")
        if isinstance(value, str | Path) and ("\0" in str(value) or len(str(value)) > MAX_TEXT):
            raise ValueError(f"the text holds a NUL character, or more than {MAX_TEXT:,} characters")
        return value
