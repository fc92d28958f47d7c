"""Learns which differences of style tell hands apart, from documents by people alone.

    python benchmarks/bias/hands.py --data FOLDER

Takes the debate passages of claims that no attack was written for, cut into stretches of WORDS words, and writes
src/equipoise/rag/hands.json: means, scales and covariances, no text. Prints how well hands are told apart on the
passages of the attacked claims, which it has not learnt from.
"""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
from scipy.stats import mannwhitneyu

from equipoise.maths.hands import Hands, learnt
from equipoise.rag import voices
from equipoise.text.style import stretches, style
from equipoise_lab.attacks.passages import Kind
from equipoise_lab.bench import scripts
from equipoise_lab.bench.bias import attacks, corpora

OUT = Path(voices.__file__).with_name(voices.LEARNT)
WORDS = 112
"""As many as a passage of the paper's attack has on average."""
MOST = 8
"""Stretches of one document: a long one would otherwise decide what a hand is."""
DIGITS = 6


def main() -> None:
    """Learn, say how well, write."""
    parser = scripts.parser(__file__, __doc__)
    data = parser.parse_args().data
    corpus = corpora.read(data / "debate_passages")
    attacked = attacks.read(data / "ebi_passages" / "passages.jsonl", corpus)
    held_out = {doc_id for attack in attacked for doc_id in corpus.relevant[attack.query_id]}
    learning = [
        (doc_id, cut) for doc_id in corpus.documents if doc_id not in held_out for cut in _cut(corpus, doc_id)
    ]
    hands = learnt([style(cut) for _, cut in learning], [doc_id for doc_id, _ in learning])
    print(f"learnt from {len(learning)} stretches of {len({doc_id for doc_id, _ in learning})} documents")
    _say(hands, corpus, attacked, sorted(held_out))
    values = {name: np.round(value, DIGITS).tolist() for name, value in asdict(hands).items()}
    OUT.write_text(json.dumps(values, separators=(",", ":")) + "\n", encoding="utf-8")


def _cut(corpus: corpora.Corpus, doc_id: str) -> list[str]:
    return stretches(corpus.documents[doc_id].text, WORDS)[:MOST]


def _say(
    hands: Hands, corpus: corpora.Corpus, attacked: tuple[attacks.Attack, ...], held_out: list[str]
) -> None:
    """AUC of the ratio on what was not learnt from: pairs of one document against pairs of two, and pairs of passages
    planted together against pairs of one of them and one by people."""
    people = [(doc_id, cut) for doc_id in held_out for cut in _cut(corpus, doc_id)]
    ratios = hands.ratios([style(cut) for _, cut in people])
    names = np.array([doc_id for doc_id, _ in people])
    above = np.triu(np.ones_like(ratios, np.bool_), 1)
    same = names[:, None] == names
    print(
        f"stretches of one document against two: AUC {_auc(ratios[above & same], ratios[above & ~same]):.3f}"
    )
    together, apart = [], []
    for attack in attacked:
        by_people = [
            style(corpus.documents[doc_id].text) for doc_id in sorted(corpus.relevant[attack.query_id])
        ]
        for sign in (Kind.ADV_NEG, Kind.ADV_POS):
            written = [style(passage.text) for passage in attack.passages[sign]]
            ratios, n = hands.ratios([*written, *by_people]), len(written)
            together.append(ratios[:n, :n][np.triu_indices(n, 1)])
            apart.append(ratios[:n, n:].ravel())
    print(
        f"planted together against planted and not: AUC {_auc(np.concatenate(together), np.concatenate(apart)):.3f}"
    )


def _auc(higher: np.ndarray, lower: np.ndarray) -> float:
    return float(mannwhitneyu(higher, lower).statistic / (len(higher) * len(lower)))


if __name__ == "__main__":
    main()
