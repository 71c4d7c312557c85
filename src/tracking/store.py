"""The MLflow store: opened once at a time, made and migrated under a lock, its experiments, its batches."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from filelock import FileLock

from src.entries import safe_name, safe_text
from src.errors import ConfigError
from src.host import gone

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",
}
"""Set before the import, unless the user has: no telemetry, no chatter, no minutes of waiting for a dead server."""

MOST_METRICS, MOST_OTHERS = 1000, 100
"""Entries that one log_batch takes."""

PROCESS = "process"
"""Tag of a run that is RUNNING: the process that works on it."""


class Store:
    """Where runs are kept: `mlflow.db` and `mlartifacts` at the repository root, or at MLFLOW_TRACKING_URI."""

    def __init__(self, root: Path) -> None:
        local = f"sqlite:///{(root.resolve() / 'mlflow.db').as_posix()}"
        self._uri = os.environ.get("MLFLOW_TRACKING_URI") or local
        file = self._uri.removeprefix("sqlite:///")
        self._home = root.resolve() if file == self._uri else Path(file).resolve().parent
        self._lock = FileLock(self._home / "mlflow.db.lock")

    @contextmanager
    def opened(self) -> Iterator[MlflowClient]:
        """The store, for this process alone: it is created once, and no cell gets two runs.

        Raises:
            ConfigError: it cannot be used.
        """
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        try:
            with self._lock:
                yield _client(self._uri)
        except (MlflowException, SQLAlchemyError, ImportError, OSError) as error:
            user, at, _ = urlsplit(self._uri).netloc.rpartition("@")  # an address may hold a password
            place, reason = (text.replace(user + at, "") for text in (self._uri, str(error).splitlines()[0][:300]))
            raise ConfigError(
                f"the MLflow store {place} cannot be used ({reason} …); "
                "start that server, or unset MLFLOW_TRACKING_URI or point it elsewhere"
            ) from (None if user else error)

    def experiment(self, client: MlflowClient, name: str, about: str) -> str:
        """The id of an experiment, which is made, or taken back from the bin, if need be.

        Raises:
            ConfigError: the project was moved since, and its artifacts with it.
        """
        served = self._uri.startswith(("http://", "https://"))
        place = None if served else (self._home / "mlartifacts" / name).as_uri()
        found = client.get_experiment_by_name(name)
        if found is None:
            tags = {"mlflow.note.content": about, "mlflow.experimentKind": "custom_model_development"}
            return str(client.create_experiment(name, place, tags))
        if found.lifecycle_stage == "deleted":
            client.restore_experiment(found.experiment_id)
        if self._uri.startswith("sqlite:") and found.artifact_location != place:
            raise ConfigError(
                f"mlflow.db keeps its files in {found.artifact_location}, but lies in {self._home}: move the project "
                "back, or delete mlflow.db and mlartifacts and run again (no answer is paid for twice)"
            )
        return str(found.experiment_id)


def runs_with(client: MlflowClient, experiment: str, tag: str, value: str) -> list[Run]:
    """The runs that carry a tag, finished ones first, then the newest."""
    runs = client.search_runs([experiment], f"tags.{tag} = '{value}'", order_by=["attributes.start_time DESC"])
    return sorted(runs, key=lambda run: not is_finished(run))


def end_orphans(client: MlflowClient, experiment: str) -> None:
    """Mark as KILLED what claims to run though its process is gone: a process that is killed cannot say so itself."""
    for run in client.search_runs([experiment], "attributes.status = 'RUNNING'"):
        if gone(run.data.tags.get(PROCESS, "")):
            client.set_terminated(run.info.run_id, "KILLED")


def is_finished(run: Run) -> bool:
    """Whether a run ended with results."""
    return bool(run.info.status == "FINISHED")


def log(
    client: MlflowClient,
    run_id: str,
    *,
    params: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
    metrics: Sequence[tuple[str, float, int]] = (),
) -> None:
    """Log in batches; metrics are (name, value, step)."""
    from mlflow.entities import Metric, Param, RunTag

    pairs = [Param(name, text) for name, text in (params or {}).items()]
    for i in range(0, len(pairs), MOST_OTHERS):
        client.log_batch(run_id, params=pairs[i : i + MOST_OTHERS])
    labels = [RunTag(safe_name(name), safe_text(text)) for name, text in (tags or {}).items()]
    for i in range(0, len(labels), MOST_OTHERS):
        client.log_batch(run_id, tags=labels[i : i + MOST_OTHERS])
    now = int(time.time() * 1000)
    values = [Metric(name, value, now, step) for name, value, step in metrics]
    for i in range(0, len(values), MOST_METRICS):
        client.log_batch(run_id, metrics=values[i : i + MOST_METRICS])


def _client(uri: str) -> MlflowClient:
    """Open a store; a local one is created, or migrated when an older MLflow made it."""
    from mlflow import MlflowClient

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of MLflow's own code, when it loads its store
        return MlflowClient(tracking_uri=uri, registry_uri=uri)
