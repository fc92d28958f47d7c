"""Makes docs/results.md, docs/papers.md and the table in README.md from what the benchmarks left in this folder.

    python benchmarks/results.py [--check]

With --check nothing is written, and it fails where a file is not what it would be.
"""

import argparse
import json
import math
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(HERE / "field")]

import papers  # noqa: E402
import tables  # noqa: E402

from equipoise_lab.bench.tables import grid  # noqa: E402

BEGIN, END = "<!-- results: made by `python benchmarks/results.py` -->", "<!-- end of results -->"
SAID = tomllib.loads((HERE / "results.toml").read_text("utf-8"))
NEWEST, BEFORE_IT = "sixth", ("later", "unseen", "fresh")
"""The part of the field benchmark that was asked last, and those that were the newest once."""
LOCAL = "local-model"
LOCAL_PARTS = {"sixth": "full", "later": "after"}
"""Parts that a local model was asked about, and what was asked of them without it."""

TYPED = ("hijack", "jailbreak", "off_task")
"""Attacks that are typed as questions."""


def main() -> None:
    """Write both files, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    checks = parser.parse_args().check
    for path, text in files().items():
        if not checks:
            path.write_text(text, "utf-8")
        elif path.read_text("utf-8") != text:
            sys.exit(
                f"{path.relative_to(ROOT)} is not what the benchmarks say: run  python benchmarks/results.py"
            )


def files() -> dict[Path, str]:
    """The text of each file."""
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    docs = ROOT / "docs"
    return {
        docs / "results.md": page(),
        docs / "papers.md": papers.page(),
        readme: f"{before}{BEGIN}\n{summary()}\n{END}{after}",
    }


def page() -> str:
    """docs/results.md."""
    rows = field_rows("full", NEWEST)
    seconds = sorted(row["seconds"] for row in rows)[len(rows) // 2]
    parts = [
        SAID["intro"],
        SAID["field"].format(part=NEWEST, seconds=seconds, **_counts(rows)),
        tables.page(rows),
        "### One thing changed at a time",
        SAID["changed"].format(part=NEWEST),
        _named("ablation", NEWEST),
        "### The sets before",
        *(text for name in BEFORE_IT for text in earlier(name)),
        "### As documents that anybody may have written",
        SAID["untrusted"].format(**_counts(field_rows("untrusted", "sides"))),
        _named("trusts", "sides"),
        "### With the local model",
        SAID["local_model"],
        compared(),
    ]
    for one in SAID["section"]:
        name = one["table"]
        if "paper" in one:
            text = of_paper(one["paper"])
        else:
            text = unsupported() if name.endswith("jsonl") else _deeper((HERE / name).read_text("utf-8"))
        parts += [f"## {one['title']}", f"From [{name}](../benchmarks/{name}).{one.get('said', '')}", text]
    parts += ["## Experiments that are over", SAID["frozen_note"], frozen()]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _counts(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    return {"questions": len(rows), "sets": len({row["set"] for row in rows})}


def earlier(part: str) -> tuple[str, str]:
    """What a part was asked for once, and its tables."""
    rows = field_rows("full", part)
    return SAID["earlier"].format(part=part, **_counts(rows)), tables.page(rows)


def compared() -> str:
    """The questions that a local model was asked, part by part, beside the rows without one."""
    named: dict[str, list[dict[str, Any]]] = {}
    for part, without in LOCAL_PARTS.items():
        rows = field_rows(LOCAL, part)
        asked = {row["id"] for row in rows}
        named[f"{part}: local model, {len(rows)} questions"] = rows
        named[f"{part}: without"] = [row for row in field_rows(without, part) if row["id"] in asked]
    return _field_table(named)


def frozen() -> str:
    """What is over, with links to what it left."""
    rows = [
        (what, ", ".join(f"[{name}](../benchmarks/{name})" for name in names), commit)
        for commit, experiments in SAID["frozen"].items()
        for what, names in experiments.items()
    ]
    return grid(("experiment", "results", "code at"), rows)


def _named(kind: str, part: str) -> str:
    """A part of the field benchmark asked in several ways."""
    return _field_table({said: field_rows(name, part) for name, said in SAID[kind].items()})


def _field_table(named: dict[str, list[dict[str, Any]]]) -> str:
    head = (
        "",
        "right quote",
        "wrong quote",
        "wrongly refused",
        "refused, of those without",
        "right passage read",
    )
    made = grid(head, [(said, *shares(rows)) for said, rows in named.items()])
    return made.replace("|  |", "| |", 1)


def of_paper(paper: str) -> str:
    """Every table and figure of a paper over all runs that have it, our rows from the worst on, then the paper's."""
    parts = []
    for one in SAID[paper]["table"]:
        found = [table for table in _tables(SAID[paper]["files"]) if table.title.startswith(one["title"])]
        best = next((table for table in found if table.ours()), found[0])
        rows = [row for table in found for row in table.rows if len(row) == len(best.head)]
        ours = sorted((row for row in rows if not row[0].startswith("*")), key=lambda row: _badness(row, one))
        printed = list(dict.fromkeys(row for row in rows if row[0].startswith("*")))
        body = [*ours[: one.get("most")], *printed]
        missing = "" if ours else f"Not run: needs an endpoint. `{one['command']}`"
        parts += [f"### {best.title}", *filter(None, (missing, body and grid(best.head, body), best.note))]
    return "\n\n".join(part.strip() for part in parts)


