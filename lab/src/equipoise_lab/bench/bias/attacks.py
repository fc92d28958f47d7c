"""Attack passages joined with the queries of a corpus, and the questions they were written for."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.errors import InputError
from equipoise_lab.attacks.passages import AttackPassage, Kind, read_passages
from equipoise_lab.bench.bias import corpora
from equipoise_lab.bench.bias.corpora import BeirCorpus

QUESTIONS = "questions.tsv"
SIGNS = (Kind.ADV_NEG, Kind.ADV_POS)


@dataclass(frozen=True, slots=True)
class WrittenAttack:
    """All passages written for one query, each kind in the order of its numbers.

    `polarity` is 1 where "yes" to `question` agrees with the corpus's query, -1 where it opposes it.
    """

    query_id: str
    question: str
    polarity: int
    passages: Mapping[Kind, tuple[AttackPassage, ...]]


def read(path: Path, corpus: BeirCorpus) -> tuple[WrittenAttack, ...]:
    """The attacks in `path` in the order of their query ids; adaptive passages (with a variant) are left out.

    The question is that of `questions.tsv` beside the file where it has the query, else the passages' own.
    Raises UnreadableFile with the line for a row that cannot be used, InputError where a passage has the id
    of a document, or a query that the corpus does not have.
    """
    asked = _questions(path.with_name(QUESTIONS), corpus)
    by_query: dict[str, list[AttackPassage]] = {}
    for passage in read_passages(path):
        _check(passage, corpus, path)
        if not passage.variant or passage.kind is Kind.SYNTHETIC:
            by_query.setdefault(passage.query_id, []).append(passage)
    if not by_query:
        raise InputError(f"{path} holds no attack passage: give a file of `equipoise ebi craft`")
    return tuple(_attack(by_query[query_id], asked) for query_id in sorted(by_query))


def need(attacks: tuple[WrittenAttack, ...], count: int) -> None:
    """Raises InputError where an attack has fewer than `count` passages of either sign."""
    for attack in attacks:
        for sign in SIGNS:
            if (there := len(attack.passages[sign])) < count:
                raise InputError(
                    f"query {attack.query_id} has {there} {sign} passages and {count} are to be injected: "
                    "lower --injections or write more passages"
                )


def _attack(passages: list[AttackPassage], asked: Mapping[str, str]) -> WrittenAttack:
    first = passages[0]
    kinds = {
        kind: tuple(sorted((p for p in passages if p.kind is kind), key=lambda p: (p.n, p.passage_id)))
        for kind in Kind
    }
    question = asked.get(first.query_id, first.question)
    return WrittenAttack(first.query_id, question, first.claim_polarity, kinds)


def _check(passage: AttackPassage, corpus: BeirCorpus, path: Path) -> None:
    if passage.query_id not in corpus.queries:
        raise InputError(
            f"{path}: passage {passage.passage_id} attacks query {passage.query_id!r}, which the corpus "
            f"{corpus.name} does not have: give the corpus it was written for"
        )
    if passage.passage_id in corpus.documents:
        raise InputError(
            f"{path}: the id {passage.passage_id!r} is that of a document of the corpus: rename it"
        )


def _questions(path: Path, corpus: BeirCorpus) -> dict[str, str]:
    """The questions by query id; none where there is no such file."""
    if not path.exists():
        return {}
    questions = {}
    for (query_id, question), where in corpora.table(path, ("query-id", "question"), corpus.queries):
        if not question:
            raise InputError(f"{where}: there is no question: write query-id and question with a tab between")
        questions[query_id] = question
    return questions
