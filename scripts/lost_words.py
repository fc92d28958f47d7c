"""Which words of files are lost: those that `man` or pandoc shows of them, without those that the loader reads.

    python scripts/lost_words.py /usr/share/man/man1 --files 150

Prints the files that lose most, with the words, and the share that is lost in all of them.
"""

import argparse
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders import kind_of, load

PANDOC = {
    ".md": "markdown", ".rst": "rst", ".docx": "docx", ".odt": "odt", ".epub": "epub", ".html": "html", ".org": "org",
    ".tex": "latex", ".ipynb": "ipynb", ".rtf": "rtf", ".dbk": "docbook",
}  # fmt: skip
"""By suffix, what pandoc calls the format; all else is shown by `man`, where it is a manual page."""
WORD = re.compile(r"[^\W\d_]{3,}")
SEED, FEWEST, SHOWN, SECONDS = 5, 40, 12, 60
"""Order of the files; words of a file that counts; files that are printed; for one file."""


def words(text: str) -> Counter[str]:
    """How often each word stands in a text, without its case."""
    return Counter(word.casefold() for word in WORD.findall(text.replace("\N{SOFT HYPHEN}", "")))


def shown(path: Path) -> str:
    """The text that another program shows; nothing where it fails."""
    kind = kind_of(path)
    if kind in PANDOC:
        command = ["pandoc", "--from", PANDOC[kind], "--to", "plain", "--wrap", "none", path.name]
    else:
        command = ["man", "--nh", "--nj", "--pager", "cat", f"./{path.name}"]
    environment = {"MANWIDTH": "400", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    run = subprocess.run(
        command, cwd=path.parent, env=environment, capture_output=True, timeout=SECONDS, check=False
    )
    text = re.sub(r".\x08", "", run.stdout.decode("utf-8", "replace")) if run.returncode == 0 else ""
    return text if kind in PANDOC else "\n".join(text.strip().split("\n")[1:-1])  # its first and last line


def compared(paths: list[Path]) -> Iterator[tuple[float, Path, Counter[str]]]:
    """Of each file that both read: which share of its words is lost, and the words."""
    for path in paths:
        if (there := words(shown(path))).total() < FEWEST:
            continue
        try:
            read = words("\n".join(document.text for document in load(path, path.read_bytes())))
        except UnreadableFile as error:
            print(error)
            continue
        lost = there - read
        yield lost.total() / there.total(), path, lost


def main() -> None:
    """Compare the files of a folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=150, help="so many of them, drawn with a fixed seed")
    asked = parser.parse_args()
    paths = sorted(path for path in asked.folder.rglob("*") if path.is_file() and kind_of(path))
    drawn = Random(SEED).sample(paths, min(asked.files, len(paths)))
    found = sorted(compared(drawn), key=lambda each: each[0], reverse=True)
    for share, path, lost in found[:SHOWN]:
        print(f"{share:.3f} {path.name}: {', '.join(word for word, _ in lost.most_common(6))}")
    mean = sum(share for share, *_ in found) / max(1, len(found))
    print(f"{len(found)} files; of a file's words {mean:.2%} are lost in the mean")


if __name__ == "__main__":
    main()
