"""A base class for objects that a `with` block closes."""

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """A context manager that calls `close` at the end of its `with` block."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Release what is held, such as files and connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
