"""Small files of the user's own: put in place whole or not at all, for nobody else to read."""

import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex


def write(path: Path, data: bytes) -> None:
    """Put `data` at `path` in place of what is there; its folder is made. Raises OSError, and then nothing changed."""
    draft = path.with_name(f"{path.name}.{token_hex(4)}")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink()
        raise
