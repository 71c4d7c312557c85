"""All pairs of vectors with a cosine of at least a threshold: exact, blocked, the same on every machine.

An exact search beats approximate indexes up to 50,000 vectors and, unlike them, loses no pair. The search runs in
float32; every cosine that is kept or decided on is computed again in float64, one pair at a time, because a float32
product changes in its last digits with the shape of the block it was computed in.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from src.errors import EmbeddingError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

MARGIN = 1e-5
"""How far a float32 cosine is trusted; anything nearer to a decision is decided in float64."""

_LENGTH = 2e-6  # what float32 rounding does to the length of a row that was normalised
_CHUNK = 128  # pairs at a time: three tables of them fit into the cache of a core


class Pairs(NamedTuple):
    """Pairs of rows in canonical order: `a` < `b`, sorted by `a`, then `b`.

    Attributes:
        a, b: int64, shape (m,), row numbers.
        cosine: float64, shape (m,).
    """

    a: Ints
    b: Ints
    cosine: Floats


def unit_rows(vectors: npt.ArrayLike, rows: int | None = None) -> Vectors:
    """Vectors as float32 rows of length 1, shape (n, d); rows that have this length are left as they are.

    Raises:
        EmbeddingError: not a table of numbers, another number of rows than `rows`, a value that is not finite, or a
            row of zeros, which has no direction.
    """
    table = np.asarray(vectors, dtype=np.float32)
    if rows is not None and len(table) != rows:
        raise EmbeddingError(f"{len(table)} vectors for {rows} texts: the encoder must give one vector per text")
    if len(table) == 0:
        return table.reshape(0, table.shape[-1] if table.ndim == 2 else 0)
    if table.ndim != 2:
        raise EmbeddingError(f"vectors of shape {table.shape}: expected one row per text")
    lengths = np.sqrt(np.einsum("ij,ij->i", table, table))
    wrong = np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))
    if len(wrong):
        raise EmbeddingError(f"vector {wrong[0]} of {len(table)} is zero or not finite: it has no direction")
    if np.abs(lengths - 1).max() > _LENGTH:
        table = table / lengths[:, None]
    return np.ascontiguousarray(table)


def exact_cosines(vectors: Vectors, a: Ints, b: Ints) -> Floats:
    """Cosines of the rows `a` with the rows `b`, float64, shape (m,); cosine(a, b) is the same number as (b, a)."""
    cosines = np.empty(len(a))
    for start in range(0, len(a), _CHUNK):
        part = slice(start, start + _CHUNK)
        left, right = vectors[a[part]].astype(np.float64), vectors[b[part]].astype(np.float64)
        dots = (left * right).sum(axis=1)
        cosines[part] = dots / np.sqrt((left * left).sum(axis=1) * (right * right).sum(axis=1))
    return np.minimum(cosines, 1.0)


def similar_pairs(vectors: npt.ArrayLike, threshold: float, *, rows: int = 2048, columns: int = 8192) -> Pairs:
    """Every pair of rows with cosine >= `threshold`, decided in float64.

    Args:
        vectors: shape (n, d), n >= 0; need not be of length 1.
        threshold: smallest cosine of interest.
        rows: rows of a block,
        columns: columns of a block; both change speed and memory, never the result.

    Raises:
        EmbeddingError: as :func:`unit_rows`.
    """
    unit = unit_rows(vectors)
    n = len(unit)
    left: list[Ints] = []
    right: list[Ints] = []
    buffer = np.empty(min(rows, n) * min(columns, n), dtype=np.float32)
    for top in range(0, n, rows):
        high = min(top + rows, n)
        for start in range(top, n, columns):
            end = min(start + columns, n)
            block = buffer[: (high - top) * (end - start)].reshape(high - top, end - start)
            np.matmul(unit[top:high], unit[start:end].T, out=block)
            if start < high:  # the diagonal crosses this block: keep what lies right of it
                width = min(high, end) - start
                block[:, :width][np.tri(high - top, width, top - start, dtype=bool)] = -2
            row, column = np.divmod(np.flatnonzero(block >= threshold - MARGIN), end - start)
            left.append(row + top)
            right.append(column + start)
    a = np.concatenate(left) if left else np.empty(0, dtype=np.int64)
    b = np.concatenate(right) if right else np.empty(0, dtype=np.int64)
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    cosine = exact_cosines(unit, a, b)
    kept = cosine >= threshold
    return Pairs(a[kept], b[kept], cosine[kept])
