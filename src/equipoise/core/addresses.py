"""Where a store is: a file, or the address of a database."""

from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.errors import InputError
from equipoise.core.guarded import without_password

SCHEMES = {"postgres": "postgres", "postgresql": "postgres"}
"""What an address may begin with, and which kind of store that is."""


@dataclass(frozen=True, slots=True)
class StoreUrl:
    """The address of a store that is not a file, such as postgres://user@host/name. Prints without its password."""

    address: str = field(repr=False)

    @property
    def is_known(self) -> bool:
        """Whether it begins with one of SCHEMES."""
        return self._scheme in SCHEMES

    @property
    def kind(self) -> str:
        """The kind of store, a value of SCHEMES. Raises InputError for a scheme that is none of them."""
        if not self.is_known:
            raise InputError(
                f"there is no kind of store {self._scheme[:40]!r}: give the path of a file, or an address that begins "
                f"with {', '.join(f'{name}://' for name in SCHEMES)}"
            )
        return SCHEMES[self._scheme]

    @property
    def _scheme(self) -> str:
        return self.address.partition("://")[0].lower()

    def __str__(self) -> str:
        return without_password(self.address)


Place = Path | StoreUrl


def place(given: str | Path) -> Place:
    """`given` as it was typed: an address where it holds "://", else a path."""
    return StoreUrl(given) if isinstance(given, str) and "://" in given else Path(given)
