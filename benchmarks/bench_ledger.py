"""What the ledger costs: `python -m benchmarks.bench_ledger`. Compare the ratios; the rates depend on the disk."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from src.ledger import Budget, Budgets, Ledger, Payer, Reply
from src.records import Encoded, Usage

ANSWERS, CONCURRENCY, VECTORS, DIMENSION, EARLIER = 1000, 32, 20_000, 384, 100_000

PAYER = Payer("bench", "subject", "bench", "none", lambda usage: 1e-6, Usage(2000, 4096), "sweep")
FAR_AWAY = Budgets(10**9, 10**12, 1e6, sweep=Budget(10**9, 10**12, 1e6))


async def _pay() -> Reply:
    return Reply("- a fact\n" * 20, "ok", "stop", Usage(100, 200), 1, 0.0)


async def _encode(texts: list[str]) -> Encoded:
    return Encoded(np.ones((len(texts), DIMENSION), np.float32), np.full(len(texts), 9))


async def _answer_all(ledger: Ledger) -> None:
    slots = asyncio.Semaphore(CONCURRENCY)

    async def one(draw: int) -> None:
        async with slots:
            await ledger.answer({"model": "m", "messages": ["user", "q"], "draw": draw}, PAYER, _pay)

    await asyncio.gather(*(one(draw) for draw in range(ANSWERS)))


def _bare_commits(path: Path) -> None:
    """Commit the same amount of text with nothing around it: the floor for one durable write."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = TRUNCATE")
    connection.execute("CREATE TABLE t (key INTEGER PRIMARY KEY, text TEXT)")
    for key in range(ANSWERS):
        connection.execute("INSERT INTO t VALUES (?, ?)", (key, "- a fact\n" * 20))
    connection.close()


def _pay_earlier(path: Path) -> None:
    """Fill a ledger with payments of the same run and sweep, as a long run leaves them."""
    connection = sqlite3.connect(path)
    connection.executemany(
        "INSERT INTO payments (key, cell_key, role, prompt, endpoint, answers, attempts, tokens_in, tokens_out, "
        "latency_s, cost_usd, time, sweep, calls, charged_tokens, charged_usd) "
        "VALUES (?, 'bench', 'subject', 'bench', 'none', 1, 1, 100, 200, 1.0, 1e-6, 0.0, 'sweep', 1, 300, 1e-6)",
        ((str(number),) for number in range(EARLIER)),
    )
    connection.commit()
    connection.close()


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        start = time.perf_counter()
        _bare_commits(Path(folder) / "bare.sqlite")
        bare = (time.perf_counter() - start) / ANSWERS
        path = Path(folder) / "ledger.sqlite"
        texts = [f"Fact number {i}." for i in range(VECTORS)]
        seconds: dict[str, float] = {}
        for name in ("paid", "replayed"):
            with Ledger(path) as ledger:
                start = time.perf_counter()
                asyncio.run(_answer_all(ledger))
                seconds[f"answer {name}"] = (time.perf_counter() - start) / ANSWERS
                start = time.perf_counter()
                asyncio.run(ledger.vectors(texts, {"model": "m"}, PAYER, _encode))
                seconds[f"vector {name}"] = (time.perf_counter() - start) / VECTORS
        for name, earlier, budgets in (("limited", False, FAR_AWAY), (f"after {EARLIER:,}", True, FAR_AWAY)):
            path = Path(folder) / f"{name}.sqlite"
            with Ledger(path, "live", budgets) as ledger:
                if earlier:
                    _pay_earlier(path)
                start = time.perf_counter()
                asyncio.run(_answer_all(ledger))
                seconds[f"answer {name}"] = (time.perf_counter() - start) / ANSWERS
    lines = [f"{'one bare commit':20}{1e6 * bare:9.1f} µs"]
    lines += [f"{name:20}{1e6 * cost:9.1f} µs{cost / bare:9.3f} commits" for name, cost in seconds.items()]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
