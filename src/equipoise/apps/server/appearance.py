"""How the page looks and speaks: the operator's name, logo and colours, and the words of its language."""

import json
import re
import tomllib
from collections.abc import Mapping
from colorsys import hls_to_rgb, rgb_to_hls
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from equipoise.core.errors import SettingsError
from equipoise.core.settings import PageSettings

PACKAGE = "equipoise.apps.web"
LANGUAGES = ("en", "de", "fr")
LOGOS = {
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
}
LARGEST_LOGO = 500_000
GROUNDS = {"light": "#f1f1ee", "dark": "#252c31"}
"""The worst background of text: where the page is light none is darker, where it is dark none is lighter."""
CONTRAST = 4.6
"""The least contrast of text to its background: WCAG asks for 4.5."""
Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Appearance:
    """`texts` by language, `logo` (bytes, media type) where there is one, `colours` by scheme: `accent` can be read on
    the page, `on` is a colour that can be read on the accent."""

    texts: Mapping[str, Texts]
    logo: tuple[bytes, str] | None
    colours: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, page: PageSettings) -> "Appearance":
        """What the settings say. Raises SettingsError for a logo or texts that cannot be read."""
        own = _own_texts(page.texts) if page.texts else {}
        texts = {
            language: _texts(language) | own.get("", {}) | own.get(language, {}) for language in LANGUAGES
        }
        given = {"light": page.accent, "dark": page.accent_dark or page.accent}
        accents = {scheme: readable(colour, GROUNDS[scheme]) for scheme, colour in given.items()}
        colours = {
            scheme: {"accent": accent, "on": max(("#ffffff", "#10181d"), key=lambda on: contrast(on, accent))}
            for scheme, accent in accents.items()
        }
        return cls(texts, _logo(page.logo) if page.logo else None, colours)


def chosen_language(page: PageSettings, wanted: str, accepted: str) -> str:
    """The operator's language, else that which an address wants, else the first that a browser accepts (a value of
    Accept-Language), else English."""
    asked = [page.language, wanted, *re.findall(r"(?:^|,)\s*([a-zA-Z]{2})\b", accepted[:200])]
    return next((one.lower() for one in asked if one.lower() in LANGUAGES), LANGUAGES[0])


def readable(colour: str, ground: str) -> str:
    """The colour (#rrggbb), made darker or lighter until it can be read on `ground`."""
    hue, lightness, saturation = rgb_to_hls(*_shares(colour))
    to = 0.0 if _luminance(ground) > 0.5 else 1.0
    for step in range(41):
        shares = hls_to_rgb(hue, lightness + (to - lightness) * step / 40, saturation)
        made = "#" + "".join(f"{round(share * 255):02x}" for share in shares)
        if contrast(made, ground) >= CONTRAST:
            break
    return made


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG, 1 to 21."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in _shares(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _shares(colour: str) -> tuple[float, float, float]:
    """Red, green and blue, 0 to 1."""
    return int(colour[1:3], 16) / 255, int(colour[3:5], 16) / 255, int(colour[5:7], 16) / 255


def _texts(language: str) -> dict[str, str]:
    words: dict[str, str] = json.loads(
        resources.files(PACKAGE).joinpath(f"texts/{language}.json").read_text("utf-8")
    )
    return words


def _own_texts(path: Path) -> dict[str, dict[str, str]]:
    """The operator's words by language, under "" those for all."""
    try:
        tree = tomllib.loads(_bytes(path, "page.texts").decode())
    except ValueError as error:
        raise SettingsError(f"page.texts: {path} cannot be read ({error}): fix it") from error
    own = {language: tree.pop(language) for language in LANGUAGES if isinstance(tree.get(language), dict)}
    own[""] = tree
    known = _texts(LANGUAGES[0])
    for words in own.values():
        for name, said in words.items():
            if name not in known or not isinstance(said, str):
                raise SettingsError(
                    f"page.texts: {path}: {name[:100]!r} is no text of the page: texts are {', '.join(known)}"
                )
    return own


def _logo(path: Path) -> tuple[bytes, str]:
    kind = LOGOS.get(path.suffix.lower())
    if kind is None:
        raise SettingsError(f"page.logo: {path} is no picture: give one of {', '.join(LOGOS)}")
    return _bytes(path, "page.logo"), kind


def _bytes(path: Path, key: str) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_LOGO + 1)
    except OSError as error:
        raise SettingsError(f"{key}: {path} cannot be read ({error.strerror})") from error
    if len(data) > LARGEST_LOGO:
        raise SettingsError(f"{key}: {path} has more than {LARGEST_LOGO:,} bytes: make it smaller")
    return data
