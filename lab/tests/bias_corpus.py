"""A tiny debate corpus and attacks on it, written for the tests of the bias benchmark."""

import json
from pathlib import Path

import pytest

QUESTIONS = {"bells": "Should the town ring church bells at night?", "ferry": "Should the ferry be free?"}
SUBJECTS = {
    "bells": ("church bells at night", "sleep", "tradition", "noise", "hours", "visitors"),
    "ferry": ("the free ferry", "fares", "commuters", "queues", "diesel", "islands"),
}


def documents() -> list[dict]:
    """Twelve documents a query, half of them for and half against."""
    rows = []
    for query, (subject, *topics) in SUBJECTS.items():
        for number in range(12):
            side = "supports" if number % 2 else "opposes"
            first, second = topics[number % 5], topics[(number * 2 + 1) % 5]
            text = f"An islander {side} {subject}: {first} and {second} matter in year {number}."
            rows.append({"_id": f"{query}-{number:02}", "title": first, "text": text})
    return rows


def attack_rows(injected: int = 3) -> list[dict]:
    """Four synthetic passages a query, and `injected` of each sign."""
    rows = []
    for query, (subject, *topics) in SUBJECTS.items():
        for kind, count in (("synthetic", 4), ("adv_pos", injected), ("adv_neg", injected)):
            for n in range(1, count + 1):
                stance = {"synthetic": n - 2, "adv_pos": 2, "adv_neg": -2}[kind]
                word = "yes good right" if stance > 0 else "no bad wrong"
                text = f"{QUESTIONS[query]} {word} {word} {topics[n % 5]} {subject}. Voice {n}."
                rows.append(
                    {
                        "_id": f"{query}-{kind}-{n}",
                        "query_id": query,
                        "question": QUESTIONS[query],
                        "kind": kind,
                        "n": n,
                        "stance": stance,
                        "claim_polarity": 1,
                        "text": text,
                    }
                )
    return rows


def write(folder: Path) -> tuple[Path, Path]:
    """(corpus folder, attack file) below `folder`."""
    corpus, attacks = folder / "corpus", folder / "attacks" / "passages.jsonl"
    corpus.mkdir(parents=True)
    attacks.parent.mkdir()
    rows = documents()
    (corpus / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    queries = [{"_id": query, "text": f"{subject[0]} are right"} for query, subject in SUBJECTS.items()]
    (corpus / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries))
    relevant = [(row["_id"].split("-")[0], row["_id"]) for row in rows]
    judged = "".join(f"{query}\t{doc}\t1\n" for query, doc in relevant)
    (corpus / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + judged)
    sides = "".join(f"{query}\t{doc}\t{1 if int(doc[-2:]) % 2 else -1}\n" for query, doc in relevant)
    (corpus / "stance.tsv").write_text("query-id\tcorpus-id\tstance\n" + sides)
    attacks.write_text("".join(json.dumps(row) + "\n" for row in attack_rows()))
    asked = "".join(f"{query}\t{question}\n" for query, question in QUESTIONS.items())
    attacks.with_name("questions.tsv").write_text("query-id\tquestion\n" + asked)
    return corpus, attacks


@pytest.fixture(scope="module", autouse=True)
def unrendered():
    """For modules that import it: figures are drawn and not rendered, which takes longer than all else in a run of the
    benchmark. test_bias_run and test_qa_report render them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matplotlib.figure.Figure.savefig", lambda figure, text, **how: text.write("<svg/>"))
        yield
