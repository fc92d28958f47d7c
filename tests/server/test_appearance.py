"""Name, logo, colours and words of the page."""

import random

import pytest

from equipoise.apps.server.appearance import (
    GROUNDS,
    LARGEST_LOGO,
    Appearance,
    chosen_language,
    contrast,
)
from equipoise.core.errors import SettingsError
from equipoise.core.settings import PageSettings

READABLE = 4.5
"""What WCAG asks of text."""


def test_any_colour_can_be_read_on_the_page_and_under_words():
    dice = random.Random(7)
    for _ in range(300):
        accent = f"#{dice.randrange(1 << 24):06x}"
        for scheme, colours in Appearance.of(PageSettings(accent=accent)).colours.items():
            assert contrast(colours["accent"], GROUNDS[scheme]) >= READABLE, accent
            assert contrast(colours["accent"], colours["on"]) >= READABLE, accent


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize(
    ("setting", "wanted", "accepted", "language"),
    [
        ("auto", "", "", "en"),
        ("auto", "", "de-CH,de;q=0.9,en;q=0.8", "de"),
        ("auto", "", "sv, fr;q=0.5", "fr"),
        ("auto", "fr", "de", "fr"),
        ("auto", "xx", "de", "de"),
        ("de", "fr", "en", "de"),
        ("auto", "", "x" * 10_000 + ",de", "en"),
    ],
)
def test_the_language_is_the_operators_the_addresss_or_the_browsers(setting, wanted, accepted, language):
    assert chosen_language(PageSettings(language=setting), wanted, accepted) == language


def test_own_words_take_the_place_of_ours(tmp_path):
    (tmp_path / "texts.toml").write_text('send = "Go"\n[de]\nsend = "Los"\n')
    texts = Appearance.of(PageSettings(texts=tmp_path / "texts.toml")).texts
    assert [texts[language]["send"] for language in ("en", "de", "fr")] == ["Go", "Los", "Go"]
    assert texts["de"]["stop"] == "Anhalten"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("sent = 'x'", "'sent' is no text"),
        ("send = 1", "'send' is no text"),
        ("send = ", "cannot be read"),
        ("[es]\nsend = 'x'", "'es' is no text"),
    ],
)
def test_words_that_cannot_be_used_are_said_to_be(tmp_path, content, said):
    (tmp_path / "texts.toml").write_text(content)
    with pytest.raises(SettingsError, match=said):
        Appearance.of(PageSettings(texts=tmp_path / "texts.toml"))


def test_a_logo_is_a_picture_that_is_there_and_small(tmp_path):
    for name, content, said in (
        ("logo.txt", b"x", "is no picture"),
        ("none.png", None, "cannot be read"),
        ("large.png", b"x" * (LARGEST_LOGO + 1), "make it smaller"),
    ):
        path = tmp_path / name
        if content:
            path.write_bytes(content)
        with pytest.raises(SettingsError, match=said):
            Appearance.of(PageSettings(logo=path))
