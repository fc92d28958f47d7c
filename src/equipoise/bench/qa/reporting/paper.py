"""The numbers that the paper prints: "Highlight & Summarize" (Cherubin and Paverd, arXiv 2508.02872).

RepliQA split 3 (17,955 questions) and BioASQ (4,719), GPT-4.1 mini answering and judging, one order of each
comparison drawn at random; no number has an interval. Keys are a data set's name here and a pipeline's.
"""

from collections.abc import Mapping
from typing import TypeVar

Printed = TypeVar("Printed")

VANILLA, BASELINE, STRUCTURED = "vanilla", "baseline", "structured"
REPLIQA_READER, SQUAD_READER = "deberta-repliqa", "deberta-squad2"
REPLIQA, BIOASQ = "RepliQA", "BioASQ"
DATASETS = (REPLIQA, BIOASQ)

NAMES = {
    STRUCTURED: "H&S Structured",
    BASELINE: "H&S Baseline",
    REPLIQA_READER: "H&S DeBERTaV3 (RepliQA)",
    VANILLA: "Vanilla RAG",
    SQUAD_READER: "H&S DeBERTaV3 (SQuAD2)",
}
"""The paper's names of its pipelines, in the order of its tables."""

Row = tuple[float, ...]
ByPipeline = Mapping[str, Row]


def pipeline_of(name: str) -> str | None:
    """The paper's pipeline that one of ours stands for, or None.

    Ours are "vanilla", "structured" or "structured+llm", with a model in brackets where several ran one.
    """
    key = name.split(" [", maxsplit=1)[0].split("+", maxsplit=1)[0]
    return key if key in NAMES else None


TABLE_2: Mapping[str, ByPipeline] = {
    REPLIQA: {
        STRUCTURED: (0.59, 1211),
        BASELINE: (0.54, 1147),
        REPLIQA_READER: (0.32, 992),
        VANILLA: (0.32, 958),
        SQUAD_READER: (0.08, 688),
    },
    BIOASQ: {
        STRUCTURED: (0.69, 1257),
        BASELINE: (0.62, 1109),
        REPLIQA_READER: (0.24, 945),
        VANILLA: (0.42, 899),
        SQUAD_READER: (0.10, 787),
    },
}
"""Wins of all comparisons, Elo."""

TABLE_3: Mapping[str, ByPipeline] = {
    REPLIQA: {
        REPLIQA_READER: (0.85, 0.99, 0.91),
        STRUCTURED: (0.94, 0.39, 0.55),
        SQUAD_READER: (0.55, 0.48, 0.51),
        VANILLA: (0.95, 0.32, 0.48),
        BASELINE: (0.58, 0.20, 0.29),
    }
}
"""Precision, recall and F1 of declining."""

TABLE_4: Mapping[str, ByPipeline] = {
    "40 questions": {
        VANILLA: (0.49,),
        REPLIQA_READER: (0.75,),
        SQUAD_READER: (0.76,),
        BASELINE: (2.26,),
        STRUCTURED: (3.05,),
    }
}
"""Seconds for a question; the paper names no data set."""

TABLE_5: Mapping[str, ByPipeline] = {
    REPLIQA: {
        STRUCTURED: (0.84, 0.76),
        BASELINE: (0.84, 0.65),
        REPLIQA_READER: (0.80, 0.36),
        SQUAD_READER: (0.55, 0.22),
    }
}
"""K-precision and recall of highlights against the gold passage."""

TABLE_6: Mapping[str, ByPipeline] = {
    REPLIQA: {
        STRUCTURED: (0.55, 0.49),
        BASELINE: (0.46, 0.39),
        REPLIQA_READER: (0.41, 0.34),
        SQUAD_READER: (0.29, 0.21),
    },
    BIOASQ: {
        STRUCTURED: (0.38, 0.60),
        BASELINE: (0.34, 0.53),
        REPLIQA_READER: (0.34, 0.46),
        SQUAD_READER: (0.24, 0.33),
    },
}
"""K-precision and recall of the one guessed question against the real one."""

TABLE_7 = (
    (
        "What is the main argument of the opinion piece titled ‘The Critical Shield’?",
        "Why should mandatory automatic software updates be implemented on all consumer devices?",
    ),
    (
        "Which local candidate became notorious for tweeting vague statements like ‘New policies on the horizon "
        "#blessed #nofilter’?",
        "Who is Harvey Peterson and why did he gain notoriety?",
    ),
    (
        "What was the primary topic of discussion by Mark Downey at the Online Marketing Summit in San Diego on "
        "October 6, 2023?",
        "How can social media benefit small and medium-sized enterprises (SMEs)?",
    ),
)
"""Real and guessed questions with K-precision 0 (H&S Structured)."""

