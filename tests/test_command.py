"""What the commands share, as processes: exit codes, one sentence, no traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def said(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("src.union", "judge=openai", "judge.api_key=sk-1"), "looks like a secret"),
        (("src.union", "-m", "domain=deep_learning,ml_systems"), "-m is for `python -m src.run`"),
        (("src.analyze", "study=filtering", "cells=no/where"), "holds no finished cell"),
        (("src.calibrate",), "wants export or score or thresholds as its first word"),
        (("src.calibrate", "grade"), "not 'grade'"),
    ],
)
def test_a_command_fails_with_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    code, _, error = said(*arguments)
    assert code == 1
    assert sentence in error
    assert "Traceback" not in error
    assert "sk-1" not in error


@pytest.mark.parametrize("command", ["union", "analyze", "report", "calibrate"])
def test_a_command_explains_itself(command: str) -> None:
    code, text, _ = said(f"src.{command}", "--help")
    assert code == 0
    assert "cells" in text
