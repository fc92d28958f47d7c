"""What the decision model says: whether the best windows, read together, answer the question."""

from collections.abc import Sequence

from equipoise.core.protocols import Reranker
from equipoise.core.types import Query
from equipoise.rag.highlighters.naming import writer_of
from equipoise.rag.highlighters.reading import Window, below_heading
from equipoise.rag.search import reader_of

BEST, LONGEST = 3, 600
"""Windows that it reads together; characters of each."""


def decision_logit(query: Query, windows: Sequence[Window], decision: Reranker) -> float:
    """The logit that the windows (at least one, best first) answer. Only those of the best one's writer
    (`naming.writer_of`) are read, so that strangers have no say in it. Raises ModelError."""
    own = [window for window in windows if writer_of(window.passage) == writer_of(windows[0].passage)]
    return float(reader_of(decision, query).scores(query.text, [text_for_decision(own)])[0])


def text_for_decision(windows: Sequence[Window]) -> str:
    """The best windows that say different things, each below its title and headings, which are said once for
    neighbours."""
    lines: list[str] = []
    before = ""
    different: dict[str, Window] = {}
    for window in windows:
        different.setdefault(below_heading(window), window)
    for window in list(different.values())[:BEST]:
        above = " > ".join(dict.fromkeys(window.passage.path_at(window.start)))
        lines += [above] if above not in ("", before) else []
        lines.append(window.text[:LONGEST])
        before = above
    return "\n".join(lines)
