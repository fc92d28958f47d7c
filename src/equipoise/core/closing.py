"""What is closed at the end of a `with` block."""

from typing import Self


class Closing:
    """Base of what has a `close`."""

    __slots__ = ()

    def close(self) -> None:
        """Give back what is held."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
