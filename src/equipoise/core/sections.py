"""The sections of the settings: keys, types, bounds and defaults. `core.settings` reads them from their layers."""

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, PlainSerializer, SecretStr, field_validator, model_validator

from equipoise.core.addresses import SCHEMES, Place, StoreUrl, place
from equipoise.core.errors import InputError
from equipoise.core.guarded import HOW, INSIDE, WHERE_TO, words
from equipoise.core.section import Lines, Section, Words
from equipoise.core.source_settings import SourcesSettings
from equipoise.core.where import as_where

MAX_CONTEXT = 262_144
"""Tokens of all slots of a local model together: about 7.5 GB of memory with the 1.5B model."""
FILTERS = ("auto", "none", "quotas", "coordinated", "biasdef")
HIGHLIGHTERS = ("auto", "reader", "cascade", "sentence", "indexed", "structured")
"""Names of our own parts, which a folder's file may choose; that of another package's part needs consent there."""

ScanMode = Literal["off", "warn", "distrust"]
Colour = Annotated[str, Field(pattern="^#[0-9a-fA-F]{6}$")]


class StoreSettings(Section):
    """Where the documents are kept: a file, or the address of a database (postgres://...)."""

    path: Annotated[Place, INSIDE, PlainSerializer(str)] = Path(".equipoise/index.db")

    @field_validator("path", mode="before")
    @classmethod
    def _place(cls, value: object) -> object:
        if value == "":
            raise ValueError("the path is empty: write one, or leave the setting out")
        return place(value) if isinstance(value, str) else value

    @field_validator("path")
    @classmethod
    def _known(cls, value: Place) -> Place:
        if isinstance(value, StoreUrl) and value.scheme not in SCHEMES:
            raise ValueError("there is no such kind of store: write a path or postgres://...")
        return value


class RetrievalSettings(Section):
    """How passages are found: `candidates` are fetched, a cross-encoder puts them in order (`rerank`), `k` are kept.

    `encoder`: `minilm`, `bge-small`, `mpnet`, `multilingual`, `hf/NAME`; "auto": the one an index was built with,
    minilm for a new one.
    `rerank` None: yes, unless the encoder is multilingual; the cross-encoder reads English. `exact`: also over more
    than 20,000 passages, where vectors are otherwise chosen by their signs first.
    """

    name: Literal["hybrid", "dense", "bm25"] = "hybrid"
    k: int = Field(default=5, ge=1, le=100)
    candidates: int = Field(default=20, ge=1, le=1000)
    encoder: Annotated[str, words("auto", "minilm", "bge-small", "mpnet", "multilingual")] = "auto"
    rerank: bool | None = None
    exact: bool = False


class FilterSettings(Section):
    """What is taken out between retrieval and highlighting. None: the default of the filter's own module.

    `name` "auto": the best filter, for untrusted documents; others come with other packages. `nli`, `nli_pairs`,
    `trade_off` and `sharpness` are those of mmr and smart in equipoise-lab: `nli` is `hf[/NAME]`, `chat` (the language
    model) or `none`, which leaves conflicts out; `nli_pairs` pairs of passages are compared at most. `bins`,
    `max_flagged_share`, `distance`, `rule`, `epsilon` and `delta` are those of biasdef. `stance` says who tells
    coordinated which side a passage takes: `chat` (the language model), `embedded` (a small model of the package,
    English), `none` (nobody: coordinated flags copies only) or `auto` (chat where the language model is an endpoint,
    else embedded). Whatever the filter, but for "none": where the index holds trusted documents, too, at most
    `untrusted` of the passages that are read come from others; at most `per_document` come from one of these.
    """

    name: Annotated[str, words(*FILTERS)] = "auto"
    nli: Annotated[str, words("hf", "chat", "none")] = "hf"
    nli_pairs: int = Field(default=50, ge=0, le=10_000)
    trade_off: float = Field(default=0.5, ge=0, le=1)
    sharpness: float = Field(default=1.0, ge=0, le=1000)
    bins: int | None = Field(default=None, ge=2, le=1000)
    max_flagged_share: float | None = Field(default=None, gt=0, le=1)
    distance: float | None = Field(default=None, ge=0, le=1000)
    rule: Literal["local", "global"] | None = None
    epsilon: float | None = Field(default=None, gt=0, lt=1)
    delta: float | None = Field(default=None, ge=0, le=2)
    stance: Literal["auto", "chat", "embedded", "none"] = "auto"
    untrusted: int = Field(default=2, ge=0, le=100)
    per_document: int = Field(default=100, ge=1, le=100)


