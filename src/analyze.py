"""Answer a question from finished cells and unions: `python -m src.analyze study=… [cells=…] [name=value …]`."""

from __future__ import annotations

import sys

from omegaconf import DictConfig

from src.command import command
from src.console import show_finding
from src.lab.study import run_study


def analyze(cfg: DictConfig) -> None:
    """Run a study and show what it finds.

    Raises:
        FrontierError: what stopped it.
    """
    show_finding(*run_study(cfg))


def main() -> int:
    """Run the command; returns its exit code."""
    return command(analyze, "analyze")


if __name__ == "__main__":
    sys.exit(main())
