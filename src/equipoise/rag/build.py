"""The one place where a name becomes an object. A row is `name: "module:Class"`, imported when asked for."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from os import environ
from shlex import quote
from typing import Any, Unpack, cast

from equipoise.core import endpoints
from equipoise.core.errors import InputError
from equipoise.core.guarded import without_password
from equipoise.core.protocols import (
    ChatModel,
    Encoder,
    Highlighter,
    PassageFilter,
    Pipeline,
    Retriever,
    Summarizer,
)
from equipoise.core.settings import ModelSettings, Settings
from equipoise.core.types import Trust
from equipoise.corpus.store import Store
from equipoise.models.adapted import RANKING
from equipoise.models.crossencoder import READER
from equipoise.models.replay import ReplayCache, Replayed
from equipoise.rag import others
from equipoise.rag.chats import CHATS, DEFAULT_OPENAI, MAKERS, class_at
from equipoise.rag.components import Components, Objects, check_objects
from equipoise.rag.coordinated import shipped_author_model, stance_of
from equipoise.rag.filters import NoFilter, QuotaFilter
from equipoise.rag.gathering import Gathering, Reception, english, listener, noticed, speller
from equipoise.rag.highlighters.abstaining import AbstainingHighlighter
from equipoise.rag.highlighters.abstention import Check
from equipoise.rag.impersonation import impersonated
from equipoise.rag.pipeline import HighlightSummarize, Monitor
from equipoise.rag.retrieval import Among, Interleaved
from equipoise.rag.search import Search
from equipoise.rag.sources import authors_found, by_author
from equipoise.rag.stance import EmbeddedStance
from equipoise.rag.vanilla import Vanilla
from equipoise.rag.witnesses import QUOTES, Witnesses
from equipoise.text.spans import SpanPolicy
from equipoise.text.visible import title

ENCODERS = {
    "minilm": "equipoise.models.encoder:EmbeddedEncoder",
    "bge-small": "equipoise.models.bge:BgeEncoder",
    "mpnet": "equipoise.models.mpnet:MpnetEncoder",
    "multilingual": "equipoise.models.multilingual:MultilingualEncoder",
}
"""The first one is for a new index; beside them hf/NAME."""
POOLED = "equipoise.models.pooling:PooledEncoder"
HUB = "hf/"
RETRIEVERS = {
    "hybrid": "equipoise.rag.retrieval:HybridRetriever",
    "dense": "equipoise.rag.retrieval:DenseRetriever",
    "bm25": "equipoise.rag.retrieval:Bm25Retriever",
}
FILTERS = {
    "auto": "equipoise.rag.coordinated:ByTrust",
    "none": "equipoise.rag.filters:NoFilter",
    "biasdef": "equipoise.rag.filters:BiasDefFilter",
    "coordinated": "equipoise.rag.coordinated:CoordinatedFilter",
    "quotas": "equipoise.rag.filters:QuotaFilter",
}
UNBOUNDED = ("none", "quotas")
"""Filters that no quota is put around."""
HIGHLIGHTERS = {
    "sentence": "equipoise.rag.highlighters.sentence:SentenceHighlighter",
    "reader": "equipoise.rag.highlighters.reader:ReaderHighlighter",
    "cascade": "equipoise.rag.highlighters.cascade:CascadeHighlighter",
    "indexed": "equipoise.rag.highlighters.indexed:IndexedHighlighter",
    "structured": "equipoise.rag.highlighters.structured:StructuredHighlighter",
}
CHECKED = ("cascade", "indexed")
"""The highlighters that decide by themselves whether the passages answer, by a language model where that helps."""
WITHOUT_MODEL = ("sentence", "reader")
"""The highlighters that decline by a probability of their own, which gives way to that of a check."""
SUMMARIZERS = {
    "extractive": "equipoise.rag.summarizers.extractive:ExtractiveSummarizer",
    "llm": "equipoise.rag.summarizers.llm:LlmSummarizer",
}
PIPELINES = ("hs", "vanilla")
READ = (Trust.TRUSTED, Trust.UNTRUSTED)
"""Whose documents are read at all."""
AUTO = "auto"


def make(kind: str, table: Mapping[str, str], name: str, components: Components) -> Any:  # noqa: ANN401
    """The object called `name` in `table`, else that of another package; raises InputError that lists the names."""
    if name in table:
        return class_at(table[name]).from_components(components)
    if (made := others.part(kind, name, components)) is None:
        raise InputError(f"there is no {kind} {name!r}: choose one of {', '.join(others.known(kind, table))}")
    return made


def pipeline(name: str, components: Components) -> Pipeline:
    """The pipeline `hs` or `vanilla` for messages as people type them: with `hs`, several questions are answered apart,
    and small talk is not asked.

    Plain RAG has the whole message in its prompt and answers it as it is.
    """
    if name == "vanilla":
        return vanilla(components)
    if name != "hs":
        raise InputError(f"there is no pipeline {name!r}: choose one of {', '.join(PIPELINES)}")
    question = components.settings.question
    return replace(
        highlight_summarize(components),
        most=question.most if question.split else 1,
        reception=Reception(components.store, question.reply),
    )


def highlight_summarize(components: Components) -> HighlightSummarize:
    """H&S for one question; "auto" components depend on whether there is a language model.

    Unless `trust.mode` is "equal", all of it reads the trusted documents alone, and the untrusted ones are witnesses.
    """
    settings, chosen = components.settings, names(components)
    least = settings.monitor.min_similarity
    return HighlightSummarize(
        **_searching(components, *_answering(settings)),
        highlighter=highlighter(components),
        summarizer=summarizer(components),
        policy=replace(policy(settings), within_passages=True) if components.filter else policy(settings),
        monitor=None if least is None else Monitor(components.encoder, least),
        context=settings.summarize.context == "passage" and chosen["summarizer"] != "extractive",
        speller=speller(components, *_answering(settings)),
        listener=listener(components, *_answering(settings)),
        notice=partial(noticed, encoder=components.encoder),
        witnesses=witnesses(components) if settings.trust.mode == "trusted-first" else None,
        contact=settings.question.contact,
        models=_models(components) | chosen,
    )


def witnesses(components: Components) -> Witnesses:
    """The untrusted documents, read author by author without a language model. The reader is also their reranker, so
    that a passage which it scored as about the question is not scored again."""
    components = replace(components, reranker=components.reranker and components.reader)
    settings = components.settings
    untrusted = components.store.partition(Trust.UNTRUSTED)
    search = partial(by_author, partition=untrusted, encoder=components.encoder)
    if components.retriever:
        search = partial(authors_found, retriever=_among(components, Trust.UNTRUSTED))
    reader = components.highlighter or make(
        "highlighter", HIGHLIGHTERS, components.resolved.reads, components
    )
    gathering = Gathering(
        **_searching(components, Trust.UNTRUSTED) | {"filter": NoFilter()},
        highlighter=reader,
        policy=replace(policy(settings), max_spans=QUOTES, within_passages=False),
        models=_models(components),
    )
    stance = stance_of(components) if settings.filter.stance in ("chat", "none") else EmbeddedStance()
    return Witnesses(
        search,
        partial(impersonated, trusted=components.store.partition(Trust.TRUSTED)),
        gathering,
        stance,
        shipped_author_model(),
        settings.trust.authors,
        english(components),
        READER,
    )


def vanilla(components: Components) -> Vanilla:
    """Plain RAG; raises ModelUnavailable without a language model."""
    chat = components.need_chat("the pipeline 'vanilla'")
    return Vanilla(
        **_searching(components, *READ),
        chat=chat,
        models=_models(components) | {"filter": names(components)["filter"]},
        options=components.options,
    )


def names(components: Components) -> dict[str, str]:
    """The names of filter, highlighter and summarizer: of an object that was given its class, "auto" put into words."""
    resolved = components.resolved
    by_settings = {
        "filter": components.settings.filter.name,
        "highlighter": resolved.highlighter,
        "summarizer": resolved.summarizer,
    }
    given = {name: getattr(components, name) for name in by_settings}
    return {
        name: type(given[name]).__name__ if given[name] else chosen for name, chosen in by_settings.items()
    }


def retriever(components: Components, *trusts: Trust) -> Retriever:
    """The one given, else that of the settings, over the documents of these trusts: of several, each is searched by
    itself."""
    given, name = components.retriever, components.settings.retrieval.name
    if given:
        return _among(components, *trusts)
    made = [retriever_in(name, components, trust) for trust in trusts]
    return made[0] if len(made) == 1 else Interleaved(tuple(made))


def _among(components: Components, *trusts: Trust) -> Retriever:
    """The retriever that was given, among the documents that it may be asked for."""
    given = cast("Retriever", components.retriever)
    return given if trusts == READ and not components.where else Among(given, trusts, components.where)


def retriever_in(name: str, components: Components, trust: Trust) -> Retriever:
    """The retriever of that name over the documents of one trust. Raises InputError for another name."""
    if name not in RETRIEVERS:
        raise InputError(f"there is no retriever {name!r}: choose one of {', '.join(RETRIEVERS)}")
    partition = components.store.partition(trust)
    made: Retriever = class_at(RETRIEVERS[name]).from_components(components, partition)
    return made


def passage_filter(components: Components) -> PassageFilter:
    """The one given, else that of the settings, within the quotas unless it is "none"."""
    if components.filter:
        return components.filter
    name = components.settings.filter.name
    made: PassageFilter = make("filter", FILTERS, name, components)
    return made if name in UNBOUNDED else QuotaFilter.around(made, components)


def highlighter(components: Components) -> Highlighter:
    """The one given, else that of the settings, behind a check where `highlight.abstain` wants one."""
    if components.highlighter:
        return components.highlighter
    name = names(components)["highlighter"]
    made: Any = make("highlighter", HIGHLIGHTERS, name, components)
    alone = name in WITHOUT_MODEL
    if not components.settings.highlight.abstain or name in CHECKED or (alone and components.chat is None):
        return cast("Highlighter", made)
    check = Check.from_components(components, "highlight.abstain")
    same = alone and type(made) is type(check.second)
    return AbstainingHighlighter(
        check.second if same else replace(made, threshold=0.0) if alone else made, check
    )


def summarizer(components: Components) -> Summarizer:
    """The one given, else that of the settings."""
    made: Summarizer = components.summarizer or make(
        "summarizer", SUMMARIZERS, names(components)["summarizer"], components
    )
    return made


def search(components: Components) -> Search:
    """Retriever, reranker and filter of the settings, over all documents that are read, trusted or not."""
    return Search(**_searching(components, *READ))


def searches(components: Components) -> list[Search]:
    """As `search`, one after the other: what may be read of trusted documents, then of the others."""
    mode = components.settings.trust.mode
    apart = [READ] if mode == "equal" else [READ[:1]] if mode == "trusted-only" else [READ[:1], READ[1:]]
    untrusted = {"filter": NoFilter()}  # apart from trusted passages there are no seats to keep
    return [
        Search(**_searching(components, *trusts) | (untrusted if trusts == READ[1:] else {}))
        for trusts in apart
    ]


def _answering(settings: Settings) -> tuple[Trust, ...]:
    """The trusts of the documents that answers are made of."""
    return READ if settings.trust.mode == "equal" else (Trust.TRUSTED,)


def _searching(components: Components, *trusts: Trust) -> dict[str, Any]:
    wanted = components.settings.retrieval
    return {
        "retriever": retriever(components, *trusts),
        "filter": passage_filter(components),
        "reranker": components.reranker if components.resolved.rerank else None,
        "k": wanted.k,
        "candidates": max(wanted.candidates, wanted.k),
        "snapshot": components.store.snapshot,
    }


def policy(settings: Settings) -> SpanPolicy:
    """The canonical form of highlights."""
    chosen = settings.highlight
    return SpanPolicy(
        min_words=chosen.min_words,
        max_spans=chosen.max_spans,
        max_sentences_per_span=chosen.max_sentences_per_span,
        max_sentences=chosen.max_sentences,
        max_pieces=chosen.max_pieces,
        within_passages=_takes_out(settings),
    )


def _takes_out(settings: Settings) -> bool:
    """Whether the filter may take out passages of quoted documents: of trusted ones "auto" and UNBOUNDED never do."""
    name = settings.filter.name
    return name != "none" if settings.trust.mode == "equal" else name not in (AUTO, *UNBOUNDED)


def components(settings: Settings, store: Store, **given: Unpack[Objects]) -> Components:
    """Everything a pipeline is built from, the `given` objects in place of what the settings name; encoder and
    reranker load their weights at first use.

    Raises StoreError where the store was built with another encoder, InputError for an object that lacks what its
    protocol asks, and what `encoder` raises.
    """
    check_objects(given)
    chosen = given.get("encoder") or encoder(settings.retrieval.encoder, store)
    store.check_encoder(chosen)
    objects: Objects = {"encoder": chosen, **given}
    objects.setdefault("reranker", RANKING)
    if "chat" not in objects:
        objects["chat"] = chat_model(settings.model)
    return Components(settings, store, **objects)


def encoder(name: str, store: Store | None = None) -> Encoder:
    """The encoder of that name, or `hf/NAME`; "auto" is that of the store, `minilm` where it has none yet.

    Raises InputError for another name, and where with "auto" the store names a model of Hugging Face: whoever made
    the store would have it fetched and loaded here.
    """
    if name == AUTO:
        return _encoder_of(store) if store else encoder(next(iter(ENCODERS)))
    if name.startswith(HUB) and name != HUB:
        pooled: Encoder = class_at(POOLED)(name.removeprefix(HUB))
        return pooled
    if name not in ENCODERS:
        raise InputError(f"there is no encoder {name!r}: write {AUTO}, {', '.join(ENCODERS)} or hf/NAME")
    made: Encoder = class_at(ENCODERS[name])()
    return made


def _encoder_of(store: Store) -> Encoder:
    """The encoder of this package whose vectors the store holds; the first one where that is none of them."""
    kept = store.encoder_name()
    if kept.startswith(HUB):
        shown = quote(title(kept))
        raise InputError(
            f"the index {store.path} was built with a model of Hugging Face, which an index may not choose by itself: "
            f"to have that model loaded give  --encoder {shown} , or set retrieval.encoder"
        )
    made = (encoder(name) for name in ENCODERS)  # one at a time: each brings its libraries
    return next((model for model in made if model.name == kept), None) or encoder(next(iter(ENCODERS)))


def chat_model(settings: ModelSettings, environment: Mapping[str, str] = environ) -> ChatModel | None:
    """The language model of `settings.llm`, None for `none` or where `auto` finds nothing set up."""
    chosen = settings.llm if settings.llm != "auto" else _detected(settings, environment)
    check_llm(chosen)
    backend, _, name = chosen.partition("/")
    if backend == "none":
        return None
    model = MAKERS[backend](name, settings, environment)
    return Replayed(model, ReplayCache(settings.replay)) if settings.replay else model


def check_llm(name: str) -> None:
    """Raises InputError for what names no language model."""
    backend, _, rest = name.partition("/")
    if backend not in ("none", "auto", *CHATS) or (backend == "azure" and not rest):
        raise InputError(f"there is no language model {name!r}: write none, auto, local[/NAME], "
                         "openai/NAME or azure/DEPLOYMENT")  # fmt: skip


def detected_model(settings: ModelSettings, environment: Mapping[str, str] = environ) -> str:
    """The name of the model that would answer, "none" for none; nothing is loaded."""
    return _detected(settings, environment) if settings.llm == AUTO else settings.llm


def detected_place(settings: ModelSettings, environment: Mapping[str, str] = environ) -> str:
    """The model that `auto` takes and its endpoint, without a password; empty where it takes none."""
    if _detected(settings, environment) == "none":
        return ""
    return f"{DEFAULT_OPENAI} at {without_password(endpoints.openai(settings, environment).url or endpoints.OPENAI)}"


def _detected(settings: ModelSettings, environment: Mapping[str, str]) -> str:
    """An endpoint that is named, else none: a local model takes minutes on a small machine, so it is chosen by name.

    A blank variable names nothing.
    """
    named = any(endpoints.named(environment, variable) for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"))
    return "openai" if settings.base_url or settings.api_key or named else "none"


def _models(components: Components) -> dict[str, str]:
    llm = {"llm": components.chat.name} if components.chat else {}
    return {"encoder": components.encoder.name, **llm}
