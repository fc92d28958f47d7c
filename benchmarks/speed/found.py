"""Whether a question's passage is found at all, by vectors and words together: here and in another checkout.

    python benchmarks/speed/found.py --data data [--sets own-a ...] [--questions 40] [--beside CHECKOUT/src]

Each set of `field_questions` or `manual_questions` is indexed and searched by each version in processes of its own. A
question's passage is found when one of the first 20 holds a unit that answers. 95% intervals (Wilson; bootstrap over
questions for the difference). Writes `found.md` beside this file.
"""

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from questions import INDEX, Version, answers, documents, rows_of, versions

from equipoise_lab.bench import scripts
from equipoise_lab.bench.estimates import Estimator
from equipoise_lab.bench.tables import grid, interval

HERE = Path(__file__).resolve().parent
SETS = (
    *("own-a", "own-b", "gh-deep-review", "gh-kubernetes-reports", "gh-openjs-minutes"),
    *("gh-usds-playbook", "lighttpd-doc", "notmuch-doc"),
)
FIRST = 20
SEARCH = """
import json, sys
from equipoise import Library, Settings
settings = {"model": {"llm": "none"}, "retrieval": {"k": int(sys.argv[2]), "rerank": False}}
with Library.open(sys.argv[1], settings=Settings.model_validate(settings)) as library:
    found = [[one.text for one in library.search(asked).passages] for asked in json.load(sys.stdin)]
print(json.dumps(found))
"""
ESTIMATOR = Estimator(level=0.95, seed=7, resamples=1000)


def is_found(texts: list[str], units: list[str]) -> bool:
    """Whether one of the texts holds one of the units, but for white space."""
    read = ["".join(text.split()) for text in texts]
    return any("".join(unit.split()) in text for text in read for unit in units)


def hits(version: Version, docs: Path, asked: list[str], units: list[list[str]]) -> list[bool]:
    """Of each question, searched by a version in its own index of the documents."""
    version.python(INDEX, docs, version.store)
    found = json.loads(version.python(SEARCH, version.store, FIRST, said=json.dumps(asked))[0])
    return [is_found(*each) for each in zip(found, units, strict=True)]


def main() -> None:
    """Print and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--questions", type=int, default=40, help="of each set")
    parser.add_argument("--beside", type=Path)
    given = parser.parse_args()
    lines, every = [], []
    for done, name in enumerate(given.sets, 1):
        rows, passages = rows_of(given.data, name)
        answered = [row for row in rows if row["gold"]]
        answered = answered[:: max(1, len(answered) // given.questions)][: given.questions]
        by_name = {row["passage"]: row for row in passages}
        with TemporaryDirectory() as place:
            docs = Path(place) / "docs"
            documents(passages, docs)
            units = [answers(row, by_name[row["passage"]]) for row in answered]
            asked = [row["question"] for row in answered]
            found = [hits(one, docs, asked, units) for one in versions(Path(place), given.beside)]
        every.append(np.array(found, np.float64))
        lines.append((name, f"{len(passages)}", f"{len(asked)}", *(f"{sum(each)}" for each in found)))
        scripts.say(done, len(given.sets), f"{name}: {lines[-1]}")
    here, *beside = np.concatenate(every, axis=1)
    together = [interval(ESTIMATOR.share(each.tolist())) for each in (here, *beside)]
    lines.append(("all", "", f"{len(here)}", *together))
    head = ("set", "passages", "questions", "here", *(["beside"] if beside else []))
    less = [f" Here less beside: {interval(ESTIMATOR.mean((here - each).tolist()))}." for each in beside]
    said = f"`make bench-speed`: the passage that answers is among the first {FIRST}.{''.join(less)}"
    page = f"{said}\n\n{grid(head, lines)}\n"
    (HERE / "found.md").write_text(page, "utf-8")
    print(page)


if __name__ == "__main__":
    main()
