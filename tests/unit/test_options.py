"""Options that several commands share."""

from dataclasses import dataclass
from inspect import signature
from typing import Annotated, get_type_hints

import typer

from equipoise.apps.options import sharing


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    street: Annotated[str | None, typer.Option("--street")] = None
    number: Annotated[int, typer.Option("--number")] = 1


def test_each_field_is_an_option_of_the_command_and_arrives_in_the_object():
    seen = []

    @sharing(Place)
    def visit(
        name: Annotated[str, typer.Argument()],
        chosen: Place,
        late: Annotated[bool, typer.Option("--late")] = False,
    ) -> None:
        """Visit somebody."""
        seen.append((name, chosen, late))

    assert list(signature(visit).parameters) == ["name", "street", "number", "late"]
    assert set(get_type_hints(visit)) == {"name", "street", "number", "late"}
    assert visit.__doc__ == "Visit somebody."
    app = typer.Typer()
    app.command()(visit)
    app(["Ada", "--number", "7", "--late"], standalone_mode=False)
    app(["Ben"], standalone_mode=False)
    assert seen == [("Ada", Place(number=7), True), ("Ben", Place(), False)]
