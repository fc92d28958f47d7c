"""What main-text extraction costs answers: of questions over real HTML manuals, how often the answer still stands in
what trafilatura keeps of the page, and in what equipoise reads of it.

    pip install trafilatura==2.3.1 lxml_html_clean
    python benchmarks/field/fetch.py
    python benchmarks/sites/extraction.py

A question counts where one of its gold patterns matches the text of one of its pages. The patterns were checked against
what equipoise reads (`benchmarks/field/check.py`), so its own row says only that they still match.
"""

import sys
from collections import Counter
from pathlib import Path

import trafilatura

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "field"))

from questions import Question, load  # noqa: E402
from sets import default_cache, folder  # noqa: E402

from equipoise.corpus.loaders import load as read  # noqa: E402
from equipoise_lab.maths.rates import clopper_pearson  # noqa: E402


def ours(path: Path) -> str:
    """All that is read of a page."""
    return "\n".join(one.text for one in read(path, path.read_bytes()))


def extracted(path: Path) -> str:
    """What trafilatura keeps, tables included, where it may choose to keep more."""
    kept = trafilatura.extract(
        path.read_bytes(), output_format="markdown", include_tables=True, favor_recall=True
    )
    return kept or ""


def pages_of(question: Question, place: Path) -> list[Path]:
    """Those of its files that are HTML."""
    return [page for name in question.files for page in place.rglob(name) if page.suffix in (".html", ".htm")]


def main() -> None:
    """Count and print."""
    texts: dict[str, dict[Path, str]] = {"equipoise": {}, "trafilatura": {}}
    found: Counter[str] = Counter()
    asked = 0
    for name in sorted(path.stem for path in (HERE.parent / "field" / "questions").glob("*.jsonl")):
        place = folder(default_cache(), name)
        for question in load(name):
            pages = pages_of(question, place) if question.answerable else []
            if not pages:
                continue
            asked += 1
            for who, read_by in (("equipoise", ours), ("trafilatura", extracted)):
                kept = texts[who]
                for page in pages:
                    kept[page] = kept[page] if page in kept else read_by(page)
                found[who] += any(question.matches(kept[page]) for page in pages)
    for who, kept in texts.items():
        words = sum(len(text.split()) for text in kept.values())
        rate = clopper_pearson(found[who], asked)
        if rate:
            interval = f"{rate.estimate:.3f} [{rate.low:.3f}, {rate.high:.3f}]"
            print(f"{who}: {found[who]} of {asked} answers stand in it ({interval}), {words:,} words")


if __name__ == "__main__":
    main()
