"""Corpora in BEIR form: `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`, and optionally `stance.tsv`.

A file that cannot be used is refused whole, with the line that is wrong: a benchmark on part of a corpus
measures something else.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from equipoise.core.errors import InputError
from equipoise_lab.evaluation.jsonl import json_object, lines, text_of
from equipoise_lab.evaluation.results import encoded, write_atomically

CORPUS, QUERIES, QRELS, STANCE = "corpus.jsonl", "queries.jsonl", "qrels.tsv", "stance.tsv"
QRELS_ELSEWHERE = "qrels/test.tsv"
"""Where the BEIR downloads have their relevance judgements."""


@dataclass(frozen=True, slots=True)
class CorpusText:
    """A document of a corpus."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class BeirCorpus:
    """Documents, queries, which documents are relevant to a query, and which side of it they take.

    `stance` is from -1 (against) to 1 (for), by query and document; empty where nobody labelled it.
    """

    name: str
    documents: Mapping[str, CorpusText]
    queries: Mapping[str, str]
    relevant: Mapping[str, frozenset[str]]
    stance: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def read(folder: Path) -> BeirCorpus:
    """The corpus in `folder`. Raises InputError with file and line for whatever cannot be used."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder: give one with {CORPUS}, {QUERIES} and {QRELS}")
    documents = {key: _document(row, where) for key, row, where in _objects(folder / CORPUS)}
    queries = {key: text_of(row, "text", where) for key, row, where in _objects(folder / QUERIES)}
    judged = folder / QRELS
    qrels = judged if judged.exists() else folder / QRELS_ELSEWHERE
    if not qrels.exists():
        raise InputError(f"{judged} does not exist: write query-id, corpus-id and score into it, with tabs")
    scores = _pairs(qrels, "score", queries, documents)
    stance = folder / STANCE
    sides = _pairs(stance, "stance", queries, documents, most=1.0) if stance.exists() else {}
    relevant = {q: frozenset(d for d, score in scored.items() if score > 0) for q, scored in scores.items()}
    return BeirCorpus(folder.resolve().name, documents, queries, relevant, sides)


def write(corpus: BeirCorpus, folder: Path) -> None:
    """Write `corpus` in BEIR form; `read` gives it back."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = [{"_id": key, "title": d.title, "text": d.text} for key, d in corpus.documents.items()]
    queries = [{"_id": key, "text": text} for key, text in corpus.queries.items()]
    write_atomically(folder / CORPUS, b"".join(map(encoded, documents)))
    write_atomically(folder / QUERIES, b"".join(map(encoded, queries)))
    judged = {q: dict.fromkeys(sorted(ids), 1.0) for q, ids in corpus.relevant.items()}
    write_atomically(folder / QRELS, _table("score", judged))
    if corpus.stance:
        write_atomically(folder / STANCE, _table("stance", corpus.stance))


def _objects(path: Path) -> Iterator[tuple[str, dict[str, Any], str]]:
    """(id, row, where) of each line; ids are distinct and not empty."""
    seen: set[str] = set()
    for text, where in lines(path):
        row = json_object(text, where)
        key = text_of(row, "_id", where)
        if key in seen:
            raise InputError(f"{where}: the id {key!r} stands here for the second time: ids must be distinct")
        seen.add(key)
        yield key, row, where
    if not seen:
        raise InputError(f"{path} is empty: a corpus needs at least one line in it")


def _document(row: Mapping[str, Any], where: str) -> CorpusText:
    """Title and text; one of them may be empty, as in published corpora, but both keys' values are texts."""
    title = text_of(row, "title", where, needed=False)
    bare = isinstance(row.get("text"), str) and title.strip()
    return CorpusText(title, text_of(row, "text", where, needed=not bare))


def _pairs(
    path: Path,
    column: str,
    queries: Mapping[str, str],
    documents: Mapping[str, CorpusText],
    *,
    most: float = float("inf"),
) -> dict[str, dict[str, float]]:
    """The numbers of `column` by query and document."""
    numbers: dict[str, dict[str, float]] = {}
    for (query_id, doc_id, value), where in table(path, ("query-id", "corpus-id", column), queries):
        if doc_id not in documents:
            raise InputError(f"{where}: there is no document {doc_id!r}: add it or remove the line")
        if doc_id in numbers.setdefault(query_id, {}):
            raise InputError(f"{where}: {query_id} and {doc_id} stand together for the second time")
        numbers[query_id][doc_id] = _number(value, column, most, where)
    return numbers


def table(path: Path, wanted: tuple[str, ...], queries: Mapping[str, str]) -> Iterator[tuple[list[str], str]]:
    """(cells of the `wanted` columns, where) of each line; the first of them is a query's id. Raises InputError."""
    rows = lines(path)
    header, where = next(rows, ("", f"{path}:1"))
    names = [name.strip() for name in header.split("\t")]
    if missing := [name for name in wanted if name not in names]:
        raise InputError(f"{where}: there is no column {missing[0]!r}: the first line names the columns")
    places = [names.index(name) for name in wanted]
    for text, where in rows:
        cells = text.split("\t")
        if len(cells) <= max(places):
            raise InputError(f"{where}: {len(cells)} columns, the header has more: separate them with tabs")
        chosen = [cells[place].strip() for place in places]
        if chosen[0] not in queries:
            raise InputError(f"{where}: there is no query {chosen[0]!r}: add it or remove the line")
        yield chosen, where


def _number(value: str, column: str, most: float, where: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not isfinite(number) or abs(number) > most:
        wanted = f"a number from {-most:g} to {most:g}" if isfinite(most) else "a number"
        raise InputError(f"{where}: {column} is {value!r}: {wanted} is wanted")
    return number


def _table(column: str, values: Mapping[str, Mapping[str, float]]) -> bytes:
    head = f"query-id\tcorpus-id\t{column}"
    rows = [
        f"{query}\t{doc}\t{value:g}" for query, numbers in values.items() for doc, value in numbers.items()
    ]
    return "\n".join([head, *rows, ""]).encode("utf-8")
