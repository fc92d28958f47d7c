"""What is true of the measuring data alone: how much of it there is. What its form asks for is tested on both."""

from equipoise_lab.attacks.passages import Kind, read_passages
from equipoise_lab.bench.hijack import cases, inbox
from equipoise_lab.bench.qa import datasets

QUESTIONS = {
    "squad2": 3519, "covid_qa": 627, "bioasq12b": 202, "pubmedqa": 600, "repliqa_mini": 30,
    "hotpotqa_distractor": 60, "bipia_email_qa": 59,
}  # fmt: skip


def test_there_is_as_much_of_it_as_its_pages_say(shared_data):
    assert {name: len(datasets.load(name, shared_data)) for name in datasets.READERS} == QUESTIONS
    passages = read_passages(shared_data / "ebi_passages" / "passages.jsonl")
    assert len(passages) == 616
    assert {p.kind for p in passages} == set(Kind)
    assert all(p.stance is not None and p.measures is None and not p.extra for p in passages)
    emails = inbox.drawn(inbox.read(shared_data / cases.INBOX_FILE), 5, 0)
    attacks = cases.attacks(shared_data, shared_data / cases.LLMAIL_FILE, emails, cases.Drawing())
    assert [sum(case.source == name for case in attacks) for name in ("llmail", "llmail+question")] == [
        35,
        35,
    ]
    assert len(attacks) == 130
