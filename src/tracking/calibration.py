"""What a calibration says about a cell, on the run of that cell."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from src.entries import facts
from src.records import Metrics
from src.tracking.store import Store, is_finished, log, runs_with


def track_calibration(probe: str, name: str, cells: Mapping[str, Metrics], note: str, root: Path) -> int:
    """Log metrics `calibration/<name>/<metric>` on the runs of cells, with the tag `calibration.<name>`.

    Args:
        probe: whose experiment holds the runs.
        name: of the calibration, a slug.
        cells: cell_key → metrics.
        note: the tag: what was found, in a sentence.
        root: the repository root.

    Returns:
        How many of the cells have a finished run.

    Raises:
        ConfigError: the store cannot be used.
    """
    store = Store(root)
    found = 0
    with store.opened() as client:
        experiment = client.get_experiment_by_name(probe)
        if experiment is None or experiment.lifecycle_stage == "deleted":
            return 0
        for key, metrics in sorted(cells.items()):
            runs = runs_with(client, experiment.experiment_id, "cell_key", key)
            if not runs or not is_finished(runs[0]):
                continue
            found += 1
            numbers, reasons = facts(metrics)
            about = {f"calibration.{name}.{metric}": reason for metric, reason in reasons.items()}
            run_id = runs[0].info.run_id
            log(client, run_id, tags={**about, f"calibration.{name}": note})
            log(
                client,
                run_id,
                metrics=[(f"calibration/{name}/{metric}", value, 0) for metric, value in numbers.items()],
            )
    return found
