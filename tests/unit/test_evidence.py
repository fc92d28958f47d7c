"""What of a question is missing in a text."""

import pytest

from equipoise.corpus.spelling import is_foreign
from equipoise.rag.highlighters.evidence import missing, sought_names, terms_missing


@pytest.mark.parametrize(
    ("wanted", "text", "share"),
    [
        (["plant", "12"], "Plants 1 to 8 are open.", 2 / 7),
        (["defualt", "timeout"], "The default timeout is 5 seconds.", 0.0),
        (["configured"], "It is configurable.", 0.0),
        (["1993"], "In 1998.", 1.0),
        (["bees", "queen"], "", 1.0),
        ([], "Bees", 0.0),
    ],
)
def test_missing_words(wanted, text, share):
    assert missing(wanted, text) == pytest.approx(share)


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("What is the onRedirect hook for?", 1.0),
        ("What is the default of smtp_delay?", 0.0),
        ("Was 6.0.0 released before 5.0.0?", 0.5),
        ("How do I import MT940 statements?", 1.0),
        ("What does the option --dry-run do?", 1.0),
        ("What does -n do with --once?", 0.5),
        ("Is it a state-of-the-art mill?", 0.0),
        ("Who is she?", 0.0),
    ],
)
def test_terms_that_are_not_there(question, share):
    assert terms_missing(question, "SMTP_DELAY, --once and onRequest are in 5.0.0.") == share


@pytest.mark.parametrize(
    ("question", "nouns"),
    [
        ("Comment régler la luminosité de l'écran ?", ["luminosité", "écran"]),
        ("Quelle touche ouvre l’image des quais ?", ["touche", "image", "quais"]),
        ("¿Cuántos usuarios tiene el puerto?", ["usuarios", "puerto"]),
        ("Como pago la multa del barco", ["multa", "barco"]),
    ],
)
def test_nouns_of_french_and_spanish(question, nouns):
    assert is_foreign(question)
    assert sought_names(question, foreign=True) == nouns


@pytest.mark.parametrize(
    "question",
    ["comment character in ini files", "Como lake boats", "How do I write a comment here?", "Los Angeles"],
)
def test_english_that_looks_like_french_or_spanish(question):
    assert not is_foreign(question)


@pytest.mark.parametrize(
    ("question", "nouns"),
    [
        ("wie lange braucht die lammkeule im schnellkochtopf", ["lammkeule", "schnellkochtopf"]),
        ("Wie lange braucht die zarte Keule im Ofen?", ["keule", "ofen"]),
        ("Wann öffnet das Bad am Samstag?", ["bad"]),
    ],
)
def test_nouns_of_german(question, nouns):
    assert sought_names(question, foreign=True) == nouns
