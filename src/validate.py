"""Try every estimator where the truth is known: `python -m src.validate [seeds=200] [settings=[…]] [pipeline=5]`."""

from __future__ import annotations

import sys

from omegaconf import DictConfig

from src.command import command
from src.console import progress, show_finding
from src.lab.validation import validate


def run(cfg: DictConfig) -> None:
    """Try what a configuration asks for and show what comes of it.

    Raises:
        FrontierError: what stopped it.
    """
    with progress() as report:
        finding, folder = validate(cfg, report)
    show_finding(finding, folder)


def main() -> int:
    """Run the command; returns its exit code."""
    return command(run, "validate")


if __name__ == "__main__":
    sys.exit(main())
