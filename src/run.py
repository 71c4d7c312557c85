"""Measure a cell: `python -m src.run [probe=…] [model=…] [strategy=…] [domain=…] [thresholds=…] [name=value …]`."""

from __future__ import annotations

import sys

import hydra
from omegaconf import DictConfig

from src.console import progress, show_error, show_result
from src.errors import FrontierError
from src.lab.config import read_cell, title
from src.lab.measure import Outcome, run_cell


def run(cfg: DictConfig) -> Outcome:
    """Measure the cell of a composed configuration and show the result.

    Raises:
        FrontierError: what stopped it.
    """
    cell = read_cell(cfg)
    with progress() as report:
        outcome = run_cell(cell, report)
    show_result(title(cell), outcome.metrics, outcome.spend, cell.folder)
    return outcome


@hydra.main(version_base="1.3", config_path="../conf", config_name="config")
def main(cfg: DictConfig) -> None:
    """Compose, run, and say in one sentence what went wrong."""
    try:
        outcome = run(cfg)
    except FrontierError as error:
        if cfg.debug:
            raise
        show_error(str(error))
        sys.exit(1)
    if outcome.failure:
        show_error(outcome.failure)
        sys.exit(1)


if __name__ == "__main__":
    main()