class TrustSettings(Section):
    """What untrusted documents, which anybody may have written, can do to an answer.

    `mode` "trusted-first": where trusted documents answer, the answer is made from them alone; elsewhere the untrusted
    ones are quoted, apart and by name. "trusted-only": they are never read. "equal": both are searched together and
    written about together, and nothing that is said of trusted documents holds. `authors`: so many authors of untrusted
    documents are read for a question. `hold`: an untrusted document in which a scan finds instructions to a model,
    hidden text or links of high severity is kept out until an operator lets it in ("uploads": what is handed in to the
    server; "always": new and changed files that are indexed, too).
    """

    mode: Literal["trusted-first", "trusted-only", "equal"] = "trusted-first"
    authors: int = Field(default=8, ge=1, le=24)
    hold: Literal["uploads", "always", "never"] = "uploads"


class HighlightSettings(Section):
    """Which highlighter, and the canonical form of what it picks.

    `threshold`: decline below this probability that the passages answer (None: the fitted one). `abstain`: the
    language model, where there is one, is asked whether they do, also by highlighters that do not ask it of their own
    accord; `reader` and `sentence` then decline by both, and the model picks nothing. `qa_model` is the model of
    `extractive_qa` in equipoise-lab: a name on Hugging Face or a folder.
    """

    name: Annotated[str, words(*HIGHLIGHTERS)] = "auto"
    min_words: int = Field(default=6, ge=1, le=1000)
    max_spans: int = Field(default=8, ge=1, le=1000)
    max_sentences_per_span: int = Field(default=5, ge=1, le=1000)
    max_sentences: int = Field(default=20, ge=1, le=1000)
    max_pieces: int = Field(default=2, ge=1, le=1000)
    threshold: float | None = Field(default=None, ge=0, le=1)
    abstain: bool = False
    qa_model: Annotated[str, WHERE_TO] = "deepset/deberta-v3-base-squad2"


class SummarizeSettings(Section):
    """Which summarizer, when it is asked, and how many questions it may guess (the paper's reference: 5 to 10).

    `when` "long": quotes of one or two short sentences are the answer as they are. `guesses` None: 5 where a monitor
    compares them with the question, else none. `context` "passage": it also reads the passage around each quote, for
    conditions that limit the quote; then, and where it guesses, it is always asked.
    """

    name: Annotated[str, HOW] = "auto"
    when: Literal["long", "always"] = "long"
    guesses: int | None = Field(default=None, ge=1, le=10)
    context: Literal["none", "passage"] = "none"


class QuestionSettings(Section):
    """Whether the questions of one message are answered apart, and how many of them.

    `spelling`: a word that neither the documents have nor English is read as the word of the documents it is near to.
    `reply` is said to a greeting and to whatever else asks nothing ("": titles of trusted documents to ask about), and
    `contact` behind every refusal ("": nothing), such as "Write to desk@example.org."
    """

    split: bool = True
    spelling: bool = True
    most: int = Field(default=4, ge=2, le=20)
    reply: Annotated[str, WHERE_TO] = Field(default="", max_length=500)
    contact: Annotated[str, WHERE_TO] = Field(default="", max_length=500)


class MonitorSettings(Section):
    """Refuse when no guessed question is as near to the question as this cosine (None: off)."""

    min_similarity: float | None = Field(default=None, ge=-1, le=1)


