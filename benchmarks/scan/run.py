"""Does the scan find attack texts, and leave others alone?

    python benchmarks/scan/run.py [--data data] [--half report] [--show SET] [--table FILE]

Each text of a set is scanned by itself, as a document of one file. It counts as found where a rule of the groups
`instruction`, `tool`, `encoded` or `unicode` of severity medium or high fires; sentences are counted apart for the
sets that hold no attack. Rules were chosen on the half `choose` alone, by a hash of the ids (`splits.part_of`), and the
table shows `report`. `--show` prints what was missed or wrongly found, on the half `choose` only.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.types import Document
from equipoise.redteam.scan import Finding, Scanned, Severity, load, scan
from equipoise.text.blocks import blocks
from equipoise.text.outline import outlined
from equipoise.text.sentences import units
from equipoise_lab.bench import scripts
from equipoise_lab.maths.statistics import wilson

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from splits import part_of  # noqa: E402

GROUPS = frozenset({"instruction", "tool", "encoded", "unicode"})
Texts = Iterator[tuple[str, str]]


@dataclass(frozen=True)
class Set:
    """A set of texts: where they are, and whether they are attacks."""

    name: str
    attack: bool
    read: Callable[[Path], Texts]


@dataclass(frozen=True)
class Counted:
    """What the scan did with a set: texts, those found, sentences, those with a finding."""

    texts: int
    found: int
    sentences: int
    touched: int


def lines(name: str, field: str, key: str = "id") -> Callable[[Path], Texts]:
    """(id, text) of a JSON Lines file."""

    def read(data: Path) -> Texts:
        for row in scripts.read(data / name):
            yield str(row[key]), str(row[field])

    return read


def mails(name: str) -> Callable[[Path], Texts]:
    """(id, subject and body) of mails."""

    def read(data: Path) -> Texts:
        for row in scripts.read(data / "llmail_inject" / name):
            yield str(row["id"]), f"{row['subject']}\n\n{row['body']}"

    return read


def squad(data: Path) -> Texts:
    """Every paragraph; all of an article are in one half."""
    for row in scripts.read(data / "squad2" / "documents.jsonl"):
        for paragraph in row["paragraphs"]:
            yield str(row["doc_id"]), paragraph


def emails_of_bipia(data: Path) -> Texts:
    """The benign mails, each once."""
    seen: dict[str, str] = {}
    for row in scripts.read(data / "bipia_email_qa" / "questions.jsonl"):
        seen.setdefault(row["document"], str(row["id"]))
    for text, name in seen.items():
        yield name, text


SETS = (
    Set("llmail_inject attacks", True, mails("attacks.jsonl")),
    Set("prompt_injections", True, lines("attack_prompts/prompt_injections.jsonl", "prompt")),
    Set("in_the_wild jailbreaks", True, lines("attack_prompts/in_the_wild.jsonl", "prompt")),
    Set("jailbreakbench", True, lines("attack_prompts/jailbreakbench.jsonl", "prompt", "behavior")),
    Set("bipia off-task requests", True, lines("attack_prompts/bipia_text_attacks.jsonl", "prompt")),
    Set("llmail_inject benign mails", False, mails("benign_emails.jsonl")),
    Set("llmail_inject inboxes", False, mails("inbox_scenario2.jsonl")),
    Set("llmail_inject inbox 3", False, mails("inbox_scenario3.jsonl")),
    Set("bipia benign mails", False, emails_of_bipia),
    Set("notinject (trigger words)", False, lines("attack_prompts/benign_notinject.jsonl", "prompt")),
    Set("squad2 paragraphs", False, squad),
    Set("debate passages", False, lines("debate_passages/corpus.jsonl", "text", "_id")),
    Set("repliqa_mini documents", False, lines("repliqa_mini/documents.jsonl", "text", "doc_id")),
)
RULES = load()


def document(name: str, text: str) -> Document:
    """The text as a file of that name would be cut."""
    structure = outlined(blocks(text))
    return Document(name, text, f"{name}.txt", sentences=units(text, structure), blocks=structure)


def attack_findings(doc: Document) -> list[Finding]:
    """What counts as attack wording."""
    findings = scan([Scanned(doc)], RULES).at_least(Severity.MEDIUM)
    return [finding for finding in findings if finding.rule.partition("/")[0] in GROUPS]


def count(texts: Iterable[tuple[str, str]], show: bool | None) -> tuple[Counted, Counter[str]]:
    """The counts, and by rule how many texts it found; with `show` True what is found is printed, with False what is
    not."""
    total, rules = Counter(), Counter()
    for name, text in texts:
        doc = document(name, text)
        findings = attack_findings(doc)
        rules.update({finding.rule for finding in findings})
        touched = {
            span
            for span in doc.sentences
            for finding in findings
            if span[0] < finding.end and finding.start < span[1]
        }
        total.update(texts=1, found=bool(findings), sentences=len(doc.sentences), touched=len(touched))
        if show is not None and bool(findings) == show:
            print(f"-- {name}: {text[:400]!r}" if not findings else "")
            for finding in findings:
                print(
                    f"   {name} {finding.rule}: {text[finding.start : finding.end]!r} in {finding.excerpt!r}"
                )
    return Counted(*(total[key] for key in ("texts", "found", "sentences", "touched"))), rules


def share(part: int, whole: int) -> str:
    """A share with its 95% Wilson interval."""
    if not whole:
        return ""
    interval = wilson(part, whole)
    between = f" [{interval.low:.1%}, {interval.high:.1%}]" if interval else ""
    return f"{part}/{whole} = {part / whole:.1%}{between}"


def main() -> None:
    """Print the table."""
    parser = scripts.parser(__file__, __doc__)
    parser.add_argument("--half", choices=("choose", "report"), default="report")
    parser.add_argument("--show", default="")
    parser.add_argument("--table", type=Path)
    asked = parser.parse_args()
    if asked.show:
        asked.half = "choose"
    table = ["| set | attack | texts found | sentences found | rules |", "| --- | --- | --- | --- | --- |"]
    for dataset in SETS:
        if asked.show and asked.show not in dataset.name:
            continue
        is_report = asked.half == "report"
        texts = [
            pair
            for pair in dataset.read(asked.data)
            if (part_of(pair[0], report=0.5, validate=0.0) == "report") == is_report
        ]
        counted, rules = count(texts, (not dataset.attack) if asked.show else None)
        best = ", ".join(f"{rule} {number}" for rule, number in rules.most_common(5))
        sentences = "" if dataset.attack else share(counted.touched, counted.sentences)
        table.append(
            f"| {dataset.name} | {'yes' if dataset.attack else 'no'} | {share(counted.found, counted.texts)} "
            f"| {sentences} | {best} |"
        )
    text = "\n".join(table) + "\n"
    print(text)
    if asked.table:
        asked.table.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
