"""Fact 3: where trusted documents answer, the result is a function of (question, trusted documents), byte for byte.

A world is a store with the trusted documents of this module and any untrusted ones before, between and after them. What
a world shows is compared with what the trusted documents show alone: complete results without their times, search,
subjects, and every request that a language model gets. `different` names what differs.
"""

import json
import re
from dataclasses import dataclass, field, replace

from equipoise.core.settings import Settings
from equipoise.core.types import Document, Trust
from equipoise.models.scripted import ScriptedChat
from equipoise.rag.library import Library
from equipoise.text.tokens import content_words
from hashed_words import HashedWords
from library_texts import TEXTS
from overlap import Overlap

OFFICE = "\n\n".join(
    (
        "# The Larkfield office",
        "The office opens at 8:30 on weekdays, and on Fridays it closes at 15:00. A badge costs 12 euros a year. "
        "Visitors get a badge at the reception on the ground floor.",
        "Dogs are not allowed in the office. Bicycles are kept behind the canteen, where there is room for 40 of them.",
    )
)
BOILER = "\n\n".join(
    (
        "# The boiler",
        "The boiler is serviced every 18 months by a technician from Harlow. Its pressure must stay below 3 bar.",
        "The valve is opened by two turns to the left. A thermostat in the corridor shows how warm the water is.",
    )
)
TRUSTED = (
    *(Document(f"{n}:{name}", text, f"docs/{name}", name) for n, (name, text) in enumerate(TEXTS.items(), 3)),
    Document("5-office", OFFICE, "docs/office.md", "The Larkfield office"),
    Document("6-boiler", BOILER, "docs/boiler.md", "The boiler"),
)
QUESTIONS = (
    ("When does the office open on weekdays?", ()),
    ("How often is the boiler serviced by a technician?", ()),
    ("Are dogs allowed in the office?", ()),
    ("What does a badge cost per annum?", ()),
    ("How much pressure must the boiler stay below?", ()),
    ("How offen is the boyler servised by a tecnician?", ()),
    ("When do unused vacation days expire?", ()),
    ("And on which floor is it?", ("Where do visitors get a badge?",)),
    ("How often is the boiler serviced? When does the office open on weekdays?", ()),
    ("What is the capital of Peru?", ()),
    ("Which marmalade does the zoo sell?", ()),
    ("When does the office open on weekdays? What is the capital of Peru?", ()),
    ("What is the capital of Peru? When does the office open on weekdays?", ()),
    (
        "When does the office open on weekdays? When are the giraffes washed with warm water? "
        "Who is the keeper of the giraffes?",
        (),
    ),
)
"""With what was asked before. The trusted documents answer all but the capital of Peru and the marmalade."""
WORDS = ("boiler pressure", "office badge floor", "capital of Peru", "unused days")
SETTINGS = {
    "retrieval": {"k": 3, "candidates": 5},
    "filter": {"stance": "none"},
    "highlight": {"threshold": 0.5, "max_spans": 2, "max_sentences": 3},
}
MODES = ("extractive", "others", "chat", "chat others", "trusted-only")
_SENTENCE = re.compile(r"[^.?!\n]+[.?!]")


def reads(messages):
    """What the scripted model says: to a highlighter's prompt the two sentences most like the question, wherever they
    stand; to a summarizer's what it was given."""
    text = messages[-1].content
    if "Question:" not in text:
        quotes = " ".join(text.split())[:300]
        return json.dumps(
            {"guessed_questions": [f"What is said of {len(text)} characters?"], "answer": quotes}
        )
    documents, _, question = text.partition("Question:")
    asked = set(content_words(question.partition("Task:")[0]))
    every = [sentence.strip() for sentence in _SENTENCE.findall(documents)]
    ranked = sorted(every, key=lambda sentence: -len(asked & set(content_words(sentence))))[:2]
    picked = [one for one in ranked if len(asked & set(content_words(one))) >= 2]
    return json.dumps({"answer": picked[0] if picked else "NONE", "text_extracts": picked})


@dataclass
class World:
    """An open library in one mode, with every request that its language model got."""

    library: Library
    mode: str
    chat: ScriptedChat | None = None

    @classmethod
    def at(cls, place, mode, encoder=None, more=None):
        """A new one, or one that is there."""
        chosen = {**SETTINGS, **(more or {})}
        chat = ScriptedChat(reads) if mode.startswith("chat") else None
        if mode in ("trusted-only", "equal"):
            chosen["trust"] = {"mode": mode}
        if chat:
            chosen["highlight"] = chosen["highlight"] | {"name": "structured"}
            chosen["summarize"] = {"when": "always", "guesses": 1, "context": "passage"}
            chosen["monitor"] = {"min_similarity": -1}
        library = Library.create(
            place,
            settings=Settings.model_validate(chosen),
            encoder=encoder or HashedWords(64),
            reranker=Overlap(),
            chat=chat,
        )
        return cls(library, mode, chat)

    def ask(self, question, before=()):
        """The result as a dictionary without its times, and the requests that were made for it."""
        if self.chat:
            self.chat.requests.clear()
        result = self.library.ask(question, before=before, others="others" in self.mode)
        data = result.to_dict()
        del data["timings"]
        return data, list(self.chat.requests) if self.chat else []

    def searched(self, words):
        """What search finds in trusted documents, with scores and vectors."""
        found = self.library.search(words)
        rows = [row for row, passage in enumerate(found.passages) if passage.trust is Trust.TRUSTED]
        assert rows == list(range(len(rows))), "an untrusted passage stands before a trusted one"
        return [
            (found.passages[row], float(found.scores[row]), found.embeddings[row].tobytes()) for row in rows
        ]


