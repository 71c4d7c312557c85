"""What a run pays for, whatever interrupts it, and what it never takes for an answer."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from conftest import Compose
from endpoint import Fault, ScriptedEndpoint, slow

from src.asking import Asker
from src.console import silent
from src.lab.config import read_cell
from src.lab.measure import run_cell
from src.ledger import Ledger
from src.llm.client import ChatClient
from src.llm.config import Endpoint, Model
from src.prompts import PromptSet
from src.records import Answer, Request

REHEARSED = Fault(headers={"x-rehearsal": "1"})


def tables(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for phase in ("extract", "process") for path in (folder / phase).iterdir())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_killed_anywhere_and_run_again_it_is_as_if_nothing_had_happened(
    composed: Compose, tmp_path: Path, store: str
) -> None:
    with ScriptedEndpoint(faults=lambda number, body: slow(0.02)) as server:
        options = [
            "model=openai", "model.id=m", f"endpoint.base_url={server.base_url}", "endpoint.api_key_env=null",
            "endpoint.concurrency=2", "embedder=hashing", "max_turns=4", "seed=3",
        ]  # fmt: skip
        whole = run_cell(read_cell(composed(*options, f"ledger.path={tmp_path / 'whole.db'}")), silent)
        expected, asked = tables(tmp_path / "cell"), server.count()

        places = [f"run_dir={tmp_path / 'killed'}", f"ledger.path={tmp_path / 'killed.db'}"]
        process = subprocess.Popen(
            [sys.executable, "-m", "src.run", *options, *places],
            env={**os.environ, "MLFLOW_TRACKING_URI": store},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + 180
        while server.count() < asked + 4:
            assert time.monotonic() < until
            time.sleep(0.002)
        time.sleep(random.uniform(0, 0.1))
        process.kill()
        assert process.wait() == -signal.SIGKILL
        with Ledger(tmp_path / "killed.db", "replay") as ledger:
            stored = ledger.spend(whole.cell.identity.cell_key)["subject"].answers
        assert 0 < stored < asked
        before = server.count()
        again = run_cell(read_cell(composed(*options, *places)), silent)
        # No stored answer is asked again; what was under way when it was killed is.
        assert server.count() - before == asked - stored
    assert tables(tmp_path / "killed") == expected
    assert again.metrics == whole.metrics
    for name in ("calls", "tokens_in", "tokens_out"):  # of both processes
        assert again.spend["roles"]["subject"][name] == whole.spend["roles"]["subject"][name]


def ask(server: ScriptedEndpoint, path: Path, numbers: list[int], name: str = "scripted") -> tuple[Answer, ...]:
    async def main() -> tuple[Answer, ...]:
        with Ledger(path) as ledger:
            served = Endpoint(name, server.base_url)
            async with ChatClient(Model("m"), served, ledger=ledger, role="subject", seed=0, cell_key="c") as chat:
                asker = Asker(chat, PromptSet("p", {"any": {"ask": "List {{ number }} facts."}}))
                return await asker.ask([Request("any.ask", {"number": number}) for number in numbers])

    return asyncio.run(main())


def test_what_was_rehearsed_is_never_taken_for_a_real_answer(tmp_path: Path) -> None:
    with ScriptedEndpoint(faults=lambda number, body: REHEARSED) as server:
        for _ in range(2):
            ask(server, tmp_path / "ledger.db", [2, 3, 4], "rehearsal")
        assert server.count() == 3
    port = urlsplit(server.base_url).port
    assert port
    with ScriptedEndpoint(port=port) as real:  # at the same address, under the same name of the model
        ask(real, tmp_path / "ledger.db", [2, 3, 4], "openai")
        assert real.count() == 3


def test_twins_in_one_turn_are_two_draws_and_two_answers(tmp_path: Path) -> None:
    with ScriptedEndpoint() as server:
        for _ in range(2):
            answers = ask(server, tmp_path / "ledger.db", [2, 2, 3])
            assert [answer.draw for answer in answers] == [0, 1, 0]
            assert len({answer.completion.key for answer in answers}) == 3
        assert server.count() == 3
