"""Where a store is: a file, or the address of a database."""

from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.guarded import without_password

SCHEMES = ("postgres", "postgresql")
"""What an address may begin with."""


@dataclass(frozen=True, slots=True)
class StoreUrl:
    """The address of a store that is not a file, such as postgres://user@host/name. Prints without its password."""

    address: str = field(repr=False)

    @property
    def scheme(self) -> str:
        """The part before "://", in lower case; our own stores have one of SCHEMES."""
        return self.address.partition("://")[0].lower()

    def __str__(self) -> str:
        return without_password(self.address)


Place = Path | StoreUrl


def place(given: str | Path) -> Place:
    """`given` as it was typed: an address where it holds "://", else a path."""
    return StoreUrl(given) if isinstance(given, str) and "://" in given else Path(given)