@dataclass(frozen=True, repr=False)
class Planted:
    """Untrusted documents with where they come: before trusted document number `slot`, or after all of them. `at_once`:
    they are added in one call with the trusted ones. `first_trusted`: they come last, are trusted while questions are
    asked, and then are not."""

    documents: tuple[Document, ...] = ()
    slots: tuple[int, ...] = ()
    at_once: bool = False
    first_trusted: bool = False

    def __repr__(self):
        texts = [(one.doc_id, one.text[:60]) for one in self.documents[:9]]
        return (
            f"Planted({len(self.documents)} {texts}, {self.slots[:9]}, {self.at_once}, {self.first_trusted})"
        )


@dataclass
class Shown:
    """What a world shows."""

    answers: dict = field(default_factory=dict)
    searched: dict = field(default_factory=dict)
    subjects: tuple = ()


def filled(world, planted, trusted=TRUSTED):
    """Put the documents in."""
    every = list(zip(planted.documents, planted.slots, strict=True))
    if planted.first_trusted:
        world.library.add(trusted)
        given = [document for document, _ in every]
        world.library.add([replace(document, trust=Trust.TRUSTED) for document in given])
        for question in QUESTIONS:
            world.ask(*question)
        for document in given:
            world.library.store.set_trust([document.doc_id], document.trust)
        return world
    groups = []
    for slot in range(len(trusted) + 1):
        groups.append([document for document, place in every if place % (len(trusted) + 1) == slot])
        groups.append(list(trusted[slot : slot + 1]))
    if planted.at_once:
        groups = [[document for group in groups for document in group]]
    for group in groups:
        if group:
            world.library.add(group)
    return world


def shown(world, questions=QUESTIONS):
    """Everything that a world shows."""
    return Shown(
        {question: world.ask(*question) for question in questions},
        {words: world.searched(words) for words in WORDS},
        world.library.subjects(3),
    )


def different(alone, beside, mode):
    """What untrusted documents have moved; empty where it is nothing."""
    for name in ("searched", "subjects"):
        if getattr(alone, name) != getattr(beside, name):
            return f"{name}: {getattr(beside, name)}"
    for question, (before, sent) in alone.answers.items():
        after, resent = beside.answers[question]
        if repr(sent).encode() != repr(resent).encode():
            return f"other requests for {question}"
        if moved := _moved(before, after, mode):
            return f"{question}: {moved}"
    return ""


def _moved(before, after, mode):
    if "sub_answers" in before:
        return _parts_moved(before, after, mode)
    if mode != "trusted-only" and _silent(before):
        return "" if _without_others(before) == _without_others(after) else _unmarked(after)
    return _unlike(before, after)


def _parts_moved(before, after, mode):
    for one, other in zip(before["sub_answers"], after["sub_answers"], strict=True):
        if moved := _moved(one, other, mode):
            return moved
    if mode == "trusted-only" or not any(map(_silent, before["sub_answers"])):
        return _unlike(before, after)
    untrusted = any(part["trust"] == "untrusted" for part in after["sub_answers"])
    if after["trust"] != ("untrusted" if untrusted else before["trust"]):
        return f"the whole message says that it is {after['trust']}"
    trusted = [item for item in after["highlights"] if item["trust"] == "trusted"]
    return "" if trusted == before["highlights"] else "other trusted quotes of the whole message"


def _unlike(before, after):
    one, other = (json.dumps(_without_others(data)).encode() for data in (before, after))
    return "" if one == other else f"{other!r} is not {one!r}"


def _without_others(data):
    """Without what untrusted documents say beside it: they are asked for, or may say why they have nothing."""
    parts = data.get("sub_answers")
    more = {"sub_answers": [_without_others(part) for part in parts]} if parts else {}
    return {name: value for name, value in data.items() if name != "others"} | more


def _silent(data):
    return data["reason"] in ("nothing retrieved", "nothing highlighted")


def _unmarked(data):
    """What an answer that rests on untrusted documents lacks; a refusal without passages gives way to one with."""
    if data["refused"]:
        trusted = [passage for passage in data["nearest"] if passage["trust"] == "trusted"]
        return "" if _silent(data) and not trusted else f"refused with {data['reason']}"
    if data["trust"] != "untrusted" or "untrusted" not in data["answer"] or data["tags"]:
        return f"unmarked: {data['answer']}"
    return (
        ""
        if {item["trust"] for item in data["highlights"]} == {"untrusted"}
        else "a quote says it is trusted"
    )


def run(world, planted):
    """What the world shows with these documents in it."""
    return shown(filled(world, planted))
