"""One call for each of many things, kept in a file: what stands there is not asked again."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from equipoise_lab.evaluation.records import Record
from equipoise_lab.evaluation.results import Key
from equipoise_lab.evaluation.run import Evaluated, Ran, RecordForm, evaluate

T = TypeVar("T")
K = TypeVar("K", bound=Key)
O = TypeVar("O")  # noqa: E741
R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True, eq=False)
class Thing(Generic[T]):
    """A Sample: `of` under the key of its record."""

    key: Key
    of: T

    @property
    def sample_id(self) -> str:
        """The key."""
        return " ".join(map(str, self.key))


@dataclass(frozen=True, slots=True)
class _Calls(Generic[T, O]):
    """A System made of an async function."""

    name: str
    call: Callable[[T], Awaitable[O]]

    async def __call__(self, thing: Thing[T], /) -> O:
        return await self.call(thing.of)


async def each(  # noqa: PLR0917
    record: type[R],
    things: Mapping[K, T],
    name: str,
    call: Callable[[T], Awaitable[O]],
    fields: Callable[[T, Ran[O]], Mapping[str, Any]],
    out: Path,
    file: str,
    **how: Any,  # noqa: ANN401
) -> Evaluated[R]:
    """The records of `things`, by the values of `record.KEY`, that stand in `file` of the folder `out` when this ends.

    `call` is what `name` is asked about one of them, `fields` what is kept of it beside the key. `how` is that of
    `evaluate`. An error of a model ends the run unless `errors` says otherwise; what was asked before stays.
    """
    form: RecordForm[Thing[T], O, R] = RecordForm(
        record, lambda thing, _: thing.key, lambda thing, ran: fields(thing.of, ran)
    )
    system = _Calls(name, call)
    samples = [Thing(key, of) for key, of in things.items()]
    return await evaluate(samples, [system], (), out, form=form, file=file, **{"errors": (), **how})
