"""Subtitles (SubRip, WebVTT): what is said and, where the file says so, by whom, in paragraphs of whole sentences,
without times."""

import re
from html import unescape
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.loaded import LoadedDocument, decode, one_line
from equipoise.corpus.loaders.outline import Outline

_TIMES = re.compile(r"(?:\d{1,3}:)?\d\d:\d\d[.,]\d{3}\s*+-->")
_TAG = re.compile(r"</?+[a-zA-Z0-9][^<>\n]*+>|\{\\[^{}\n]*+\}")
_VOICE = re.compile(r"<v(?:\.[^\s<>]++)?\s++([^<>\n]++)>")
_ENDS = (".", "!", "?", "…", '"', "”", "。", "！", "？")
_LONGEST = 400  # characters after which a paragraph ends without the end of a sentence


def load_subtitles(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document; a paragraph begins on the line of its first words. Raises UnreadableFile where nothing is said."""
    outline = Outline()
    said: list[str] = []
    first = 0
    in_cue = begins = False
    voice = ""
    for number, line in enumerate([*decode(path, data).split("\n"), ""], 1):
        text = one_line(unescape(_TAG.sub("", line)))
        if _TIMES.match(line.strip()):
            in_cue = begins = True
        elif in_cue and text:
            named = _VOICE.search(line)
            speaker = unescape(one_line(named[1])) if named else "" if begins else voice
            if speaker != voice:
                outline.add(BlockKind.PARAGRAPH, " ".join(said), line=first)
                said, first, voice = [], 0, speaker
            said.append(text if said or not voice else f"{voice}: {text}")
            first, begins = first or number, False
        elif not text:
            in_cue = False
            if said and (said[-1].endswith(_ENDS) or sum(map(len, said)) > _LONGEST):
                outline.add(BlockKind.PARAGRAPH, " ".join(said), line=first)
                said, first = [], 0
    outline.add(BlockKind.PARAGRAPH, " ".join(said), line=first)
    if not outline.blocks:
        raise UnreadableFile(str(path), "there are no times and words of subtitles in it; save it as text")
    return [outline.loaded(path.stem)]
