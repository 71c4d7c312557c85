"""What reading a prompt once for all its draws saves: `python -m benchmarks.bench_reading`. Compare the ratio."""

from __future__ import annotations

import asyncio
import sys
import time

from hydra import compose, initialize_config_dir

from src.lab.build import ROOT
from src.lab.config import read_cell
from src.llm.local import Embedded, Reading
from src.llm.transport import Transport
from src.probes.categories import Categories

DRAWS = 7
BAR = 2.0
"""How many times faster at least."""


async def _seconds(served: Embedded, prompts: list[str], *, shared: bool) -> float:
    async with served.serve("endpoint") as address, Transport("embedded", None, address) as transport:
        sender = Reading(transport) if shared else transport
        start = time.perf_counter()
        for prompt in prompts:
            for seed in range(DRAWS):
                body = {
                    "model": "embedded", "prompt": prompt, "seed": seed, "temperature": 0.5, "max_tokens": 32,
                    "stop": ["\n"], "cache_prompt": shared,
                }  # fmt: skip
                await sender.send("/completions", body, "subject", 600)
        return time.perf_counter() - start


def main() -> None:
    """Measure and print; exits 1 below the bar."""
    with initialize_config_dir(str(ROOT / "conf"), version_base=None):
        cell = read_cell(compose("config", ["probe=categories", "questions=20"]))
    assert isinstance(cell.probe, Categories)
    assert isinstance(cell.parts.endpoint, Embedded)
    prompts = [cell.probe.prompt(question, greedy=True).messages[0].content for question in cell.probe.chosen]
    each, once = (asyncio.run(_seconds(cell.parts.endpoint, prompts, shared=shared)) for shared in (False, True))
    calls = DRAWS * len(prompts)
    sys.stdout.write(
        f"read for every draw {1e3 * each / calls:7.1f} ms per answer\n"
        f"read once           {1e3 * once / calls:7.1f} ms per answer, {each / once:.2f} times faster (bar {BAR:g})\n"
    )
    sys.exit(each / once < BAR)


if __name__ == "__main__":
    main()