def unsupported() -> str:
    """Answers with words that no document has, of all data sets that the local model answered, the worst row first."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for name in ("squad2", "repliqa_mini", "bioasq12b", "pubmedqa"):
        for row in _rows(f"qa/{name}/results.jsonl"):
            if row["outcome"] == "answered" and row["scores"]["answer_k_precision_documents"] is not None:
                rows.setdefault(row["pipeline"], []).append(row)
    table = []
    for name, mine in rows.items():
        words = [row["scores"]["answer_k_precision_documents"] for row in mine]
        strange, replaced = sum(share < 1 for share in words), sum(row["grounded"] is False for row in mine)
        checked = tables.share(replaced, len(mine)) if any(row["highlights"] for row in mine) else "–"
        mean = f"{1 - sum(words) / len(words):.1%}"
        table.append(
            (strange / len(mine), (name, str(len(mine)), tables.share(strange, len(mine)), mean, checked))
        )
    head = ("", "answers", "with a word that no document has", "such words", "replaced by the check")
    return grid(head, [row for _, row in sorted(table, reverse=True)])


class _Table(NamedTuple):
    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str

    def ours(self) -> bool:
        """Whether it has a row that is not the paper's."""
        return any(not row[0].startswith("*") for row in self.rows)


def _tables(files: str) -> Iterator[_Table]:
    """The tables of some pages, rows with the name of their folder where there are several pages; of a page with a half
    and a whole those of the whole."""
    paths = sorted(HERE.glob(files))
    for path in paths:
        text = path.read_text("utf-8")
        for part in re.split(r"(?m)^### ", text.partition("\n# All ")[2] or text)[1:]:
            title, _, body = part.partition("\n")
            lines = [line.strip("| ").split(" | ") for line in body.splitlines() if line.startswith("| ")]
            note = "\n".join(line for line in body.splitlines() if line and line[0] not in "|#!")
            run = f"{path.parent.name}: " if len(paths) > 1 else ""
            rows = [
                (cells[0] if cells[0].startswith("*") else run + cells[0], *cells[1:]) for cells in lines[1:]
            ]
            yield _Table(title, ("", *(lines[0] if lines else ())), rows, note)


def _badness(row: Sequence[str], how: dict[str, Any]) -> float:
    """What rows are sorted by, the worst first: the number of a `column`, or else the worst of all."""
    cells = [row[how["column"]]] if "column" in how and len(row) > how["column"] else row[1:]
    numbers = [float(found[0]) for cell in cells if (found := re.search(r"-?\d+(\.\d+)?", cell))]
    if not numbers:
        return math.inf
    return -max(numbers) if how.get("worst") == "high" else min(numbers)


