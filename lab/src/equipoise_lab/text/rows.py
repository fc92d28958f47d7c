"""Rows that people write, read by a schema: what is wrong is said in one line, with file and line."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from equipoise.core.errors import InputError

Words = Annotated[str, StringConstraints(pattern=r"\S")]
"""A text that is not blank."""
Count = Annotated[int, Field(ge=0)]

M = TypeVar("M", bound=BaseModel)


def parsed(schema: type[M], line: str, where: str) -> M:
    """The JSON object in `line`. Raises InputError that begins with `where` and names the first field that is wrong."""
    try:
        return schema.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{where}: {name and f'{name!r}: '}{said}: fix or remove it") from None
