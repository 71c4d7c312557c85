import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from src.host import commit, sigterm_raises


def test_commit_and_whether_files_differ_from_it(tmp_path: Path) -> None:
    assert commit(tmp_path) == ("unknown", "unknown")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    (tmp_path / "a").write_text("1")
    subprocess.run([*git, "add", "a"], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    sha, dirty = commit(tmp_path)
    assert (len(sha), dirty) == (40, "false")
    (tmp_path / "a").write_text("2")
    assert commit(tmp_path) == (sha, "true")


def test_sigterm_raises_in_the_block_only() -> None:
    before = signal.getsignal(signal.SIGTERM)

    def work() -> None:
        with sigterm_raises():
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()

    with pytest.raises(SystemExit) as ended:
        work()
    assert ended.value.code == 143
    assert signal.getsignal(signal.SIGTERM) is before


def test_another_thread_leaves_signals_alone() -> None:
    seen: list[object] = []

    def work() -> None:
        with sigterm_raises():
            seen.append(signal.getsignal(signal.SIGTERM))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
