"""What the machine says about this process: its name among others, the commit it runs, the signal that ends it."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

import psutil

# Two processes may compute the start of a third a little differently when the clock is set in between.
_SAME_START_S = 2.0


def this_process() -> str:
    """A name of this process that no other has: `<pid>@<host> <start>`."""
    return f"{os.getpid()}@{platform.node()} {psutil.Process().create_time()}"


def gone(process: str) -> bool:
    """Whether a process with such a name surely runs no more; of another host nobody knows."""
    number, _, place = process.partition("@")
    host, _, started = place.rpartition(" ")
    if host != platform.node():
        return False
    return not alive(int(number), float(started))


def alive(pid: int, started: float) -> bool:
    """Whether the process of this host that started then still runs."""
    try:
        process = psutil.Process(pid)
        # A killed process that its parent has not yet collected still has a number.
        return process.status() != psutil.STATUS_ZOMBIE and abs(process.create_time() - started) < _SAME_START_S
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def commit(root: Path) -> tuple[str, str]:
    """The commit and whether files differ from it; `unknown` outside a repository or without git."""
    answers = []
    for command in (("rev-parse", "HEAD"), ("status", "--porcelain")):
        try:
            done = subprocess.run(["git", "-C", root, *command], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return "unknown", "unknown"
        answers.append(done.stdout.strip())
    return answers[0], str(bool(answers[1])).lower()


@contextmanager
def sigterm_raises() -> Iterator[None]:
    """Let SIGTERM raise SystemExit(143) in the block, so that what must be said at the end is said."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
