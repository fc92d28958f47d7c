"""Function words of German, French and Spanish, and what must not be among them."""

import pytest

from equipoise.core.types import Document
from equipoise.corpus import keywords
from equipoise.corpus.pieces import passage_at
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag.gathering import noticed
from equipoise.text.function_words import FUNCTION_WORDS


def test_they_are_lower_case_and_apart_from_those_of_english():
    assert {word.lower() for word in FUNCTION_WORDS} == FUNCTION_WORDS
    assert not FUNCTION_WORDS & set(keywords._FUNCTION_WORDS.split())


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("Wie kann ich über Writer drucken?", ["writer", "drucken"]),
        ("Pourquoi dois-je monter le disque ?", ["monter", "disque"]),
        ("¿Cómo puedo arrancar el modo de rescate?", ["arrancar", "modo", "rescate"]),
        ("Los Angeles has sun, hay and a son", ["los", "angeles", "sun", "hay", "son"]),
        ("Did men die in the war?", ["men", "die", "war"]),
        ("pip, man and dir: sans serif", ["pip", "man", "dir", "sans", "serif"]),
        ("Wie?", ["wie"]),
    ],
)
def test_keyword_search_leaves_them_out(query, terms):
    assert keywords.terms(query) == terms


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What does the option noexec do?", True),
        ("pool price adults", True),
        ("Was bewirkt die Option noexec?", False),
        ("Preise Kanu", False),
        ("Wann legt die Fähre ab?", False),
    ],
)
def test_only_an_english_question_is_said_to_be_in_another_language(question, said):
    document = Document(
        "d", "Die Fähre legt um neun ab und kehrt am Abend nicht mehr zurück.", "d.txt", "Fähre"
    )
    notice = noticed(question, [passage_at(0, 0, len(document.text), document)], EmbeddedEncoder())
    assert notice.startswith("The documents are in another language") == said
