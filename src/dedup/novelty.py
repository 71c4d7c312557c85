"""Which points of a turn are new: the largest cosine to every earlier point decides (arXiv 2602.00959)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from src.dedup.pairs import MARGIN, Ints, Vectors, exact_cosines, unit_rows
from src.errors import EmbeddingError

_ROWS = 256  # points compared at once: a turn may bring tens of thousands


@dataclass(frozen=True)
class Found:
    """What the points of one turn were found to be, in their order.

    Attributes:
        nearest: id of the most similar earlier point (the earliest of equals), None if there is none.
        cosine: float64 cosine to it.
        novel: whether that cosine is at most the threshold.
    """

    nearest: tuple[int | None, ...]
    cosine: tuple[float | None, ...]
    novel: tuple[bool, ...]


class Novelty:
    """Holds the pool of novel points and tells new ones from old ones.

    A point is compared with the pool, which is the novel points of earlier turns, and with every earlier point of its
    own turn, novel or not.

    Args:
        threshold: a point is novel if its cosine to every earlier point is at most this.
    """

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._ids = np.empty(0, dtype=np.int64)
        self._vectors: Vectors = np.empty((0, 0), dtype=np.float32)

    def add(self, ids: npt.ArrayLike, vectors: npt.ArrayLike) -> Found:
        """Judge the points of one turn in canonical order, then take the novel ones into the pool.

        Args:
            ids: their atom ids, shape (n,).
            vectors: their vectors, shape (n, d).

        Raises:
            EmbeddingError: too few vectors, another dimension than before, values that are not finite, zero rows;
                the pool is then as it was.
        """
        own = np.asarray(ids, dtype=np.int64)
        batch = unit_rows(vectors, rows=len(own))
        if not len(batch):
            return Found((), (), ())
        if len(self._vectors) and batch.shape[1] != self._vectors.shape[1]:
            raise EmbeddingError(f"vectors of dimension {batch.shape[1]} after {self._vectors.shape[1]}")
        size = len(self._vectors)
        earlier_ids = np.concatenate((self._ids, own))
        earlier = np.concatenate((self._vectors, batch)) if size else batch
        nearest: list[int | None] = []
        cosine: list[float | None] = []
        for start in range(0, len(batch), _ROWS):
            rows = batch[start : start + _ROWS]
            cosines = rows @ earlier[: size + start + len(rows)].T
            for place, row in enumerate(range(size + start, size + start + len(rows))):
                found = _nearest(cosines[place, :row], earlier, row)
                nearest.append(int(earlier_ids[found[0]]) if found else None)
                cosine.append(found[1] if found else None)
        novel = np.array([value is None or value <= self._threshold for value in cosine])
        self._ids = np.concatenate((self._ids, own[novel]))
        self._vectors = np.concatenate((self._vectors, batch[novel])) if size else batch[novel]
        return Found(tuple(nearest), tuple(cosine), tuple(novel.tolist()))


def _nearest(cosines: Vectors, vectors: Vectors, row: int) -> tuple[int, float] | None:
    """The row most similar to `row` and its cosine; near ties of the float32 cosines are decided in float64."""
    if not len(cosines):
        return None
    close: Ints = np.flatnonzero(cosines >= cosines.max() - 2 * MARGIN)
    exact = exact_cosines(vectors, close, np.full_like(close, row))
    best = int(exact.argmax())  # the first of equals
    return int(close[best]), float(exact[best])
