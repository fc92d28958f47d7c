"""What the documents of some trusts know of the words of a question: slips, and words that none of them has."""

from collections.abc import Mapping

from equipoise.core.protocols import Encoder
from equipoise.core.types import Trust
from equipoise.corpus.spelling import Correction, strange
from equipoise.models.abilities import is_multilingual
from equipoise.models.english import english_words
from equipoise.rag.components import Components
from equipoise.rag.gathering import Listener, Speller
from equipoise.text.scripts import script_of


def speller(components: Components, *trusts: Trust) -> Speller | None:
    """Corrections of a question by the words of the documents of these trusts; the commonest words of English are right
    anyway, and so is what the documents of one of the trusts have.

    None where the settings want no corrections.
    """
    if not components.settings.question.spelling:
        return None
    partitions = [components.store.partition(trust) for trust in trusts]

    def corrections(text: str) -> tuple[Correction, ...]:
        found = [dict(partition.corrections(text, english(components))) for partition in partitions]
        return tuple(pair for pair in found[0].items() if all(pair[0] in other for other in found))

    return corrections


def listener(components: Components, *trusts: Trust) -> Listener:
    """The words of a question that no document of these trusts has, and those of them that English has not either."""
    partitions = [components.store.partition(trust) for trust in trusts]

    def unheard(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        found = [partition.unheard(text) for partition in partitions]
        words = tuple(word for word in found[0] if all(word in other for other in found))
        return words, strange(words, english(components))

    return unheard


def unread(text: str, what: str, encoder: Encoder) -> str:
    """One sentence for a text, which is called `what`, in a script that the encoder does not read; empty for others."""
    script = "" if is_multilingual(encoder) else script_of(text)
    how = "which the encoder does not read: only its words count in a search."
    return f"{what} is in {script}, {how}" if script else ""


def english(components: Components) -> Mapping[str, int]:
    """The common words of English with their rank; none where the encoder reads other languages, whose words those
    of English are no correction of."""
    return {} if is_multilingual(components.encoder) else english_words()
