"""A result as JSON, for the operator and for the person who asks.

Both have the same keys. What the person must not see is empty there: probabilities, scores, times and the reasons of
a filter tell an attacker how near the next try is; failures, names of models and paths say how the server is made.
"""

from pathlib import PurePosixPath
from typing import Any

from equipoise.apps.server.book import FOLDER
from equipoise.core.results import Answer, Refusal

TAKEN_OUT = "taken out before anything was read"
UPLOADS = "uploads"
_PLACES = ("highlights", "nearest", "passages", "flagged")


def for_operator(result: Answer | Refusal) -> dict[str, Any]:
    """Everything: what `equipoise ask --json` prints."""
    return result.to_dict()


def for_asker(result: Answer | Refusal) -> dict[str, Any]:
    """The same object with what is for the operator left empty."""
    found = _without_inside(result.to_dict())
    found["passages"] = [one | {"score": None} for one in found["passages"]]
    found["flagged"] = [one | {"score": None, "reason": TAKEN_OUT} for one in found["flagged"]]
    found |= {"timings": {}, "models": {}}
    if "sub_answers" in found:
        found["sub_answers"] = [_without_inside(one) for one in found["sub_answers"]]
    return found


def outcome(result: Answer | Refusal, *, admin: bool) -> dict[str, Any]:
    """The result for whoever asked."""
    return for_operator(result) if admin else for_asker(result)


def shown_source(source: str) -> str:
    """What a document is called where strangers read it: no folder of this machine is in it."""
    path, mark, fragment = source.partition("#")
    parts = PurePosixPath(path).parts
    for row, part in enumerate(parts[:-1]):
        if part.endswith(FOLDER) and parts[row + 1] == UPLOADS:
            return "/".join(parts[row + 2 :]) + mark + fragment
    if path.startswith(("/", "\\")) or ".." in parts or "\\" in path:
        return path.replace("\\", "/").rpartition("/")[2] + mark + fragment
    return source


def _without_inside(found: dict[str, Any]) -> dict[str, Any]:
    placed = {
        name: [one | {"source": shown_source(one["source"])} for one in found[name]]
        for name in _PLACES
        if name in found
    }
    return found | placed | {"probability": None, "failure": ""}
