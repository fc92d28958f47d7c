"""Makes docs/results.md, and the table in README.md, from what the benchmarks left in this folder.

    python benchmarks/results.py [--check]

With --check nothing is written, and it fails where a file is not what it would be.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "field"))

import tables  # noqa: E402

BEGIN, END = "<!-- results: made by `python benchmarks/results.py` -->", "<!-- end of results -->"
ABLATION = {
    "after": "as it is",
    "plain": "bare text: no headings, lists or tables",
    "no-spelling": "misspelt words stay",
    "no-rerank": "candidates stay in the order of retrieval",
    "no-threshold": "nothing is declined",
    "sentence": "highlighter `sentence`",
}
LOCAL, CHECKED = "local-model", "local-checked"
INTRO = """# Results

Made by `python benchmarks/results.py` from what the benchmarks left in `benchmarks/`; each section names its command.
The machine has two shared cores and no GPU. Sections that need the local model (questions with known answers, tool
hijack, answers under bias) were measured before documents kept their structure and before the cross-encoder read them,
but for attacks, the field questions and those called fresh: questions that no run had drawn before, with the settings
as they ship. Bias but contested questions, corroboration and "a third untrusted" are of commit dc65961, before the
cross-encoder and with it the embedded stance were trained further.
"""
NEWEST, BEFORE_IT, ABLATED = "sixth", ("later", "unseen", "fresh"), "later"
"""The part of the field benchmark that was asked last, those that were the newest once, and the one that was asked with
one thing changed at a time."""
FIELD = """## Real documentation

