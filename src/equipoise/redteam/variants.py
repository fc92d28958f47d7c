"""Attack passages that know the defence: each function takes passages and gives changed ones.

A defence that looks for passages both relevant and one-sided (BiasDef) is tried with passages that have only one
of the two, that do not lie together, or that carry a neutral paragraph. Everything here is a deterministic
operation on text; rewriting by a language model is in `redteam.paraphrase`. For measuring defences only; none of
it is in the EBI paper, whose attacker does not adapt.

A variant's id is its base's with `~` and the variant's name behind it; its field `base` holds the base's id.
Where a change leaves a passage as it was, there is no variant of it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from equipoise.core.errors import InputError
from equipoise.core.protocols import Encoder
from equipoise.maths.checks import Floats
from equipoise.maths.polarization import polarization_scores, row_dots
from equipoise.redteam.passages import VARIANT, AttackPassage
from equipoise.redteam.properties import Yardstick
from equipoise.text.sentences import sentence_spans
from equipoise.text.tokens import WORD, content_words

_SPACE_BEFORE = re.compile(r"(?<!\s)\s+(?=[,.;:!?)])")
_LEADING = re.compile(r"\A[\s,.;:!?)]+")


def variant_of(base: AttackPassage, name: str, text: str) -> AttackPassage:
    """`base` with another text, under an id of its own, not yet measured."""
    whole = f"{base.variant}~{name}" if base.variant else name
    more = dict(base.extra) | {VARIANT: whole, "base": base.passage_id}
    return replace(base, passage_id=f"{base.passage_id}~{name}", text=text, measures=None, extra=more)


def without_question_words(passages: Sequence[AttackPassage]) -> tuple[AttackPassage, ...]:
    """Towards property 2 alone: the content words of the question are cut out, also with a plural s.

    Worked value: "Tea is good: all teas." on "Is tea served?" becomes "is good: all."
    """
    return _changed(passages, [_without(p.text, p.question) for p in passages], "no-question-words")


def less_similar(
    passages: Sequence[AttackPassage], yardstick: Yardstick, *, target: float, keep: float = 0.5
) -> tuple[AttackPassage, ...]:
    """Towards property 2 alone, in natural text: the sentences that bring it nearest to the question go.

    One by one, until SS is at most `target` or the next one would leave less than the share `keep` of the words.
    """
    return _changed(passages, [_lowered(p.text, yardstick, target, keep) for p in passages], "less-similar")


def diluted(
    passages: Sequence[AttackPassage],
    counterweights: Sequence[str],
    yardstick: Yardstick,
    *,
    most: int = 3,
    slack: float = 0.05,
) -> tuple[AttackPassage, ...]:
    """Towards property 1 alone: sentences of `counterweights` are put in front until PS lies in the benign range.

    At most `most` sentences, each time the one that brings PS nearest to the benign median among those that cost
    SS no more than `slack` in all. Good counterweights are synthetic passages of the other side. Raises
    InputError for a yardstick without benign passages.
    """
    if yardstick.benign is None:
        raise InputError("diluting needs a yardstick with benign passages: give a store that holds some")
    pool = [text[start:end] for text in counterweights for start, end in sentence_spans(text)]
    texts = [
        _diluted(p.text, pool[:], yardstick, yardstick.benign.scores, most=most, slack=slack)
        for p in passages
    ]
    return _changed(passages, texts, "diluted")


def with_neutral(
    passages: Sequence[AttackPassage], paragraphs: Sequence[str], *, before: bool = True
) -> tuple[AttackPassage, ...]:
    """Each passage with one neutral paragraph before or after it, the paragraphs taken in turn.

    Worked value: passages A, B, C with paragraphs x, y become x+A, y+B, x+C. None without paragraphs.
    """
    if not paragraphs:
        return ()
    pairs = [(paragraphs[row % len(paragraphs)], p.text) for row, p in enumerate(passages)]
    texts = [f"{extra} {text}" if before else f"{text} {extra}" for extra, text in pairs]
    return _changed(passages, texts, "neutral-before" if before else "neutral-after")


def neutral_paragraphs(texts: Sequence[str], yardstick: Yardstick, count: int) -> tuple[str, ...]:
    """The `count` texts whose PS is nearest to the median of all, the first one among equals.

    Worked value: PS -0.5, 0.1, 0.2 and count 1 give the second.
    """
    if not texts:
        return ()
    _, scores = _placed(list(texts), yardstick)
    order = np.argsort(np.abs(scores - np.median(scores)), kind="stable")
    return tuple(texts[row] for row in order[: max(count, 0)])


def spread(passages: Sequence[AttackPassage], encoder: Encoder, *, keep: int) -> tuple[AttackPassage, ...]:
    """The `keep` passages that lie far apart, in the order given; all of them where there are fewer.

    Greedy: the pair of the lowest cosine, then always the passage whose nearest chosen one is farthest
    (Gonzalez, 1985: at least half the best smallest distance). Worked value: directions 0, 10, 90 and 180
    degrees and 3 to keep: 0 and 180 are the pair, 90 is next.
    """
    if keep >= len(passages) or keep < 1:
        return tuple(passages) if keep >= 1 else ()
    alike = _alike(passages, encoder)
    if keep == 1:
        return (passages[0],)
    chosen = [int(row) for row in np.unravel_index(np.argmin(alike), alike.shape)]
    while len(chosen) < keep:
        nearest = alike[:, chosen].max(axis=1)
        nearest[chosen] = np.inf
        chosen.append(int(np.argmin(nearest)))
    return tuple(passages[row] for row in sorted(chosen))


def _changed(bases: Sequence[AttackPassage], texts: Sequence[str], name: str) -> tuple[AttackPassage, ...]:
    pairs = zip(bases, texts, strict=True)
    return tuple(variant_of(base, name, text) for base, text in pairs if text and text != base.text)


def _without(text: str, question: str) -> str:
    gone = {word.removesuffix("s") for word in content_words(question)}
    cut = WORD.sub(lambda found: "" if found[0].casefold().removesuffix("s") in gone else found[0], text)
    return _LEADING.sub("", _SPACE_BEFORE.sub("", " ".join(cut.split())))


def _lowered(text: str, yardstick: Yardstick, target: float, keep: float) -> str:
    least = keep * len(text.split())
    parts = [text[start:end] for start, end in sentence_spans(text)]
    similarity = _placed([text], yardstick)[0][0]
    while similarity > target and len(parts) > 1:
        shorter = [parts[:row] + parts[row + 1 :] for row in range(len(parts))]
        left = [rest for rest in shorter if len(" ".join(rest).split()) >= least]
        if not left:
            break
        found, _ = _placed([" ".join(rest) for rest in left], yardstick)
        row = int(np.argmin(found))
        if found[row] >= similarity:
            break
        parts, similarity = left[row], found[row]
    return " ".join(parts)


def _diluted(
    text: str, left: list[str], yardstick: Yardstick, benign: Floats, *, most: int, slack: float
) -> str:
    """`text` with sentences of `left`, which this uses up, in front."""
    low, middle, high = float(benign.min()), float(np.median(benign)), float(benign.max())
    similarities, scores = _placed([text], yardstick)
    floor, score = similarities[0] - slack, scores[0]
    for _ in range(most):
        if low <= score <= high or not left:
            break
        similarities, scores = _placed([f"{extra} {text}" for extra in left], yardstick)
        away = np.where(similarities >= floor, np.abs(scores - middle), np.inf)
        row = int(np.argmin(away))
        if away[row] >= abs(score - middle):
            break
        text, score = f"{left.pop(row)} {text}", scores[row]
    return text


def _placed(texts: list[str], yardstick: Yardstick) -> tuple[Floats, Floats]:
    """SS (n,) and PS (n,) of texts."""
    vectors = np.asarray(yardstick.encoder.encode(texts), dtype=np.float64)
    return row_dots(vectors, yardstick.question), polarization_scores(vectors, yardstick.axis)


def _alike(passages: Sequence[AttackPassage], encoder: Encoder) -> Floats:
    vectors = np.asarray(encoder.encode([passage.text for passage in passages]), dtype=np.float64)
    return np.asarray(vectors @ vectors.T)
