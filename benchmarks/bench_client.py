"""How the client treats an endpoint: `python -m benchmarks.bench_client [--full] [name ...]`.

A small server in a process of its own answers, rejects or fails as each case says. Cases: outage, quotas, refused,
failing, cost. `--full` makes the outage 60 s and the quotas 60 s long instead of 10 s and 15 s.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

from aiohttp import web
from openai import AsyncOpenAI, DefaultAioHttpClient

from src.ledger import Ledger
from src.llm.answers import read_chat
from src.llm.client import ChatClient
from src.llm.config import Endpoint, Model
from src.llm.connection import Connection
from src.llm.tries import Failed
from src.records import Message, Prompt

MESSAGES = [{"role": "user", "content": "List 8 facts about graphs."}]
ANSWER = {
    "choices": [{"message": {"role": "assistant", "content": "- A fact.\n" * 8}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 40},
}


# -- the server --------------------------------------------------------------------------------------------------------


@dataclass
class _Case:
    """What one address does: `latency_s` for an answer, a token bucket, an outage, a status for everything."""

    latency_s: float = 0.05
    per_s: float | None = None
    burst: float = 1.0
    retry_after: bool = False
    outage: tuple[float, float] = (0.0, 0.0)
    status: int = 200
    arrived: list[tuple[float, int]] = field(default_factory=list)
    begun: float = 0.0
    level: float = 0.0
    filled: float = 0.0

    def decide(self) -> tuple[int, dict[str, str]]:
        now = time.monotonic()
        if not self.begun:
            self.begun, self.filled, self.level = now, now, self.burst
        seconds = now - self.begun
        status, headers = self.status, dict[str, str]()
        if self.outage[0] <= seconds < self.outage[0] + self.outage[1]:
            status = 429
        if self.per_s:
            self.level = min(self.level + (now - self.filled) * self.per_s, self.burst)
            self.filled = now
            if self.level >= 1:
                self.level -= 1
            else:
                status = 429
                if self.retry_after:
                    headers["Retry-After"] = "1"
        self.arrived.append((seconds, status))
        return status, headers


def _serve() -> None:
    cases: dict[str, _Case] = {}

    def case(name: str) -> _Case:
        if name not in cases:
            cases[name] = _Case(**json.loads(bytes.fromhex(name.partition("-")[2])))
        return cases[name]

    async def post(request: web.Request) -> web.Response:
        await request.read()
        here = case(request.match_info["case"])
        status, headers = here.decide()
        if status != 200:
            return web.json_response({"error": {"message": "no"}}, status=status, headers=headers)
        await asyncio.sleep(here.latency_s)
        return web.json_response(ANSWER)

    async def get(request: web.Request) -> web.Response:
        return web.json_response(case(request.match_info["case"]).arrived)

    async def run() -> None:
        app = web.Application()
        app.router.add_post("/{case}/v1/chat/completions", post)
        app.router.add_get("/{case}/arrived", get)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        sys.stdout.write(f"{runner.addresses[0][1]}\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)

    asyncio.run(run())


@contextmanager
def _server() -> Any:
    command = [sys.executable, "-m", "benchmarks.bench_client", "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.kill()


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


# -- the cases ---------------------------------------------------------------------------------------------------------


class _Asked:
    """One case at one server: sends requests and knows what arrived."""

    def __init__(self, server: str, name: str, **case: object) -> None:
        self.address = f"{server}/{name}-{json.dumps(case).encode().hex()}"
        self.lost: list[str] = []
        self.done: list[float] = []

    def endpoint(self, **more: Any) -> Endpoint:
        return Endpoint("bench", f"{self.address}/v1", **more)

    def arrived(self) -> list[tuple[float, int]]:
        with urlopen(f"{self.address}/arrived") as response:
            return [(seconds, status) for seconds, status in json.load(response)]

    async def ask(self, connection: Connection, count: int, until: float | None = None) -> float:
        """Ask `count` times, all at once, or from as many tasks for `until` seconds; return the seconds it took."""
        start = time.monotonic()

        async def one(number: int) -> None:
            while True:
                body = {"model": "m", "messages": MESSAGES, "user": str(number)}
                try:
                    await connection.post("/chat/completions", body, read_chat, role="subject", tokens=50)
                except Failed as failure:
                    self.lost.append(str(failure))
                    return
                self.done.append(time.monotonic() - start)
                if until is None or time.monotonic() - start > until:
                    return

        async with connection:
            results = await asyncio.gather(*(one(number) for number in range(count)), return_exceptions=True)
        self.lost += [str(result) for result in results if result is not None]
        return time.monotonic() - start


def _per_second(times: list[float], start: float, end: float) -> float:
    return sum(start <= moment < end for moment in times) / (end - start)


def _outage(server: str, *, full: bool) -> None:
    before, length, after = 12.0, 60.0 if full else 10.0, 30.0
    for latency in (0.2, 1.0):
        asked = _Asked(server, "outage", latency_s=latency, outage=[before, length])
        connection = Connection(asked.endpoint())
        asyncio.run(asked.ask(connection, 150, before + length + after))
        arrived = asked.arrived()
        good = [seconds for seconds, status in arrived if status == 200]
        usual = _per_second(good, before - 3, before)
        end = before + length
        rates = {second: _per_second(good, end + second, end + second + 2) for second in range(int(after) - 1)}
        back = next((second for second, rate in rates.items() if rate >= 0.8 * usual), None)
        refused = sum(status == 429 for _, status in arrived)
        _say(
            f"outage {length:.0f} s, answers take {latency} s: {usual:.0f}/s before, {refused} requests rejected, "
            f"lost {len(asked.lost)}, 80 % of it again after {back} s"
        )
        _say("    " + _brief(connection))


def _quotas(server: str, *, full: bool) -> None:
    seconds = 60 if full else 15
    for per_s in (20, 100):
        for burst in (per_s, 5):
            for retry_after in (False, True):
                case = {"per_s": per_s, "burst": burst, "retry_after": retry_after, "latency_s": 0.2}
                asked = _Asked(server, "quota", **case)
                connection = Connection(asked.endpoint())
                took = asyncio.run(asked.ask(connection, per_s * seconds + burst))
                last = max(asked.done, default=took)
                rejected = sum(status == 429 for _, status in asked.arrived())
                used = len(asked.done) / (per_s * last + burst)
                _say(
                    f"quota {per_s}/s, bucket {burst}, Retry-After {'yes' if retry_after else 'no'}: "
                    f"{len(asked.done)} answers in {last:.1f} s = {used:.1%} of what it allows, "
                    f"{rejected} rejected ({rejected / max(len(asked.done), 1):.1%}), lost {len(asked.lost)}"
                )
                _say("    " + _brief(connection))


def _brief(connection: Connection) -> str:
    """The history, with the first of steps of one kind."""
    steps = list(connection.pace.history)
    kept = [steps[0], *(after for before, after in pairwise(steps) if before.why != after.why)]
    return "; ".join(
        f"{step.seconds:.1f} s {step.concurrency} {'' if step.rate is None else f'{step.rate:.1f}/s '}{step.why}"
        for step in kept[:12]
    )


def _refused(server: str, *, full: bool) -> None:
    asked = _Asked(server, "refused", status=401)
    took = asyncio.run(asked.ask(Connection(asked.endpoint()), 200))
    _say(f"only 401: {len(asked.arrived())} requests in {took:.2f} s; {len(asked.lost)} calls told why")


def _failing(server: str, *, full: bool) -> None:
    asked = _Asked(server, "failing", status=500)
    took = asyncio.run(asked.ask(Connection(asked.endpoint(attempts=3, deadline_s=20)), 40))
    arrived = len(asked.arrived())
    _say(f"only 500: {arrived} requests for 40 prompts of 3 attempts in {took:.1f} s (deadline 20 s)")


def _cost(server: str, *, full: bool) -> None:
    count = 6000 if full else 2000

    async def bare(at_once: int) -> None:
        slots = asyncio.Semaphore(at_once)
        url = _Asked(server, "cost", latency_s=0.02).address + "/v1"
        async with AsyncOpenAI(base_url=url, api_key="none", http_client=DefaultAioHttpClient()) as client:

            async def one(number: int) -> None:
                async with slots:
                    await client.chat.completions.create(model="m", messages=MESSAGES, user=str(number))  # type: ignore[arg-type]

            await asyncio.gather(*(one(number) for number in range(count)))

    async def ours(at_once: int) -> None:
        asked = _Asked(server, "cost", latency_s=0.02)
        await asked.ask(Connection(asked.endpoint(concurrency=at_once)), count)

    async def stored(at_once: int) -> None:
        asked = _Asked(server, "cost", latency_s=0.02)
        with TemporaryDirectory(dir=".") as folder, Ledger(Path(folder) / "ledger.db") as ledger:
            served = asked.endpoint(concurrency=at_once)
            chat = ChatClient(Model("m"), served, ledger=ledger, role="subject", seed=0, cell_key="bench")
            prompt = Prompt("bench", {}, (Message("user", MESSAGES[0]["content"]),))
            async with chat:
                await asyncio.gather(*(chat.complete(prompt, draw=number) for number in range(count)))

    for at_once in (32, 100):
        _measure(f"AsyncOpenAI alone, {at_once} at once", bare, at_once, count)
        _measure(f"connection,        {at_once} at once", ours, at_once, count)
        _measure(f"client and ledger, {at_once} at once", stored, at_once, count)


def _measure(name: str, run: Callable[[int], Awaitable[None]], at_once: int, count: int) -> None:
    def cpu() -> float:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    start, used = time.perf_counter(), cpu()
    asyncio.run(run(at_once))  # type: ignore[arg-type]
    took, used = time.perf_counter() - start, cpu() - used
    _say(f"{name}: {took:.2f} s, {count / took:.0f} calls/s, {1000 * used / count:.2f} ms CPU per call")


CASES = {"outage": _outage, "quotas": _quotas, "refused": _refused, "failing": _failing, "cost": _cost}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="name", help=f"of {', '.join(CASES)}; default: all")
    parser.add_argument("--full", action="store_true", help="minutes instead of seconds")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        _serve()
        return
    with _server() as server:
        for name in options.cases or CASES:
            CASES[name](server, full=options.full)


if __name__ == "__main__":
    main()
