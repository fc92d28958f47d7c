"""One question on the server: admitted, queued, answered, charged, and written to the audit log."""

import asyncio
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from equipoise.apps.server import audit
from equipoise.apps.server.citing import numbers
from equipoise.apps.server.errors import ApiError, as_api_error, draining
from equipoise.apps.server.keys import Key
from equipoise.apps.server.recorder import RequestRecord
from equipoise.apps.server.service import MODELS, Service
from equipoise.apps.server.views import for_asker, for_strangers, without_passages
from equipoise.core.errors import InputError
from equipoise.core.protocols import Pipeline
from equipoise.core.results import Answer, Reason, Refusal
from equipoise.core.where import Given, as_where, both
from equipoise.rag.calls import Call
from equipoise.rag.events import Event, Teller
from equipoise.rag.gathering import checked
from equipoise.text.questions import split_questions

PROTECTED = "equipoise"
"""The only model that visitors may ask."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question as it was requested. `others`: what untrusted documents say is wanted beside an answer, too;
    `candidates`: the measures of its candidates are (`RequestRecord`)."""

    question: str
    key: Key
    request_id: str
    before: tuple[str, ...] = ()
    model: str = PROTECTED
    candidates: bool = False
    others: bool = False
    where: Given | None = None
    k: int | None = None
    trust: str | None = None

    def call(self) -> Call:
        """What the request chooses. The key's filter always applies, whatever it asks for. Raises ApiError for a choice
        that is not valid or that this key may not make."""
        if self.trust == "equal" and not self.key.is_admin:
            raise ApiError(
                403, "Only admins may have untrusted documents read as trusted ones.", param="trust"
            )
        try:
            where = both(self.key.where, as_where(self.where))
        except InputError as error:
            raise ApiError(400, f"{str(error)[:1].upper()}{str(error)[1:]}.", param="where") from None
        return Call(where, self.k, self.trust, MODELS[self.model], self.key.key_id if self.where else "")


@dataclass(slots=True, eq=False)
class Turn:
    """An admitted question: `events` come as they happen, None at the end; `task` has the result. Only whoever asked is
    told the `answer_id`, and rates the answer by it."""

    service: Service
    ask: Ask
    pipeline: Pipeline
    events: "asyncio.Queue[Event | None]" = field(default_factory=asyncio.Queue)
    record: RequestRecord = field(default_factory=RequestRecord)
    charged: int = 1
    aside: int = 0
    answer_id: str = field(default_factory=lambda: secrets.token_hex(16))
    task: "asyncio.Task[Answer | Refusal]" = field(init=False)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def theirs(self, result: Answer | Refusal) -> Answer | Refusal:
        """What whoever asked may see of the result."""
        if self.ask.key.is_admin:
            return result
        shown = for_strangers(result)
        return shown if self.service.reads(self.ask.key) else without_passages(shown)

    def shown(self, result: Answer | Refusal) -> dict[str, Any]:
        """The result for whoever asked, as JSON: for an admin everything that `equipoise ask --json` prints."""
        theirs = self.theirs(result)
        view = (theirs.to_dict() if self.ask.key.is_admin else for_asker(theirs)) | {"cited": numbers(theirs)}
        for part, shown in zip(theirs.sub_answers, view.get("sub_answers", ()), strict=True):
            shown["cited"] = numbers(part.result)
        if self.ask.candidates and self.ask.key.is_admin:
            view["candidates"] = self.record.candidates
        return view

    @property
    def summarizer_saw(self) -> list[dict[str, Any]]:
        """The requests to the summarizer's model. They can hold passages: for readers; of visitors, for experts."""
        key = self.ask.key
        shown = self.service.reads(key) and (self.service.explains(key) or not key.is_visitor)
        return self.record.requests if shown else []

    def _tell(self, event: Event) -> None:
        self._loop.call_soon_threadsafe(self.events.put_nowait, event)

    async def run(self) -> Answer | Refusal:
        """Answer the question; whatever happens, its place in the queue is freed, and it is charged and logged."""
        began, ended = perf_counter(), "left"
        result: Answer | Refusal | None = None
        self.service.recorder.current.set(self.record)
        teller = Teller(self._tell, self.shown)
        try:
            async with asyncio.timeout(self.service.settings.serve.timeout):
                result = await self.pipeline.ask(
                    self.ask.question, before=self.ask.before, observer=teller, others=self.ask.others
                )
        except asyncio.CancelledError:
            if self.service.is_draining:
                self._tell(Event("error", draining().body))
            raise
        except Exception as error:
            ended = "failed"
            self._tell(Event("error", as_api_error(error).body))
            raise
        else:
            ended = "refused" if isinstance(result, Refusal) else "answered"
            theirs = self.theirs(result)
            teller.ended(result, theirs.text if isinstance(theirs, Answer) else "")
            return result
        finally:
            self.service.queue.leave()
            self._loop.call_soon(self.events.put_nowait, None)
            self._account(result, ended, perf_counter() - began)

    def _account(self, result: Answer | Refusal | None, ended: str, seconds: float) -> None:
        self.service.metrics.question(ended, self.record.tokens)
        with suppress(ApiError), self.service.recording():
            self._record(result, ended, seconds)
        if isinstance(result, Refusal) and _asked(result):
            said = {"event": "unanswered", "id": self.answer_id, "reason": result.reason.value}
            key = {"key": self.ask.key.counted[-1].key_id}
            self.service.webhook.tell(said | key | self.service.audit.question(self.ask.question))

    def _record(self, result: Answer | Refusal | None, ended: str, seconds: float) -> None:
        service, ask = self.service, self.ask
        if result is not None:
            service.keys.give_back(ask.key, questions=self.charged - _asked(result))
        service.keys.charge(ask.key, self.record.tokens - self.aside)
        entry = {
            "request": ask.request_id,
            "key": ask.key.key_id,
            "model": ask.model,
            "ended": ended,
            "seconds": round(seconds, 4),
            "tokens": self.record.tokens,
        }
        question, ended_as = service.audit.question(ask.question), audit.of_result(result) if result else {}
        service.audit.write(entry | question | ended_as)
        if result is None or not _asked(result):
            return
        reason, spans = ended_as["reason"] or "", ended_as["spans"]
        service.answers.add(self.answer_id, ask.key, question, reason, spans, self.record.tokens)


