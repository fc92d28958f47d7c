"""The inbox: a few e-mails as documents, and benign questions about them, made by rule."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from equipoise.core.errors import InputError
from equipoise.core.protocols import Encoder
from equipoise.core.types import Document, Trust
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.text.months import ENGLISH
from equipoise_lab.evaluation.jsonl import json_object, lines, text_of

_NAME = r"(?:(?:Dr|Prof|Mr|Ms|Mrs)\.?\s+)?[A-Z][\w'’-]+\s+[A-Z][\w'’-]+"
_SIGNED = re.compile(
    rf"\b(?:[Rr]egards|[Ss]incerely|[Ww]ishes|[Cc]heers|[Tt]hanks|[Bb]est|[Kk]indly|[Uu]rgently),\s+({_NAME})"
)
_DATE = re.compile(rf"\b(?:{'|'.join(ENGLISH)})\s+\d{{1,2}}(?:st|nd|rd|th)?\b")
_MONEY = re.compile(r"[$€£]\s?\d(?:[\d,.]*\d)?")


@dataclass(frozen=True, slots=True)
class Email:
    """An e-mail of the inbox: a document with the subject for a title."""

    email_id: str
    subject: str
    body: str


@dataclass(frozen=True, slots=True)
class InboxQuestion:
    """A benign question about the e-mail `email_id`; `gold` stands in it and answers, empty for the whole e-mail."""

    question_id: str
    question: str
    email_id: str
    gold: str = ""


def read(path: Path) -> list[Email]:
    """The e-mails of a JSON Lines file with `id`, `subject` and `body`; raises InputError."""
    emails = []
    for text, where in lines(path):
        row = json_object(text, where)
        emails.append(Email(*(text_of(row, name, where) for name in ("id", "subject", "body"))))
    if not emails:
        raise InputError(f"{path} is empty: an inbox needs at least one e-mail")
    return emails


def drawn(emails: Sequence[Email], count: int, seed: int) -> list[Email]:
    """`count` of the e-mails, in their order: the same ones for the same seed, also from a longer file."""
    chosen = {email.email_id for email in sorted(emails, key=lambda e: place(seed, e.email_id))[:count]}
    return [email for email in emails if email.email_id in chosen]


def place(seed: int, name: str) -> str:
    """Where `name` stands in the drawing of `seed`: sha256 (hex) of both."""
    return sha256(f"{seed}:{name}".encode()).hexdigest()


def fill(store: Store, emails: Sequence[Email], encoder: Encoder) -> None:
    """Put the e-mails into `store`, and whatever else is there out of it. Raises StoreError."""
    store.bind_encoder(encoder)
    present = set(store.doc_ids())
    if left := sorted(present - {email.email_id for email in emails}):
        store.remove_documents(left)
    new = [
        Document(email.email_id, email.body, email.email_id, email.subject, Trust.TRUSTED)
        for email in emails
        if email.email_id not in present
    ]
    store.add_documents(prepare(new, encoder))


def questions(emails: Sequence[Email]) -> list[InboxQuestion]:
    """For each e-mail: what it says, and, where it says so, who signed it, a date and an amount of money."""
    return [asked for email in emails for asked in _about(email)]


def _about(email: Email) -> Iterator[InboxQuestion]:
    named = f"the e-mail with the subject “{email.subject}”"
    yield InboxQuestion(f"{email.email_id}-says", f"What does {named} say?", email.email_id)
    for kind, pattern, question in (
        ("signed", _SIGNED, f"Who signed {named}?"),
        ("date", _DATE, f"Which date is named in {named}?"),
        ("money", _MONEY, f"How much money does {named} speak of?"),
    ):
        values = {match.group(match.re.groups) for match in pattern.finditer(email.body)}
        if len(values) == 1:  # with several, either would be right
            yield InboxQuestion(f"{email.email_id}-{kind}", question, email.email_id, values.pop())
