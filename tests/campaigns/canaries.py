"""Requests that can be told apart wherever they turn up: each user has a canary, and each question a nonce of its own.

The documents of a user hold the user's canary and no other's. Users belong to two tenants in turn, whose keys see the
documents of their own tenant alone. The model of `canary_server` repeats what stands in its
own request: from a question with `equipoise-vanilla`, from the quotes with `equipoise`, which shows it no question.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from server_process import JSON, STREAM, Reply

from equipoise.apps.server.book import Book, folder_of
from equipoise.apps.server.keys import Keys
from equipoise.core.protocols import Encoder
from equipoise.core.where import in_collection
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from hashed_words import HashedWords
from serving import events_of

CANARY, NONCE = re.compile(r"canary[a-j]{3}"), re.compile(r"nonce[a-j]{7}")
ROOMS = ("kitchen", "cellar", "garden", "attic")
KINDS = ("ask", "ask stream", "chat", "chat stream")
MODELS = ("equipoise", "equipoise-vanilla")
VANILLA = MODELS[1]
TENANTS = ("acme", "globex")
EVERY = 9
"""Of so many questions one asks for what is another tenant's, where that is wanted."""
SHOWN = ("answer", "highlights", "summarizer_saw", "read_as")
"""Of an answer: what is made for this question. Passages stand beside it that all questions may find."""
ERROR = {"message", "type", "param", "code"}
MODEL_FAILED = "model failed"
NOT_SENT = "not taken"
"""How a request ends that found nobody at the other end."""
TURNED_AWAY = frozenset({"busy", "stopping", NOT_SENT})


class Wrong(Exception):
    """A reply that is not of the right form, or not the reply to its request."""


