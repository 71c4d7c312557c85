"""Rehearse a paid run: `python -m src.rehearse [--port N] [--faults … | --script FILE] …`, a server that costs nothing.

It speaks the OpenAI API on 127.0.0.1, makes its answers up and meets requests with the faults it is told to. What it
answers is marked as a rehearsal and is never taken for the answer of a model. docs/rehearsal.md tells more.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from src.errors import ConfigError, FrontierError
from src.rehearsal import Quota, Rates, Rehearsal, Script, first
from src.rehearsal.faults import Chosen
from src.rehearsal.kinds import GROUPS, KINDS

PORT = 8765
"""The one of conf/endpoint/rehearsal.yaml."""

DIMENSION = 4096
"""The one of conf/embedder/qwen3_8b.yaml."""

KEPT = 1
"""Requests that are remembered: it may run for days."""


def read_server(chosen: argparse.Namespace) -> Rehearsal:
    """Make the server that the command line asks for.

    Raises:
        ConfigError: a fault, a rate or a script that cannot be read, or a key that is not set.
    """
    choices: list[Chosen] = [Quota(chosen.quota)] if chosen.quota is not None else []
    if chosen.script:
        try:
            choices.append(Script(Path(chosen.script).read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"--script {chosen.script} cannot be read: {error}") from None
    elif chosen.faults:
        choices.append(Rates(chosen.faults, chosen.seed))
    key = os.environ.get(chosen.key_env, "").strip() if chosen.key_env else None
    if key == "":
        raise ConfigError(f"--key-env {chosen.key_env}: the environment variable {chosen.key_env} is not set")
    return Rehearsal(
        faults=first(*choices),
        port=chosen.port,
        facts=chosen.facts,
        models=chosen.models.split(",") if chosen.models else None,
        context=chosen.context,
        key=key,
        dimension=chosen.dimension,
        latency_s=chosen.latency,
        kept=KEPT,
    )


def next_command(base_url: str, port: int, key_env: str | None) -> str:
    """The run that uses the server, as it is typed."""
    said = ["python -m src.run model=llama70b judge=deepseek_v31"]
    for role, place in (("endpoint", "endpoint"), ("endpoint@judge.endpoint", "judge.endpoint")):
        said.append(f"{role}=rehearsal")
        said += [f"{place}.base_url={base_url}"] if port != PORT else []
        said += [f"{place}.api_key_env={key_env}"] if key_env else []
    return " ".join(said)


async def serve(server: Rehearsal, chosen: argparse.Namespace, console: Console) -> None:
    """Serve until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with server.listening():
        faults = f"script {chosen.script}" if chosen.script else chosen.faults or "none"
        console.print(f"Rehearsal server at {server.base_url} (faults: {faults}; seed {chosen.seed}); Ctrl-C ends it.")
        console.print("Its answers are made up and cost nothing; its tokens are words. Next, in another terminal:")
        console.print(f"  {next_command(server.base_url, server.port, chosen.key_env)}")
        await stop.wait()
    console.print(f"{server.arrived} requests arrived; {server.faulty} of them met a fault.")


def options() -> argparse.ArgumentParser:
    """The command line."""
    groups = "\n".join(
        f"  {group}: {what}\n    {', '.join(kind.name for kind in KINDS if kind.group == group)}"
        for group, what in GROUPS.items()
    )
    parser = argparse.ArgumentParser(
        prog="python -m src.rehearse",
        description="An OpenAI-compatible server on 127.0.0.1 that makes its answers up, to rehearse a paid run.",
        epilog=f"faults, by group:\n{groups}\n\nA fault may have an amount, as 429:3 or slow:5: see docs/rehearsal.md.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--port", type=whole_number, default=PORT, help=f"where it listens; 0 finds a free one ({PORT})"
    )
    parser.add_argument("--seed", type=int, default=0, help="another one meets other requests with faults (0)")
    wrong = parser.add_mutually_exclusive_group()
    wrong.add_argument(
        "--faults",
        metavar="RATES",
        help="0.05 of all requests meet a transport fault; or 429=0.02,drip:5=0.01,content=0.05",
    )
    wrong.add_argument("--script", metavar="FILE", help="one fault per line, in order or at fixed times")
    parser.add_argument("--latency", type=amount, default=0.0, metavar="SECONDS", help="before every response (0)")
    parser.add_argument("--quota", type=amount, metavar="N", help="requests per second; what is beyond meets a 429")
    parser.add_argument(
        "--facts", type=whole_number, default=400, metavar="N", help="different facts that there are (400)"
    )
    parser.add_argument("--models", metavar="A,B", help="model names it knows; others are a 404 (all)")
    parser.add_argument("--context", type=whole_number, metavar="WORDS", help="longest prompt (no limit)")
    parser.add_argument(
        "--dimension", type=positive, default=DIMENSION, metavar="N", help=f"numbers of a vector ({DIMENSION})"
    )
    parser.add_argument("--key-env", metavar="NAME", help="variable that holds the API key it wants (wants none)")
    return parser


def whole_number(text: str) -> int:
    """Read a number of the command line, which argparse names after this function if it is none."""
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def positive(text: str) -> int:
    """Read a whole number from 1 on."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def amount(text: str) -> float:
    """Read a number from 0 on."""
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError
    return number


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; a failure is one sentence on standard error and exit code 1."""
    chosen = options().parse_args(arguments)
    try:
        asyncio.run(serve(read_server(chosen), chosen, Console(soft_wrap=True, highlight=False, markup=False)))
    except OSError as error:
        reason = f"port {chosen.port} cannot be used: {error.strerror or error}; choose another with --port"
    except FrontierError as error:
        reason = str(error)
    else:
        return 0
    Console(stderr=True, soft_wrap=True, highlight=False, markup=False).print(reason)
    return 1


if __name__ == "__main__":
    sys.exit(main())
