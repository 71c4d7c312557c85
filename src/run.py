"""Measure a cell: `python -m src.run [-m] [probe=…] [model=…] [strategy=…] [domain=…] [name=value …]`."""

from __future__ import annotations

import sys
import traceback
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from src.command import refuse_secrets
from src.console import progress, show_error, show_plan, show_result, show_sweep, silent
from src.errors import BudgetReached, ConfigError, FrontierError
from src.figures.plans import PlanRow, total
from src.figures.sweeps import Status, SweptCell, csv, labels, numbers
from src.figures.sweeps import note as sweep_note
from src.host import sigterm_raises
from src.lab.build import ROOT
from src.lab.config import read_cell, title
from src.lab.measure import Outcome, done, kept, run_cell
from src.lab.plan import plan_cell
from src.lab.roles import check_budget
from src.lab.sweep import Sweep, keep, read_sweep, records
from src.store import make_folder
from src.tracking import track_sweep


def run(cfg: DictConfig) -> Outcome:
    """Measure the cell of a composed configuration and show the result; with `dry`, show what it can cost.

    Raises:
        FrontierError: what stopped it.
    """
    cell = read_cell(cfg)
    if cell.operation.dry:
        check_budget(cell)
        show_plan(title(cell).line, plan_cell(cell))
        return Outcome(cell, {}, {}, "")
    with progress() as report:
        outcome = run_cell(cell, report)
    _show(outcome)
    return outcome


def _show(outcome: Outcome) -> None:
    cell, words = outcome.cell, title(outcome.cell)
    told = cell.probe.tell(words, outcome.metrics)
    show_result(words, outcome.metrics, told, outcome.spend, cell.folder, outcome.facts)


def run_one(cfg: DictConfig) -> str:
    """Run a cell on its own; returns why it failed, "" if it did not."""
    try:
        return run(cfg).failure
    except FrontierError as error:
        if cfg.debug:
            raise
        return str(error)


def run_in_sweep(cfg: DictConfig) -> None:
    """Run a cell of a sweep, or keep what it has left before; what becomes of it is in its record."""
    hydra_config = HydraConfig.get()
    folder, number = Path(hydra_config.sweep.dir), int(hydra_config.job.num)
    overrides = tuple(text for text in hydra_config.overrides.task if not text.startswith("sweep="))
    # What processes that work at the same time draw would lie over one another.
    alone = hydra_config.launcher._target_.endswith("BasicLauncher")

    caveat = ""

    def note(
        status: Status, why: str = "", outcome: Outcome | None = None, plan: tuple[PlanRow, ...] | None = None
    ) -> None:
        metrics, spend = (outcome.metrics, outcome.spend) if outcome else ({}, {})
        keep(folder, SweptCell(number, overrides, status, why, metrics, spend, plan, caveat))

    note("running")
    try:
        if cfg.run_dir:
            raise ConfigError(f"run_dir={cfg.run_dir} would be the folder of every cell of the sweep: leave it out")
        cell = read_cell(cfg)
        caveat = title(cell).caveat
        if cfg.dry:
            check_budget(cell)
            note("planned", plan=() if done(cell) else plan_cell(cell))
            return
        if outcome := kept(cell):
            note("kept", outcome=outcome)
            return
        with progress() if alone else nullcontext(silent) as report:
            outcome = run_cell(cell, report)
        cut = outcome.metrics.get("stop_reason") == "budget"
        note("failed" if outcome.failure else "cut" if cut else "ok", outcome.failure, outcome)
        if outcome.failure:
            show_error(outcome.failure)
        elif alone:
            _show(outcome)
    except FrontierError as error:
        note("cut" if isinstance(error, BudgetReached) else "failed", str(error), plan=() if cfg.dry else None)
        show_error(str(error))
        if cfg.debug:
            traceback.print_exc()
    except Exception as error:
        note("failed", f"{type(error).__name__}, which is a bug: its traceback stands above")
        raise


def close_sweep(sweep: Sweep) -> int:
    """Show what became of the cells of a sweep, here and in MLflow; returns the exit code."""
    cells = records(sweep.folder)
    if not cells:
        return 1
    plans = [cell.plan for cell in cells if cell.plan is not None]
    if plans:
        unplanned = []
        for label, cell in zip(labels(cells), cells, strict=True):
            if cell.plan:
                show_plan(label, cell.plan, legend=False)
            if cell.why:
                unplanned.append(f"{label}: {cell.why}")
        without = f", without {len(unplanned)} that cannot be planned" if unplanned else ""
        show_plan(f"the {sum(map(bool, plans))} of {len(cells)} cells that are not done{without}", total(plans))
        for line in unplanned:
            show_error(line)
        return int(any(cell.status == "failed" for cell in cells))
    show_sweep(sweep.name, cells)
    try:
        track_sweep(sweep.name, sweep_note(sweep.name, cells), numbers(cells), csv(cells), ROOT)
    except ConfigError as error:
        show_error(str(error))
        return 1
    return int(any(cell.status in ("failed", "running") for cell in cells))


def main() -> int:
    """Run one cell or, with `-m`, a sweep of them; a cell that fails does not stop the rest.

    Returns:
        The exit code: 0, 1 after a failure, 130 after Ctrl-C, 143 after SIGTERM.
    """
    codes = [0]

    @hydra.main(version_base="1.3", config_path="../conf", config_name="config")
    def job(cfg: DictConfig) -> None:
        if HydraConfig.get().mode == RunMode.MULTIRUN:
            run_in_sweep(cfg)
        elif failure := run_one(cfg):
            show_error(failure)
            codes.append(1)

    try:
        refuse_secrets(sys.argv[1:])
        sweep = read_sweep(sys.argv[1:], datetime.now(), ROOT / "data" / "multirun")
        if sweep:
            sys.argv[1:] = sweep.arguments
            make_folder(sweep.folder)
        with sigterm_raises():
            try:
                job()
            finally:  # also after Ctrl-C
                if sweep:
                    codes.append(close_sweep(sweep))
    except ConfigError as error:
        show_error(str(error))
        return 1
    except KeyboardInterrupt:
        show_error("stopped; run the same command again to go on, no answer is paid for twice")
        return 130
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
