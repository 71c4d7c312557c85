"""A sweep in MLflow: which of its cells are done, and one run that sums it up."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from src.entries import facts
from src.tracking.store import Store, end_orphans, is_finished, log, runs_with

EXPERIMENT = "sweeps"
ABOUT = "One run per sweep: its cells, which failed and why, and what it cost."


def finished(probe: str, cell_key: str, root: Path, sweep: str) -> bool:
    """Whether a cell has a finished run, which then carries the tag of this sweep.

    Raises:
        ConfigError: the store cannot be used.
    """
    store = Store(root)
    with store.opened() as client:
        experiment = client.get_experiment_by_name(probe)
        if experiment is None or experiment.lifecycle_stage == "deleted":
            return False
        runs = runs_with(client, experiment.experiment_id, "cell_key", cell_key)
        if not runs or not is_finished(runs[0]):
            return False
        if sweep:
            client.set_tag(runs[0].info.run_id, "sweep", sweep)
        return True


def track_sweep(sweep: str, note: str, numbers: Mapping[str, float | None], table: str, root: Path) -> None:
    """Show a sweep as one run, in place of the one that an earlier command with the same id left.

    Args:
        sweep: its id, which the runs of its cells carry as tag `sweep`.
        note: description in Markdown.
        numbers: metrics; None is unknown.
        table: its cells as CSV.
        root: the repository root.

    Raises:
        ConfigError: the store cannot be used.
    """
    store = Store(root)
    with store.opened() as client:
        for known in client.search_experiments():
            end_orphans(client, known.experiment_id)  # cells whose processes a signal ended before they could say so
        experiment = store.experiment(client, EXPERIMENT, ABOUT)
        for run in runs_with(client, experiment, "sweep", sweep):
            client.delete_run(run.info.run_id)
        run_id = client.create_run(experiment, tags={"sweep": sweep}, run_name=sweep).info.run_id
        values, texts = facts(numbers)
        log(client, run_id, tags={**texts, "mlflow.note.content": note})
        log(client, run_id, metrics=[(name, value, 0) for name, value in values.items()])
        client.log_text(run_id, table, "cells.csv")
        client.set_terminated(run_id, "FAILED" if numbers.get("cells_failed") else "FINISHED")
