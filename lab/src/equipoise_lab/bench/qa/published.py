"""The data sets of the paper, read with the `datasets` library (extra `datasets`).

RepliQA (ServiceNow/repliqa) has one row a question: `document_id`, `document_topic`, `document_path`,
`document_extracted`, `question_id`, `question`, `answer`, `long_answer`; the paper uses split repliqa_3. BioASQ
is enelpol/rag-mini-bioasq: questions (`question`, `answer`, `relevant_passage_ids`, `id`; splits train and test,
the paper uses both) and passages (`id`, `passage`).
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from equipoise.core.errors import InputError
from equipoise.core.types import Span
from equipoise_lab.bench.hub import HUB, rows
from equipoise_lab.bench.qa.items import QaItem, Text
from equipoise_lab.text.repliqa import label, passage
from equipoise_lab.text.whole_words import place

REPLIQA, RAG_MINI_BIOASQ = f"{HUB}/ServiceNow/repliqa", f"{HUB}/enelpol/rag-mini-bioasq"


def repliqa(split: str = "", source: str | None = None) -> list[QaItem]:
    """RepliQA; `source` is a parquet file or pattern to read instead of the published one.

    Labels are corrected by the rule of `equipoise_lab.text.repliqa`.
    Raises MissingExtra, or InputError for a file that cannot be read or has another schema.
    """
    return [
        repliqa_item(row)
        for row in rows("parquet", source or f"{REPLIQA}/data/{split or 'repliqa_3'}-*.parquet")
    ]


def rag_mini_bioasq(split: str = "", source: str | None = None) -> list[QaItem]:
    """BioASQ as in the paper: the relevant passages of a question are its documents, all answerable.

    `source` is a folder with `question-answer-passages` and `text-corpus` to read instead. `split` is train or
    test; both without one. Raises as `repliqa` does.
    """
    base = source or RAG_MINI_BIOASQ
    passages = {str(row["id"]): row["passage"] for row in rows("parquet", f"{base}/text-corpus/*.parquet")}
    items = []
    for row in rows("parquet", f"{base}/question-answer-passages/{split}*.parquet"):
        ids = row["relevant_passage_ids"]
        wanted = [str(passage_id) for passage_id in (json.loads(ids) if isinstance(ids, str) else ids)]
        texts = [
            Text(passage_id, "", passages[passage_id])
            for passage_id in dict.fromkeys(wanted)
            if _worded(passages.get(passage_id))
        ]
        if texts:
            items.append(
                QaItem(str(row["id"]), row["question"], tuple(texts), (row["answer"],), answerable=True)
            )
    return items


def repliqa_item(row: Mapping[str, Any]) -> QaItem:
    """The item of a published row."""
    document = Text(str(row["document_id"]), "", row["document_extracted"])
    answer, long_answer = row["answer"] or "", row["long_answer"] or ""
    answerable, wanted = label(answer, long_answer, document.text), passage(long_answer)
    start = None if answerable is False else place(wanted, document.text)
    gold = () if start is None else (Span(document.doc_id, start, start + len(wanted)),)
    references = (answer,) if answerable and answer.strip() else ()
    return QaItem(str(row["question_id"]), row["question"], (document,), references, gold, answerable)


def _worded(text: str | None) -> bool:
    return bool(text and text.strip() and text != "nan")


READERS: dict[str, Callable[[str], list[QaItem]]] = {
    "repliqa": lambda split: _read(repliqa, split),
    "rag-mini-bioasq": lambda split: _read(rag_mini_bioasq, split),
}


def _read(reader: Callable[[str], list[QaItem]], split: str) -> list[QaItem]:
    try:
        return reader(split)
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise InputError(
            f"the published rows have another schema ({error!r}): see bench/qa/published"
        ) from None
