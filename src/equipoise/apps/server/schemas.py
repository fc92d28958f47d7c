"""Bodies of requests and responses, as OpenAPI shows them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from equipoise.core.types import Trust
from equipoise.text.questions import EARLIER, MAX_QUESTION

MOST_K = 20
"""Passages that one question may have read."""
WHERE = (
    "Which documents there are for this question, as text (`team = hr and year >= 2020`) or JSON: see "
    "docs/metadata.md. A key that has a filter sees no others, whatever stands here."
)
K = Annotated[StrictInt | None, Field(ge=1, le=MOST_K, description="Passages to read.")]
TrustMode = Annotated[
    Literal["trusted-first", "trusted-only", "equal"] | None,
    Field(description="A `trust.mode`; `equal` is for admins."),
]
QUESTION = "Can WAL mode be used over a network filesystem?"


class ErrorText(BaseModel):
    """What went wrong, in one sentence."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class Error(BaseModel):
    """OpenAI's form of an error."""

    error: ErrorText


class AskBody(BaseModel):
    """A question, and those that the same person asked before it."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"question": QUESTION}]}, str_strip_whitespace=False
    )

    question: str = Field(min_length=1, max_length=MAX_QUESTION, pattern=r"\S", description="The question.")
    before: list[str] = Field(
        default_factory=list,
        max_length=EARLIER,
        description="Questions that the same person typed before, oldest first; never an answer.",
    )
    model: str = Field(default="equipoise", description="A name of /v1/models.")
    others: StrictBool = Field(
        default=False, description="Also tell, beside an answer, what untrusted documents say."
    )
    where: str | dict[str, Any] | None = Field(default=None, description=WHERE)
    k: K = None
    trust: TrustMode = None
    candidates: StrictBool = Field(
        default=False, description="For admins: where each candidate stands between the sides."
    )


class Place(BaseModel):
    """A passage: where it stands, and its text."""

    model_config = ConfigDict(extra="allow")

    doc_id: str
    source: str
    title: str
    page: int | None
    line: int | None
    heading: str
    paragraph: int | None
    start: int
    end: int
    text: str
    trust: Trust


class Quote(Place):
    """A quote as it is shown. `spans` are the [start, end] of what was picked in the document, `marks` the same in
    `text`; "…" in a paragraph of its own stands for what is left out between `start` and `end`."""

    spans: list[tuple[int, int]]
    marks: list[tuple[int, int]]
    date: str | None = Field(default=None, description="The day its document says it is of, where known.")
    read: str | None = Field(default=None, description="The day on which it was read from a source.")
    newer: str | None = Field(default=None, description="The source of a newer version of its document.")
    corrected: str | None = Field(default=None, description="The source of a correction of what it shows.")
    correction: bool = Field(default=False, description="Whether it says that it corrects something.")


class OneStatement(BaseModel):
    """What one author of untrusted documents says, in quotes; `impersonates` is the trusted document that theirs looks
    like."""

    author: str
    impersonates: str | None
    highlights: list[Quote]


class OneClaim(BaseModel):
    """What several authors say alike; `independent` counts those that are independent of each other, and the first
    statement stands for all. `side` is the one that they take, yes or no, where the question has sides."""

    independent: int
    side: str | None
    statements: list[OneStatement]


class OthersSay(BaseModel):
    """What untrusted documents say, which anybody may have written. `contested`: claims speak against each other;
    `silent`: there are trusted documents, and they do not answer."""

    contested: bool
    silent: bool
    claims: list[OneClaim]


class Tokens(BaseModel):
    """What an answer has cost."""

    calls: int
    prompt: int
    completion: int
    replayed: int


class CitedPiece(BaseModel):
    """A sentence of an answer, and the numbers of the quotes behind it: 1 is the first quote of `best_first`."""

    text: str
    quotes: list[int]


class AskReply(BaseModel):
    """What `equipoise ask --json` prints. For keys without the scope admin, the operator's fields are empty."""

    model_config = ConfigDict(extra="allow")

    id: str = Field(description="With which whoever asked can rate the answer: see /v1/feedback.")
    answer: str | None
    cited: list[CitedPiece]
    refused: bool
    reason: str | None
    detail: str | None
    failure: str
    grounded: bool | None
    weak: bool | None
    trust: Trust | None = Field(
        description="trusted: the answer rests on trusted documents alone; untrusted: on such that anybody may have "
        "written."
    )
    others: OthersSay | None = Field(
        description="What untrusted documents say: where the trusted ones do not answer, or where it was asked for."
    )
    read_as: str | None
    spelling: list[list[str]]
    notice: str | None = Field(description="What the encoder does not read of the question.")
    unheard: list[str] = Field(description="Words of a refused question that no document has.")
    probability: float | None
    tags: list[str]
    highlights: list[Quote]
    best_first: list[int]
    nearest: list[Place]
    passages: list[Place]
    flagged: list[Place]
    timings: dict[str, float]
    tokens: Tokens
    models: dict[str, str]
    summarizer_saw: list[dict[str, Any]] = Field(
        description="Every request to the summarizer's model, complete; none where the quotes are the answer."
    )


class Health(BaseModel):
    """The state of the server."""

    status: str
    record: str = "kept"


_SAID = {
    400: "The request cannot be used, or holds a field or parameter that is not known here.",
    401: "There is no key, or a wrong one.",
    403: "The key does not open this, or the request came from a page of another host.",
    404: "There is no such thing.",
    408: "The request came too slowly.",
    409: "A trusted document has this name.",
    413: "The request is too large.",
    415: "Files of this type are not read.",
    422: "The page cannot be drawn.",
    429: "The key is over its rate or its budget: see Retry-After.",
    500: "Something failed.",
    502: "The language model failed.",
    503: "The server is busy, starting or stopping: see Retry-After.",
    504: "The answer took too long.",
}
_ALWAYS = (401, 403, 408, 413, 500, 503)


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for OpenAPI, with those that every route may give."""
    return {
        status: {"model": Error, "description": _SAID[status]} for status in sorted({*_ALWAYS, *statuses})
    }
