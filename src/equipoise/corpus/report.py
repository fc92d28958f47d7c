"""What an index run did."""

from dataclasses import dataclass

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.files import LeftOut


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What `index` did, in files, and what the store holds after it, in documents and passages.

    `relabelled` files only changed their trust; `skipped` names what in folders is hidden, of an unknown type, or part
    of a web page; `left_out` links out of a folder and roots that kept another trust. `hidden` and `invisible` have
    (source, characters) for new documents with text that nobody sees: what was left out, and what is indexed;
    `running` has (source, lines) of running headers and footers that were left out of new documents;
    `guessed` has (source, encoding) for those of files that do not say their encoding, `unread` (source, script)
    for those that the encoder does not read.
    `strangers` are the ids of new documents that are not trusted, `alike` (source, trusted source) for those of them
    that look like a trusted document, filled in by who has both partitions (`rag.impersonation`). `comments` has
    (field, number) of those added, changed and so on that are what readers wrote below a page.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    relabelled: int = 0
    removed: int = 0
    skipped: tuple[LeftOut, ...] = ()
    failed: tuple[UnreadableFile, ...] = ()
    documents: int = 0
    passages: int = 0
    seconds: float = 0.0
    left_out: tuple[LeftOut, ...] = ()
    hidden: tuple[tuple[str, int], ...] = ()
    invisible: tuple[tuple[str, int], ...] = ()
    running: tuple[tuple[str, int], ...] = ()
    guessed: tuple[tuple[str, str], ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    strangers: tuple[str, ...] = ()
    alike: tuple[tuple[str, str], ...] = ()
    comments: tuple[tuple[str, int], ...] = ()