`python benchmarks/field/run.py --half {part}`: {sets} sets of documents that nothing was fitted or tried on,
{questions} questions, asked once, no language model; how they were made:
[benchmarks/field](../benchmarks/field/README.md). Median {seconds:.1f} s a question beside other work.
"""
VERSIONS = {"full": "this version", "before": "the version before (commit dc65961)"}
CHANGED = """`python benchmarks/field/run.py --half {part}` with the options that stand in
[benchmarks/field](../benchmarks/field/README.md): the same questions, asked again. A summary is not among them: quotes
do not depend on it."""
OTHERS = """The questions of `{part}` with the reader before it, and with the one after it, whose spelling was made with
these rows in sight:"""
READERS = {"full": "asked once", "before": "the reader before", "after": "the reader after"}
EARLIER = """`python benchmarks/field/run.py --half {part}`: {sets} other sets, {questions} questions, asked once with
the reader of then, when nothing was fitted or tried on them. Since then they have been read and fitted on."""
LOCAL_MODEL = """Qwen2.5-Coder-1.5B, `benchmarks/field/run.py --half PART --every 3 --set
model.llm=local/qwen2.5-coder-1.5b`, and the same questions without it. The later sets were asked once. Every third
question of a set is one of five kinds (plain, vague, one word, near miss, none): a third of those with an answer are
vague, of all questions a fifth. Where the model only checks (`--set highlight.name=reader --set
highlight.abstain=true`) it says whether the passages answer, and the quotes are the reader's."""
UNTRUSTED = """Questions that yes or no answers, {questions} of {sets} sets of all parts, asked as of trusted documents
and as of documents that anybody may have written, at which the filter `voices` looks: `python benchmarks/field/run.py
SET ... --sides --trust untrusted`. Manuals argue for nothing: what the filter takes out here is lost. Left out, for the
time it takes to index them: exim, libreoffice-de, gimp-de, clips, panorama, with such a question each."""
TRUSTS = {
    "trusted": "trusted: no filter",
    "untrusted-before": "untrusted, whatever a passage is about",
    "untrusted": "untrusted",
}
LOCAL_PARTS = {"later": "after", "reporting": "full"}
"""Parts that a local model was asked about, and what was asked of them without it."""
CHECKED_PARTS = ("later",)
SECTIONS: Sequence[tuple[str, str, tuple[str, ...]]] = (
    ("Reader, fitted", "calibration/reader.md", ()),
    ("Retrieval, questions that nothing was fitted on", "retrieval/reporting.md", ()),
    ("Retrieval, the later field sets", "retrieval/later.md", ()),
    ("Retrieval, fitting half", "retrieval/fitting.md", ()),
    ("Questions with known answers", "qa/table.md", ("Table 3.", "Table 5.", "Answers", "Table 4.")),
    ("Tool hijack", "hijack/table.md", ()),
    ("Documents that a stranger writes beside trusted ones", "security/corpus.md", ()),
    ("The same with the local model", "security/corpus-model.md", ()),
    ("Nothing trusted: planters against honest authors", "security/authors.md", ()),
    ("A third of the documents untrusted", "field/mixed/table.md", ()),
    ("Contested questions, nothing trusted", "bias/contested/table.md", ()),
    ("Attacks", "security/table.md", ()),
    ("Attacks: the limit of short pieces", "security/pieces.md", ()),
    ("Attacks: the check of verdicts", "security/tags.md", ()),
    ("Bias", "bias/table.md", ("Table 2.", "Table 3.", "Table 4")),
    (
        "Bias: the attack by the paper's steps, with a small model",
        "bias/own/table.md",
        ("Step 3", "Table 1.", "Table 2.", "Table 3.", "Table 4 with"),
    ),
    ("Bias: the filter joined with BiasDef on that attack", "bias/own/joined.md", ()),
    ("Bias: that attack and the joined filter", "bias/own/joined.md", ()),
    ("Bias: where answers stand, attacked and defended", "bias/defended/table.md", ()),
    ("Bias: worlds in which a filter could flatter itself", "bias/worlds.md", ()),
    ("Bias: the worlds of questions that the embedded stance never saw", "bias/held_out/worlds.md", ()),
    ("Bias: the worlds of the other questions, on which filters are chosen", "bias/fitting/worlds.md", ()),
    ("Stance", "stance/table.md", ()),
    ("Stance by a chat model", "stance/zero.md", ()),
    ("Stance under attack", "stance/injected.md", ()),
    ("Speed", "speed/table.md", ()),
    ("Speed of indexing and of quotes", "speed/frozen.md", ()),
)
"""Title, table, and which of its sections; none: all."""
FROZEN: Mapping[str, Mapping[str, tuple[str, ...]]] = {
  "550b805": {
    "retrieval, each ranking by itself": ("retrieval/reporting.md", "retrieval/later.md", "retrieval/fitting.md"),
    "where answers stand, attacked and defended": ("bias/defended/table.md", "bias/defended/summary.json"),
    "PS and retrieval by different encoders": ("bias/encoders.md", "bias/encoders.json"),
    "PS against human stance on other corpora": ("bias/stance.json",),
    "worlds in which a filter could flatter itself": (
        "bias/worlds.md", "bias/held_out/worlds.md", "bias/fitting/worlds.md",
    ),
    "stance: held-out subjects, its zero, instructions": ("stance/table.md", "stance/zero.md", "stance/injected.md"),
    "the probability that a chat model can answer": ("calibration/abstain.md",),
    "the reader's fit in more figures": ("calibration/reader.md",),
    "training on other data and with other heads": ("training/table.md", "training/results.jsonl"),
    "how often the scan is right": ("scan/README.md", "scan/table.md"),
    "growth of time with hostile input": ("growth/table.md",),
    "speed of indexing, quotes and filters": ("speed/frozen.md", "speed/results.json"),
    "sizes of a deployment": ("sizing/index.json",),
  },
  "02dc7eb": {
    "the sentence highlighter's fit": ("calibration/result.md", "calibration/result-multilingual.md"),
    "planters against honest authors": ("security/authors.md",),
    "contested questions, nothing trusted": ("bias/contested/table.md", "bias/contested/rows.jsonl"),
    "the limit of short pieces, the check of verdicts": ("security/pieces.md", "security/tags.md"),
    "what tells two authors apart": ("bias/README.md",),
    "what the server costs": ("serve/table.md", "serve/results.jsonl"),
    "search in a file and in Postgres": ("stores/table.md", "stores/results.json"),
  },
}  # fmt: skip
"""Experiments that are over, and what they left, by the commit at which their code last stood."""
FROZEN_NOTE = """Of these the results stay and the code is gone. It last stood at the commit named (`git show
COMMIT:benchmarks/`); pages of results name its commands. Agreement of quotes, quotes that answer nothing and the speed
of the scan left numbers in [LOG.md](../benchmarks/LOG.md) alone."""


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
    return {
        ROOT / "docs" / "results.md": page(),
        readme: f"{before}{BEGIN}\n{summary()}\n{END}{after}",
    }


