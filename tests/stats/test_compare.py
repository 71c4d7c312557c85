import math

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from src.stats.combining import averaged, combined, spread
from src.stats.compare import DRAWS, FEWEST_DISCORDANT, holm, pairs, recall_interval, repeats, tied
from src.stats.intervals import Interval, wilson
from src.stats.recall import Counts

NO = Interval(math.nan, math.nan, 0, "point", "Wilson", "no point was judged valid or invalid")


def of_patterns(*patterns: tuple[int, tuple[int, ...]]) -> Counts:
    """Counts of which so many rows look like that."""
    return np.array([row for times, row in patterns for _ in range(times)], dtype=np.int64)


def drawn(rng: np.random.Generator, chances: list[float], facts: int) -> Counts:
    """What a run of every model finds of facts that are equally hard."""
    found = rng.random((facts, len(chances))) < chances
    return found[found.any(axis=1)].astype(np.int64)


def test_a_pair_by_hand() -> None:
    counts = of_patterns((30, (1, 0)), (10, (0, 2)), (60, (3, 1)))
    (pair,) = pairs(repeats([counts], 0))
    assert (pair.one, pair.other, pair.only_one, pair.only_other) == (0, 1, 30, 10)
    assert pair.difference == pytest.approx(0.2)
    assert pair.p == pytest.approx(math.erfc(20 / math.sqrt(40) / math.sqrt(2)))  # McNemar's z without correction
    exact = 2 * sum(math.comb(40, k) for k in range(11)) / 2**40
    assert pair.p_midp == pytest.approx(exact - math.comb(40, 10) / 2**40)
    assert pair.p_holm == pair.p
    spread_of_draws = 1.96 * math.sqrt((0.4 - 0.2**2) / 100)
    assert pair.interval.low == pytest.approx(0.2 - spread_of_draws, abs=0.02)
    assert pair.interval.high == pytest.approx(0.2 + spread_of_draws, abs=0.02)
    assert (pair.interval.n, pair.interval.unit) == (100, "union cluster")


def test_models_that_never_differ_have_p_one_and_no_interval() -> None:
    (pair,) = pairs(repeats([of_patterns((40, (1, 1)))], 0))
    assert (pair.difference, pair.p, pair.p_holm, pair.p_midp) == (0, 1, 1, 1)
    assert math.isnan(pair.interval.low)
    assert pair.interval.reason.startswith("0 of 40 clusters")
    assert str(FEWEST_DISCORDANT) in pair.interval.reason


@pytest.mark.parametrize(
    ("patterns", "said"),
    [
        (((3, (0, 1)),), "0 of 3 clusters are unlike the rest"),
        (((12, (0, 1)),), "0 of 12 clusters are unlike the rest"),
        (((4, (0, 1)), (30, (1, 1))), "4 of 34 clusters are unlike the rest"),
        (((2, (0, 1)),), "a union of 2 of 2 clusters"),
    ],
)
def test_no_interval_where_draws_cannot_tell_it(patterns: tuple[tuple[int, tuple[int, ...]], ...], said: str) -> None:
    whole = repeats([of_patterns(*patterns)], 0)
    value, interval = whole.functional(np.array([-1.0, 1.0]))
    assert value > 0
    assert math.isnan(interval.low)
    assert interval.reason.startswith(said)
    assert pairs(whole)[0].interval == interval
    assert math.isnan(whole.count_of(1)[1].low)


def test_few_clusters_of_a_small_domain_count_for_few() -> None:
    small = of_patterns((4, (1, 0)), (1, (1, 1)))
    large = of_patterns((10, (1, 0)), (10, (0, 1)), (980, (1, 1)))
    (pair,) = pairs(repeats([small, large], 0))
    assert pair.interval.reason.startswith("1 of 1005 clusters, weighed by domain, are unlike the rest")
    assert pair.p > 0.05


def test_a_model_alone_has_a_recall_count_whose_interval_is_of_its_paraphrases() -> None:
    value, interval = repeats([of_patterns((40, (1,)))], 0).count_of(0)
    assert (value, math.isnan(interval.low)) == (1.0, True)
    value, interval = repeats([of_patterns((40, (1,)), (20, (3,)))], 0).count_of(0)
    assert interval.low < value < interval.high


def test_p_is_exact_where_few_clusters_tell_two_apart() -> None:
    for ahead, behind in ((4, 0), (6, 1), (5, 4)):
        (pair,) = pairs(repeats([of_patterns((ahead, (1, 0)), (behind, (0, 1)), (30, (1, 1)))], 0))
        assert pair.p == pytest.approx(binomtest(ahead, ahead + behind).pvalue)
    # Two domains: 3 steps of 1/20 and 2 of 1/80 all one way, of 2^5 outcomes only these and their mirror.
    few = [of_patterns((3, (1, 0)), (7, (1, 1))), of_patterns((2, (1, 0)), (38, (1, 1)))]
    assert pairs(repeats(few, 0))[0].p == pytest.approx(2 / 32)


def test_a_mid_p_is_of_one_domain_only() -> None:
    ahead, behind = of_patterns((12, (1, 0)), (8, (1, 1))), of_patterns((200, (1, 0)), (260, (0, 1)), (540, (1, 1)))
    (pair,) = pairs(repeats([ahead, behind], 0))
    assert pair.difference > 0
    assert (pair.only_one, pair.only_other) == (212, 260)
    assert math.isnan(pair.p_midp)


