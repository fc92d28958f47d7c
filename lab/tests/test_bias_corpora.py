"""BEIR folders and attack files: what is read, and what is refused with file and line."""

import json

import pytest

import bias_corpus
from equipoise.core.errors import EquipoiseError, InputError
from equipoise_lab.attacks.passages import Kind
from equipoise_lab.bench.bias import attacks, corpora


@pytest.fixture
def folder(tmp_path):
    return bias_corpus.write(tmp_path)[0]


def replace_line(path, number, text):
    lines = path.read_text().splitlines()
    lines[number - 1] = text
    path.write_text("\n".join(lines) + "\n")


def test_a_corpus_is_read(folder):
    corpus = corpora.read(folder)
    assert (corpus.name, len(corpus.documents), len(corpus.queries)) == ("corpus", 24, 2)
    assert corpus.relevant["ferry"] == frozenset(f"ferry-{n:02}" for n in range(12))
    assert (corpus.stance["bells"]["bells-01"], corpus.stance["bells"]["bells-02"]) == (1.0, -1.0)


def test_what_is_written_is_read_again(folder, tmp_path):
    corpus = corpora.read(folder)
    corpora.write(corpus, tmp_path / "again" / "corpus")
    assert corpora.read(tmp_path / "again" / "corpus") == corpus


def test_judgements_of_0_are_not_relevant_and_stance_may_be_missing(folder):
    replace_line(folder / "qrels.tsv", 2, "bells\tbells-00\t0")
    (folder / "stance.tsv").unlink()
    corpus = corpora.read(folder)
    assert "bells-00" not in corpus.relevant["bells"]
    assert corpus.stance == {}


def test_a_text_may_be_empty_where_there_is_a_title(folder):
    replace_line(folder / "corpus.jsonl", 1, '{"_id": "bells-00", "title": "Noise", "text": ""}')
    assert corpora.read(folder).documents["bells-00"] == corpora.CorpusText("Noise", "")


def test_judgements_may_stand_where_beir_has_them(folder):
    (folder / "qrels").mkdir()
    (folder / "qrels.tsv").rename(folder / "qrels" / "test.tsv")
    assert len(corpora.read(folder).relevant) == 2


BROKEN = [
    ("corpus.jsonl", 3, '{"_id": "x"', "not valid JSON"),
    ("corpus.jsonl", 3, "[1]", "a JSON object is wanted, not list"),
    ("corpus.jsonl", 3, '{"text": "no id"}', "'_id' is missing"),
    ("corpus.jsonl", 3, '{"_id": "x", "title": "t"}', "'text' is missing"),
    ("corpus.jsonl", 3, '{"_id": "x", "text": " "}', "'text' is ' '"),
    ("corpus.jsonl", 3, '{"_id": "x", "title": "", "text": ""}', "'text' is ''"),
    ("corpus.jsonl", 3, '{"_id": "x", "title": "t", "text": null}', "'text' is missing"),
    ("corpus.jsonl", 3, '{"_id": "x", "text": 7}', "'text' is 7"),
    ("corpus.jsonl", 3, '{"_id": "bells-00", "text": "twice"}', "'bells-00' stands here for the second time"),
    ("queries.jsonl", 2, '{"_id": "bells", "text": "twice"}', "'bells' stands here for the second time"),
    ("qrels.tsv", 1, "query-id\tcorpus-id", "no column 'score'"),
    ("qrels.tsv", 4, "bells\tbells-02", "2 columns"),
    ("qrels.tsv", 4, "nobody\tbells-02\t1", "no query 'nobody'"),
    ("qrels.tsv", 4, "bells\tnowhere\t1", "no document 'nowhere'"),
    ("qrels.tsv", 4, "bells\tbells-00\t1", "for the second time"),
    ("qrels.tsv", 4, "bells\tbells-02\thigh", "score is 'high'"),
    ("qrels.tsv", 4, "bells\tbells-02\tnan", "score is 'nan'"),
    ("stance.tsv", 1, "query-id\tcorpus-id\tside", "no column 'stance'"),
    ("stance.tsv", 4, "bells\tbells-02\tpro", "stance is 'pro': a number from -1 to 1"),
    ("stance.tsv", 4, "bells\tbells-02\t2", "stance is '2'"),
    ("stance.tsv", 4, "bells\tmissing\t1", "no document 'missing'"),
]


