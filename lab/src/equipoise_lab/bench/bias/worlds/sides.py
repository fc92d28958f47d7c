"""Sides of texts: the true ones, everybody's the same, and a chat model's, each asked for once and kept in a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.core.errors import ModelUnavailable
from equipoise.core.types import Query, Usage
from equipoise.evaluation.records import Record, RecordFile
from equipoise.rag.stance import Sides
from equipoise.rag.voices import Stance
from equipoise_lab.bench.bias.worlds.plantings import Key, Known

DIGITS = 4


class SideRecord(Record):
    """The side, -1 to 1, that a model says a text takes (None: it said neither yes nor no), and the true one."""

    KEY: ClassVar[tuple[str, ...]] = ("model", "query_id", "id")

    model: str
    query_id: str
    id: str
    kind: str
    side: float | None
    truth: float


@dataclass(frozen=True, slots=True)
class TrueSides:
    """The labels themselves: what a filter could do with a perfect judge. An oracle, and no filter that can be had."""

    texts: Mapping[Key, Known]

    async def sides(self, query: Query, texts: Sequence[str]) -> Sides:
        """0 for a text without a label."""
        return Sides(np.array([self.texts[query.text, text].side for text in texts]))


@dataclass(frozen=True, slots=True)
class OneSide:
    """Everybody says yes."""

    async def sides(self, query: Query, texts: Sequence[str]) -> Sides:
        """Ones."""
        return Sides(np.ones(len(texts)))


class KeptSides:
    """What the model `name` says of `texts`, kept in `file`; without a `judge` to ask, only what the file holds."""

    def __init__(
        self, name: str, texts: Mapping[Key, Known], file: RecordFile[SideRecord], judge: Stance | None
    ) -> None:
        self.name = name
        self._texts, self._file, self._judge = texts, file, judge
        self._known = {(record.query_id, record.id): record.side for record in file if record.model == name}

    async def sides(self, query: Query, texts: Sequence[str]) -> Sides:
        """See `rag.voices.Stance`. Raises ModelUnavailable for a text of which nothing is known and nobody can be
        asked, or what the judge raises."""
        wanted = [self._texts[query.text, text] for text in texts]
        new = [
            (known, text)
            for known, text in zip(wanted, texts, strict=True)
            if (known.query_id, known.id) not in self._known
        ]
        usage = await self._ask(query, new) if new else Usage()
        values = [self._known[known.query_id, known.id] for known in wanted]
        return Sides(np.array([np.nan if value is None else value for value in values]), usage)

    async def _ask(self, query: Query, new: Sequence[tuple[Known, str]]) -> Usage:
        if self._judge is None:
            raise ModelUnavailable(
                f"nobody has said which side {new[0][0].id} takes: name a model with --llm"
            )
        told = await self._judge.sides(query, [text for _, text in new])
        for (known, _), value in zip(new, told.values.tolist(), strict=True):
            side = None if np.isnan(value) else round(value, DIGITS) + 0.0
            self._file.append(
                SideRecord(
                    model=self.name,
                    query_id=known.query_id,
                    id=known.id,
                    kind=known.kind,
                    side=side,
                    truth=known.side,
                )
            )
            self._known[known.query_id, known.id] = side
        return told.usage