def test_domains_weigh_the_same_however_many_clusters_they_have() -> None:
    large, small = of_patterns((600, (1, 0)), (400, (1, 1))), of_patterns((8, (0, 1)), (12, (1, 1)))
    whole = repeats([large, small], 0)
    assert whole.match.tolist() == pytest.approx([(1.0 + 0.6) / 2, (0.4 + 1.0) / 2])
    (pair,) = pairs(whole)
    assert pair.difference == pytest.approx((0.6 - 0.4) / 2)
    assert whole.of_domain(1).match.tolist() == pytest.approx([0.6, 1.0])
    assert whole.matches.shape == (DRAWS, 2, 2)


def test_recall_count_counts_paraphrases_and_recall_match_does_not() -> None:
    found = repeats([of_patterns((2, (6, 1)), (8, (0, 1)))], 0)
    assert found.match.tolist() == [0.2, 1.0]
    assert found.count.tolist() == [1.2, 1.0]
    assert found.matches.max() <= 1


def test_draws_depend_on_the_seed_and_on_nothing_else() -> None:
    rng = np.random.default_rng(3)
    counts = drawn(rng, [0.5, 0.6, 0.4], 300)
    again = counts[rng.permutation(len(counts))]
    one, other = repeats([counts], 7), repeats([again], 7)
    assert np.array_equal(one.matches, other.matches)
    assert pairs(one) == pairs(other)
    assert not np.array_equal(one.matches, repeats([counts], 8).matches)


def test_fifty_models_with_a_pattern_for_every_cluster() -> None:
    counts = drawn(np.random.default_rng(0), [0.3] * 50, 2_500)
    assert len(np.unique(counts, axis=0)) > 2_400  # more than fit into one step of the multinomial
    whole = repeats([counts], 0)
    compared = pairs(whole)
    assert len(compared) == 50 * 49 / 2
    assert whole.matches.mean(axis=(0, 1)) == pytest.approx(whole.match, abs=0.002)
    assert sum(pair.p_holm < 0.05 for pair in compared) <= 2


def test_the_paired_interval_covers_and_p_holds_its_level() -> None:
    rng = np.random.default_rng(11)
    covered = refuted = 0
    times = 200
    for seed in range(times):
        unions = [drawn(rng, [0.5, 0.4], 90), drawn(rng, [0.3, 0.4], 60)]
        (pair,) = pairs(repeats(unions, seed))
        truth = (0.1 / (1 - 0.5 * 0.6) - 0.1 / (1 - 0.7 * 0.6)) / 2
        covered += pair.interval.low <= truth <= pair.interval.high
        same = [drawn(rng, [0.4, 0.4], 90), drawn(rng, [0.6, 0.6], 60)]
        refuted += pairs(repeats(same, seed))[0].p < 0.05
    assert covered / times >= 0.92
    assert refuted / times <= 0.08


def test_holm_keeps_alarms_over_all_pairs_rare_and_finds_what_is_planted() -> None:
    rng = np.random.default_rng(5)
    alarms = found = 0
    for seed in range(60):
        equal = pairs(repeats([drawn(rng, [0.5] * 6, 200)], seed))
        alarms += any(pair.p_holm < 0.05 for pair in equal)
        whole = repeats([drawn(rng, [0.8, 0.8, 0.4], 200)], seed)
        found += 2 not in tied(whole.match, pairs(whole))
    assert alarms <= 8
    assert found == 60


def test_holm_golden() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    many = np.random.default_rng(0).random(200) ** 3
    assert holm(many.tolist()) == pytest.approx(multipletests(many, method="holm")[1].tolist())


def test_tied_names_the_best_first() -> None:
    whole = repeats([of_patterns((50, (0, 1, 1)), (3, (0, 1, 0)), (2, (0, 0, 1)), (1, (1, 0, 0)))], 0)
    assert tied(whole.match, pairs(whole)) == [1, 2]
    alone = repeats([of_patterns((5, (1,)))], 0)
    assert tied(alone.match, pairs(alone)) == [0]


def test_square_and_add_is_newcombes_interval_of_a_difference() -> None:
    # Newcombe 1998, Statistics in Medicine 17:873, method 10: 56/70 - 48/80.
    interval = combined([1, -1], [56 / 70, 48 / 80], [wilson(56, 70), wilson(48, 80)])
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.0524, 0.3339)
    assert interval.n == 150


def test_one_number_keeps_its_own_interval_and_a_missing_one_its_reason() -> None:
    own = wilson(3, 9)
    assert averaged([3 / 9], [own]) == (3 / 9, own)
    assert averaged([0.5, math.nan], [own, NO])[1].reason == NO.reason


def test_a_model_alone_has_no_interval() -> None:
    assert "definition" in recall_interval(of_patterns((5, (1,))), 0).reason
    assert recall_interval(of_patterns((5, (1, 0)), (5, (0, 1))), 0).reason == ""


def test_spread_allows_for_having_picked_the_ends() -> None:
    rng = np.random.default_rng(2)
    naive = honest = 0
    for _ in range(200):
        valid = rng.binomial(200, 0.8, size=8)
        values, parts = (valid / 200).tolist(), [wilson(int(count), 200) for count in valid]
        gap, interval = spread(values, parts)
        top, bottom = int(np.argmax(values)), int(np.argmin(values))
        naive += combined([1, -1], [values[top], values[bottom]], [parts[top], parts[bottom]]).low <= 0
        honest += interval.low <= 0 <= interval.high
        assert interval.low <= gap <= interval.high
    assert honest >= 185
    assert naive < honest - 40
