"""Published data sets as corpora, read with the `datasets` library (extra `datasets`).

Schemas, as published: WIKI-BALANCE (SALT-NLP/wiki-balance-natural and -synthetic) is BEIR: `corpus.jsonl.gz`,
`queries.jsonl.gz`, and `test.tsv` in the repository `...-qrels`. HotpotQA (hotpotqa/hotpot_qa, distractor) has
one row a question with `context` and `supporting_facts` as lists beside each other. Reddit-Dialogues (Harel and
others, SIGIR 2022) is a list of dialogues in `dialogues.json`, each with labelled `candidates`; it is not on
the hub, so its file has to be named.
"""

from collections.abc import Callable, Mapping

from equipoise.core.errors import InputError
from equipoise_lab.bench.bias.corpora import BeirCorpus, CorpusText
from equipoise_lab.bench.hub import HUB, rows


def load(name: str, source: str | None = None) -> BeirCorpus:
    """The data set `name`, from `source` (a folder for WIKI-BALANCE, else a file) or where it is published.

    Raises MissingExtra without `datasets`, InputError for an unknown name, a source that cannot be read, and
    rows of another schema.
    """
    if name not in LOADERS:
        raise InputError(f"there is no data set {name!r}: choose one of {', '.join(LOADERS)}")
    try:
        return LOADERS[name](name, source)
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{source or name}: the rows have another schema ({error!r}): check the file"
        ) from None


def wiki_balance(name: str, source: str | None) -> BeirCorpus:
    """WIKI-BALANCE; `source` is a folder with the three files side by side."""
    base = source or f"{HUB}/SALT-NLP/{name}"
    judged = f"{source}/test.tsv" if source else f"{base}-qrels/test.tsv"
    documents = {
        str(row["_id"]): CorpusText(row["title"] or "", row["text"])
        for row in rows("json", f"{base}/corpus.jsonl.gz")
    }
    queries = {str(row["_id"]): row["text"] for row in rows("json", f"{base}/queries.jsonl.gz")}
    relevant: dict[str, set[str]] = {}
    for row in rows("csv", judged, delimiter="\t"):
        query_id, doc_id = str(row["query-id"]), str(row["corpus-id"])
        if row["score"] > 0 and query_id in queries and doc_id in documents:
            relevant.setdefault(query_id, set()).add(doc_id)
    return _corpus(name, documents, queries, relevant)


def hotpotqa(name: str, source: str | None) -> BeirCorpus:
    """HotpotQA, the validation questions: paragraphs are documents, those with supporting facts relevant."""
    file = source or f"{HUB}/hotpotqa/hotpot_qa/distractor/validation-*.parquet"
    documents: dict[str, CorpusText] = {}
    queries, relevant = {}, {}
    for row in rows("parquet", file):
        context = row["context"]
        for title, sentences in zip(context["title"], context["sentences"], strict=True):
            documents.setdefault(title, CorpusText(title, "".join(sentences).strip()))
        queries[str(row["id"])] = row["question"]
        relevant[str(row["id"])] = set(row["supporting_facts"]["title"]) & set(context["title"])
    return _corpus(name, documents, queries, relevant)


def reddit_dialogues(name: str, source: str | None) -> BeirCorpus:
    """Reddit-Dialogues: a query is a dialogue's title and turns, candidate sentences are documents."""
    if source is None:
        raise InputError(
            f"{name} is not on the hub: download dialogues.json from the repository of its authors "
            "(SIGIR-2022/A-Dataset-for-Sentence-Retrieval-for-Open-Ended-Dialogues) and name it with --source"
        )
    documents: dict[str, CorpusText] = {}
    queries: dict[str, str] = {}
    relevant: dict[str, set[str]] = {}
    for row in rows("json", source):
        query_id = str(row["id"])
        queries[query_id] = "\n".join([row["title"], *(turn["body"] for turn in row["context"])])
        for candidate in row["candidates"]:
            documents.setdefault(str(candidate["id"]), CorpusText(candidate["title"], candidate["body"]))
            if candidate["label"] == 1:
                relevant.setdefault(query_id, set()).add(str(candidate["id"]))
    return _corpus(name, documents, queries, relevant)


LOADERS: dict[str, Callable[[str, str | None], BeirCorpus]] = {
    "wiki-balance-natural": wiki_balance,
    "wiki-balance-synthetic": wiki_balance,
    "hotpotqa": hotpotqa,
    "reddit-dialogues": reddit_dialogues,
}


def _corpus(
    name: str,
    documents: Mapping[str, CorpusText],
    queries: Mapping[str, str],
    relevant: Mapping[str, set[str]],
) -> BeirCorpus:
    return BeirCorpus(name, documents, queries, {query: frozenset(ids) for query, ids in relevant.items()})
