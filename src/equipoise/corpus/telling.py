"""The metadata of a file's documents, and who gives it. Later ones of these win:

what the document says itself (front matter, the fields of a row), where it lies (`folder`, below the path that was
indexed, and `type`, its suffix), the file of metadata beside it (NAME.meta.json), and the operator, who indexes it.
Only the operator says which collection a document is in: whoever writes a document does not choose who reads it.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from equipoise.core import metadata
from equipoise.core.errors import InputError, UnreadableFile
from equipoise.core.metadata import COLLECTION, Scalar
from equipoise.corpus.files import beside
from equipoise.corpus.places import shown

FOLDER, TYPE = "folder", "type"


def of_file(path: Path, root: Path, written: bytes, given: str) -> dict[str, Scalar]:
    """The metadata of the documents of the file at `path`, below the indexed `root`, but for what they say themselves:
    `written` is the metadata file beside it, `given` the operator's. Raises UnreadableFile where `written` is bad."""
    return {**_of_place(path, root), **_written(path, written), **metadata.unpacked(given)}


def of_page(address: str, root: str, given: str) -> dict[str, Scalar]:
    """The metadata of the documents of a page at an `address` below the source `root`, but for what they say."""
    below = address.removeprefix(root[: root.rfind("/") + 1]).partition("?")[0].partition("#")[0]
    folder = below.rpartition("/")[0]
    return {**metadata.cleaned({FOLDER: folder} if folder else {}), **metadata.unpacked(given)}


def _of_place(path: Path, root: Path) -> dict[str, Scalar]:
    folder = path.parent.relative_to(root).as_posix() if path.is_relative_to(root) and path != root else "."
    known = {TYPE: path.suffix.lower().removeprefix(".")} | ({FOLDER: folder} if folder != "." else {})
    return metadata.cleaned({name: said for name, said in known.items() if said})


def _written(path: Path, data: bytes) -> Mapping[str, Scalar]:
    if not data:
        return {}
    place = shown(beside(path))
    try:
        known = metadata.checked(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(place, f"this is not valid JSON ({error}); correct or remove it") from error
    except InputError as error:
        raise UnreadableFile(place, f"{error}; correct or remove it") from error
    if COLLECTION in known:
        raise UnreadableFile(
            place, "only  index --collection  says which collection a file is in; take it out here"
        )
    return known
