"""The run of a cell in MLflow; the only file that imports it.

Experiment = probe, run = cell_key. A run that finished with the same metrics is left alone, one with other metrics is
replaced, one that did not finish is taken up again. Explicit run ids throughout: there is no active run.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import yaml
from filelock import FileLock

from src.entries import Results, TrackedCell, curves, facts, params, safe_name, safe_text
from src.errors import ConfigError, FrontierError
from src.figures.canvas import png
from src.figures.captions import CENSORED
from src.host import commit, sigterm_raises
from src.records import Metrics

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

__all__ = ["Results", "TrackedCell", "TrackedRun", "tracked"]

QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",
}
"""Set before the import, unless the user has: no telemetry, no chatter, no minutes of waiting for a dead server."""

UNFINISHED = (
    "No results yet. To go on, run the same command again (after an extraction alone, without phases=[extract]): "
    "no answer is paid for twice."
)
MOST_METRICS, MOST_OTHERS = 1000, 100
"""Entries that one log_batch takes."""


@contextmanager
def tracked(cell: TrackedCell, root: Path) -> Iterator[TrackedRun]:
    """Show a cell as RUNNING while the block works, then as what came of it.

    A block that calls :meth:`TrackedRun.log` ends FINISHED, one without results (extraction only) SCHEDULED. An
    exception makes it FAILED; Ctrl-C, and SIGTERM, which raises SystemExit inside the block, make it KILLED. A run
    that an earlier process finished stays FINISHED whatever happens to the block.

    Args:
        cell: what is tracked.
        root: the repository root, where the store and its artifacts lie unless MLFLOW_TRACKING_URI names another.

    Raises:
        ConfigError: the store cannot be used.
    """
    with sigterm_raises():
        run = TrackedRun(cell, root)
        try:
            yield run
        except BaseException as error:
            status = "KILLED" if isinstance(error, KeyboardInterrupt | SystemExit) else "FAILED"
            # Only texts written for people are shown: others may hold anything, such as a key.
            text = f": {error}" if isinstance(error, FrontierError) else ""
            with suppress(ConfigError):  # what went wrong first is what must be told
                run.close(status, type(error).__name__ + text)
            raise
        run.close("SCHEDULED")


class TrackedRun:
    """The run of one cell; made by :func:`tracked`."""

    def __init__(self, cell: TrackedCell, root: Path) -> None:
        self._cell, self._commit = cell, commit(root)
        local = f"sqlite:///{(root.resolve() / 'mlflow.db').as_posix()}"
        self._uri = os.environ.get("MLFLOW_TRACKING_URI") or local
        file = self._uri.removeprefix("sqlite:///")
        self._home = root.resolve() if file == self._uri else Path(file).resolve().parent
        self._lock = FileLock(self._home / "mlflow.db.lock")
        with self._store() as store:
            self._experiment = self._open_experiment(store)
            runs = self._runs(store)
            self._finished = bool(runs) and _finished(runs[0])
            if runs and (self._finished or not runs[0].data.metrics):
                self.run_id = runs[0].info.run_id
                if "failure" in runs[0].data.tags:
                    store.delete_tag(self.run_id, "failure")
            else:
                # Metrics of an unfinished run are half of a logging that was cut; their history cannot be rewritten.
                self.run_id = self._create(store)
                self._delete_others(store, runs)
            if not self._finished:
                store.update_run(self.run_id, status="RUNNING")
                self._describe(store)
                self._log(store, tags={"mlflow.note.content": UNFINISHED})

    def log(self, results: Results) -> None:
        """Log everything and finish the run; a run that finished with the same metrics stays untouched.

        Raises:
            ConfigError: the store cannot be used.
        """
        with self._store() as store:
            runs = self._runs(store)
            if not runs or (_finished(runs[0]) and not _same(runs[0], results.metrics)):
                self.run_id = self._create(store)
            else:
                self.run_id = runs[0].info.run_id
            if not runs or self.run_id != runs[0].info.run_id or not _finished(runs[0]):
                self._log_results(store, results)
                store.set_terminated(self.run_id, "FINISHED")
            self._finished = True
            self._delete_others(store, runs)

    def close(self, status: str, failure: str = "") -> None:
        """Give a run that is not finished its status, and the sentence that says why."""
        if self._finished:
            return
        with self._store() as store:
            run = store.get_run(self.run_id)
            if _finished(run) or run.info.lifecycle_stage == "deleted":
                return  # another process with the same cell was faster
            if failure:
                self._log(store, tags={"failure": failure})
            store.set_terminated(self.run_id, status)

    @contextmanager
    def _store(self) -> Iterator[MlflowClient]:
        """The store, for this process alone: it is created once, and no cell gets two runs."""
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        try:
            with self._lock:
                yield _open_store(self._uri)
        except (MlflowException, SQLAlchemyError, ImportError, OSError) as error:
            user, at, _ = urlsplit(self._uri).netloc.rpartition("@")  # an address may hold a password
            place, reason = (text.replace(user + at, "") for text in (self._uri, str(error).splitlines()[0][:300]))
            raise ConfigError(
                f"the MLflow store {place} cannot be used ({reason} …); "
                "start that server, or unset MLFLOW_TRACKING_URI or point it elsewhere"
            ) from (None if user else error)

    def _open_experiment(self, store: MlflowClient) -> str:
        name = self._cell.probe
        served = self._uri.startswith(("http://", "https://"))
        place = None if served else (self._home / "mlartifacts" / name).as_uri()
        found = store.get_experiment_by_name(name)
        if found is None:
            about = {"mlflow.note.content": self._cell.question, "mlflow.experimentKind": "custom_model_development"}
            return str(store.create_experiment(name, place, about))
        if found.lifecycle_stage == "deleted":
            store.restore_experiment(found.experiment_id)
        if self._uri.startswith("sqlite:") and found.artifact_location != place:
            raise ConfigError(
                f"mlflow.db keeps its files in {found.artifact_location}, but lies in {self._home}: move the project "
                "back, or delete mlflow.db and mlartifacts and run again (no answer is paid for twice)"
            )
        return str(found.experiment_id)

    def _runs(self, store: MlflowClient) -> list[Run]:
        """The runs of the cell, finished ones first, then the newest; more than one only after a kill."""
        runs = store.search_runs(
            [self._experiment], f"tags.cell_key = '{self._cell.cell_key}'", order_by=["attributes.start_time DESC"]
        )
        return sorted(runs, key=lambda run: not _finished(run))

    def _delete_others(self, store: MlflowClient, runs: Sequence[Run]) -> None:
        for run in runs:
            if run.info.run_id != self.run_id:
                store.delete_run(run.info.run_id)

    def _create(self, store: MlflowClient) -> str:
        title = self._cell.title
        name, key = f"{title.model}/{title.strategy}/{title.domain}", {"cell_key": self._cell.cell_key}
        return str(store.create_run(self._experiment, tags=key, run_name=name).info.run_id)

    def _describe(self, store: MlflowClient) -> None:
        """Write what is known before there are results."""
        known = store.get_run(self.run_id).data.params  # a parameter cannot be written twice
        self._log(store, params={name: text for name, text in params(self._cell.config).items() if name not in known})
        title, (sha, dirty) = self._cell.title, self._commit
        tags = {
            "model": title.model,
            "strategy": title.strategy,
            "domain": title.domain,
            "judge": title.judge,
            "subject": "simulated" if title.simulated else "real",
            "git_sha": sha,
            "git_dirty": dirty,
            "mlflow.source.git.commit": sha,
            "extract_key": self._cell.extract_key,
            **self._cell.tags,
        }
        self._log(store, tags=tags)

    def _log_results(self, store: MlflowClient, results: Results) -> None:
        self._describe(store)
        for phase in ("extract", "process"):
            if (results.folder / phase).is_dir():
                store.log_artifacts(self.run_id, str(results.folder / phase), phase)
        with tempfile.TemporaryDirectory() as made:
            _write(Path(made), self._cell.config, results)
            store.log_artifacts(self.run_id, made)
        numbers, texts = facts(results.metrics)
        spend, unknown = facts(results.spend)
        about = {
            **texts,
            **{f"spend_{name}": text for name, text in unknown.items()},
            "censored": str(texts.get("stop_reason") in CENSORED).lower(),
            "ledger_hit_rate": "none asked" if results.hit_rate is None else f"{results.hit_rate:.3f}",
            "mlflow.note.content": results.note,
        }
        self._log(store, tags=about)
        scalars = {**numbers, **{f"spend/{name}": value for name, value in spend.items()}}
        steps = [(f"turn/{name}", value, turn) for name, value, turn in curves(results.curves)]
        self._log(store, metrics=[*((name, value, 0) for name, value in scalars.items()), *steps])

    def _log(
        self,
        store: MlflowClient,
        *,
        params: Mapping[str, str] | None = None,
        tags: Mapping[str, str] | None = None,
        metrics: Sequence[tuple[str, float, int]] = (),
    ) -> None:
        from mlflow.entities import Metric, Param, RunTag

        pairs = [Param(name, text) for name, text in (params or {}).items()]
        for i in range(0, len(pairs), MOST_OTHERS):
            store.log_batch(self.run_id, params=pairs[i : i + MOST_OTHERS])
        labels = [RunTag(safe_name(name), safe_text(text)) for name, text in (tags or {}).items()]
        for i in range(0, len(labels), MOST_OTHERS):
            store.log_batch(self.run_id, tags=labels[i : i + MOST_OTHERS])
        now = int(time.time() * 1000)
        values = [Metric(name, value, now, step) for name, value, step in metrics]
        for i in range(0, len(values), MOST_METRICS):
            store.log_batch(self.run_id, metrics=values[i : i + MOST_METRICS])


def _open_store(uri: str) -> MlflowClient:
    """Open a store; a local one is created, or migrated when an older MLflow made it."""
    from mlflow import MlflowClient

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of MLflow's own code, when it loads its store
        return MlflowClient(tracking_uri=uri, registry_uri=uri)


def _finished(run: Run) -> bool:
    return bool(run.info.status == "FINISHED")


def _same(run: Run, metrics: Metrics) -> bool:
    """Whether a run shows exactly these metrics; curves and spend, whose names hold a slash, are not compared."""
    numbers, texts = facts(metrics)
    logged = {name: value for name, value in run.data.metrics.items() if "/" not in name}
    return logged == numbers and all(run.data.tags.get(name) == text for name, text in texts.items())


def _write(folder: Path, config: Mapping[str, object], results: Results) -> None:
    text = yaml.safe_dump(dict(config), sort_keys=True, allow_unicode=True)
    (folder / "config.yaml").write_text(text, encoding="utf-8", errors="replace", newline="\n")
    (folder / "figures").mkdir()
    for name, figure in results.figures.items():
        (folder / "figures" / f"{name}.png").write_bytes(png(figure))
    for name, page in results.pages.items():
        (folder / name).write_text(page, encoding="utf-8", errors="replace", newline="\n")
