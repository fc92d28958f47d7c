"""The parameters in the address of a request: those that a route does not know are refused, never ignored."""

from typing import TYPE_CHECKING

from fastapi import Request
from fastapi.routing import APIRoute

from equipoise.apps.server.errors import UNKNOWN, ApiError

if TYPE_CHECKING:
    from fastapi.dependencies.models import Dependant

API = "/v1/"
MOST_NAMED = 3
LONGEST = 40
"""Characters of a name that are repeated."""


async def check_query(request: Request) -> None:
    """Raises ApiError 400 where the address of a request to the API holds a parameter that its route does not take."""
    route = request.scope.get("route")
    if not request.query_params or not request.url.path.startswith(API) or not isinstance(route, APIRoute):
        return
    known = _names(route.dependant)
    unknown = [name for name in dict.fromkeys(request.query_params) if name not in known]
    if unknown:
        named = ", ".join(repr(name[:LONGEST]) for name in unknown[:MOST_NAMED])
        may = f"it may hold {', '.join(known)}" if known else "it takes no parameters"
        said = f"The address holds {named}, not known here; {may}."
        raise ApiError(400, said, code=UNKNOWN, param=unknown[0][:LONGEST])


def _names(dependant: "Dependant") -> list[str]:
    own = [str(param.alias) for param in dependant.query_params]
    return [*own, *(name for inner in dependant.dependencies for name in _names(inner))]
