"""The run of a cell in MLflow.

Experiment = probe, run = cell_key. A run that finished with the same metrics is left alone, one with other metrics is
replaced, one that did not finish is taken up again. Explicit run ids throughout: there is no active run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from src.entries import Results, TrackedCell, curves, facts, params
from src.errors import ConfigError, FrontierError
from src.figures.canvas import png
from src.figures.captions import CENSORED
from src.host import commit, sigterm_raises, this_process
from src.records import Metrics
from src.tracking.settings import below, delete_with_settings, log_settings
from src.tracking.store import PROCESS, Store, end_orphans, is_finished, log, runs_with

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

UNFINISHED = (
    "No results yet. To go on, run the same command again (after an extraction alone, without phases=[extract]): "
    "no answer is paid for twice."
)


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
        self._cell, self._commit, self._store = cell, commit(root), Store(root)
        with self._store.opened() as client:
            self._experiment = self._store.experiment(client, cell.probe, cell.question)
            end_orphans(client, self._experiment)
            runs = runs_with(client, self._experiment, "cell_key", self._cell.cell_key)
            self._finished = bool(runs) and is_finished(runs[0])
            if runs and (self._finished or not runs[0].data.metrics):
                self.run_id = runs[0].info.run_id
                if "failure" in runs[0].data.tags:
                    client.delete_tag(self.run_id, "failure")
            else:
                # Metrics of an unfinished run are half of a logging that was cut; their history cannot be rewritten.
                self.run_id = self._create(client)
                self._delete_others(client, runs)
            if self._finished:
                log(client, self.run_id, tags=cell.tags)
            else:
                client.set_tag(self.run_id, PROCESS, this_process())  # before it says RUNNING
                client.update_run(self.run_id, status="RUNNING")
                self._describe(client)
                log(client, self.run_id, tags={"mlflow.note.content": UNFINISHED})

    def log(self, results: Results) -> None:
        """Log everything and finish the run; a run that finished with the same metrics stays untouched.

        Raises:
            ConfigError: the store cannot be used.
        """
        with self._store.opened() as client:
            runs = runs_with(client, self._experiment, "cell_key", self._cell.cell_key)
            if not runs or (is_finished(runs[0]) and not _same(runs[0], results.metrics)):
                self.run_id = self._create(client)
            else:
                self.run_id = runs[0].info.run_id
            if not runs or self.run_id != runs[0].info.run_id or not is_finished(runs[0]):
                self._log_results(client, results)
                client.set_terminated(self.run_id, "FINISHED")
            elif results.settings and not below(client, self._experiment, self.run_id):
                self._log_settings(client, results)  # an older version logged the run without them
            self._finished = True
            self._delete_others(client, runs)

    def close(self, status: str, failure: str = "") -> None:
        """Give a run that is not finished its status, and the sentence that says why."""
        if self._finished:
            return
        with self._store.opened() as client:
            run = client.get_run(self.run_id)
            if is_finished(run) or run.info.lifecycle_stage == "deleted":
                return  # another process with the same cell was faster
            if failure:
                log(client, self.run_id, tags={"failure": failure})
            client.set_terminated(self.run_id, status)

    def _delete_others(self, client: MlflowClient, runs: Sequence[Run]) -> None:
        for run in runs:
            if run.info.run_id != self.run_id:
                delete_with_settings(client, self._experiment, run.info.run_id)

    def _create(self, client: MlflowClient) -> str:
        key = {"cell_key": self._cell.cell_key}
        return str(client.create_run(self._experiment, tags=key, run_name=self._name).info.run_id)

    @property
    def _name(self) -> str:
        title = self._cell.title
        return f"{title.model}/{title.strategy}/{title.domain}"

    def _describe(self, client: MlflowClient) -> None:
        """Write what is known before there are results."""
        known = client.get_run(self.run_id).data.params  # a parameter cannot be written twice
        new = {name: text for name, text in params(self._cell.config).items() if name not in known}
        log(client, self.run_id, params=new)
        title, (sha, dirty) = self._cell.title, self._commit
        tags = {
            "model": title.model,
            "strategy": title.strategy,
            "domain": title.domain,
            "judge": title.judge,
            "subject": title.subject,
            "git_sha": sha,
            "git_dirty": dirty,
            "mlflow.source.git.commit": sha,
            "extract_key": self._cell.extract_key,
            **self._cell.tags,
        }
        log(client, self.run_id, tags=tags)

    def _log_results(self, client: MlflowClient, results: Results) -> None:
        self._describe(client)
        for phase in ("extract", "process"):
            if (results.folder / phase).is_dir():
                client.log_artifacts(self.run_id, str(results.folder / phase), phase)
        with tempfile.TemporaryDirectory() as made:
            _write(Path(made), self._cell.config, results)
            client.log_artifacts(self.run_id, made)
        numbers, texts = facts(results.metrics)
        spend, unknown = facts(results.spend)
        about = {
            **texts,
            **{f"spend_{name}": text for name, text in unknown.items()},
            "censored": str(texts.get("stop_reason") in CENSORED).lower(),
            "ledger_hit_rate": "none asked" if results.hit_rate is None else f"{results.hit_rate:.3f}",
            "mlflow.note.content": results.note,
        }
        log(client, self.run_id, tags=about)
        scalars = {**numbers, **{f"spend/{name}": value for name, value in spend.items()}}
        steps = [(f"turn/{name}", value, turn) for name, value, turn in curves(results.curves)]
        log(client, self.run_id, metrics=[*((name, value, 0) for name, value in scalars.items()), *steps])
        self._log_settings(client, results)

    def _log_settings(self, client: MlflowClient, results: Results) -> None:
        title = self._cell.title
        whose = {"of": self._name, "judge": title.judge, "subject": title.subject}
        log_settings(client, self._experiment, self.run_id, results.settings, whose)


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
