import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from src.stats.categories import (
    BOOTSTRAP,
    CLASSES,
    EXACT,
    WEIGHTS,
    Codes,
    Over,
    classify,
    frequency,
    mean,
    measures,
    share,
)

JUPITER = [
    ("HK", ["Jupiter"] * 7),
    ("MK", ["Jupiter", "Mars", "Saturn", "Venus", "Earth", "Uranus", "Mars"]),
    ("WK", ["Saturn", "Mars", "Jupiter", "Venus", "Saturn", "Saturn", "Mars"]),
    ("UU", ["Saturn", "Mars", "Venus", "Earth", "Uranus", "Neptune", "Mercury"]),
    ("MU", ["Saturn", "Saturn", "Mars", "Venus", "Earth", "Uranus", "Neptune"]),
    ("CU", ["Saturn"] * 7),
]


def classes(answers: list[list[str]], gold: str = "Jupiter", over: Over = "all") -> list[str]:
    given = np.array(answers)
    return [CLASSES[code] for code in classify(given == gold, given, over)]


def codes(**counts: int) -> Codes:
    return np.repeat([CLASSES.index(name) for name in counts], list(counts.values())).astype(np.int64)


def test_the_golden_rows() -> None:
    assert classes([answers for _, answers in JUPITER]) == [name for name, _ in JUPITER]


@pytest.mark.parametrize(
    ("answers", "over_all", "over_samples"),
    [
        ("JJJJJJM", "MK", "MK"),  # known, but not always
        ("SJJJJJJ", "WK", "WK"),  # never known when sure
        ("SMMMMMM", "MU", "CU"),  # the samples agree, the greedy answer does not
        ("SSMVEUN", "MU", "UU"),  # only the greedy answer is said twice
        ("SMMVEUN", "MU", "MU"),
        ("SSSSSSS", "CU", "CU"),
    ],
)
def test_confidence_over_all_answers_or_the_samples(answers: str, over_all: str, over_samples: str) -> None:
    assert classes([list(answers)], "J") == [over_all]
    assert classes([list(answers)], "J", "samples") == [over_samples]


def test_answers_may_be_codes_and_questions_keep_theirs_apart() -> None:
    given = np.array([[1, 1, 2], [2, 2, 2], [0, 1, 2]])
    assert frequency(given).tolist() == [2, 3, 1]
    assert frequency(given, "samples").tolist() == [1, 2, 1]
    assert classify(np.zeros((3, 3)), given).tolist() == [4, 5, 3]


@pytest.mark.parametrize(("shape", "over"), [((3, 1), "all"), ((3, 2), "samples"), ((3,), "all")])
def test_too_few_answers_to_count_are_refused(shape: tuple[int, ...], over: Over) -> None:
    with pytest.raises(ValueError, match="at least two answers"):
        classify(np.zeros(shape), np.zeros(shape), over)


def test_verdicts_and_answers_have_one_shape() -> None:
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(2, 4\)"):
        classify(np.zeros((2, 3)), np.zeros((2, 4)))


def test_no_questions_have_no_classes() -> None:
    assert classify(np.zeros((0, 7)), np.zeros((0, 7))).shape == (0,)


def test_sixty_percent_highly_and_forty_maybe_known_score_5_6() -> None:
    found = measures(codes(HK=60, MK=40), 0)
    value, interval = found["category_score"]
    assert value == pytest.approx(5.6)
    assert interval.low < 5.6 < interval.high < 6
    assert (interval.n, interval.unit, interval.method, interval.reason) == (100, "question", BOOTSTRAP, "")
    assert found["accuracy"][0] == 1
    assert found["accuracy"][1].low == pytest.approx(0.025 ** (1 / 100))
    assert (found["share_HK"][0], found["share_MK"][0], found["share_CU"][0]) == (0.6, 0.4, 0)
    assert math.fsum(found[f"share_{name}"][0] for name in CLASSES) == pytest.approx(1)


def test_the_score_is_the_weighted_sum_of_shares() -> None:
    found = measures(codes(HK=1, MK=2, WK=3, UU=4, MU=5, CU=6), 3)
    weighted = sum((7 - i) * found[f"share_{name}"][0] for i, name in enumerate(CLASSES, start=1))
    assert found["category_score"][0] == pytest.approx(weighted)
    assert found["accuracy"][0] == pytest.approx(3 / 21)


def test_without_questions_every_number_has_a_reason() -> None:
    found = measures([], 0)
    assert list(found) == [*(f"share_{name}" for name in CLASSES), "accuracy", "category_score"]
    assert all(math.isnan(value) and math.isnan(each.low) and each.reason for value, each in found.values())


def test_few_questions_have_a_score_without_bounds() -> None:
    value, interval = measures(codes(HK=2), 0)["category_score"]
    assert (value, interval.n) == (6, 2)
    assert math.isnan(interval.low)
    assert interval.reason == "2 questions: a bootstrap needs at least 3"


@pytest.mark.parametrize(("name", "score"), [("HK", 6), ("UU", 3), ("CU", 1)])
def test_questions_all_alike_have_an_interval_with_width_inside_the_scale(name: str, score: int) -> None:
    value, interval = measures(codes(**{name: 50}), 0)["category_score"]
    assert value == score
    assert 1 <= interval.low <= score <= interval.high <= 6
    assert interval.high - interval.low > 0.1


def test_order_of_questions_does_not_matter_and_the_seed_does() -> None:
    some = codes(HK=10, WK=20, CU=30)
    shuffled = np.random.default_rng(0).permutation(some)
    assert measures(shuffled, 5) == measures(some, 5)
    assert measures(some, 6)["category_score"] != measures(some, 5)["category_score"]


@pytest.mark.parametrize("n", [20, 100, 500])
def test_the_interval_of_a_share_never_covers_less_than_it_says(n: int) -> None:
    counts = np.arange(n + 1)
    found = [share(int(k), n)[1] for k in counts]
    low, high = np.array([each.low for each in found]), np.array([each.high for each in found])
    assert {each.method for each in found} == {EXACT}
    assert (low[0], high[-1]) == (0, 1)
    for p in [0.18 / n, 0.5 / n, 2.5 / n, 0.02, 0.5, 0.98, 1 - 0.1 / n]:
        covered = binom.pmf(counts, n, p)[(low <= p) & (p <= high)].sum()
        assert covered >= 0.95 - 1e-9, p


def test_the_interval_of_a_mean_is_that_of_a_share_for_zeros_and_ones() -> None:
    _, interval = mean([1] * 3 + [0] * 97, (0, 1), 0)
    assert interval.low == pytest.approx(beta.ppf(0.025, 3, 98), rel=0.1)
    assert interval.high == pytest.approx(beta.ppf(0.975, 4, 97), rel=0.1)


@pytest.mark.parametrize(
    "shares",
    [(0.02, 0, 0, 0, 0, 0.98), (0.98, 0.02, 0, 0, 0, 0), (1 / 6,) * 6, (0.1, 0.08, 0.15, 0.4, 0.2, 0.07)],
)
@pytest.mark.parametrize("n", [20, 200])
def test_the_interval_of_the_score_covers_the_truth(shares: tuple[float, ...], n: int) -> None:
    rng = np.random.default_rng(1)
    truth, held = float(np.dot(shares, WEIGHTS)), 0
    for seed in range(200):
        drawn = np.repeat(WEIGHTS, rng.multinomial(n, shares))
        _, interval = mean(drawn, (1, 6), seed)
        held += interval.low <= truth <= interval.high
    assert held >= 184  # 92 %; the seeds are fixed


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="between 0 and n"):
        share(successes, n)