class ModelSettings(Section):
    """The language model: `none`, `auto`, `local[/NAME]`, `openai/NAME`, `azure/DEPLOYMENT`.

    `api_key` is for `base_url`; without one, for the endpoint that OPENAI_BASE_URL or AZURE_OPENAI_ENDPOINT names.
    `context` is in tokens of one request; a local model answers `slots` requests at a time. `timeout` is in seconds.
    """

    llm: Annotated[str, words("none", "local", also="local/")] = "auto"
    base_url: Annotated[str | None, WHERE_TO] = Field(default=None, repr=False)
    api_key: Annotated[SecretStr | None, WHERE_TO] = None
    api_version: Annotated[str | None, WHERE_TO] = None
    folder: Annotated[Path | None, WHERE_TO] = None
    context: int = Field(default=8192, ge=1024, le=MAX_CONTEXT)
    slots: int = Field(default=1, ge=1, le=32)
    timeout: float = Field(default=60.0, gt=0, le=86_400)
    retries: int = Field(default=4, ge=0, le=20)
    max_tokens: int = Field(default=512, ge=16, le=131_072)
    replay: Annotated[Path | None, INSIDE] = None

    @field_validator("base_url")
    @classmethod
    def _stripped(cls, value: str | None) -> str | None:
        return (value or "").strip() or None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.context * self.slots > MAX_CONTEXT:
            raise ValueError(
                f"model.context times model.slots is more than {MAX_CONTEXT:,} tokens: lower one of them"
            )
        return self


class ServeSettings(Section):
    """What `equipoise serve` allows. Times are in seconds, sizes in bytes.

    `answers` questions are answered at a time in each process, and `queue` more wait for at most `wait`; one may take
    `timeout`. Of `connections` at a time one address may hold a quarter.
    `body` is the largest request, `upload` the largest document, and `passages` the most that it may have. On SIGTERM
    running answers have `drain`. What the server makes is for its own user, with `group` for that group's, too.
    `url` is where people reach the server, for links to quotes. `vanilla` offers plain RAG, not protected, as a model
    too. `links` writes the numbers of quotes as Markdown links, for chats that show no annotations. `documents` lets
    who may ask read the documents that quotes come from, `originals` fetch their files, too. `trace` writes questions
    into the audit log, and shows them to admins. `feedback` lets who asked rate an answer. `webhook`, an address,
    which is kept secret, is told of each question without an answer. `record`: a question that cannot be written there
    is not answered. `sync`: the server reads sources when they are due; off where `equipoise worker` does.
    `scan`: what is handed in is scanned, and admins see what was found ("off": only what `trust.hold` wants scanned);
    with "distrust" a trusted document with a finding of high severity counts as untrusted, and may be held back.
    """

    answers: int = Field(default=2, ge=1, le=64)
    queue: int = Field(default=64, ge=0, le=10_000)
    wait: float = Field(default=30.0, gt=0, le=3600)
    timeout: float = Field(default=120.0, gt=0, le=86_400)
    body: int = Field(default=2_000_000, ge=10_000, le=100_000_000)
    upload: int = Field(default=50_000_000, ge=1_000, le=500_000_000)
    passages: int = Field(default=50_000, ge=10, le=1_000_000)
    drain: float = Field(default=30.0, ge=0, le=3600)
    group: Annotated[str | None, WHERE_TO] = None
    connections: int = Field(default=1000, ge=8, le=100_000)
    url: Annotated[str | None, WHERE_TO] = None
    vanilla: bool = False
    links: bool = False
    documents: bool = True
    originals: Annotated[bool, WHERE_TO] = False
    trace: bool = False
    record: bool = False
    feedback: bool = True
    sync: bool = True
    webhook: Annotated[SecretStr | None, WHERE_TO] = None
    scan: ScanMode = "warn"

    @field_validator("webhook")
    @classmethod
    def _told(cls, value: SecretStr | None) -> SecretStr | None:
        if value and urlsplit(value.get_secret_value()).scheme not in ("http", "https"):
            raise ValueError("the webhook is no address: write https://...")
        return value


