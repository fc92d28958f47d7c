"""Finds keys, tokens and passwords with the detectors of detect-secrets (Apache-2.0; extra `scan`).

They look at pieces of at most PIECE characters, so that no expression of theirs sees more; the pieces overlap.
Nothing is sent anywhere: their check of a secret against its service is not used.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from equipoise.audit.scan.findings import Hit
from equipoise.core.errors import MissingExtra

TOKEN, PASSWORD = "secret/token", "secret/password"
PIECE, OVERLAP = 500, 150
SHORTEST_PASSWORD = 8

DETECTORS = {
    "artifactory": "ArtifactoryDetector",
    "aws": "AWSKeyDetector",
    "azure_storage_key": "AzureStorageKeyDetector",
    "basic_auth": "BasicAuthDetector",
    "discord": "DiscordBotTokenDetector",
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "jwt": "JwtTokenDetector",
    "mailchimp": "MailchimpDetector",
    "npm": "NpmDetector",
    "openai": "OpenAIDetector",
    "private_key": "PrivateKeyDetector",
    "pypi_token": "PypiTokenDetector",
    "sendgrid": "SendGridDetector",
    "slack": "SlackDetector",
    "square_oauth": "SquareOAuthDetector",
    "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector",
    "twilio": "TwilioKeyDetector",
}
"""Module and class of the detectors of detect-secrets that are used: those whose tokens have a form of their own."""

_TOKEN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")

Analyse = Callable[[str], Sequence[str]]


def find(text: str) -> Iterator[Hit]:
    """Hits of the rules `secret/...` in `text`. Raises MissingExtra without detect-secrets."""
    detectors, password = _detectors()
    for start, piece in _pieces(text):
        for said, analyse in detectors:
            yield from _hits(TOKEN, piece, start, analyse(piece), f"{said}.")
        if _names_a_secret(piece):
            values = [value for value in password(piece) if _is_password(value)]
            yield from _hits(PASSWORD, piece, start, values, "")


def _hits(rule: str, piece: str, start: int, values: Sequence[str], said: str) -> Iterator[Hit]:
    for value in dict.fromkeys(values):
        at = piece.find(value)
        if value and at >= 0:
            end = at + len(value)
            while end < len(piece) and piece[end] in _TOKEN:  # some detectors give the beginning alone
                end += 1
            yield Hit(rule, start + at, start + end, said)


@cache
def _detectors() -> tuple[tuple[tuple[str, Analyse], ...], Analyse]:
    try:
        made = [_plugin(module, name) for module, name in DETECTORS.items()]
        keyword = _plugin("keyword", "KeywordDetector")
        unquoted = import_module("detect_secrets.plugins.keyword").CONFIG_DENYLIST_REGEX_TO_GROUP
    except ImportError as error:
        raise MissingExtra("detect-secrets", "scan") from error
    return tuple((plugin.secret_type, _values(plugin)) for plugin in made), _values(keyword, unquoted)


def _plugin(module: str, name: str) -> Any:  # noqa: ANN401 (detect-secrets has no types)
    return getattr(import_module(f"detect_secrets.plugins.{module}"), name)()


def _values(plugin: Any, *more: Any) -> Analyse:  # noqa: ANN401
    return lambda piece: [str(value) for value in plugin.analyze_string(piece, *more)]


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """(start, piece) of each line, long ones in pieces. A line without a digit holds no token, but may begin a key."""
    at = 0
    for line in text.split("\n"):
        if any(c.isdigit() for c in line) or "PRIVATE KEY" in line:
            for start in range(0, max(len(line) - OVERLAP, 1), PIECE - OVERLAP):
                yield at + start, line[start : start + PIECE]
        at += len(line) + 1


_NAMES = ("key", "pass", "pwd", "secret", "contrase")


def _names_a_secret(piece: str) -> bool:
    lowered = piece.lower()
    return any(name in lowered for name in _NAMES)


def _is_password(value: str) -> bool:
    """One word with a digit and a letter in it: prose behind "password:" has none such."""
    bare = value.strip(" .,;")
    return (
        len(bare) >= SHORTEST_PASSWORD
        and not any(c.isspace() for c in bare)
        and any(c.isdigit() for c in bare)
        and any(c.isalpha() for c in bare)
    )
