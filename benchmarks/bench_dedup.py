"""How fast dedup is, as ratios to one plain matrix product of the same run: `python -m benchmarks.bench_dedup`.

Ratios travel between machines, seconds do not. A ratio above its bar ends with a non-zero exit code.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Mapping

import numpy as np

from src.dedup.evidence import cluster
from src.dedup.gather import gather_verdicts
from src.dedup.nodes import distinct
from src.dedup.novelty import Novelty
from src.dedup.pairs import Vectors, similar_pairs
from src.dedup.settings import Dedup, sweep
from src.records import Rubric, Verdict

DIMENSION = 384
RUBRIC = Rubric("duplicate", ("YES", "NO"), ("YES",), "")


class InstantJudge:
    """Costs nothing, so that what is timed is the bookkeeping around a judge."""

    kind = "rules"

    async def judge(self, rubric: Rubric, values: Mapping[str, str]) -> Verdict:
        """YES to one pair in ten."""
        yes = (len(values["first"]) + len(values["second"])) % 10 == 0
        return Verdict("YES" if yes else "NO", yes)


def points(n: int) -> Vectors:
    """Unit vectors in bundles of about eight, a handful of pairs per point above 0.65."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n // 8, DIMENSION))
    vectors = centres[rng.integers(len(centres), size=n)] + 0.6 * rng.normal(size=(n, DIMENSION))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def fastest(work: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest of some runs."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def plain_product(vectors: Vectors) -> None:
    """All cosines by one product per block of rows, none of them looked at."""
    for start in range(0, len(vectors), 2048):
        vectors[start : start + 2048] @ vectors.T


def main() -> int:
    """Run all benchmarks, print one line each, return the exit code."""
    missed = False

    def show(name: str, seconds: float, plain: float, bar: float) -> None:
        nonlocal missed
        ratio = seconds / plain
        missed |= ratio > bar
        verdict = "MISSED" if ratio > bar else "ok"
        sys.stdout.write(f"{name:<58}{seconds:8.3f} s{ratio:7.2f} x plain product  (bar {bar:.2f}) {verdict}\n")

    for n, repeats, bar in ((10_000, 5, 1.5), (50_000, 2, 1.0)):
        vectors = points(n)
        plain, seconds = np.inf, np.inf
        for _ in range(repeats):  # by turns, so that a busy moment hits both
            plain = min(plain, fastest(lambda v=vectors: plain_product(v), 1))  # type: ignore[misc]
            seconds = min(seconds, fastest(lambda v=vectors: similar_pairs(v, 0.65), 1))  # type: ignore[misc]
        show(f"exact self-join of {n:,} vectors", seconds, plain, bar)

    pool = points(50_000)
    batch = pool[:50]
    plain = fastest(lambda: batch @ pool.T, 5)
    novelty = Novelty(0.92)
    novelty.add(np.arange(len(pool)), pool)
    # Nothing of the batch is novel, so the pool stays as it is however often it is asked.
    seconds = fastest(lambda: novelty.add(np.arange(50), batch), 5)
    show("novelty of a turn of 50 points against a pool of 50,000", seconds, plain, 8.0)

    vectors = points(10_000)
    nodes = distinct(range(10_000), [f"point {'x' * (i % 7)} {chr(0x4E00 + i)}" for i in range(10_000)])
    plain = fastest(lambda: plain_product(vectors), 3)
    start = time.perf_counter()
    evidence, verdicts = asyncio.run(
        gather_verdicts(nodes, vectors, Dedup(), InstantJudge(), RUBRIC, lambda step: None)
    )
    show(f"{len(verdicts):,} verdicts of an instant judge, nine settings", time.perf_counter() - start, plain, 20.0)
    seconds = fastest(lambda: [cluster(evidence, setting) for setting in sweep(Dedup())], 3)
    show("nine settings from the same evidence", seconds, plain, 5.0)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
