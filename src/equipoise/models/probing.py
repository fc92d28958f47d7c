"""Finding out what an endpoint takes: constant messages, and what becomes of them.

An endpoint that refuses a request seldom says in the same words why, and what it says may depend on the question
in the request. So nothing is read from that: the endpoint is asked the same constant things whatever was refused,
and only three outcomes count, `ProbeOutcome`. At most MOST requests, once for each role.
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from enum import Enum, auto
from typing import Any

from equipoise.core.protocols import JsonSchema
from equipoise.core.types import ChatOptions, Message, Usage
from equipoise.models.dialect import OPTIONAL, Dialect
from equipoise.models.odds import MOST_ALTERNATIVES

log = logging.getLogger("equipoise")

ASKED = (Message("user", "What is 17 times 23? Reply with the number alone."),)
OPTIONS = ChatOptions(max_tokens=16, top_logprobs=MOST_ALTERNATIVES)
SCHEMA: JsonSchema = {
    "title": "Probe",
    "type": "object",
    "properties": {
        "number": {"type": "integer"},
        "digits": {
            "type": "array",
            "items": {"type": "integer", "enum": [1, 2, 3, 4, 5, 6, 7, 8, 9]},
            "minItems": 1,
            "maxItems": 5,
        },
        "question": {"type": "string", "pattern": '^[^?"\\\\\\n\\r\\t]{1,200}[?]$'},
        "remark": {"type": "string", "maxLength": 200},
    },
    "required": ["number", "digits", "question", "remark"],
    "additionalProperties": False,
}
"""Holds every keyword of the schemas that this package sends: an endpoint that refuses one of them gets words."""

LIMITS = ("max_tokens", "max_completion_tokens")
FEATURES = tuple(name for name in OPTIONAL if name not in LIMITS)
MOST = 10


class ProbeOutcome(Enum):
    """What became of a probe: refused (400, 422), answered, or cut before its first word."""

    REFUSED = auto()
    ANSWERED = auto()
    SILENT = auto()


Send = Callable[[dict[str, Any]], Awaitable[ProbeOutcome]]


async def probed(model: str, send: Send) -> Dialect:
    """The dialect of the endpoint behind `send`; the plain one where it refuses even a bare message.

    Raises what `send` raises: an endpoint that is down teaches nothing.
    """
    everything = await send(Dialect().request(model, ASKED, SCHEMA, OPTIONS))
    if everything is not ProbeOutcome.REFUSED:
        return Dialect(thinks=everything is ProbeOutcome.SILENT)
    base = await _limit(model, send)
    if base is None:
        return Dialect()
    refused = set(base.refused)
    for name in FEATURES:
        without = Dialect(base.refused | set(FEATURES) - {name}, base.thinks)
        schema = SCHEMA if name == "response_format" else None
        if await send(without.request(model, ASKED, schema, OPTIONS)) is ProbeOutcome.REFUSED:
            refused.add(name)
    return Dialect(frozenset(refused), base.thinks)


async def _limit(model: str, send: Send) -> Dialect | None:
    """How a limit is written, and whether the model thinks; None where no bare message is taken.

    Some models that think refuse a limit that leaves no room for it, with the status of a bad request.
    """
    newer, neither = frozenset(LIMITS[:1]), frozenset(LIMITS)
    for candidate in (
        Dialect(),
        Dialect(newer),
        Dialect(thinks=True),
        Dialect(newer, thinks=True),
        Dialect(neither),
    ):
        bare = Dialect(candidate.refused | set(FEATURES), candidate.thinks)
        verdict = await send(bare.request(model, ASKED, None, OPTIONS))
        if verdict is not ProbeOutcome.REFUSED:
            return Dialect(candidate.refused, candidate.thinks or verdict is ProbeOutcome.SILENT)
    return None


class Learner:
    """The dialect for one role: the plain one until it is settled, then the same for the life of the object.

    Safe for several tasks, loops and threads.
    """

    def __init__(self) -> None:
        self.dialect = Dialect()
        self._settled = False
        self._round: Future[bool] | None = None
        self._lock = threading.Lock()

    async def settle(self, probe: Callable[[], Awaitable[tuple[Dialect, Usage]]]) -> Usage:
        """Find the dialect with `probe` unless that was done; returns what it cost this caller.

        One caller probes, all others wait for it. Raises what `probe` raises, to that one only; the others go on
        with the dialect as it was, and the next refusal probes anew.
        """
        while not self._settled:
            mine, under_way = self._claim()
            if mine:
                return await self._find(under_way, probe)
            if await asyncio.wrap_future(under_way):
                break
            # the task that probed was cancelled: take its place
        return Usage()

    def _claim(self) -> tuple[bool, "Future[bool]"]:
        with self._lock:
            if self._round is not None:
                return False, self._round
            self._round = Future()
            self._round.set_running_or_notify_cancel()  # a waiter that is cancelled must not cancel the others
            return True, self._round

    async def _find(
        self, under_way: "Future[bool]", probe: Callable[[], Awaitable[tuple[Dialect, Usage]]]
    ) -> Usage:
        over = True
        try:
            if not self._settled:  # it may be by now, between the look and the claim
                self.dialect, cost = await probe()
                self._settled = True
                _tell(self.dialect)
                return cost
        except asyncio.CancelledError:
            over = False
            raise
        finally:
            with self._lock:
                self._round = None
            under_way.set_result(over)
        return Usage()


def _tell(dialect: Dialect) -> None:
    if dialect.refused:
        log.warning("the endpoint refuses %s: asking without from now on", ", ".join(sorted(dialect.refused)))
    if dialect.thinks:
        log.warning("the model thinks before it answers: asking with more tokens from now on")