@pytest.mark.parametrize(("name", "line", "text", "why"), BROKEN)
def test_a_broken_file_is_refused_with_file_and_line(folder, name, line, text, why):
    replace_line(folder / name, line, text)
    with pytest.raises(InputError) as caught:
        corpora.read(folder)
    message = str(caught.value)
    assert message.startswith(f"{folder / name}:{line}: ")
    assert why in message
    assert "\n" not in message


def test_bytes_that_are_not_utf8_are_refused_with_their_line(folder):
    path = folder / "corpus.jsonl"
    path.write_bytes(path.read_bytes() + b"\xff\xfe\n")
    with pytest.raises(InputError, match=r"corpus\.jsonl:25: not UTF-8"):
        corpora.read(folder)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(InputError, match=name):
        corpora.read(folder)


def test_an_empty_corpus_and_a_missing_folder_are_refused(folder):
    (folder / "corpus.jsonl").write_text("\n")
    with pytest.raises(InputError, match=r"corpus\.jsonl is empty"):
        corpora.read(folder)
    with pytest.raises(InputError, match="not a folder"):
        corpora.read(folder / "nowhere")


@pytest.fixture
def attacked(tmp_path):
    folder, file = bias_corpus.write(tmp_path / "attacked")
    return corpora.read(folder), file


def test_attacks_are_read_by_query_with_their_questions(attacked):
    corpus, file = attacked
    replace_line(file.with_name("questions.tsv"), 2, "bells\tBells at night?")
    written = attacks.read(file, corpus)
    assert [attack.query_id for attack in written] == ["bells", "ferry"]
    assert written[0].question == "Bells at night?"
    assert {kind: len(passages) for kind, passages in written[0].passages.items()} == {
        Kind.SYNTHETIC: 4,
        Kind.ADV_POS: 3,
        Kind.ADV_NEG: 3,
    }
    assert [p.n for p in written[1].passages[Kind.ADV_NEG]] == [1, 2, 3]


def test_without_a_questions_file_the_passages_say_the_question(attacked):
    corpus, file = attacked
    file.with_name("questions.tsv").unlink()
    assert attacks.read(file, corpus)[1].question == bias_corpus.QUESTIONS["ferry"]


def test_adaptive_passages_are_left_out(attacked):
    corpus, file = attacked
    extra = bias_corpus.attack_rows(1)[4] | {"_id": "bells-far-1", "variant": "far"}
    file.write_text(file.read_text() + json.dumps(extra) + "\n")
    assert len(attacks.read(file, corpus)[0].passages[Kind.ADV_POS]) == 3


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"query_id": "nobody"}, "attacks query 'nobody'"),
        ({"_id": "bells-00"}, "the id 'bells-00' is that of a document"),
        ({"kind": "rude"}, ":2: 'kind'"),
        ({"n": 0}, ":2: 'n'"),
        ({"stance": 3}, ":2: 'stance'"),
        ({"text": ""}, ":2: 'text'"),
        ({"_id": "bells-synthetic-1"}, ":2: has the _id 'bells-synthetic-1' of "),
    ],
)
def test_an_attack_that_cannot_be_used_is_refused(attacked, change, why):
    corpus, file = attacked
    replace_line(file, 2, json.dumps(bias_corpus.attack_rows()[1] | change))
    with pytest.raises(EquipoiseError, match=why) as caught:
        attacks.read(file, corpus)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("line", "text", "why"),
    [
        (1, "query\tquestion", "no column 'query-id'"),
        (2, "bells", "1 columns"),
        (2, "bells\t ", "no question"),
        (2, "x\tWhy?", "no query 'x'"),
    ],
)
def test_a_broken_questions_file_is_refused_with_file_and_line(attacked, line, text, why):
    corpus, file = attacked
    replace_line(file.with_name("questions.tsv"), line, text)
    with pytest.raises(InputError, match=f"questions.tsv:{line}: .*{why}"):
        attacks.read(file, corpus)


def test_too_few_passages_for_the_injections_are_refused(attacked):
    written = attacks.read(attacked[1], attacked[0])
    attacks.need(written, 3)
    with pytest.raises(InputError, match="query bells has 3 adv_neg passages and 4"):
        attacks.need(written, 4)
