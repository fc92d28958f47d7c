"""Permissions of the server's files: for its own user alone or, with `serve.group`, for a group, too."""

import grp
import os
from pathlib import Path
from stat import S_IMODE

from equipoise.core.addresses import Place
from equipoise.core.errors import SettingsError

_SHARED = 0o2070
"""Mode of a folder that is shared with its group: files made in it later belong to the group as well."""


def mode_in(folder: Path) -> int:
    """The mode for a file that is made in `folder`."""
    return 0o660 if folder.stat().st_mode & _SHARED == _SHARED else 0o600


def protect(path: Path) -> None:
    """Set a file's mode to the one for its folder (`mode_in`)."""
    mode = mode_in(path.parent)
    if S_IMODE(path.stat().st_mode) != mode:
        path.chmod(mode)


def share(group: str, folder: Path, store: Place) -> None:
    """Give what is in `folder`, and a store that is a file, to the group. Raises SettingsError."""
    try:
        number = grp.getgrnam(group).gr_gid
    except KeyError:
        raise SettingsError(f"serve.group: there is no group {group[:100]!r} on this machine") from None
    files = (
        [store.with_name(store.name + end) for end in ("", "-wal", "-shm")] if isinstance(store, Path) else []
    )
    for path in (folder, *folder.rglob("*"), *(file for file in files if file.exists())):
        if path.is_symlink():
            continue
        mode = 0o2770 if path.is_dir() else 0o660
        there = path.stat()
        if (there.st_gid, S_IMODE(there.st_mode)) == (number, mode):
            continue
        try:
            os.chown(path, -1, number)
            path.chmod(mode)
        except OSError as error:
            raise SettingsError(
                f"serve.group: {path} cannot be given to the group {group!r} ({error.strerror}): let its owner, who is "
                "in the group, start the server once"
            ) from error
