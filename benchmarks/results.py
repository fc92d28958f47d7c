"""Makes docs/results.md, and the table in README.md, from what the benchmarks left in this folder.

    python benchmarks/results.py [--check]

With --check nothing is written, and it fails where a file is not what it would be.
"""

import argparse
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "field"))

import tables  # noqa: E402

from equipoise_lab.bench.tables import grid  # noqa: E402

BEGIN, END = "<!-- results: made by `python benchmarks/results.py` -->", "<!-- end of results -->"
SAID = tomllib.loads((HERE / "results.toml").read_text("utf-8"))
NEWEST, BEFORE_IT, ABLATED = "sixth", ("later", "unseen", "fresh"), "later"
"""The part of the field benchmark that was asked last, those that were the newest once, and the one that was asked with
one thing changed at a time."""
LOCAL, CHECKED = "local-model", "local-checked"
LOCAL_PARTS = {"later": "after", "reporting": "full"}
"""Parts that a local model was asked about, and what was asked of them without it."""
CHECKED_PARTS = ("later",)


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
    return {ROOT / "docs" / "results.md": page(), readme: f"{before}{BEGIN}\n{summary()}\n{END}{after}"}


def page() -> str:
    """docs/results.md."""
    rows = field_rows("full", NEWEST)
    seconds = sorted(row["seconds"] for row in rows)[len(rows) // 2]
    parts = [
        SAID["intro"],
        SAID["field"].format(part=NEWEST, seconds=seconds, **_counts(rows)),
        tables.page(rows),
        _named("versions", NEWEST),
        "### The sets before",
        *(text for name in BEFORE_IT for text in earlier(name)),
        "### One thing changed at a time",
        SAID["others"].format(part=ABLATED),
        _named("readers", ABLATED),
        SAID["changed"].format(part=ABLATED),
        _named("ablation", ABLATED),
        "### As documents that anybody may have written",
        SAID["untrusted"].format(**_counts(field_rows("untrusted", "sides"))),
        _named("trusts", "sides"),
        "### With the local model",
        SAID["local_model"],
        compared(),
    ]
    for one in SAID["section"]:
        name = one["table"]
        text = excerpt((HERE / name).read_text("utf-8"), one.get("parts", ()))
        parts += [f"## {one['title']}", f"From [{name}](../benchmarks/{name}).", text]
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
        if part in CHECKED_PARTS:
            named[f"{part}: local model as a check"] = field_rows(CHECKED, part)
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


def excerpt(text: str, wanted: Sequence[str]) -> str:
    """The sections of a page whose titles begin with one of `wanted`, one level deeper; all of it for none."""
    if not wanted:
        return _deeper(text)
    body = group = ""
    for part in re.split(r"(?m)^(?=#+ )", text):
        title = part.partition("\n")[0].lstrip("# ")
        if part.startswith("# ") and title != "Questions answered over documents":
            group = part.partition("\n")[0]
        elif title.startswith(tuple(wanted)):
            body += f"{group}\n\n{part}" if group else part
            group = ""
    return _deeper(body)


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
            "right where trusted ones answer, a third untrusted",
            f"all trusted: {_mixed('all')}",
            _mixed("mixed"),
        ),
        (
            "planted among the best five, the paper's attack, 3 planted",
            _share_of_own("none"),
            _share_of_own("joined"),
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


def _mixed(name: str) -> str:
    """Right quotes of the mixed field sets, of the questions whose gold is trusted."""
    rows = [row for row in _rows("field/mixed/rows.jsonl") if row["gold_is_trusted"]]
    return tables.share(sum(row[name].endswith("right") for row in rows), len(rows))


def _share_of_own(name: str) -> str:
    """The planted share of five on the attack by the paper's steps, against and for."""
    cells = {(c["filter"], c["sign"]): c for c in _json("bias/own/joined.json") if c["injections"] == 3}
    shares = (cells[name, sign]["adversarial"]["value"] for sign in ("adv_neg", "adv_pos"))
    return " / ".join(f"{value:.2f}" for value in shares) + " (6 questions)"


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
