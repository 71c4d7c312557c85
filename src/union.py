"""Merge what several models know: `python -m src.union [domain=…] [strategy=…] [cells=…] [judge=…] [name=value …]`."""

from __future__ import annotations

import sys

from omegaconf import DictConfig

from src.command import command
from src.console import progress, show_union
from src.lab.union import count_questions, make_union, read_unions
from src.records import Metrics


def union(cfg: DictConfig) -> None:
    """Make the unions that a configuration asks for and show each; with `dry`, what they would ask.

    Raises:
        FrontierError: what stopped it.
    """
    for plan in read_unions(cfg):
        with progress() as report:
            if plan.options.dry:
                texts, pairs = count_questions(plan)
                metrics: Metrics = {"texts": texts, "questions": pairs}
            else:
                metrics = make_union(plan, report)
        show_union(plan.domain, plan.strategy, [cell.title for cell in plan.cells], metrics, plan.folder)


def main() -> int:
    """Run the command; returns its exit code."""
    return command(union, "union")


if __name__ == "__main__":
    sys.exit(main())
