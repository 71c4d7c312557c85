"""Runs below the run of a cell: the same cell under other settings. They come and go with it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from src.entries import facts, safe_name, safe_text
from src.figures.drawings import Setting
from src.host import this_process
from src.tracking.store import PROCESS

if TYPE_CHECKING:
    from mlflow import MlflowClient

PARENT = "mlflow.parentRunId"


def log_settings(
    client: MlflowClient, experiment: str, parent: str, settings: Sequence[Setting], tags: Mapping[str, str]
) -> None:
    """Log a finished run for each setting, in place of those that were there.

    They carry no `cell_key`, `domain` or `sweep`, so no search takes them for cells.

    Args:
        client: of the store.
        experiment: id of the experiment.
        parent: id of the run of the cell.
        settings: the settings.
        tags: of all of them: whose they are, who judged.
    """
    from mlflow.entities import Metric, Param

    _delete_below(client, experiment, parent)
    now = int(time.time() * 1000)
    for setting in settings:  # few and small: one write each for what there is to say
        numbers, texts = facts(setting.metrics)
        own = {PARENT: parent, PROCESS: this_process(), **tags, **texts}
        said = {safe_name(name): safe_text(text) for name, text in own.items()}
        run_id = client.create_run(experiment, tags=said, run_name=setting.name).info.run_id
        metrics = [Metric(name, value, now, 0) for name, value in numbers.items()]
        client.log_batch(run_id, metrics=metrics, params=[Param(name, text) for name, text in setting.params.items()])
        client.set_terminated(run_id, "FINISHED")


def delete_with_settings(client: MlflowClient, experiment: str, run_id: str) -> None:
    """Delete the run of a cell and those below it."""
    _delete_below(client, experiment, run_id)
    client.delete_run(run_id)


def below(client: MlflowClient, experiment: str, parent: str) -> list[str]:
    """The ids of the runs below the run of a cell."""
    return [str(run.info.run_id) for run in client.search_runs([experiment], f"tags.`{PARENT}` = '{parent}'")]


def _delete_below(client: MlflowClient, experiment: str, parent: str) -> None:
    for run_id in below(client, experiment, parent):
        client.delete_run(run_id)
