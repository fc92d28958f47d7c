"""Parts that stores have in common."""

from types import TracebackType
from typing import Self


class Closing:
    """What is closed at the end of a `with` block."""

    def close(self) -> None:
        """Give back what is held open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Alone:
    """What a store has no need of that has no replicas and shares no work among processes."""

    def index_vectors(self) -> None:
        """See `store.Embeds`: nothing is made in advance."""

    def claim(self, name: str) -> bool:
        """See `store.Embeds`: of several processes that index into this store each does all that it sees undone."""
        return True

    def release(self, name: str) -> None:
        """See `store.Embeds`."""

    def written(self) -> str:
        """See `store.Readable`: every read sees what was written before."""
        return ""

    def read_after(self, mark: str) -> None:
        """See `store.Readable`."""
