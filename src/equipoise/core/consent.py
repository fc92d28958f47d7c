"""The user's consent to a settings file: for one path, with one content, to what was shown.

Each consent is a file of its own in the user's state folder, readable by the user alone.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import platformdirs

from equipoise.core import atomic
from equipoise.core.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Consent:
    """`path` is absolute, `sha256` the hash of the file's bytes, `shown` the keys and values as they were shown."""

    path: str
    sha256: str
    shown: Mapping[str, str]

    @classmethod
    def to(cls, path: Path, data: bytes, shown: Mapping[str, str]) -> "Consent":
        """The consent that a file with the bytes `data` needs."""
        return cls(str(path), sha256(data).hexdigest(), dict(shown))


def given(wanted: Consent) -> bool:
    """Whether the user has consented to exactly this. A record that cannot be read does not count."""
    try:
        return bool(json.loads(_record(wanted.path).read_bytes()) == asdict(wanted))
    except (OSError, ValueError, RecursionError):
        return False


def give(consent: Consent) -> None:
    """Record it, in place of an earlier one for the same path. Raises SettingsError where it cannot be kept."""
    record = _record(consent.path)
    try:
        atomic.write(record, json.dumps(asdict(consent)).encode())
    except OSError as error:
        raise SettingsError(f"consent cannot be kept in {record.parent}: {error.strerror}") from None


def withdraw(path: Path) -> bool:
    """Forget the consent for `path`; returns whether there was one."""
    record = _record(str(path))
    try:
        record.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise SettingsError(f"{record} cannot be removed: {error.strerror}") from None
    return True


def _record(path: str) -> Path:
    state = Path(platformdirs.user_state_dir("equipoise", appauthor=False))
    return state / "trusted" / f"{sha256(os.fsencode(path)).hexdigest()}.json"
