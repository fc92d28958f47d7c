"""Elo ratings of many orders of the same games at once. Elo depends on the order of games: average over orders.

Computed here, since libraries rate one order at a time and intervals need ten thousand.
"""

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.checks import Floats, Rows

INITIAL, SCALE, BASE = 1000.0, 400.0, 10.0
K = 4.0
"""Points a game can move; with the three constants above those of FastChat's `compute_elo`, which the H&S paper's code
calls as it is."""


def elo(first: Rows, second: Rows, scores: ArrayLike, orders: Rows, *, players: int, k: float = K) -> Floats:
    """Ratings (c, players) after c sequences of games; players start at 1000.

    Game g is `first[g]` against `second[g]` with `scores[g]` (m,): 1, 0.5 or 0 for the first. A row of `orders`
    (c, length) holds the numbers of the games in the order they were played, -1 for none (at the end).
    Elo's update: k * (score - 1 / (1 + 10^((second - first) / 400))).
    Worked value: one game, won by the first: 1002 and 998.
    """
    points = np.asarray(scores, dtype=np.float64)
    ratings = np.full((len(orders), players), INITIAL)
    chains = np.arange(len(orders))
    for games in orders.T:
        played = games >= 0
        left, right = first[games], second[games]
        gap = ratings[chains, right] - ratings[chains, left]
        moved = played * k * (points[games] - 1.0 / (1.0 + BASE ** (gap / SCALE)))
        ratings[chains, left] += moved
        ratings[chains, right] -= moved
    return ratings