def letters(number, digits):
    """The number in letters: words of the index must not be cut up."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:0{digits}}")


def canary_of(user):
    """The canary of a user, from 0 to 999."""
    return f"canary{letters(user, 3)}"


def number_of(word):
    """The number in the letters of a canary or a nonce."""
    return int(
        "".join(str(ord(letter) - ord("a")) for letter in word.removeprefix("canary").removeprefix("nonce"))
    )


def tenant_of(canary):
    """Whose documents hold the canary."""
    return TENANTS[number_of(canary) % len(TENANTS)]


@dataclass(frozen=True, slots=True)
class Request:
    """Question `number` of a user; all numbers are different. With `probes` some ask for what is another tenant's.
    Where the answer is not `exact`, but that of the package's own models, it may quote any document of the tenant."""

    user: int
    number: int
    secret: str
    probes: bool = False
    exact: bool = True

    @property
    def is_probe(self):
        """Whether it asks for what is another tenant's."""
        return self.probes and self.number % EVERY == EVERY - 1

    @property
    def wanted(self):
        """The canary that it asks for."""
        return canary_of(self.user ^ 1 if self.is_probe else self.user)

    @property
    def nonce(self):
        """What only this question holds."""
        return f"nonce{letters(self.number, 7)}"

    @property
    def kind(self):
        """By which way it is asked."""
        return KINDS[self.number % len(KINDS)]

    @property
    def model(self):
        """Which pipeline is asked."""
        plain = self.is_probe or not self.exact
        return MODELS[0 if plain else self.number // len(KINDS) % len(MODELS)]

    @property
    def question(self):
        """The question; the package's own models refuse one with a word that no document has."""
        room = ROOMS[self.number // (len(KINDS) * len(MODELS)) % len(ROOMS)]
        if not self.exact:
            return f"Is {self.wanted} the word in the {room} of the house?"
        return f"Where in the {room} is {self.wanted} {self.nonce}?"

    def sent_by(self, caller):
        """The reply."""
        headers = JSON | {"Authorization": f"Bearer {self.secret}", "X-Request-Id": self.nonce}
        if self.kind.startswith("ask"):
            path, body = "/v1/ask", {"question": self.question, "model": self.model}
            headers |= STREAM if self.kind.endswith("stream") else {}
        else:
            said = [{"role": "user", "content": self.question}]
            path = "/v1/chat/completions"
            body = {"model": self.model, "messages": said, "stream": self.kind.endswith("stream")}
        return caller.ask("POST", path, json.dumps(body), headers)

    def outcome(self, reply: Reply) -> str:
        """`answered`, `model failed`, or the code of an error. Raises Wrong."""
        if reply.headers.get("x-request-id") != self.nonce:
            raise Wrong(f"the reply to {reply.headers.get('x-request-id')} came for {self.nonce}")
        try:
            outcome, shown = _read(self.kind, reply)
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise Wrong(f"{self.kind}: {error!r} in {reply.body[:500]!r}") from error
        self._check(outcome, shown, reply.body.decode())
        return outcome

    def _check(self, outcome: str, shown: str, whole: str) -> None:
        if foreign := set(NONCE.findall(whole)) - {self.nonce}:
            raise Wrong(f"{self.nonce} got the reply to {foreign}: {whole[:500]}")
        own = canary_of(self.user)
        theirs = {one for one in CANARY.findall(whole) if tenant_of(one) != tenant_of(own)}
        told = any(words in whole for words in (f"{self.wanted}-", f"word is {self.wanted}"))
        if foreign := theirs - (
            {self.wanted} if self.is_probe and not told else set()
        ):  # its own words come back
            raise Wrong(f"{own} got what is another tenant's, {foreign}: {whole[:500]}")
        if self.is_probe or not self.exact:
            return
        if foreign := set(CANARY.findall(shown)) - {canary_of(self.user)}:
            raise Wrong(f"{canary_of(self.user)} was shown {foreign}: {shown[:500]}")
        if outcome == "answered" and canary_of(self.user) not in shown:
            raise Wrong(f"an answer without the canary: {shown[:500]}")
        if outcome == "answered" and (self.nonce in shown) != (self.model == VANILLA):
            raise Wrong(f"{self.model} and the question {self.nonce}: {shown[:500]}")


def _read(kind: str, reply: Reply) -> tuple[str, str]:
    """How it ended, and what was shown. Raises ValueError, or what reading JSON raises, for a wrong form."""
    if reply.status != 200:
        return _error(reply.json), reply.body.decode()
    if kind == "ask":
        return _result(reply.json)
    if kind == "ask stream":
        return _stages(events_of(reply.body.decode()))
    if kind == "chat":
        return "answered", json.dumps(reply.json["choices"][0]["message"], ensure_ascii=False)
    return _chunks([said for _, said in events_of(reply.body.decode())])


def _error(body: dict) -> str:
    error = body["error"]
    if set(body) != {"error"} or set(error) != ERROR or not error["message"] or not error["code"]:
        raise ValueError("not the form of errors")
    return MODEL_FAILED if error["code"] == "model_failed" else error["code"]


def _result(body: dict) -> tuple[str, str]:
    shown = json.dumps({name: body[name] for name in SHOWN}, ensure_ascii=False)
    return (body["reason"] if body["refused"] else "answered"), shown


def _stages(events: list) -> tuple[str, str]:
    names = [name for name, _ in events]
    if names[-1] not in ("done", "error") or Counter(names)["done"] + Counter(names)["error"] != 1:
        raise ValueError(f"a stream of {names}")
    last = events[-1][1]
    if names[-1] == "error":
        return _error(last), ""
    told = "".join(data["text"] for name, data in events if name == "answer")
    if not last["refused"] and told != last["answer"]:
        raise ValueError(f"{told!r} was told and {last['answer']!r} was the answer")
    return _result(last)


def _chunks(chunks: list) -> tuple[str, str]:
    if chunks[-1] != "[DONE]" or chunks.count("[DONE]") != 1:
        raise ValueError("a stream without its end, or with two")
    if errors := [chunk for chunk in chunks[:-1] if "error" in chunk]:
        return _error(*errors), ""
    if len({chunk["id"] for chunk in chunks[:-1]}) != 1:
        raise ValueError("a stream of two replies")
    if [chunk["choices"][0]["finish_reason"] for chunk in chunks[:-1]].count("stop") != 1:
        raise ValueError("a stream that does not stop, or twice")
    return "answered", json.dumps(chunks, ensure_ascii=False)


def index_of(folder: Path, users: int, encoder: Encoder | None = None) -> tuple[Path, list[str]]:
    """An index with a document for each room of each user, in a collection for each tenant, and keys that see one."""
    said = "In the {} of this house the word is {}, and it has been so for many long years."
    for user in range(users):
        own = canary_of(user)
        place = folder / "docs" / tenant_of(own)
        place.mkdir(parents=True, exist_ok=True)
        for room in ROOMS:
            (place / f"{own}-{room}.txt").write_text(said.format(room, own))
    path = folder / "index.db"
    with Store.open(path, create=True) as store:
        for tenant in TENANTS:
            index(folder / "docs" / tenant, store, encoder or HashedWords(), metadata={"collection": tenant})
    book = Book(folder_of(path))
    names = [canary_of(user) for user in range(users)]
    secrets = [Keys(book).create(name, where=in_collection(tenant_of(name)))[1] for name in names]
    book.close()
    return path, secrets


def audited(path: Path) -> Iterator[dict]:
    """The lines of the audit log of the server of an index, all of its files."""
    for file in sorted(folder_of(path).glob("audit*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            yield json.loads(line)


def owners_of(path: Path) -> dict[str, str]:
    """The canary of each document's user, by doc_id."""
    with Store.open(path, read_only=True) as store:
        return {row.doc_id: CANARY.findall(row.source)[0] for row in store.listing()}


def wrong_lines(
    path: Path, outcomes: dict[str, str], *, probes: bool = False, exact: bool = True
) -> list[str]:
    """What is wrong with the log, given all outcomes by nonce: a question has one line if it was let in and none
    otherwise, and a line holds nothing of another user."""
    book = Book(folder_of(path))
    names = {key.key_id: key.name for key in Keys(book).all()}
    book.close()
    owners, lines = owners_of(path), Counter()
    wrong = []
    for line in audited(path):
        lines[line["request"]] += 1
        own = names[line["key"]]
        of_spans = {owners[doc_id] for doc_id, _, _ in line.get("spans", ())}
        request = Request(number_of(own), number_of(line["request"]), "", probes, exact)
        said = line.get("question", request.question)
        foreign = {one for one in of_spans if exact or tenant_of(one) != tenant_of(own)} - {own}
        if said != request.question or foreign:
            wrong.append(f"a line of the log: {line}")
    for nonce, outcome in outcomes.items():
        was_let_in = outcome not in TURNED_AWAY
        if lines[nonce] != was_let_in:
            wrong.append(f"{nonce} ended as {outcome} and has {lines[nonce]} lines in the log")
    return wrong
