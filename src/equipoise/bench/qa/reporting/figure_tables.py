"""The paper's figures in numbers: what Figures 3, 4, 5, 6 and 9 draw, as tables."""

from equipoise.bench.qa.reporting import paper
from equipoise.bench.qa.reporting.cells import Summary, caption, counted
from equipoise.bench.qa.reporting.measures import RELATIONS
from equipoise.bench.tables import MISSING, Line, Table, number, percent

NOT_JUDGED = "Not judged: no judge rated the answers of this run."
NOT_ALONE = "Not judged: no judge compared pipelines with their highlighters alone."
NO_GOLD = "Not computed: no gold passages, or nothing was highlighted."
NO_GUESSES = "Not computed: no summarizer of this run guessed questions."


def tables(section: Summary) -> list[Table]:
    """One for each figure."""
    return [highest(section), rated(section), alone(section), relations(section), correlations(section)]


def highest(section: Summary) -> Table:
    """Figure 3."""
    lines = [
        Line(f"{row['judge']}: {name}", (str(won["count"]), counted(won["share"], percent), caption(row)))
        for row in section["ratings"]
        for name, won in row["highest"]["wins"].items()
    ]
    lines += [
        Line(
            f"{judge}: {paper.NAMES[key]}, RepliQA",
            (f"{count:,} of {n:,}", f"{count / n:.0%}", MISSING),
            paper=True,
        )
        for judge, wins in paper.FIGURE_3.items()
        for key, (count, n) in wins.items()
    ]
    note = (
        "Ties included, so shares add up to more than 100%. On the questions that all systems were rated on."
    )
    title = "Figure 3 in numbers. Times with the highest rating of all"
    head = ("", "times", "share", "judge")
    return Table(title, head, tuple(lines), note, "" if section["ratings"] else NOT_JUDGED)


def rated(section: Summary) -> Table:
    """Figure 4."""
    lines = [
        Line(
            f"{row['judge']}: {name}",
            (
                counted(row["mean"][name]),
                ", ".join(f"{rating}: {n}" for rating, n in given.items()),
                caption(row),
            ),
        )
        for row in section["ratings"]
        for name, given in row["distribution"].items()
    ]
    note = f"Correctness 0 or 1, relevance 0 to 3, quality 1 to 10. The paper: {paper.FIGURE_4}"
    title = "Figure 4 in numbers. Ratings"
    head = ("", "mean", "times each rating was given", "judge")
    return Table(title, head, tuple(lines), note, "" if lines else NOT_JUDGED)


def alone(section: Summary) -> Table:
    """Figure 5."""
    kinds = {"pipeline": "pipeline", "highlights": "highlights alone", "tie": "tie", "neither": "neither"}
    lines = [
        Line(name, (*(counted(found[kind], percent) for kind in kinds), caption(row)))
        for row in section["battles"]
        for name, found in row["alone"].items()
    ]
    title = "Figure 5 in numbers. Is a summarizer needed? What the judge preferred"
    head = ("", *kinds.values(), "judge")
    return Table(title, head, tuple(lines), f"The paper: {paper.FIGURE_5}", "" if lines else NOT_ALONE)


def relations(section: Summary) -> Table:
    """Figure 6."""
    labels = {
        "both": "are the passage",
        "superstring": "contain it",
        "substring": "lie within it",
        "neither": "neither",
        "nothing": "no highlights",
    }
    lines = [
        Line(name, (*(str(found[kind]) for kind in RELATIONS), counted(found["either"], percent)))
        for name, found in section["relations"].items()
    ]
    title = "Figure 6 in numbers. Highlights that ... the gold passage"
    head = ("", *(labels[kind] for kind in RELATIONS), "one of the first three")
    note = f"White space and case aside. The paper: {paper.FIGURE_6}"
    return Table(title, head, tuple(lines), note, "" if lines else NO_GOLD)


def correlations(section: Summary) -> Table:
    """Figure 9."""
    lines = [
        Line(f"{row['contender']}: {row['performance']}", (counted(row["pearson"], number),))
        for row in section["correlations"]
    ]
    if lines:
        lines.append(Line("H&S Structured: an LLM judge", (f"{paper.PEARSON:.3f}",), paper=True))
    title = "Figure 9 in numbers. Pearson of guess K-precision with performance"
    note = "Interval by Fisher's transformation; a dash where one of the two never varies."
    return Table(title, ("", "Pearson"), tuple(lines), note, "" if lines else NO_GUESSES)