async def begin(service: Service, ask: Ask) -> Turn:
    """Admit the question, wait for its turn in the queue, and start to answer it.

    Raises ApiError, QuestionError, OverLimit, and Busy where the queue is full.
    """
    check_ready(service)
    await service.renew()
    if ask.model not in service.models or (ask.key.is_visitor and ask.model != PROTECTED):
        raise ApiError(404, f"There is no model {ask.model!r} here.", code="model_not_found", param="model")
    pipeline = await asyncio.to_thread(service.library.calls.pipeline, ask.call())
    charged = _most_asked(service, ask)
    aside = charged * service.settings.model.context if ask.key.is_visitor else 0
    begun = {"request": ask.request_id, "key": ask.key.key_id, "ended": "begun"}
    # Uncounted, a visitor could spend without limit.
    with service.recording(needed=ask.key.is_visitor):
        service.keys.admit(ask.key, questions=charged, tokens=aside)
        if service.settings.serve.record:
            service.audit.write(begun)
    try:
        await service.queue.enter(ask.key.key_id)
    except BaseException:
        service.keys.give_back(ask.key, questions=charged, tokens=aside)
        raise
    record = RequestRecord(wants_candidates=ask.candidates and ask.key.is_admin)
    turn = Turn(service, ask, pipeline, record=record, charged=charged, aside=aside)
    turn.task = asyncio.create_task(turn.run())
    service.active.add(turn.task)
    turn.task.add_done_callback(service.active.discard)
    turn.task.add_done_callback(_seen)
    return turn


def _most_asked(service: Service, ask: Ask) -> int:
    """How many questions the message may hold, to charge for. Raises QuestionError for a message that is not usable."""
    wanted = service.settings.question
    parts = split_questions(checked(ask.question), ask.before) if wanted.split else ()
    return max(min(len(parts), wanted.most), 1)


def _asked(result: Answer | Refusal) -> int:
    """How many questions to charge for: not small talk, and not those over `question.most`."""
    ended = [part.result for part in result.sub_answers] or [result]
    not_asked = (Reason.NO_QUESTION, Reason.TOO_MANY_QUESTIONS)
    return sum(not (isinstance(one, Refusal) and one.reason in not_asked) for one in ended)


def check_ready(service: Service) -> None:
    """Raises ApiError 503 before the server is warm."""
    if not service.is_ready:
        raise ApiError(503, "The server is starting.", code="starting", headers={"Retry-After": "5"})


def _seen(task: "asyncio.Task[Any]") -> None:
    """Retrieve the error, lest asyncio warn that nobody did: it was told as an event."""
    if not task.cancelled():
        task.exception()
