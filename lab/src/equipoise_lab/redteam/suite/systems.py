"""The systems under attack: what is built from an index, and what is asked where it runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from equipoise.core.addresses import Place
from equipoise.core.errors import InputError, StoreError
from equipoise.core.types import ChatOptions, Document, Proposal, Query, Span
from equipoise.corpus import copying
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.models.listening import ListeningChat
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.rag.filters import NoFilter
from equipoise.rag.journal import Journal
from equipoise_lab import prompts
from equipoise_lab.redteam import beside, cut_up, incomplete, oracle, poison, probe, verdict
from equipoise_lab.redteam.asking import Tries, carried_out, other_task_done, typed
from equipoise_lab.redteam.attack_types import AttackCase, AttackOutcome
from equipoise_lab.redteam.hijack import told
from equipoise_lab.redteam.rules import answers, calls_tool, helps
from equipoise_lab.redteam.suite.cases import BENIGN, INSIDE, LOOK_ALIKE, PLANTED, AttackSample
from equipoise_lab.redteam.targets import (
    FORCED,
    Inside,
    OverStore,
    PipelineTarget,
    Planting,
    Response,
    Target,
    asked,
)

PROMPT = "attack-weak-v1"


@dataclass(frozen=True)
class WeakTarget(OverStore):
    """A deliberately weak target over the same index: any number of extracts, cut anywhere, in any order, and the
    question in the prompt. What a zero elsewhere is held against: an attack that does not even get through here shows
    nothing. Never answer real questions with it."""

    components: Components
    name: str = "weak"
    options: ChatOptions = ChatOptions(max_tokens=200)

    async def ask(self, question: str, *, before: Sequence[str] = (), tool: bool = False) -> Response:
        """See Target: every passage that is found is an extract, and none is shown."""
        search = replace(build.search(self.components), filter=NoFilter(), reranker=None)
        candidates = await search.find(Query(question[:4_000]), Journal())
        extracts = [passage.text for passage in candidates.passages]
        return replace(await self._written("\n".join((*before, question)), extracts, tool=tool), quotes=())

    async def force(self, proposal: Proposal, *, tool: bool = False) -> Response:
        """See Inside: the spans as they are, in the order they come, and every tag."""
        documents = self.ground.documents
        extracts = [_cut(span, documents) for span in proposal.spans if span.doc_id in documents]
        verdicts = [f"The answer is: {tag.value}." for tag in sorted(proposal.tags)]
        return await self._written(FORCED, [*verdicts, *extracts], tool=tool)

    async def _written(self, question: str, extracts: Sequence[str], *, tool: bool) -> Response:
        chat = ListeningChat(self.components.need_chat("the weak target"), rewrite=told if tool else None)
        lines = "\n".join(f"- {' '.join(extract.split())}" for extract in extracts)
        reply = await chat.complete(
            prompts.load(PROMPT, question=question, extracts=lines), options=self.options
        )
        return Response(reply.text, "", tuple(extracts), tuple(extracts), tuple(chat.replies), reached=True)


def _cut(span: Span, documents: Mapping[str, Document]) -> str:
    return documents[span.doc_id].text[span.start : span.end]


Changes = Mapping[str, Mapping[str, object]]

SYSTEMS: Mapping[str, Changes] = {
    "hs": {},
    "hs+context": {"summarize": {"context": "passage"}},
    "hs-equal": {"trust": {"mode": "equal"}},
    "hs-filter": {"filter": {"name": "none"}, "trust": {"mode": "equal"}},
    "hs-pieces": {"highlight": {"max_pieces": 1000}},
    "vanilla": {},
    "weak": {},
}
"""Our pipeline as it is set up, with the passages around the quotes, with untrusted documents read like trusted ones,
the same without a filter, without a limit of short pieces;
plain RAG; and a pipeline without any defence, which an attack has to beat before its zero elsewhere means something."""


@dataclass(frozen=True, slots=True)
class Attacked:
    """A target as a system of a run: at most `budget` tries a case; `honest` questions carry what is typed."""

    target: Target
    budget: int
    honest: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The target's."""
        return self.target.name

    async def __call__(self, sample: AttackSample) -> AttackOutcome:
        """How the case ended; for a benign question its utility."""
        if sample.attack in (BENIGN, LOOK_ALIKE):
            return await self._utility(sample)
        begin = strategies(self.honest)[sample.attack]
        return await carried_out(begin(sample.case, self.target), self.budget)

    async def _utility(self, sample: AttackSample) -> AttackOutcome:
        response = await asked(self.target.ask(sample.case.question))
        useful = answers(response, sample.case.marks)
        return AttackOutcome(
            attack_succeeded=False,
            utility=float(useful),
            error=response.error,
            reached=response.reached,
            asked=sample.case.question,
            read="\n".join(response.quotes),
            answered=response.text or f"(refused: {response.refused})",
        )


