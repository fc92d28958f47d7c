"""Does a regular expression backtrack? It is run over texts made to let it: pieces of what it matches, repeated,
then something it does not want. Time that grows with the square of the length, or faster, is found by measuring.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from re import _compiler, _constants, _parser

from timing import growth, seconds, stays_above

ANYWHERE = "aA1 \n\t-_.,:;?!'\"()[]|=#*\\中\0"
"""Characters that are tried with every pattern, beside its own."""

EXPONENTIAL = {16: 2e-4, 32: 1e-3}
"""Seconds that an attack of so many characters never takes, unless every character or so doubles the time."""

SUSPICIOUS = {200: 3e-3, 1_000: 3e-4}
"""Seconds that a cubic and a quadratic pattern exceed; a linear one takes a tenth of the second."""

LOOKED_AT = 4  # of the suspicious attacks, the slowest ones

ONE = (_constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY)
REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
MANY = 50
BOUND = 3.0  # linear is 2, quadratic 4
METHODS: dict[str, Callable[[re.Pattern[str]], Callable[[str], object]]] = {
    "match": lambda pattern: pattern.match,
    "fullmatch": lambda pattern: pattern.fullmatch,
    "search": lambda pattern: pattern.search,
    "finditer": lambda pattern: lambda text: sum(1 for _ in pattern.finditer(text)),
}
AS = {"sub": "finditer", "subn": "finditer", "findall": "finditer", "split": "finditer"}


@dataclass(frozen=True, slots=True)
class Attack:
    """lead + pump * many + tail."""

    lead: str
    pump: str
    tail: str

    def text(self, size: int) -> str:
        """The attack with about `size` characters."""
        return self.lead + self.pump * (size // len(self.pump)) + self.tail


def weakness(pattern: re.Pattern[str] | re.Pattern[bytes], method: str, *, rounds: int = 10) -> Attack | None:
    """An attack that takes `pattern`, used with `method`, more than linear time; None where none is found.

    Each growth is measured up to `rounds` times before it is believed."""
    if isinstance(pattern.pattern, bytes):
        pattern = re.compile(pattern.pattern.decode("latin-1"), pattern.flags | re.ASCII)
    run = METHODS[AS.get(method, method)](pattern)
    slow: list[tuple[float, Attack]] = []
    for attack in attacks(pattern):
        if any(stays_above(limit, partial(run, attack.text(size))) for size, limit in EXPONENTIAL.items()):
            return attack
        for size, limit in SUSPICIOUS.items():
            trial = partial(run, attack.text(size))
            if seconds(trial, runs=1) > limit and (took := seconds(trial, runs=3)) > limit:
                slow.append((took / size, attack))
                break
    for _, attack in sorted(slow, key=lambda pair: -pair[0])[:LOOKED_AT]:
        if growth(partial(_prepared, run, attack), least=125, rounds=rounds).ratio > BOUND:
            return attack
    return None


def _prepared(run: Callable[[str], object], attack: Attack, size: int) -> Callable[[], object]:
    return partial(run, attack.text(size))


def attacks(pattern: re.Pattern[str]) -> Iterator[Attack]:
    """Repeated characters and pairs of them that a repeat takes, and repeated beginnings of what the pattern matches;
    none where nothing in the pattern repeats."""
    tree = _parser.parse(pattern.pattern, pattern.flags)
    letters = "".join(dict.fromkeys([*_letters(tree), *ANYWHERE]))
    takes = {
        letter: tuple(single.match(letter) is not None for single, _ in _singles(tree, tree.state))
        for letter in letters
    }
    looped = [row for row, (_, loops) in enumerate(_singles(tree, tree.state)) if loops]
    alike = {row: letter for letter, row in takes.items() if any(row[at] for at in looped)}
    if not looped:
        return
    whole = _examples(tree, letters)
    beginnings = list(dict.fromkeys(text[:end] for text in whole for end in range(len(text) + 1)))
    tails = ["", "\0", "?\0", "\n\0"]
    pumps = [*alike.values(), *(a + b for a, b in permutations(alike.values(), 2))]
    pumps += [text + space for text in beginnings for space in ("", " ") if text]
    yield from (Attack("", pump, tail) for pump in pumps for tail in tails)
    leads = beginnings[1:60]
    yield from (Attack(lead, single, tail) for single in alike.values() for lead in leads for tail in tails)


def _letters(tree: object) -> Iterator[str]:
    """The characters that stand in a parsed pattern."""
    if isinstance(tree, tuple) and len(tree) == 2 and tree[0] in (_constants.LITERAL, _constants.NOT_LITERAL):
        yield chr(tree[1])
    elif isinstance(tree, tuple) and len(tree) == 2 and tree[0] is _constants.RANGE:
        yield from map(chr, tree[1])
    elif isinstance(tree, tuple | list | _parser.SubPattern):
        for part in tree:
            yield from _letters(part)


def _singles(
    tree: object, state: _parser.State, loops: bool = False
) -> Iterator[tuple[re.Pattern[str], bool]]:
    """Each part of the pattern that takes one character, and whether it may take many in turn."""
    if isinstance(tree, tuple) and len(tree) == 2 and tree[0] in ONE:
        yield _compiler.compile(_parser.SubPattern(state, [tree]), state.flags), loops
    elif isinstance(tree, tuple) and len(tree) == 2 and tree[0] in REPEATS:
        yield from _singles(tree[1][2], state, loops or tree[1][1] > MANY)
    elif isinstance(tree, tuple | list | _parser.SubPattern):
        for part in tree:
            yield from _singles(part, state, loops)


def _examples(tree: object, letters: str, most: int = 40) -> list[str]:
    """Some texts that the parsed pattern `tree` would match if it had no assertions; together they take each
    branch, each repeat as seldom as they may and once more."""
    parts = [_options(tree, item, letters)[:most] for item in tree]
    rows = max((len(part) for part in parts), default=1)
    texts = ["".join(part[row % len(part)] for part in parts) for row in range(rows)]
    return list(dict.fromkeys(texts))


def _options(tree: object, item: tuple[object, object], letters: str) -> list[str]:
    kind, value = item
    if kind is _constants.BRANCH:
        return [text for branch in value[1] for text in _examples(branch, letters)]
    if kind is _constants.SUBPATTERN:
        return _examples(value[-1], letters)
    if kind is _constants.ATOMIC_GROUP:
        return _examples(value, letters)
    if kind in REPEATS:
        least, _, body = value
        texts = _examples(body, letters)
        return [text * times for times in dict.fromkeys((max(1, least), least)) for text in texts]
    if kind in ONE:
        pattern = _compiler.compile(_parser.SubPattern(tree.state, [item]), tree.state.flags)
        return [letter for letter in letters if pattern.match(letter)][:4] or [""]
    return [""]