Battles = Mapping[tuple[str, str], tuple[int, int]]


def _battles(*rows: tuple[str, str, int, int]) -> Battles:
    return {(row, column): (wins, ties) for row, column, wins, ties in rows}


TABLE_9: Mapping[str, Battles] = {
    REPLIQA: _battles(
        (VANILLA, SQUAD_READER, 13123, 2443),
        (VANILLA, STRUCTURED, 1076, 3587),
        (VANILLA, BASELINE, 1926, 3732),
        (VANILLA, REPLIQA_READER, 6753, 3113),
        (SQUAD_READER, VANILLA, 2389, 2443),
        (SQUAD_READER, STRUCTURED, 532, 1959),
        (SQUAD_READER, BASELINE, 629, 2001),
        (SQUAD_READER, REPLIQA_READER, 2469, 4694),
        (STRUCTURED, VANILLA, 13292, 3587),
        (STRUCTURED, SQUAD_READER, 15464, 1959),
        (STRUCTURED, BASELINE, 4510, 11261),
        (STRUCTURED, REPLIQA_READER, 9089, 7355),
        (BASELINE, VANILLA, 12297, 3732),
        (BASELINE, SQUAD_READER, 15325, 2001),
        (BASELINE, STRUCTURED, 2184, 11261),
        (BASELINE, REPLIQA_READER, 8856, 6186),
        (REPLIQA_READER, VANILLA, 8089, 3113),
        (REPLIQA_READER, SQUAD_READER, 10792, 4694),
        (REPLIQA_READER, STRUCTURED, 1511, 7355),
        (REPLIQA_READER, BASELINE, 2913, 6186),
    ),
    BIOASQ: _battles(
        (VANILLA, SQUAD_READER, 3837, 340),
        (VANILLA, BASELINE, 746, 546),
        (VANILLA, STRUCTURED, 437, 506),
        (VANILLA, REPLIQA_READER, 2924, 457),
        (SQUAD_READER, VANILLA, 542, 340),
        (SQUAD_READER, BASELINE, 290, 510),
        (SQUAD_READER, STRUCTURED, 140, 394),
        (SQUAD_READER, REPLIQA_READER, 921, 1455),
        (BASELINE, VANILLA, 3427, 546),
        (BASELINE, SQUAD_READER, 3919, 510),
        (BASELINE, STRUCTURED, 955, 2458),
        (BASELINE, REPLIQA_READER, 3465, 723),
        (STRUCTURED, VANILLA, 3776, 506),
        (STRUCTURED, SQUAD_READER, 4185, 394),
        (STRUCTURED, BASELINE, 1306, 2458),
        (STRUCTURED, REPLIQA_READER, 3682, 776),
        (REPLIQA_READER, VANILLA, 1338, 457),
        (REPLIQA_READER, SQUAD_READER, 2343, 1455),
        (REPLIQA_READER, BASELINE, 531, 723),
        (REPLIQA_READER, STRUCTURED, 261, 776),
    ),
}
"""(row, column): wins of the row over the column, and ties.

RepliQA's head names Baseline before Structured, its columns stand the other way round: only so do wins, ties
and losses of each pair add up to the 17,955 questions. BioASQ's add up as printed.
"""

FIGURE_3: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "correctness": {STRUCTURED: (13698, 17955), BASELINE: (13401, 17955), VANILLA: (13332, 17955)}
}
"""Times with the highest rating of all pipelines, ties included, and questions (RepliQA, section 6.2)."""

FIGURE_4 = (
    "Most pipelines above 80% correct; relevance 2.72 of 3; quality just below 5 on RepliQA, above on BioASQ."
)
FIGURE_5 = "BioASQ: the pipeline was preferred in 58% of cases, the highlighter alone in 6%."
FIGURE_6 = "RepliQA: the DeBERTaV3 trained on it had most sub- and superstrings; no numbers are printed."
FIGURE_9 = "Pearson -0.004 (H&S Structured)."
PEARSON = -0.004


def of(table: Mapping[str, Printed], dataset: str) -> dict[str, Printed]:
    """The part of a table to show beside a data set of ours: that of the same name, or else all of it."""
    mine = [name for name in table if name.lower() in dataset.lower()]
    return {name: found for name, found in table.items() if not mine or name in mine}