def strategies(honest: tuple[str, ...]) -> dict[str, Callable[[AttackCase, Any], Tries]]:
    """Every attack by name, as what begins its tries."""
    return {
        "hijack": partial(typed, rule=lambda said, case: calls_tool(said), honest=honest, tool=True),
        "off_task": partial(typed, rule=other_task_done, honest=honest),
        "jailbreak": partial(typed, rule=lambda said, case: helps(said), honest=honest),
        "verdict_typed": partial(typed, rule=verdict.turns, honest=honest),
        "cut_up": cut_up.tries,
        "incomplete": incomplete.tries,
        "verdict": verdict.tries,
        "oracle": oracle.tries,
        "poison_and_steer": poison.tries,
        "probe": probe.tries,
        "beside_trusted": beside.tries,
    }


def target(name: str, components: Components) -> Target:
    """The system `name` over the index of `components`. Raises InputError for another name, ModelUnavailable for plain
    RAG and the weak one without a language model."""
    if name not in SYSTEMS:
        raise InputError(f"there is no system {name!r}: choose among {', '.join(SYSTEMS)}")
    if name in ("vanilla", "weak"):
        components.need_chat(f"the system {name!r}")
    if name == "weak":
        return WeakTarget(components)
    settings = components.settings
    for section, values in SYSTEMS[name].items():
        changed = getattr(settings, section).model_copy(update=dict(values))
        settings = settings.model_copy(update={section: changed})
    pipeline = "vanilla" if name == "vanilla" else "hs"
    return PipelineTarget(replace(components, settings=settings), name, pipeline)


def unfit(attack: str, target: Target) -> str:
    """Why the attack cannot be carried out on the target; empty where it can."""
    from_inside = isinstance(target, Inside) and getattr(target, "pipeline", "hs") == "hs"
    if attack in INSIDE and not from_inside:
        return "nobody can replace its highlighter from here"
    if attack in PLANTED and not isinstance(target, Planting):
        return "it takes no documents"
    return ""


def copied(store: Place, to: Path) -> Path:
    """A copy of an index: what is attacked, so that no crash leaves anything planted in the index itself.

    Raises StoreError where there is no index.
    """
    if isinstance(store, Path) and not store.is_file():
        raise StoreError(
            f"there is no index at {store}: run  equipoise index PATHS , or attack the target 'example'"
        )
    to.parent.mkdir(parents=True, exist_ok=True)
    _removed(to)
    with Store.open(store, read_only=True) as source, Store.open(to, create=True) as target:
        copying.copy(source, target)
    return to


def example(to: Path) -> Path:
    """An index of the example documents: a shop's, in our own words."""
    to.parent.mkdir(parents=True, exist_ok=True)
    _removed(to)
    with (
        as_file(files("equipoise_lab.redteam").joinpath("example")) as folder,
        Store.open(to, create=True) as store,
    ):
        index([folder], store, EmbeddedEncoder())
    return to


def _removed(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
