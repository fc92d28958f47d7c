"""Finds personal data: e-mail addresses, telephone numbers, numbers of accounts, cards and persons.

Telephone numbers are found by Google's libphonenumber (`phonenumbers`, Apache-2.0), check digits by `python-stdnum`
(LGPL); both come with the extra `scan`. E-mail addresses need neither.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module

from equipoise.audit.scan.findings import Hit
from equipoise.core.errors import MissingExtra

EMAIL, PHONE, ACCOUNT, IDENTITY = "personal/email", "personal/phone", "personal/account", "personal/identity"
_LONGEST_NAME, _LONGEST_DOMAIN = 64, 120
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.!#$%&'*+/=?^_{|}~-")
_DOMAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-")
_PLUS = re.compile(r"\+\s?\(?[1-9]")
_WINDOW = 30
_CARD = re.compile(r"(?<![\w.,-])[2-6]\d{3}(?:[ -]?\d){9,15}(?![\w-])")
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])")
_SSN = re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")

Check = Callable[[str], bool]


def emails(text: str) -> Iterator[Hit]:
    """Hits of the rule `personal/email`."""
    at = text.find("@")
    while at >= 0:
        start, end = at, at + 1
        while start > max(0, at - _LONGEST_NAME) and text[start - 1] in _NAME:
            start -= 1
        while end < min(len(text), at + _LONGEST_DOMAIN) and text[end] in _DOMAIN:
            end += 1
        domain = text[at + 1 : end].rstrip(".-")
        ending = domain.rpartition(".")[2]
        if start < at and "." in domain and len(ending) >= 2 and ending.isalpha():
            yield Hit(EMAIL, start, at + 1 + len(domain))
        at = text.find("@", max(end, at + 1))


def find(text: str) -> Iterator[Hit]:
    """Hits of the rules `personal/...` but e-mail. Raises MissingExtra without the extra `scan`."""
    numbers = _numbers()
    checks = _checks()
    for rule, pattern, check, said in (
        (ACCOUNT, _CARD, checks["card"], "It is a card number."),
        (ACCOUNT, _IBAN, checks["iban"], "It is an IBAN."),
        (IDENTITY, _SSN, checks["ssn"], "It has the form of a social security number of the United States."),
    ):
        for match in pattern.finditer(text):
            if check(match.group()):
                yield Hit(rule, match.start(), match.end(), said)
    behind = 0
    for match in _PLUS.finditer(text):
        if match.start() >= behind and (length := numbers(text[match.start() : match.start() + _WINDOW])):
            behind = match.start() + length
            yield Hit(PHONE, match.start(), behind)


@cache
def _checks() -> dict[str, Check]:
    try:
        iban, luhn, ssn = (import_module(f"stdnum.{name}") for name in ("iban", "luhn", "us.ssn"))
    except ImportError as error:
        raise MissingExtra("python-stdnum", "scan") from error

    def is_card(text: str) -> bool:
        digits = text.replace(" ", "").replace("-", "")
        return len(set(digits)) > 1 and bool(luhn.is_valid(digits))

    return {
        "card": is_card,
        "iban": lambda text: bool(iban.is_valid(text)),
        "ssn": lambda text: bool(ssn.is_valid(text)),
    }


@cache
def _numbers() -> Callable[[str], int]:
    """A function that gives the length of the telephone number a text begins with, 0 for none."""
    try:
        phonenumbers = import_module("phonenumbers")
    except ImportError as error:
        raise MissingExtra("phonenumbers", "scan") from error

    def length(text: str) -> int:
        match = next(iter(phonenumbers.PhoneNumberMatcher(text, None)), None)
        return int(match.end) if match is not None and match.start == 0 else 0

    return length
