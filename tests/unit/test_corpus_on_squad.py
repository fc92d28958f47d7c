"""The whole room on real articles: files to passages to keyword search."""

import json

from equipoise.core.types import Trust
from equipoise.corpus.chunks import MOST
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from hashed_words import HashedWords


def test_questions_find_the_passage_with_their_answer(sample_data, tmp_path):
    squad = sample_data / "squad2"
    questions = [json.loads(line) for line in (squad / "questions.jsonl").read_text("utf-8").splitlines()]
    asked = [q for q in questions if q["answerable"]][:200]
    with Store.open(tmp_path / "s.db", create=True) as store:
        report = index(squad / "documents.jsonl", store, HashedWords())
        assert report.failed == ()
        for doc_id in store.doc_ids():
            text = store.document(doc_id).text
            for passage in store.passages_of(doc_id):
                assert passage.text == text[passage.start : passage.end]
                assert len(passage.text) <= MOST
        hits = 0
        for question in asked:
            top = store.passages(i for i, _ in store.partition(Trust.TRUSTED).bm25(question["question"], 5))
            hits += any(answer["text"] in p.text for p in top for answer in question["answers"])
    assert hits / len(asked) > 0.9
