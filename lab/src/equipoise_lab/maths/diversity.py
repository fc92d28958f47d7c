"""Rankings that look for variety instead of planted passages: what BiasDef is compared with.

Every function returns rows in the order chosen (k of them, or all when there are fewer). Ties go to the lower
row. Relevance is a passage's cosine similarity to the question, similarity that between two passages.
"""

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.checks import (
    Floats,
    Rows,
    embedding_matrix,
    finite_vector,
    positive_count,
    square_matrix,
)


def mmr(relevance: ArrayLike, similarity: ArrayLike, *, k: int, trade_off: float = 0.5) -> Rows:
    """Maximal marginal relevance (Carbonell and Goldstein, 1998): rows (k,).

    Each step takes the row with the largest trade_off * relevance - (1 - trade_off) * (largest similarity to
    a row already taken); the first one is the most relevant. `relevance` (n,), `similarity` (n, n),
    `trade_off` (lambda) from 0, variety only, to 1, relevance only; 0.5 is the EBI paper's value.

    Worked value: relevance (0.9, 0.8, 0.5), the first two 0.95 alike, the third 0.1 and 0.2 like them: after
    row 0 the scores are 0.4 - 0.475 and 0.25 - 0.05, so the order is 0, 2, 1.
    """
    scores, alike = _relevance_and_similarity(relevance, similarity)
    positive_count(k, "k")
    if not 0.0 <= trade_off <= 1.0:
        raise ValueError(f"trade_off must be between 0 and 1, not {trade_off}")
    chosen: list[int] = []
    nearest = np.zeros(len(scores))
    marginal = scores.copy()
    for _ in range(min(k, len(scores))):
        marginal[chosen] = -np.inf
        row = int(np.argmax(marginal))
        nearest = np.maximum(nearest, alike[row]) if chosen else alike[row]
        chosen.append(row)
        marginal = trade_off * scores - (1.0 - trade_off) * nearest
    return np.array(chosen, dtype=np.intp)


def conflict_matrix(contradiction: ArrayLike) -> Floats:
    """SMART's conflicts (n, n): the contradiction probabilities (n, n) of an NLI model, made symmetric.

    Entry (i, j) is the mean of i -> j and j -> i; the diagonal is 0. Worked value: 0.8 one way and 0.2 the
    other give 0.5.
    """
    one_way = _probabilities(contradiction)
    both = (one_way + one_way.T) / 2
    np.fill_diagonal(both, 0.0)
    return both


def smart_kernel(
    relevance: ArrayLike, similarity: ArrayLike, conflict: ArrayLike, *, sharpness: float = 1.0
) -> Floats:
    """SMART's kernel (n, n) for a determinantal point process (Li, Hu and Wan, arXiv 2409.13992).

    L = Diag(r) (K * exp(sharpness C)) Diag(r), with r the relevance (n,), K the similarity (n, n), C the conflict
    (n, n) with zeros on its diagonal, * entry by entry: passages that contradict each other count as more alike than
    they are, at most as fully alike, so the process avoids taking both. Without conflicts it is a plain determinantal
    process over relevance and similarity. (The paper writes exp(-(1 - C)), which is the same but for one factor on all
    of L; that entries stay at most 1 is ours: beyond, a pair would be more alike than a passage is itself.) Negative
    relevance counts as 0. The entrywise product can lose positive semidefiniteness; its negative eigenvalues are then
    set to 0. Greedy selection by it is `greedy_map`.

    Worked value: r = (1, 0.5), K = 0.4 off the diagonal, C = 1 there, sharpness log 2: ((1, 0.4), (0.4, 0.25)).
    """
    scores, alike = _relevance_and_similarity(relevance, similarity)
    conflicts = square_matrix(conflict, len(scores), "conflict").copy()
    np.fill_diagonal(conflicts, 0.0)
    weighted = np.minimum(alike * np.exp(sharpness * conflicts), np.maximum(alike, 1.0))
    quality = np.maximum(scores, 0.0)
    return _nearest_semidefinite(quality[:, None] * (weighted + weighted.T) / 2 * quality)


