"""A study or a calibration in MLflow: one run each in the experiment `studies`, its figures beside its numbers."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from src.entries import facts
from src.host import commit
from src.records import Metrics
from src.tracking.store import Store, log, runs_with

EXPERIMENT = "studies"
ABOUT = "One run per study or calibration: its verdict, its numbers, its figures. Cells are in the probes' experiments."


def track_study(
    name: str, note: str, tags: Mapping[str, str], metrics: Metrics, files: Mapping[str, bytes], root: Path
) -> None:
    """Show a study as one run, in place of the one that an earlier command left.

    Args:
        name: of the study.
        note: description in Markdown.
        tags: what tells its runs apart in a table.
        metrics: name → number or None.
        files: artifact path → content.
        root: the repository root.

    Raises:
        ConfigError: the store cannot be used.
    """
    store = Store(root)
    with store.opened() as client:
        experiment = store.experiment(client, EXPERIMENT, ABOUT)
        for run in runs_with(client, experiment, "study", name):
            client.delete_run(run.info.run_id)
        run_id = client.create_run(experiment, tags={"study": name}, run_name=name).info.run_id
        sha, dirty = commit(root)
        numbers, texts = facts(metrics)
        log(client, run_id, tags={**texts, **tags, "git_sha": sha, "git_dirty": dirty, "mlflow.note.content": note})
        log(client, run_id, metrics=[(metric, value, 0) for metric, value in numbers.items()])
        with tempfile.TemporaryDirectory() as made:
            for path, content in files.items():
                target = Path(made) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            client.log_artifacts(run_id, made)
        client.set_terminated(run_id, "FINISHED")
