"""What a single call may choose, the pipelines for these choices, and conversations.

A pipeline over a filter is made as any other, of components whose store is a view (`corpus.within`), so nothing in it
can see a document outside. The last used pipelines and views are kept, since views remember what they have read.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

from pydantic import ValidationError

from equipoise.core import sync
from equipoise.core.errors import InputError
from equipoise.core.protocols import Observer, Pipeline
from equipoise.core.results import Answer, Refusal
from equipoise.core.settings import Settings
from equipoise.core.where import Given, Where, as_where, key_of
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.text.questions import EARLIER

T = TypeVar("T")


class CallFields(TypedDict, total=False):
    """The fields of `Call` as a caller gives them."""

    where: Given | None
    k: int | None
    trust: str | None
    pipeline: str | None


KEPT = 32
"""Most pipelines, and most views of the store, that an open library keeps."""


@dataclass(frozen=True, slots=True)
class Call:
    """`where` says which documents there are, `k` how many passages are read, `trust` is a `trust.mode`, and `pipeline`
    a name of `build.pipeline`; None leaves a choice to the library. `by` is who asks: nothing that is kept for one is
    used for another, so nobody can tell by time which filter another one has used."""

    where: Where | None = None
    k: int | None = None
    trust: str | None = None
    pipeline: str | None = None
    by: str = ""

    @classmethod
    def of(cls, **given: Unpack[CallFields]) -> "Call":
        """The call that is meant. Raises TypeError for what no call may choose, InputError for what is no filter."""
        names = CallFields.__annotations__
        if unknown := [name for name in given if name not in names]:
            raise TypeError(f"a call has no {unknown[0]!r} to choose: it may choose {', '.join(names)}")
        where = as_where(given.get("where"))
        return cls(where, given.get("k"), given.get("trust"), given.get("pipeline"))

    @property
    def key(self) -> str:
        """A cache key, equal only for equal calls."""
        return repr((key_of(self.where), self.k, self.trust, self.pipeline, self.by))


@dataclass(slots=True)
class _Latest:
    """A cache of the KEPT objects that were used last, by key."""

    kept: "OrderedDict[str, object]" = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)

    def of(self, key: str, make: Callable[[], T]) -> T:
        """The object of this key, made where it is not there."""
        with self.lock:
            if key in self.kept:
                self.kept.move_to_end(key)
                return self.kept[key]  # type: ignore[return-value]
        made = make()
        with self.lock:
            self.kept[key] = made
            while len(self.kept) > KEPT:
                self.kept.popitem(last=False)
        return made


@dataclass(frozen=True, slots=True)
class Calls:
    """Pipelines over `components` for calls that choose something; `made` wraps each of them, and `name` is the one to
    use where a call names none."""

    components: Components
    name: str = "hs"
    made: Callable[[Pipeline], Pipeline] = field(default=lambda pipeline: pipeline)
    _views: _Latest = field(default_factory=_Latest)
    _pipelines: _Latest = field(default_factory=_Latest)

    def view(self, where: Where | None, by: str = "") -> Components:
        """The components over the documents that `where` means; `by` as in `Call`."""
        if where is None:
            return self.components
        return self._views.of(f"{by} {key_of(where)}", lambda: self.components.within(where))

    def parts(self, call: Call) -> Components:
        """The components for a call. Raises InputError for a choice that is not valid."""
        return _chosen(self.view(call.where, call.by), call)

    def pipeline(self, call: Call) -> Pipeline:
        """The pipeline for a call. Raises InputError and ModelUnavailable."""
        return self._pipelines.of(
            call.key, lambda: self.made(build.pipeline(call.pipeline or self.name, self.parts(call)))
        )


def _chosen(components: Components, call: Call) -> Components:
    chosen: dict[str, dict[str, object]] = {}
    if call.k is not None:
        chosen["retrieval"] = {"k": call.k}
    if call.trust is not None:
        chosen["trust"] = {"mode": call.trust}
    if not chosen:
        return components
    settings = components.settings
    kept = {name: getattr(settings, name).model_dump() | values for name, values in chosen.items()}
    try:
        checked = Settings.model_validate(kept)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InputError(f"{first['loc'][-1]}: {first['msg']}") from None
    return replace(
        components, settings=settings.model_copy(update={name: getattr(checked, name) for name in chosen})
    )


if TYPE_CHECKING:
    from equipoise.rag.library import Library


@dataclass(frozen=True, slots=True)
class Conversation:
    """Questions of one person, each read with those before it; `choice` holds for all of them."""

    library: "Library"
    choice: CallFields
    asked: deque[str] = field(default_factory=lambda: deque(maxlen=EARLIER))

    def ask(
        self, question: str, *, observer: Observer | None = None, others: bool = False
    ) -> Answer | Refusal:
        """As `Library.ask`."""
        return sync.run(self.aask(question, observer=observer, others=others))

    async def aask(
        self, question: str, *, observer: Observer | None = None, others: bool = False
    ) -> Answer | Refusal:
        """As `Library.aask`."""
        before = tuple(self.asked)
        result = await self.library.aask(
            question, before=before, observer=observer, others=others, **self.choice
        )
        self.asked.append(question)
        return result
