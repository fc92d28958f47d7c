"""What the bias benchmark runs."""

from dataclasses import asdict, dataclass

from equipoise.core.errors import InputError
from equipoise_lab.attacks.passages import Kind
from equipoise_lab.bench.bias.records import UNATTACKED, Condition


@dataclass(frozen=True, slots=True)
class BiasPlan:
    """What is run. Conditions always begin with the unattacked one: shifts are measured from it.

    With `rotations` above 1 a condition is run with so many choices of planted passages: those from the first one on,
    from another one on, and so on round.
    """

    filters: tuple[str, ...]
    injections: tuple[int, ...] = (0, 1, 5, 10)
    k: int = 5
    candidates: int = 20
    rotations: int = 1

    def __post_init__(self) -> None:
        if not self.filters:
            raise InputError("no filter was named: give --filters none,biasdef for example")
        if self.k < 1 or self.candidates < self.k:
            raise InputError(
                f"{self.candidates} candidates for the top {self.k} are not possible: "
                "give -k of at least 1 and --candidates of at least -k"
            )
        if self.rotations < 1:
            raise InputError(f"{self.rotations} rotations are not possible: give at least 1")
        if min(self.injections, default=0) < 0:
            raise InputError(f"{min(self.injections)} injections are not possible: give numbers from 0")

    def attacked(self) -> tuple[int, ...]:
        """The numbers of injected passages, ascending, without 0."""
        return tuple(sorted(set(self.injections) - {0}))

    def conditions(self) -> tuple[Condition, ...]:
        """Unattacked, then each sign with each number of injections."""
        signs = (Kind.ADV_NEG, Kind.ADV_POS)
        return ((UNATTACKED, 0), *((sign.value, n) for sign in signs for n in self.attacked()))

    def config(self, **more: str) -> dict[str, object]:
        """What must not change between the runs that share an output folder."""
        free = ("filters", "injections", "rotations")
        fixed = {name: value for name, value in asdict(self).items() if name not in free}
        return fixed | more
