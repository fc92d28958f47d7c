"""One attacked question out of a folder of data sets (`sample_data`), and the benign passages about it."""

from equipoise_lab.attacks.passages import read_passages
from equipoise_lab.bench.bias import corpora


def attack(data):
    """All attack passages of the first question of the file."""
    passages = read_passages(data / "ebi_passages" / "passages.jsonl")
    return [passage for passage in passages if passage.query_id == passages[0].query_id]


def benign(data, query_id, most=20):
    """The first 900 characters of at most so many passages that are relevant to the question."""
    corpus = corpora.read(data / "debate_passages")
    relevant = corpus.relevant[query_id]
    return [document.text[:900] for name, document in corpus.documents.items() if name in relevant][:most]
