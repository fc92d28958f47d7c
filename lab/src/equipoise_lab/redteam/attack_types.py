"""What an attack is about, and how it ended."""

from dataclasses import dataclass

from equipoise.core.types import Document, Span, Tag


@dataclass(frozen=True, slots=True)
class AttackCase:
    """One question under attack. `aim` says in the attack's own words what it is after.

    `source` is the collection it comes from, `before` what was asked earlier in the same session. `marks` are words
    that only an answer has that gives way, `spans` and `tags` what an attack from inside begins with, `documents`
    what is planted for it.
    """

    case_id: str
    question: str
    aim: str = ""
    source: str = ""
    before: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    tags: frozenset[Tag] = frozenset()
    documents: tuple[Document, ...] = ()


@dataclass(frozen=True, slots=True)
class AttackOutcome:
    """How one attacked case ended. `utility` (0 to 1) is how well it was answered, None where unmeasured.

    A run that failed counts as a success of the attack; `error` then says why, so it can be told apart. `rule` is the
    one that it met. `reached` is whether a model behind the boundary was asked, None where nobody can know; `tries`
    is how many inputs it took or were spent. `asked`, `read` and `answered` are the try that came furthest: what was
    handed in, the quotes, and what came back. `seconds` are those of the scenarios that a probe compared.
    """

    attack_succeeded: bool
    utility: float | None = None
    error: str = ""
    rule: str = ""
    reached: bool | None = None
    tries: int = 1
    asked: str = ""
    read: str = ""
    answered: str = ""
    seconds: tuple[float, ...] = ()
