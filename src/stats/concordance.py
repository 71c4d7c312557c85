"""Whether several domains put models into the same order: Kendall's W (Kendall and Babington Smith 1939)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from src.stats.compare import DRAWS
from src.stats.intervals import LEVEL

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Concordance:
    """Agreement of domains on an order of models.

    Attributes:
        w: Kendall's W, from 0 to 1; NaN when there is none.
        p: share of random orders, one in every domain, that agree at least as much.
        low, high: W in 95 % of the repeats of the measurement; noise makes orders disagree, so they lie low.
        reason: why there is none; "" when there is.
    """

    w: float
    p: float
    low: float
    high: float
    reason: str = ""


def concordance(values: Vector, draws: Vector, seed: int) -> Concordance:
    """Agreement of domains on who has more.

    Args:
        values: of each model in each domain, shape (domains, models).
        draws: the same in repeats of the measurement, shape (draws, domains, models).
        seed: of the permutations.
    """
    domains, models = values.shape
    if domains < 2 or models < 2:
        what = "one domain" if domains < 2 else "one model"
        return Concordance(math.nan, math.nan, math.nan, math.nan, f"{what}: an order over domains needs two of each")
    ranks = rankdata(values, axis=1)
    w = float(kendall_w(ranks[None])[0])
    if math.isnan(w):
        return Concordance(w, w, w, w, "no two models differ in any domain")
    rng = np.random.default_rng(seed)
    shuffled = rng.permuted(np.broadcast_to(ranks, (DRAWS, domains, models)), axis=2)
    as_high = int((kendall_w(shuffled) >= w - 1e-12).sum())
    repeated = kendall_w(rankdata(draws, axis=2))
    low, high = np.nanquantile(repeated, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return Concordance(w, (1 + as_high) / (1 + DRAWS), low, high)


def kendall_w(ranks: Vector) -> Vector:
    """Kendall's W, corrected for ties; NaN where no model differs from another in any domain.

    Args:
        ranks: average ranks, shape (n, domains, models), at least two domains and models.

    Returns:
        Shape (n,).
    """
    _, domains, models = ranks.shape
    total = ranks.sum(axis=1)
    between = ((total - total.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    # Within a domain the ranks' squared deviations are (models³ − models)/12 less what ties take away.
    within = ((ranks - (models + 1) / 2) ** 2).sum(axis=(1, 2))
    largest = domains * within
    w = np.full(len(ranks), math.nan)
    np.divide(between, largest, out=w, where=largest > 0)
    return w
