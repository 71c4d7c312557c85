import numpy as np
import pytest

from src.dedup.novelty import Novelty
from src.errors import EmbeddingError


def at(*degrees: float) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack((np.cos(angles), np.sin(angles)), axis=1).astype(np.float32)


CLOSE = float(np.degrees(np.arccos(0.92)))  # about 23.07 degrees


def test_the_first_point_is_novel_and_has_no_neighbour() -> None:
    found = Novelty(0.92).add([7], at(0))
    assert (found.nearest, found.cosine, found.novel) == ((None,), (None,), (True,))


def test_nearest_names_the_most_similar_earlier_point() -> None:
    novelty = Novelty(0.92)
    novelty.add([10, 11], at(0, 90))
    found = novelty.add([12, 13, 14], at(80, 45, 5))
    assert found.nearest == (11, 12, 10)
    assert found.novel == (False, True, False)
    assert found.cosine[1] == pytest.approx(np.cos(np.radians(35)), abs=1e-6)


def test_equal_to_the_threshold_is_novel() -> None:
    vectors = np.array([[1, 0], [0.6, 0.8]], dtype=np.float32)
    cosine = Novelty(0.92).add([0, 1], vectors).cosine[1]
    assert cosine is not None
    assert Novelty(cosine).add([0, 1], vectors).novel == (True, True)
    assert Novelty(np.nextafter(cosine, 0)).add([0, 1], vectors).novel == (True, False)


def test_earlier_points_of_the_same_turn_count_even_if_they_are_not_novel() -> None:
    # 20 is an echo of 0, and 40 lies near the echo but far from 0.
    assert Novelty(0.92).add([0, 1, 2], at(0, 20, 40)).novel == (True, False, False)


def test_points_of_earlier_turns_count_only_if_they_are_novel() -> None:
    novelty = Novelty(0.92)
    assert novelty.add([0, 1], at(0, 20)).novel == (True, False)
    found = novelty.add([2], at(40))
    assert found.novel == (True,)
    assert found.nearest == (0,)


def test_the_earliest_of_equals_is_nearest() -> None:
    novelty = Novelty(0.92)
    novelty.add([5, 6], at(0, 90))
    assert novelty.add([7, 8], at(45, 0)).nearest == (5, 5)
    assert Novelty(0.92).add([3, 4, 5], at(12, 12, 12)).nearest == (None, 3, 3)


def test_an_empty_turn_changes_nothing() -> None:
    novelty = Novelty(0.92)
    assert novelty.add([], np.empty((0, 0))).novel == ()
    assert novelty.add([1], at(0)).novel == (True,)
    assert novelty.add([], np.empty((0, 2))).nearest == ()
    assert novelty.add([2], at(1)).nearest == (1,)


@pytest.mark.parametrize(("n", "turn"), [(200, 25), (900, 450)])
def test_turn_by_turn_agrees_with_comparing_one_by_one(n: int, turn: int) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(n, 6)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    novelty, pool = Novelty(0.9), list[int]()
    for start in range(0, n, turn):
        ids = list(range(start, start + turn))
        found = novelty.add(ids, vectors[ids])
        for i in ids:
            earlier = pool + list(range(start, i))
            cosines = vectors[earlier].astype(float) @ vectors[i].astype(float)
            assert found.novel[i - start] == (not earlier or cosines.max() <= 0.9)
            assert not earlier or found.nearest[i - start] == earlier[int(cosines.argmax())]
        pool += [i for i in ids if found.novel[i - start]]
    assert n / 10 < len(pool) < n * 9 / 10


@pytest.mark.parametrize(
    ("ids", "vectors", "message"),
    [
        ([2, 3], at(0), "1 vectors for 2 texts"),
        ([2], np.ones((1, 3)), "dimension 3 after 2"),
        ([2], np.full((1, 2), np.nan), "not finite"),
        ([2], np.zeros((1, 2)), "no direction"),
    ],
)
def test_bad_vectors_are_a_failure_and_nothing_is_called_novel(
    ids: list[int], vectors: np.ndarray, message: str
) -> None:
    novelty = Novelty(0.92)
    novelty.add([1], at(0))
    with pytest.raises(EmbeddingError, match=message):
        novelty.add(ids, vectors)
    assert novelty.add([2], at(0)).nearest == (1,)  # the pool is as it was
