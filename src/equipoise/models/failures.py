"""What the openai client can raise, in the words of our tree; and how long to wait before a retry."""

import email.utils
import math
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import openai

from equipoise.core.errors import ModelError, ModelReplyError, ModelUnavailable
from equipoise.models.control import one_line
from equipoise.models.transport import HTTPX

Failure = openai.OpenAIError | TimeoutError
NAMED = 5
"""Models of an endpoint that a message names."""
A_WEEK_S = 7 * 24 * 3600.0
"""Nobody asks to wait longer: such a Retry-After is nonsense."""


@dataclass(frozen=True, slots=True)
class ShownEndpoint:
    """What an error message may say of an endpoint: no secrets in here."""

    model: str
    url: str
    key_variable: str
    timeout_s: float


def is_passing(failure: Failure, *, within_s: float) -> bool:
    """True when the same request may succeed a moment later: 408, 409, 429, 5xx, a broken connection.

    A time-out is not passing (it has used its time), nor is an exhausted quota, nor what the endpoint does
    not want to see again `within_s` seconds (Retry-After).
    """
    if isinstance(failure, openai.APIStatusError):
        if (_retry_after_s(failure) or 0.0) > within_s:
            return False
        if failure.code == "insufficient_quota" or failure.response.headers.get("x-should-retry") == "false":
            return False
        return failure.status_code in {408, 409, 429} or failure.status_code >= 500
    return isinstance(failure, openai.APIConnectionError) and not isinstance(failure, openai.APITimeoutError)


def is_refusal(failure: Failure) -> bool:
    """True when the endpoint will not take the request as it is: 400, 422."""
    return isinstance(failure, openai.APIStatusError) and failure.status_code in {400, 422}


def wait_s(failure: Failure, *, tries: int, backoff_s: float, max_backoff_s: float) -> float:
    """Seconds to wait after try number `tries` (from 1), at most `max_backoff_s`.

    Retry-After when the endpoint sent it; otherwise `backoff_s` doubled per try, times a random factor in
    [0.5, 1] so that clients that failed together do not come back together.
    """
    asked = _retry_after_s(failure)
    if asked is not None:
        return min(max(asked, 0.0), max_backoff_s)
    return min(backoff_s * 2.0 ** min(tries - 1, 60), max_backoff_s) * random.uniform(0.5, 1.0)


def _retry_after_s(failure: Failure) -> float | None:
    if not isinstance(failure, openai.APIStatusError):
        return None
    headers = failure.response.headers
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "nan")) * unit
        except ValueError:
            continue
        if not math.isnan(seconds):
            return seconds if seconds <= A_WEEK_S else None
    try:
        seconds = email.utils.parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return seconds if seconds <= A_WEEK_S else None


def complaint(failure: openai.APIStatusError, secrets: Sequence[str] = ()) -> str:
    """What the endpoint said is wrong with the request: parameter, code and message, as one short line.

    Only these fields are read: some endpoints repeat the whole input beside them. `secrets` and characters that
    act (control, direction) are taken out. For the message of an error and for nothing else.
    """
    said = " ".join(
        str(part)
        for part in (failure.param, failure.code, _message(failure.body))
        if isinstance(part, str | int)
    )
    for secret in filter(None, secrets):
        said = said.replace(secret, "***")
    return one_line(said)


def _message(body: object) -> str:
    """The text of an error body: OpenAI's "message", FastAPI's "detail" (loc and msg), or plain text."""
    if isinstance(body, str):
        return "" if "<html" in body.lower() else body
    if not isinstance(body, Mapping):
        return ""
    fields: Mapping[str, Any] = body
    message = fields.get("message") or fields.get("detail") or fields.get("error") or ""
    if isinstance(message, list):
        entries = [entry for entry in message if isinstance(entry, Mapping)]
        return "; ".join(f"{entry.get('loc', '')} {entry.get('msg', '')}" for entry in entries)
    return message if isinstance(message, str) else ""


def explained(
    failure: Failure, endpoint: ShownEndpoint, *, tries: int, secrets: Sequence[str], has: Sequence[str] = ()
) -> ModelError:
    """`failure` as an error of our tree, without any of `secrets`, naming what to do next. `has` are the models
    that the endpoint says it has."""
    if isinstance(failure, openai.NotFoundError) and has:
        named = one_line(", ".join(has[:NAMED]))
        more = f" and {len(has) - NAMED:,} more" if len(has) > NAMED else ""
        return ModelUnavailable(
            f"{endpoint.url} does not know {endpoint.model} (404); it has {named}{more}: choose one with"
            "  equipoise models use openai/NAME"
        )
    if isinstance(failure, openai.APIStatusError):
        return _status_explained(failure, endpoint, tries=tries, secrets=secrets)
    if isinstance(failure, openai.APITimeoutError | TimeoutError):
        return ModelUnavailable(
            f"{endpoint.model} at {endpoint.url} did not answer within {endpoint.timeout_s:g} s: "
            "raise the time-out or check the endpoint"
        )
    if isinstance(failure, openai.APIConnectionError):
        if not isinstance(failure.__cause__, HTTPX.ConnectError):
            return ModelUnavailable(
                f"{endpoint.url} broke off the connection in the middle of a request ({tries} tries): see its own log"
            )
        return ModelUnavailable(
            f"cannot connect to {endpoint.url} ({tries} tries): check that it runs and the base URL is right"
        )
    return ModelUnavailable(
        f"the client for {endpoint.url} failed ({type(failure).__name__}): check the base URL and the key"
    )


def _status_explained(
    failure: openai.APIStatusError, endpoint: ShownEndpoint, *, tries: int, secrets: Sequence[str]
) -> ModelError:
    status, url, model = failure.status_code, endpoint.url, endpoint.model
    if failure.code == "content_filter":
        return ModelReplyError(f"the content filter at {url} refused the request: rephrase the input")
    if failure.code == "insufficient_quota":
        return ModelUnavailable(f"the account at {url} has no quota left (429): check its plan and billing")
    asked = _retry_after_s(failure)
    later = (
        f"it asks for {math.ceil(asked):,} s without a request"
        if asked
        else "try again later, with fewer requests at once"
    )
    next_step = {
        401: f"refused the API key (401): check {endpoint.key_variable}",
        403: f"denied access to {model} (403): check that the key of {endpoint.key_variable} may use it",
        404: f"does not know {model} (404): check the model's name and the base URL (most end in /v1)",
        429: f"still limits the rate after {tries} tries (429): {later}",
    }
    if status in next_step:
        return ModelUnavailable(f"{url} {next_step[status]}")
    if status >= 500:
        return ModelUnavailable(f"{url} failed with status {status} in {tries} tries: {later}")
    if 300 <= status < 400:
        return ModelUnavailable(
            f"{url} sends requests on to another address ({status}), which is not followed: set the base URL to "
            "where the endpoint is"
        )
    said = complaint(failure, secrets)
    return ModelUnavailable(
        f"{url} refused the request for {model} ({status}): {said or 'it gave no reason'}"
    )
