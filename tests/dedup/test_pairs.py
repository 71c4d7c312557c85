import numpy as np
import numpy.typing as npt
import pytest

from src.dedup.pairs import exact_cosines, similar_pairs, unit_rows
from src.errors import EmbeddingError

Array = npt.NDArray[np.float64]


def brute(vectors: npt.NDArray[np.float32], threshold: float) -> list[tuple[int, int]]:
    rows = vectors.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = rows @ rows.T
    n = len(rows)
    return [(i, j) for i in range(n) for j in range(i + 1, n) if cosines[i, j] >= threshold]


def sentences(n: int, d: int = 24, seed: int = 0) -> npt.NDArray[np.float32]:
    """Vectors in a few bundles, so that many cosines lie between 0.5 and 1."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(max(1, n // 8), d))
    points = centres[rng.integers(len(centres), size=n)] + 0.5 * rng.normal(size=(n, d))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True), dtype=np.float32)


def listed(vectors: npt.NDArray[np.float32], threshold: float, **blocks: int) -> list[tuple[int, int]]:
    pairs = similar_pairs(vectors, threshold, **blocks)
    return list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))


@pytest.mark.parametrize("n", [2, 3, 17, 300])
@pytest.mark.parametrize("threshold", [0.65, 0.92])
def test_same_pairs_as_comparing_everything(n: int, threshold: float) -> None:
    vectors = sentences(n, seed=n)
    assert listed(vectors, threshold) == brute(vectors, threshold)


def test_something_is_found_at_all() -> None:
    assert len(brute(sentences(300, seed=300), 0.65)) > 100


def test_block_sizes_change_nothing() -> None:
    vectors = sentences(101, seed=5)
    whole = similar_pairs(vectors, 0.6)
    for rows, columns in [(1, 1), (7, 13), (13, 7), (64, 16), (16, 64), (101, 101), (100, 50)]:
        parts = similar_pairs(vectors, 0.6, rows=rows, columns=columns)
        assert all(np.array_equal(one, other) for one, other in zip(whole, parts, strict=True)), (rows, columns)


def test_none_and_one() -> None:
    for vectors in (np.empty((0, 384)), np.empty((0, 0)), np.ones((1, 4))):
        pairs = similar_pairs(vectors, 0.5)
        assert [len(column) for column in pairs] == [0, 0, 0]
        assert pairs.a.dtype == np.int64
        assert pairs.cosine.dtype == np.float64


def test_near_the_threshold_float64_decides() -> None:
    rng = np.random.default_rng(1)
    threshold, d = 0.92, 384
    vectors = []
    for offset in np.concatenate((np.linspace(-3e-6, 3e-6, 101), np.linspace(-3e-7, 3e-7, 101))):
        x, y = np.linalg.qr(rng.normal(size=(d, 2)))[0].T
        cosine = threshold + offset
        vectors += [x, cosine * x + np.sqrt(1 - cosine**2) * y]
    table = np.array(vectors, dtype=np.float32)
    found = [pair for pair in listed(table, threshold) if pair[1] == pair[0] + 1 and pair[0] % 2 == 0]
    expected = [pair for pair in brute(table, threshold) if pair[1] == pair[0] + 1 and pair[0] % 2 == 0]
    assert found == expected
    assert 80 < len(found) < 120  # about half lie on either side
    # A float32 product would have decided some of them otherwise; that is why it does not decide.
    single = np.array([table[2 * i] @ table[2 * i + 1] for i in range(202)]) >= np.float32(threshold)
    assert [bool(s) for s in single] != [(2 * i, 2 * i + 1) in expected for i in range(202)]


def test_a_cosine_is_the_same_number_in_any_place_and_direction() -> None:
    vectors = sentences(60, d=383, seed=2)
    pairs = similar_pairs(vectors, -1)
    back = exact_cosines(vectors, pairs.b, pairs.a)
    assert np.array_equal(pairs.cosine, back)
    mixed = np.random.default_rng(3).permutation(60)
    shuffled = similar_pairs(vectors[mixed], -1)
    place = np.argsort(mixed)
    again = exact_cosines(vectors[mixed], place[pairs.a], place[pairs.b])
    assert np.array_equal(pairs.cosine, again)
    assert np.array_equal(np.sort(shuffled.cosine), np.sort(pairs.cosine))


def test_length_of_rows_does_not_matter() -> None:
    vectors = sentences(50, seed=4)
    scaled = vectors * np.linspace(0.1, 40, 50, dtype=np.float32)[:, None]
    assert listed(scaled, 0.7) == listed(vectors, 0.7)


def test_rows_of_length_one_are_left_as_they_are() -> None:
    vectors = sentences(50, seed=4)
    assert np.array_equal(unit_rows(vectors), vectors)


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_a_row_without_direction_is_refused(value: float) -> None:
    vectors = sentences(5)
    vectors[3] = value
    with pytest.raises(EmbeddingError, match="vector 3 of 5"):
        similar_pairs(vectors, 0.7)


def test_number_and_shape_of_vectors_are_checked() -> None:
    with pytest.raises(EmbeddingError, match="4 vectors for 5 texts"):
        unit_rows(sentences(4), rows=5)
    with pytest.raises(EmbeddingError, match="one row per text"):
        unit_rows(np.ones(7))