class PublicSettings(Section):
    """Who asks without a key, and how much.

    `ask`: anybody may, as with `serve --public`; whatever only admins do then needs a key on this machine, too.
    `documents`: anybody may read the documents that quotes come from, so that links to quotes open. `where` is a
    filter ("audience = all"): for visitors there are no other documents, as for a key with one. `rate` (questions
    a minute, a quarter of them at once), `questions` and `tokens` (a day, UTC) are those of one address, of IPv6 of
    a /64, and `all_rate`, `all_questions` and `all_tokens` those of all together; 0: any. `proxies` are addresses or
    networks of your own proxies, whose X-Forwarded-For is believed. Pages of `origins`, such as
    "https://www.example.org", may show the chat and ask. `challenge` is an address that is asked, before each question,
    whether the visitor has passed a test: it gets `secret`, `response` and `remoteip` as Turnstile and hCaptcha do.
    """

    ask: Annotated[bool, WHERE_TO] = False
    documents: Annotated[bool, WHERE_TO] = False
    where: Annotated[str | None, WHERE_TO] = None
    rate: int = Field(default=20, ge=0, le=100_000)
    questions: int = Field(default=100, ge=0, le=10_000_000)
    tokens: int = Field(default=200_000, ge=0, le=90_000_000)
    all_rate: int = Field(default=120, ge=0, le=100_000)
    all_questions: int = Field(default=5_000, ge=0, le=10_000_000)
    all_tokens: int = Field(default=5_000_000, ge=0, le=90_000_000)
    proxies: Annotated[Words, WHERE_TO] = ()
    origins: Annotated[Words, WHERE_TO] = ()
    challenge: Annotated[str | None, WHERE_TO] = None
    secret: Annotated[SecretStr | None, WHERE_TO] = None

    @field_validator("where")
    @classmethod
    def _filter(cls, value: str | None) -> str | None:
        try:
            as_where(value or None)
        except InputError as error:
            raise ValueError(str(error)) from None
        return value or None

    @field_validator("proxies")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(ip_network(one)) for one in value)

    @field_validator("origins")
    @classmethod
    def _origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            if not re.fullmatch(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::[0-9]{1,5})?", one):
                raise ValueError(f"{one[:100]!r} is no origin: write for example https://www.example.org")
        return value

    @field_validator("challenge")
    @classmethod
    def _asked(cls, value: str | None) -> str | None:
        if value and urlsplit(value).scheme not in ("http", "https"):
            raise ValueError("the challenge is no address: write https://...")
        return value or None


class PageSettings(Section):
    """How the page and the chat on other pages look and speak.

    `logo` is an SVG, PNG, JPEG or WebP file. `accent` colours buttons and links, `accent_dark` where the screen is
    dark (None: the same colour); where either could not be read it is made lighter or darker. `language` "auto" is
    the browser's. `welcome`, `examples`, questions to click, and what the documents are about stand in an empty
    conversation, `note` below every question's field. `texts` is a TOML file with words in the place of those of
    `apps/web/texts`. `expert` says who sees what the summarizer saw, what the filter took out and the server's own
    messages.
    """

    name: Annotated[str, WHERE_TO, Field(min_length=1, max_length=60)] = "equipoise"
    logo: Annotated[Path | None, WHERE_TO] = None
    accent: Annotated[Colour, HOW] = "#1d4f6e"
    accent_dark: Annotated[Colour | None, HOW] = None
    scheme: Literal["auto", "light", "dark"] = "auto"
    language: Literal["auto", "en", "de", "fr"] = "auto"
    welcome: Annotated[str, WHERE_TO, Field(max_length=1_000)] = ""
    examples: Annotated[Lines, WHERE_TO, Field(max_length=6)] = ()
    note: Annotated[str, WHERE_TO, Field(max_length=500)] = ""
    texts: Annotated[Path | None, WHERE_TO] = None
    expert: Literal["admins", "everybody", "nobody"] = "admins"


class Settings(Section):
    """All sections."""

    store: StoreSettings = StoreSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    filter: FilterSettings = FilterSettings()
    trust: TrustSettings = TrustSettings()
    highlight: HighlightSettings = HighlightSettings()
    summarize: SummarizeSettings = SummarizeSettings()
    monitor: MonitorSettings = MonitorSettings()
    question: QuestionSettings = QuestionSettings()
    model: ModelSettings = ModelSettings()
    serve: ServeSettings = ServeSettings()
    public: PublicSettings = PublicSettings()
    page: PageSettings = PageSettings()
    sources: SourcesSettings = SourcesSettings()
