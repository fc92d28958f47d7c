"""The numbers that the paper prints: "Epistemic Bias Injection" (Wu and Saxena, arXiv 2512.00804).

WIKI-BALANCE with 452 questions, encoder msmarco-distilbert-base-tas-b, top 5 of 20, generator
DeepSeek-R1-Distill-Qwen-14B, unless a table says otherwise. Rows are by filter, cells by condition.
"""

from collections.abc import Mapping

from equipoise.bench.bias.runner import Condition

NAMES = {
    "none": "No Def.",
    "mmr": "MMR",
    "smart": "SMART",
    "brra": "BRRA",
    "biasdef": "BiasDef",
    "biasdef-as-written": "BiasDef as written",
    "smart-without-nli": "SMART without NLI",
}
"""The names in tables; one that is not here stands for itself."""

CONDITIONS: tuple[Condition, ...] = (
    ("none", 0),
    *(("adv_neg", n) for n in (1, 5, 10)),
    *(("adv_pos", n) for n in (1, 5, 10)),
)

Numbers = Mapping[Condition, float]


def _numbers(*values: float) -> Numbers:
    """The cells of a row; without the unattacked one where there are six."""
    return dict(zip(CONDITIONS[-len(values) :], values, strict=True))


TABLE_1 = {
    "adv_neg": {"both": 0.747, "only_1": 0.162, "only_2": 0.073, "neither": 0.018},
    "adv_pos": {"both": 0.780, "only_1": 0.103, "only_2": 0.087, "neither": 0.030},
}
TABLE_2 = {
    "none": _numbers(0, 0.19, 0.93, 0.98, 0.20, 0.92, 0.97),
    "mmr": _numbers(0, 0.19, 0.22, 0.27, 0.19, 0.23, 0.29),
    "smart": _numbers(0, 0.19, 0.21, 0.23, 0.18, 0.21, 0.23),
    "brra": _numbers(0, 0.04, 0.19, 0.20, 0.04, 0.19, 0.20),
    "biasdef": _numbers(0, 0.04, 0.19, 0.20, 0.04, 0.19, 0.20),  # section 6.3
}
TABLE_3 = {
    "none": _numbers(0.64, 0.54, 0.06, 0.01, 0.54, 0.07, 0.02),
    "mmr": _numbers(0.34, 0.22, 0.26, 0.34, 0.23, 0.27, 0.34),
    "smart": _numbers(0.35, 0.22, 0.26, 0.37, 0.23, 0.27, 0.36),
    "brra": _numbers(0.58, 0.50, 0.05, 0.01, 0.49, 0.06, 0.02),
    "biasdef": _numbers(0.56, 0.58, 0.48, 0.49, 0.60, 0.48, 0.49),  # section 6.3
}
TABLE_4 = {
    "none": _numbers(0.044, 0.57, 2.57, 2.57, 0.75, 3.57, 3.57),
    "mmr": _numbers(0.037, 0.51, 0.62, 0.86, 0.76, 0.84, 1.00),
    "smart": _numbers(0.036, 0.58, 0.67, 0.86, 0.81, 0.81, 0.86),
    "brra": _numbers(0.043, 0.58, 2.72, 2.74, 0.77, 3.56, 3.60),
}
TABLE_5 = {
    "none": _numbers(0.060, 0.67, 1.25, 1.32, 0.92, 2.03, 2.03),
    "mmr": _numbers(0.054, 0.89, 0.87, 0.85, 1.24, 1.18, 1.39),
    "smart": _numbers(0.056, 0.79, 0.80, 0.68, 0.98, 1.05, 1.00),
    "brra": _numbers(0.058, 0.66, 1.22, 1.29, 0.83, 2.02, 2.12),
    "biasdef": _numbers(0.069, 0.19, 0.28, 0.29, 0.04, 0.12, 0.22),  # Table 8
}
TABLE_6 = {
    "Llama-3-8B": _numbers(0.068, 0.79, 1.32, 1.40, 1.00, 1.79, 1.78),
    "DeepSeek-R1-Distill-Qwen-14B": _numbers(0.060, 0.67, 1.25, 1.32, 0.92, 2.03, 2.03),
    "GPT-4.1": _numbers(0.067, 0.40, 1.15, 1.22, 0.36, 1.85, 2.01),
    "WIKI-BALANCE": _numbers(0.060, 0.67, 1.25, 1.32, 0.92, 2.03, 2.03),
    "Reddit-Dialogues": _numbers(0.026, 0.15, 0.35, 0.38, 0.08, 0.31, 0.31),
    "HotpotQA": _numbers(0.013, 0.92, 4.54, 4.46, 1.00, 4.38, 3.38),
}
TABLE_7 = {
    "both": _numbers(0.29, 0.20, 0.11, 0.26, 0.19, 0.09),
    "other": _numbers(0.86, 0.60, 0.31, 0.93, 0.67, 0.32),
}
TABLE_8 = {
    "Llama-3-8B": _numbers(0.072, 0.11, 0.21, 0.17, 0.11, 0.47, 0.42),
    "DeepSeek-R1-Distill-Qwen-14B": _numbers(0.069, 0.19, 0.28, 0.29, 0.04, 0.12, 0.22),
    "GPT-4.1": _numbers(0.068, 0.12, 0.12, 0.13, 0.03, 0.19, 0.21),
    "WIKI-BALANCE": _numbers(0.069, 0.19, 0.28, 0.29, 0.04, 0.12, 0.22),
    "Reddit-Dialogues": _numbers(0.025, 0.04, 0.12, 0.12, 0.04, 0.16, 0.20),
    "HotpotQA": _numbers(-0.015, 0.33, 0.60, 0.40, 0.13, 0.73, 1.07),
}
WORST_CASE = {"none": 98.0, "mmr": 0.85, "smart": 0.86, "brra": 20.0, "biasdef": 0.4}
MILLISECONDS = {"biasdef": 465.0}
SPEARMAN = 0.896
"""Figure 2: PS against a 7-point scale filled in by a language model."""

FACTS = {
    "benign": {"unknown": 0.71, "support": 0.63},
    "adv_pos": {"unknown": 0.69, "support": 0.73},
    "adv_neg": {"unknown": 0.68, "support": 0.79},
}
"""Figure 5; the caption gives "positive and negative" in this order."""
