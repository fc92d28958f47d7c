"""Which folder's settings file counts: the current one's, or that of a folder above it, as far as the user's own
folders go."""

import os
from pathlib import Path


def nearest(start: Path, name: str) -> Path:
    """The first of `start` and the folders above it that holds a file called `name`; `start` where none does.

    A folder above, and the file in it, must belong to the user who runs this: on a shared machine anybody may put a
    file into /tmp. Above the user's home nothing is looked for.
    """
    if os.path.lexists(start / name):
        return start
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - "~" itself where there is none, not an error
    for folder in start.parents:
        if not _owned(folder) or start == home or folder == home.parent:
            return start
        if os.path.lexists(folder / name):
            return folder if _owned(folder / name) else start
    return start


def _owned(path: Path) -> bool:
    """Whether the path belongs to this user; everything does where files have no owners."""
    if not hasattr(os, "geteuid"):
        return True
    try:
        return path.stat(follow_symlinks=False).st_uid == os.geteuid()
    except OSError:
        return False
