"""What the machine says about this process: the commit that it runs, the signal that ends it."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn


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