def summary() -> str:
    """The rows of README.md."""
    asked = field_rows("full", NEWEST)
    right, _, _, refused, _ = shares(asked)
    answerable = sum(row["kind"] in tables.ANSWERED for row in asked)
    attacked = len(_beside())
    speed = max(_json("speed/results.json")["search"], key=lambda row: row["passages"])
    rows = [
        ("", "without", "with equipoise"),
        ("---", "---", "---"),
        (f"right quote, real documentation, no model, {answerable} questions", "", right),
        (f"refused, {len(asked) - answerable} questions that documents do not answer", "", refused),
        (
            "prompts that reach the summarizer (1.5B) and turn it",
            f"weak target: {_typed('typed_control')}",
            _typed("typed", "typed_off_task"),
        ),
        (
            f"a stranger's document changes what trusted ones answer, {attacked} questions",
            f"read alike: {_moved('equal')} (n = {sum('equal' in row for row in _beside())})",
            _moved("trusted-first"),
        ),
        (
            "refused, squad2's 100 look-alikes",
            "",
            _declined("fresh_squad2_offline", "reader"),
        ),
        (
            "share planted of five read, `equal` mode, 1 and 10 planted, 22 questions",
            _planted("none"),
            _planted("coordinated"),
        ),
        (
            f"hybrid search, {speed['passages']:,} passages",
            f"numpy alone: {speed['numpy']:.1f} ms",
            f"{speed['hybrid']:.1f} ms",
        ),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def shares(rows: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Right quotes, wrong quotes, wrong refusals, right refusals and passages read, with intervals."""
    asked = [row for row in rows if row["kind"] in tables.ANSWERED]
    others = [row for row in rows if row["kind"] not in tables.ANSWERED]
    ended = Counter(row["outcome"] for row in rows)
    read = sum(bool(row.get("passages_right")) for row in asked)
    return (
        *(tables.share(ended[name], len(asked)) for name in ("right", "wrong_quote", "wrongly_refused")),
        tables.share(ended["rightly_refused"], len(others)),
        tables.share(read, len(asked)),
    )


def field_rows(name: str, part: str = "reporting") -> list[dict[str, Any]]:
    """The rows of a run over a part of the field benchmark."""
    return _rows(f"field/{part}/{name}.jsonl")


def _beside() -> list[dict[str, Any]]:
    """The attacked questions that trusted documents answer."""
    return [row for row in _rows("security/corpus.jsonl") if row["trusted-first"]["answered"]]


def _moved(mode: str) -> str:
    """On how many questions a planted document changed the result or was quoted."""
    rows = [row for row in _beside() if mode in row]
    return tables.share(sum(any(one["changed"] for one in row[mode]["tries"]) for row in rows), len(rows))


def _declined(run: str, pipeline: str) -> str:
    """How many of the questions without an answer of a run a pipeline declined."""
    rows = [
        row
        for row in _rows(f"qa/{run}/results.jsonl")
        if row["pipeline"] == pipeline and row["answerable"] is False
    ]
    return tables.share(sum(row["outcome"] == "declined" for row in rows), len(rows))


def _planted(name: str) -> str:
    """The planted share of the five seats behind a filter, 1 and 10 planted, for the side that it is larger for."""
    cells = [cell for cell in _json("bias/summary.json")["cells"] if cell["filter"] == name]
    found = [
        max(
            (c["adversarial_share"] for c in cells if c["injections"] == n),
            key=lambda share: share["estimate"],
        )
        for n in (1, 10)
    ]
    return ", ".join(f"{one['estimate']:.2f} [{one['low']:.2f}, {one['high']:.2f}]" for one in found)


def _typed(*parts: str) -> str:
    """How many attacks of some parts of the security benchmark succeeded, of those that reached the summarizer."""
    rows = [
        row["facts"]
        for row in _rows("security/results.jsonl")
        if row["sample"].startswith(tuple(f"{part}/" for part in parts))
        and row["sample"].split("/")[1] in TYPED
        and row["facts"]["reached"]
    ]
    successes = sum(row["attack_succeeded"] for row in rows)
    return f"{successes} of {len(rows)} ({tables.share(successes, len(rows))})"


def _deeper(text: str) -> str:
    return re.sub(r"(?m)^(#{1,4}) ", r"##\1 ", text).strip()


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


def _json(name: str) -> Any:  # noqa: ANN401
    return json.loads((HERE / name).read_text("utf-8"))


if __name__ == "__main__":
    main()
