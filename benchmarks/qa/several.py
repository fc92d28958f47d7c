"""How often a message that asks several questions is taken apart into just these, and one that asks one stays whole.

    python benchmarks/qa/several.py [--data data] [--table]

Questions of the data sets, and messages made of them by rule, in the ways of FORMS; those of one message are about
different things. Exact: the questions found are those put in, word for word. One of `hotpotqa_distractor` asks for
two facts at once. Counts go to several.json, the page to several.md.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from equipoise.text.questions import split_questions
from equipoise_lab.bench import scripts
from equipoise_lab.bench.qa import datasets
from equipoise_lab.bench.qa.items import SEED

HERE = Path(__file__).resolve().parent
SETS = ("squad2", "bioasq12b", "pubmedqa", "covid_qa")
WHOLE = (*SETS, "hotpotqa_distractor")
LIMIT = 300
"""Messages of each kind."""


def _bare(question: str) -> str:
    return question.rstrip("?! .")


def _lower(question: str) -> str:
    return question[:1].lower() + question[1:]


FORMS: dict[str, tuple[int, Callable[[Sequence[str]], str]]] = {
    "two, one after the other": (2, " ".join),
    "three, one after the other": (3, " ".join),
    "two, each on a line": (2, "\n".join),
    "three in a numbered list": (3, lambda asked: "\n".join(f"{n}. {one}" for n, one in enumerate(asked, 1))),
    "two behind a greeting": (2, lambda asked: f"Hello, I have two questions. {' '.join(asked)} Thank you!"),
    "two, the second with Also": (2, lambda asked: f"{asked[0]} Also, {_lower(asked[1])}"),
    "two joined by and": (2, lambda asked: f"{_bare(asked[0])}, and {_lower(asked[1])}"),
    "two lines without question marks": (2, lambda asked: "\n".join(map(_bare, asked))),
}
"""How many questions are put together, and how."""


def main() -> None:
    """Count, and write both files."""
    arguments = scripts.parser(__file__, __doc__, table=True).parse_args()
    if not arguments.table:
        (HERE / "several.json").write_text(json.dumps(count(arguments.data), indent=1) + "\n", "utf-8")
    (HERE / "several.md").write_text(page(json.loads((HERE / "several.json").read_text("utf-8"))), "utf-8")


def count(data: Path) -> dict[str, Sequence[int]]:
    """How many messages of each form, and single questions, are taken apart exactly, and of how many."""
    asked = {name: _questions(name, data) for name in WHOLE}
    every = [one for name in SETS for one in asked[name]]
    rng, counts = Random(SEED), dict[str, Sequence[int]]()
    for form, (size, put) in FORMS.items():
        drawn = [rng.sample(every, size) for _ in range(LIMIT)]
        counts[form] = [sum(_found(put(some)) == [_key(one) for one in some] for some in drawn), LIMIT]
    for name, some in asked.items():
        left = rng.sample(some, min(LIMIT, len(some)))
        counts[f"left whole: {name}"] = [sum(len(split_questions(one)) == 1 for one in left), len(left)]
    return counts


def page(counts: dict[str, Sequence[int]]) -> str:
    """The page, the worst row first."""
    rows = sorted(counts.items(), key=lambda row: row[1][0] / row[1][1])
    shown = [
        (form, scripts.rate(*both, form="{hits} of {of}, {share:.0%} [{low:.0%}, {high:.0%}]"))
        for form, both in rows
    ]
    said = "`python benchmarks/qa/several.py`: messages of several questions, and questions that are one. 95%, exact."
    return f"# Messages that ask several questions\n\n{said}\n\n{scripts.table(('', 'taken apart exactly'), shown)}"


def _questions(name: str, data: Path) -> list[str]:
    return sorted({item.question for item in datasets.load(name, data) if item.question.endswith("?")})


def _key(question: str) -> str:
    """What is compared; a thank-you behind the last question is left there, and does no harm."""
    return _bare(
        " ".join(_bare(question).casefold().removeprefix("also, ").removesuffix("thank you").split())
    )


def _found(message: str) -> list[str]:
    return [_key(one.text) for one in split_questions(message)]


if __name__ == "__main__":
    main()
