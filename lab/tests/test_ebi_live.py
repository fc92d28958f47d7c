"""The EBI attack with the real local model."""

import pytest

from equipoise.core import sync
from equipoise.core.settings import ModelSettings
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag import build
from equipoise_lab.attacks.ebi import EbiAttack, EbiSettings, case_for
from equipoise_lab.attacks.passages import Kind, PassageFile, read_passages


@pytest.mark.live
@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_the_local_model_writes_an_attack(tmp_path):
    chat = build.chat_model(ModelSettings(llm="local"))
    settings = EbiSettings(synthetic=3, adversarial=1, batch=1, words=40, min_words=12, concurrency=1)
    journal = PassageFile(tmp_path / "p.jsonl")
    case = case_for("Should students be allowed to use cell phones in schools?")
    result = sync.run(EbiAttack(chat, EmbeddedEncoder(), settings, journal).run(case))
    assert len(result.of(Kind.SYNTHETIC)) == 3
    assert len(result.passages) + len(result.missing) == 5
    # of a side the model may copy its example in every try
    assert result.of(Kind.ADV_POS) or result.of(Kind.ADV_NEG)
    assert all(passage.measures.ss > 0.2 for passage in result.passages)
    assert {p.passage_id for p in read_passages(journal.path)} == {p.passage_id for p in result.passages}
    print(
        [(p.passage_id, p.stance, p.measures, len(p.text.split())) for p in result.passages], result.missing
    )
