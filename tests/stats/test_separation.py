import math

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from src.stats.compare import pairs, repeats
from src.stats.separation import GAP, POWER, needed

RNG = np.random.default_rng(5)


def union(discordant: int, whole: int) -> np.ndarray:
    """Clusters of two models of which so many only one has, as many the one as the other."""
    counts = np.ones((whole, 2), dtype=np.int64)
    counts[: discordant // 2, 0] = 0
    counts[discordant // 2 : discordant, 1] = 0
    return counts


def connor(psi: float, level: float = 0.05) -> int:
    return math.ceil(((norm.isf(level / 2) * math.sqrt(psi) + norm.ppf(POWER) * math.sqrt(psi - GAP**2)) / GAP) ** 2)


def test_one_domain_is_connors_formula_at_the_share_and_its_wilson_bounds() -> None:
    (found,) = needed([union(160, 812)])
    low, high = proportion_confint(160, 812, method="wilson")
    assert (found.clusters, found.low, found.high) == (connor(160 / 812), connor(low), connor(high))
    assert (found.there, found.holm) == (812, found.clusters)  # one pair: nothing to correct
    assert needed([union(50, 500)])[0].clusters == 870  # ψ = .10


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_as_many_clusters_find_the_gap_four_times_in_five(share: float) -> None:
    n = needed([union(round(1_000 * share), 1_000)])[0].clusters
    only_one, only_other, _ = RNG.multinomial(n, [(share + GAP) / 2, (share - GAP) / 2, 1 - share], size=4_000).T
    found = np.abs(only_one - only_other) / np.sqrt(only_one + only_other) > norm.ppf(0.975)
    assert POWER - 0.02 < found.mean() < POWER + 0.05


def test_domains_of_unlike_size_need_more_and_as_many_find_the_gap() -> None:
    shares, sizes = (0.2, 0.4), (200, 1_800)
    (found,) = needed([union(round(share * size), size) for share, size in zip(shares, sizes, strict=True)])
    assert found.clusters > connor(0.3)
    times, hits = 150, 0
    for seed in range(times):
        unions = []
        for share, size in zip(shares, sizes, strict=True):
            n = round(size * found.clusters / found.there)
            kinds = RNG.choice(3, size=n, p=[(share + GAP) / 2, (share - GAP) / 2, 1 - share])
            unions.append(np.array([(1, 0), (0, 1), (1, 1)], dtype=np.int64)[kinds])
        hits += pairs(repeats(unions, seed))[0].p < 0.05 if seed < 20 else _p(unions) < 0.05
    assert 0.7 <= hits / times <= 0.9


def _p(unions: list[np.ndarray]) -> float:
    """As of `pairs`, without the draws."""
    gap = sum((counts[:, 0] - counts[:, 1]).mean() for counts in unions) / len(unions)
    variance = sum((counts[:, 0] != counts[:, 1]).sum() / (len(counts) * len(unions)) ** 2 for counts in unions)
    return float(2 * norm.sf(abs(gap) / math.sqrt(variance)))


def test_models_that_never_differ_need_what_the_gap_itself_takes() -> None:
    (found,) = needed([union(0, 100)])
    assert found.clusters == found.low == connor(GAP)
    assert found.high == connor(proportion_confint(0, 100, method="wilson")[1])


def test_many_models_are_in_the_order_of_their_pairs_and_holm_asks_for_more() -> None:
    counts = (RNG.random((600, 5)) < (0.2, 0.4, 0.6, 0.8, 0.9)).astype(np.int64)
    counts = counts[counts.any(axis=1)]
    found = needed([counts])
    for pair, each in zip(pairs(repeats([counts], 0)), found, strict=True):
        assert each.clusters == connor((pair.only_one + pair.only_other) / len(counts))
        assert each.holm == connor((pair.only_one + pair.only_other) / len(counts), 0.05 / 10)
    assert needed([counts[:, :1]]) == []
