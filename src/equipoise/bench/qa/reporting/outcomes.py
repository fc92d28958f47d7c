"""Tables that the paper has not: outcomes, answers, decisions, tests, agreement, abstention, what is missing."""

from collections.abc import Mapping

from equipoise.bench.qa.reporting.cells import Summary, counted, part, points
from equipoise.bench.tables import MISSING, Line, Table, percent


def asked(section: Summary) -> Table:
    """What became of the questions."""
    lines = [
        Line(
            name,
            (
                str(found["rows"]),
                *(part(found[kind], found["rows"]) for kind in ("answered", "declined", "failed")),
                "; ".join(f"{reason}: {n}" for reason, n in found["reasons"].items()) or MISSING,
                str(found["dropped"]),
                ", ".join(found["models"]),
            ),
        )
        for name, found in section["counts"].items()
    ]
    head = ("", "questions", "answered", "declined", "failed", "reasons", "spans dropped", "model")
    note = (
        f"{section['n']} questions: {section['answerable']} answerable, {section['unanswerable']} not, the others "
        "not known. A failed question has no answer and counts in no measure."
    )
    return Table("Questions and outcomes", head, tuple(lines), note, "" if lines else "No results.")


def tokens(section: Summary) -> Table:
    """The rest of what a question costs."""
    names = {"prompt_tokens": "prompt tokens", "completion_tokens": "output tokens", "calls": "calls"}
    lines = [
        Line(
            system,
            tuple(
                cell
                for name in names
                for cell in (counted(found[name]["mean"], points), counted(found[name]["ratio"]))
            ),
        )
        for system, found in section["cost"].items()
    ]
    head = ("", *(label for name in names.values() for label in (name, "times vanilla")))
    return Table("Tokens and calls of one question", head, tuple(lines))


def answers(section: Summary) -> Table:
    """What the paper does not measure, or only through judges."""
    shares = {
        "answered": "answered",
        "evidence_hit": "evidence hit",
        "answer_hit": "answer hit",
        "grounded": "grounded",
    }
    means = {
        "answer_recall": "answer recall",
        "answer_k_precision": "K-precision, gold passage",
        "answer_k_precision_documents": "K-precision, documents",
    }
    lines = [
        Line(
            system,
            (
                *(counted(found[name], percent) for name in shares),
                *(counted(found[name]) for name in means),
            ),
        )
        for system, found in section["measures"].items()
    ]
    note = (
        "Evidence hit: a highlight overlaps a gold passage. Answer hit: the answer holds a reference. Grounded: of "
        "the answers, those whose words the quotes support. Recall: of the reference's tokens; K-precision: of the "
        "answer's tokens, those in the gold passage or the documents; a declined question has none."
    )
    return Table("Answers", ("", *shares.values(), *means.values()), tuple(lines), note)


def decisions(section: Summary) -> Table:
    """Questions that want yes or no."""
    lines = [
        Line(
            system,
            (
                counted(found["accuracy"], percent),
                counted(found["macro_f1"]),
                part(found["maybe_open"], found["maybe"]),
            ),
        )
        for system, found in section["decisions"].items()
    ]
    note = (
        "Of questions whose right answer is yes or no; to decline, or to say neither, is wrong. Apart: questions "
        "whose right answer is maybe, and how many were declined or answered so."
    )
    return Table("Yes or no", ("", "accuracy", "macro-F1", "maybe left open"), tuple(lines), note)


def tests(section: Summary) -> Table:
    """Paired tests."""
    lines = [
        Line(
            f"{row['measure']}: {row['contender']} less {row['base']}",
            (counted(row["difference"]), row["test"], f"{row['p']:.4f}", f"{row['p_holm']:.4f}"),
        )
        for row in section["tests"]
    ]
    note = "On the questions that both have a value for; Holm's correction is over this table."
    head = ("", "difference", "test", "p", "p (Holm)")
    return Table("Paired tests", head, tuple(lines), note)


def agreement(section: Summary) -> Table:
    """How far judges agree."""
    lines = [
        Line(
            f"{row['judge']}: {' and '.join(row['raters'])}",
            (
                counted(row["same"], percent),
                counted(row["kappa"]),
                counted(row["alpha"]),
                str(row["left_out"]),
            ),
        )
        for row in section["agreement"]
    ]
    note = "Kappa and alpha: 1 always, 0 as by chance; weighted by distance for grades."
    head = ("", "same", "Cohen's kappa", "Krippendorff's alpha", "left out")
    return Table("Agreement of judges", head, tuple(lines), note)


def abstention(section: Summary) -> Table:
    """Declining by probability."""
    names = {"auc": "AUC", "ece": "calibration error", "brier": "Brier", "aurc": "AURC"}
    lines = [
        Line(
            system,
            (
                *(counted(found[name], lambda value: f"{value:.3f}") for name in names),
                _best(found["best_threshold"]),
                f"{found['without_label']} / {found['without_answer']}",
            ),
        )
        for system, found in section["abstention"].items()
    ]
    head = ("", *names.values(), "best threshold (F1 of declining)", "without label / without answer")
    note = (
        "The best threshold is chosen on these questions, so its F1 flatters. AURC: the mean share of wrong answers "
        "over all coverages, most confident first."
    )
    return Table("Declining by probability", head, tuple(lines), note)


def unscored(section: Summary) -> Table:
    """How many rows each measure and judge had no value for."""
    columns: dict[str, Mapping[str, int]] = {}
    counts = section["counts"]
    for name in next(iter(counts.values()), {"unscored": {}})["unscored"]:
        columns[name] = {who: found["unscored"][name] for who, found in counts.items()}
    for row in section["ratings"]:
        columns[f"{row['judge']} by {row['model']}"] = row["unscored"]
    head = ("", *section["contenders"])
    lines = [
        Line(name, tuple(f"{by[who]} of {counts[who]['rows']}" for who in section["contenders"]))
        for name, by in columns.items()
    ]
    note = (
        "Rows without a value: nothing to measure against (no reference, no gold passage), nothing to measure (no "
        "answer, no highlights, no guess), or a judge that failed. They are left out of every mean, never 0."
    )
    found = [f"{row['model']}: {row['unscored']}" for row in section["battles"] if row["unscored"]]
    more = f" Comparisons without a verdict: {'; '.join(found)}." if found else ""
    return Table("What could not be scored", head, tuple(lines), note + more)


def _best(found: Mapping[str, float] | None) -> str:
    return MISSING if found is None else f"{found['value']:.3f} ({found['score']:.2f})"