def greedy_map(kernel: ArrayLike, *, k: int, floor: float = 1e-10) -> Rows:
    """The rows (at most k) that greedily maximise det(L of the chosen rows), `kernel` L (n, n) symmetric.

    Algorithm 1 of Chen, Zhang and Zhou, "Fast Greedy MAP Inference for Determinantal Point Process" (2018): a
    Cholesky factor grows by one row each step, O(k^2 n) in all. Stops early when every row left would make
    the determinant smaller than `floor` times the present one: it repeats what is chosen.

    Worked value: L = ((4, 3.9, 0), (3.9, 4, 0), (0, 0, 1)): row 0, after which row 1 has 4 - 3.9^2 / 4 =
    0.1975 left and row 2 has 1, so 0, 2, 1.
    """
    matrix = np.asarray(kernel, dtype=np.float64)
    matrix = square_matrix(matrix, len(matrix), "kernel")
    limit = min(positive_count(k, "k"), len(matrix))
    factor = np.zeros((limit, len(matrix)))
    left = np.diag(matrix).copy()
    chosen: list[int] = []
    while len(chosen) < limit:
        left[chosen] = -np.inf
        row = int(np.argmax(left))
        if left[row] < floor:
            break
        step = len(chosen)
        factor[step] = (matrix[row] - factor[:step, row] @ factor[:step]) / np.sqrt(left[row])
        chosen.append(row)
        left = left - factor[step] ** 2
    return np.array(chosen, dtype=np.intp)


def noisy_queries(query: ArrayLike, copies: int, *, rng: np.random.Generator, noise: float = 1.0) -> Floats:
    """`copies` perturbed queries (copies, d): the query (d,) plus Gaussian noise of `noise` times its length.

    Noise directions are drawn from `rng`; each is scaled to exactly that length, the EBI paper's
    "perturbation magnitude equals the original embedding norm" for 1. In many dimensions such a copy then has
    cosine 1 / sqrt(2) = 0.71 to the query. Worked value: noise 0 gives copies of the query.
    """
    vector = finite_vector(query, "query")
    directions = rng.standard_normal((max(copies, 0), len(vector)))
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    return np.asarray(vector + noise * np.linalg.norm(vector) * directions / lengths)


def brra(
    query: ArrayLike,
    embeddings: ArrayLike,
    *,
    k: int,
    rng: np.random.Generator,
    copies: int = 10,
    noise: float = 1.0,
    depth: int | None = None,
) -> Rows:
    """BRRA's defence as the EBI paper describes it (sections 5.1 and 5.2): at most k rows.

    The query (d,) and its `noisy_queries` each retrieve their `depth` best rows of `embeddings` (n, d) by
    cosine (4 k by default, the paper's candidate depth). All rows retrieved are ranked by how many queries
    retrieved them, then by their mean rank among those, then by row. The paper gives neither `copies` nor the
    weighing of frequency against rank: both are ours.

    Worked value: with noise 0 every query ranks alike, so the result is the plain top k.
    """
    matrix, vector = embedding_matrix(embeddings), finite_vector(query, "query")
    width = min(depth or 4 * positive_count(k, "k"), len(matrix))
    if width == 0:
        return np.empty(0, dtype=np.intp)
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    queries = np.vstack([vector, noisy_queries(vector, copies, rng=rng, noise=noise)])
    ranked = np.argsort(-(queries @ unit.T), axis=1, kind="stable")[:, :width]
    frequency = np.bincount(ranked.ravel(), minlength=len(matrix))
    ranks = np.tile(np.arange(1.0, width + 1), len(queries))
    mean_rank = np.bincount(ranked.ravel(), ranks, len(matrix)) / np.maximum(frequency, 1)
    rows = np.flatnonzero(frequency)
    return rows[np.lexsort((rows, mean_rank[rows], -frequency[rows]))][:k]


def _relevance_and_similarity(relevance: ArrayLike, similarity: ArrayLike) -> tuple[Floats, Floats]:
    scores = finite_vector(relevance, "relevance")
    return scores, square_matrix(similarity, len(scores), "similarity")


def _probabilities(values: ArrayLike) -> Floats:
    matrix = np.asarray(values, dtype=np.float64)
    matrix = square_matrix(matrix, len(matrix), "contradiction")
    if matrix.size and (matrix.min() < 0.0 or matrix.max() > 1.0):
        raise ValueError("contradiction must hold probabilities between 0 and 1")
    return matrix


def _nearest_semidefinite(matrix: Floats) -> Floats:
    if not matrix.size:
        return matrix
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= 0.0:
        return matrix
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
