"""The audit log: a line for every question, only ever appended to.

A question stands there as a keyed hash, so that who has the log cannot guess it; with `serve.trace` as it was typed.
Files are put aside when they are full and never deleted here.
"""

import fcntl
import hashlib
import hmac
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from equipoise.apps.server.sharing import mode_in
from equipoise.core.results import Answer, Refusal

LARGEST = 10_000_000
"""Bytes of a file before the next one is begun."""
NAME = "audit.jsonl"


@dataclass(frozen=True, slots=True)
class Audit:
    """The log in `folder`. `secret` is the key of the hashes; with `trace` questions are written out."""

    folder: Path
    secret: bytes
    trace: bool = False
    largest: int = LARGEST

    @property
    def path(self) -> Path:
        """The file that is written now."""
        return self.folder / NAME

    def question(self, text: str) -> dict[str, str]:
        """The question as it stands in the log; letters' case and blanks do not count for its hash."""
        words = " ".join(text.casefold().split()).encode("utf-8", "replace")
        digest = hmac.new(self.secret, words, hashlib.sha256).hexdigest()
        return {"question_hash": digest} | ({"question": text} if self.trace else {})

    def write(self, entry: dict[str, Any]) -> None:
        """Append one line; several processes may do so at the same time."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now} | entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with (self.folder / "audit.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._put_aside(len(line))
            number = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, mode_in(self.folder))
            try:
                os.write(number, line)
            finally:
                os.close(number)

    def _put_aside(self, more: int) -> None:
        if self.path.exists() and self.path.stat().st_size + more > self.largest:
            stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
            self.path.rename(self.folder / f"audit-{stamp}.jsonl")


def of_result(result: Answer | Refusal) -> dict[str, Any]:
    """What the log says of how a question ended."""
    trace = result.trace
    refusal = result if isinstance(result, Refusal) else None
    return {
        "refused": refusal is not None,
        "reason": refusal.reason.value if refusal else None,
        "trust": result.trust.value if isinstance(result, Answer) else None,
        "spans": [
            [highlight.doc_id, highlight.start, highlight.end] for highlight in result.highlights.items
        ],
        "flags": [
            [flag.passage.doc_id, flag.passage.start, flag.passage.end, flag.reason] for flag in trace.flagged
        ],
        "probability": trace.probability,
        "failure": trace.failure,
    }
