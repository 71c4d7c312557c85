import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from src.dedup.settings import Dedup
from src.studies.linkages import COMPARED, LINKAGES, compare_linkages

SETTING = Dedup()


def names(n: int) -> list[str]:
    """Texts between which no guard objects."""
    return ["It exists" + "".join("!;:?"[i // 4**k % 4] for k in range(4)) for i in range(n)]


def chain(cosine: float, n: int) -> npt.NDArray[np.float64]:
    """Vectors each with about this cosine to the one before it, and with its k-th power to the k-th before it."""
    rng = np.random.default_rng(0)
    vectors = [np.eye(1, 400)[0]]
    for _ in range(n - 1):
        step = rng.normal(size=400)
        step -= (step @ vectors[-1]) * vectors[-1]
        vectors.append(cosine * vectors[-1] + np.sqrt(1 - cosine**2) * step / np.linalg.norm(step))
    return np.array(vectors)


def rows(table: pl.DataFrame) -> dict[str, dict[str, object]]:
    assert table.schema == COMPARED
    return {str(row["linkage"]): row for row in table.iter_rows(named=True)}


def never(first: str, second: str) -> bool:
    raise AssertionError(f"asked about {first} and {second}")


def universe(facts: int, ways: int, seed: int) -> tuple[list[str], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Facts around random directions, each put in several ways."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(facts), ways)
    centres = rng.normal(size=(facts, 48))
    vectors = centres[truth] + 0.5 * rng.normal(size=(len(truth), 48))
    order = rng.permutation(len(truth))
    return names(len(truth)), truth[order], vectors[order]


def test_a_judge_that_knows_makes_every_linkage_exact_where_all_pairs_are_candidates() -> None:
    texts, truth, vectors = universe(20, 4, seed=1)
    true = dict(zip(texts, truth.tolist(), strict=True))
    table = compare_linkages(
        texts, truth, vectors, lambda a, b: true[a] == true[b], Dedup(strict=0.999, fuzzy=0.4), permutations=5
    )
    assert set(rows(table)) == set(LINKAGES) == {"greedy", "representative", "components", "complete"}
    for row in rows(table).values():
        assert (row["clusters"], row["true_clusters"], row["largest_cluster"]) == (20, 20, 4)
        assert (row["pairwise_f1"], row["b3_f1"], row["stability_min"]) == (1, 1, 1)
        assert row["judged"]


def test_a_chain_is_one_cluster_only_as_component_which_says_so() -> None:
    vectors = chain(0.95, 60)
    found = rows(compare_linkages(names(60), range(60), vectors, lambda a, b: False, SETTING))
    alarms = {name for name, row in found.items() if row["chain_alarm"]}
    assert alarms == {"components"}
    assert found["components"]["largest_cluster"] == 60
    assert found["components"]["chained"]
    assert found["components"]["smallest_cosine"] == pytest.approx((vectors @ vectors.T).min())
    for linkage in set(LINKAGES) - alarms:
        assert found[linkage]["largest_cluster"] <= 3  # type: ignore[operator]
    assert found["greedy"]["stability_min"] < 1  # type: ignore[operator]
    assert found["greedy"]["clusters_min"] < found["greedy"]["clusters_max"]  # type: ignore[operator]
    for linkage in ("representative", "components", "complete"):
        assert found[linkage]["stability_min"] == found[linkage]["stability_mean"] == 1
        assert found[linkage]["clusters_min"] == found[linkage]["clusters_max"] == found[linkage]["clusters"]


def test_a_judge_that_always_says_yes_cannot_make_one_cluster_of_a_chain() -> None:
    """A text is at most two steps from what stands for it: one that merged unasked, one that the judge confirmed."""
    found = rows(compare_linkages(names(60), range(60), chain(0.95, 60), lambda a, b: True, SETTING))
    steps = int(np.log(SETTING.fuzzy) / np.log(0.95)) + 1
    for linkage in ("greedy", "representative", "complete"):
        assert found[linkage]["largest_cluster"] <= 1 + 2 * (steps + 1)  # type: ignore[operator]
        assert found[linkage]["clusters"] >= 4  # type: ignore[operator]


def test_equal_texts_are_one_node_and_count_as_points() -> None:
    table = compare_linkages(["a", "b", "a"], [0, 1, 0], np.eye(3)[[0, 1, 0]], never, SETTING)
    for row in rows(table).values():
        assert (row["points"], row["texts"], row["clusters"], row["pairwise_f1"]) == (3, 2, 2, 1)
        assert row["smallest_cosine"] is None
        assert row["smallest_cosine_reason"] == "no two texts are in one cluster"


def test_guarded_pairs_are_asked_about_and_every_pair_once() -> None:
    asked = []

    def no(first: str, second: str) -> bool:
        asked.append((first, second))
        return False

    texts = ["born in 1990", "born in 1991", "born 1990"]
    found = rows(compare_linkages(texts, [0, 1, 0], chain(0.999, 3), no, SETTING))
    assert len(asked) == len(set(asked)) == 2
    assert all(row["pairwise_precision"] == 1 and row["clusters"] == 2 for row in found.values())
    unguarded = rows(compare_linkages(texts, [0, 1, 0], chain(0.999, 3), never, Dedup(guards=False)))
    assert all(row["pairwise_precision"] == pytest.approx(1 / 3) for row in unguarded.values())


def test_the_same_input_is_the_same_table_and_the_order_matters_to_greedy_alone() -> None:
    texts, truth, vectors = universe(30, 5, seed=3)
    setting = Dedup(strict=0.82, fuzzy=0.82)
    first = compare_linkages(texts, truth, vectors, never, setting, permutations=8)
    assert first.equals(compare_linkages(texts, truth, vectors, never, setting, permutations=8))
    order = np.random.default_rng(9).permutation(len(texts))
    other = compare_linkages([texts[i] for i in order], truth[order], vectors[order], never, setting, permutations=8)
    same = [name for name in COMPARED if not name.startswith(("stability", "clusters_m"))]
    kept = first.filter(pl.col("linkage") != "greedy").select(same)
    assert kept.equals(other.filter(pl.col("linkage") != "greedy").select(same))
    assert not first.select(same).equals(other.select(same))


def test_nothing_and_one_text_have_reasons_instead_of_numbers() -> None:
    for n in (0, 1):
        table = compare_linkages(["a"][:n], range(n), np.eye(1)[:n], never, SETTING)
        for row in rows(table).values():
            assert row["clusters"] == n
            assert row["pairwise_f1"] is None
            assert row["pairwise_reason"]
            assert (row["b3_f1"] is None) == (n == 0) == bool(row["b3_reason"])
    with pytest.raises(ValueError, match="one cluster per item"):
        compare_linkages(["a"], [0, 1], np.eye(1), never, SETTING)