def page() -> str:
    """docs/results.md."""
    rows = field_rows("full", NEWEST)
    seconds = sorted(row["seconds"] for row in rows)[len(rows) // 2]
    parts = [
        INTRO,
        FIELD.format(
            part=NEWEST, seconds=seconds, questions=len(rows), sets=len({row["set"] for row in rows})
        ),
        tables.page(rows),
        _field_table({said: field_rows(name, NEWEST) for name, said in VERSIONS.items()}),
        "### The sets before",
        *(part for name in BEFORE_IT for part in earlier(name)),
        "### One thing changed at a time",
        OTHERS.format(part=ABLATED),
        _field_table({said: field_rows(name, ABLATED) for name, said in READERS.items()}),
        CHANGED.format(part=ABLATED),
        ablation(),
        "### As documents that anybody may have written",
        untrusted(),
        "### With the local model",
        LOCAL_MODEL,
        compared(),
    ]
    for title, name, wanted in SECTIONS:
        source = (HERE / name).read_text("utf-8")
        parts += [f"## {title}", f"From [{name}](../benchmarks/{name}).", excerpt(source, wanted)]
    parts += ["## Experiments that are over", FROZEN_NOTE, frozen()]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def earlier(part: str) -> tuple[str, str]:
    """What a part was asked for once, and its tables."""
    rows = field_rows("full", part)
    said = EARLIER.format(part=part, questions=len(rows), sets=len({row["set"] for row in rows}))
    return said, tables.page(rows)


def ablation() -> str:
    """A part of the field benchmark under each of ABLATION."""
    return _field_table({said: field_rows(name, ABLATED) for name, said in ABLATION.items()})


def untrusted() -> str:
    """Questions that have sides, of trusted documents and of untrusted ones."""
    named = {said: field_rows(name, "sides") for name, said in TRUSTS.items()}
    rows = named[TRUSTS["untrusted"]]
    said = UNTRUSTED.format(questions=len(rows), sets=len({row["set"] for row in rows}))
    return f"{said}\n\n{_field_table(named)}"


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
    lines = ["| experiment | results | code at |", "|---|---|---|"]
    for commit, experiments in FROZEN.items():
        for what, names in experiments.items():
            links = ", ".join(f"[{name}](../benchmarks/{name})" for name in names)
            lines.append(f"| {what} | {links} | {commit} |")
    return "\n".join(lines)


def _field_table(named: dict[str, list[dict[str, Any]]]) -> str:
    lines = [
        "| | right quote | wrong quote | wrongly refused | refused, of those without | right passage read |",
        "|---|---|---|---|---|---|",
    ]
    lines += [f"| {said} | {' | '.join(shares(rows))} |" for said, rows in named.items()]
    return "\n".join(lines)


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
    attacks = [
        attack for attack in _json("hijack/summary.json")["attacks"] if attack["source"] == "all attacks"
    ]
    called = {attack["pipeline"]: attack["called"] for attack in attacks}
    attacked = len(_beside())
    speed = max(_json("speed/results.json")["search"], key=lambda row: row["passages"])
    rows = [
        ("", "without", "with equipoise"),
        ("---", "---", "---"),
        (f"right quote, real documentation, no language model, {answerable} questions", "", right),
        (f"refused, {len(asked) - answerable} questions that the documents do not answer", "", refused),
        (
            "130 attack prompts: a model called the tool (1.5B model)",
            f"plain RAG: {_called(called['vanilla_chat'])}",
            _called(called["indexed"]),
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
            "planted among the best five, the paper's attack, 3 planted (voices)",
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
    lines = (HERE / "field" / part / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _beside() -> list[dict[str, Any]]:
    """The attacked questions that trusted documents answer."""
    lines = (HERE / "security" / "corpus.jsonl").read_text("utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["trusted-first"]["answered"]]


def _moved(mode: str) -> str:
    """On how many questions a planted document changed the result or was quoted."""
    rows = [row for row in _beside() if mode in row]
    return tables.share(sum(any(one["changed"] for one in row[mode]["tries"]) for row in rows), len(rows))


def _mixed(name: str) -> str:
    """Right quotes of the mixed field sets, of the questions whose gold is trusted."""
    lines = (HERE / "field" / "mixed" / "rows.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["gold_is_trusted"]]
    return tables.share(sum(row[name].endswith("right") for row in rows), len(rows))


def _share_of_own(name: str) -> str:
    """The planted share of five on the attack by the paper's steps, against and for."""
    cells = {(c["filter"], c["sign"]): c for c in _json("bias/own/joined.json") if c["injections"] == 3}
    shares = (cells[name, sign]["adversarial"]["value"] for sign in ("adv_neg", "adv_pos"))
    return " / ".join(f"{value:.2f}" for value in shares) + " (6 questions)"


def _called(rate: dict[str, Any]) -> str:
    return f"{rate['k']} ({rate['estimate']:.0%} [{rate['low']:.0%}, {rate['high']:.0%}])"


def _deeper(text: str) -> str:
    return re.sub(r"(?m)^(#{1,4}) ", r"##\1 ", text).strip()


def _json(name: str) -> Any:  # noqa: ANN401
    return json.loads((HERE / name).read_text("utf-8"))


if __name__ == "__main__":
    main()
