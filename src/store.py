"""Cell folders: tables as parquet, metrics as JSON, the configuration that they belong to; the only maker of paths.

A phase (`extract` or `process`) is written whole beside its place and then moved there, so that a killed run leaves
either the old phase or the new one.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import polars as pl
import yaml
from filelock import FileLock

from src.errors import ConfigError, DataMissing
from src.records import Metrics, Tables

Phase = Literal["extract", "process"]
SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def slug(name: str, what: str) -> str:
    """Return `name` if it can safely be one part of a path.

    Raises:
        ConfigError: it holds anything but letters, digits, "_", "-" and ".", or starts with one of the latter three.
    """
    if not SLUG.fullmatch(name):
        raise ConfigError(
            f"{what} {name!r} cannot name a folder: 1 to 100 of A-Z a-z 0-9 _ - . are allowed, "
            f"the first a letter or digit; choose another {what}"
        )
    return name


def slug_of(identifier: str) -> str:
    """Make a slug of a model identifier such as `vendor/Model-7B:free` (its last part, in lower case)."""
    last = identifier.rstrip("/").rsplit("/", 1)[-1].lower()
    return re.sub(r"[^a-z0-9_.-]+", "-", last).strip("-._")[:100] or "model"


def run_folder(root: Path, *, probe: str, topic: str, model: str, strategy: str, seed: int, cell_key: str) -> Path:
    """Where an ad hoc run of a cell lies: data/runs/<probe>/<topic>/<model>-<strategy>-s<seed>-<8 of cell_key>."""
    name = f"{slug(model, 'model.name')}-{slug(strategy, 'strategy.name')}-s{seed}-{cell_key[:8]}"
    return root / "data" / "runs" / slug(probe, "probe") / slug(topic, "domain.name") / name


def write_phase(
    folder: Path, phase: Phase, config: Mapping[str, object], tables: Tables, metrics: Metrics | None = None
) -> None:
    """Write one phase of a cell: `config.yaml`, a parquet file per table, `metrics.json` if given.

    Raises:
        ConfigError: the folder cannot be written.
    """
    target, fresh, old = folder / phase, folder / f".{phase}.new", folder / f".{phase}.old"
    text = yaml.safe_dump(dict(config), sort_keys=True, allow_unicode=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / f".{folder.name}.lock"):
            for leftover in (fresh, old):
                shutil.rmtree(leftover, ignore_errors=True)
            fresh.mkdir()
            (fresh / "config.yaml").write_text(text, encoding="utf-8", newline="\n")
            for name, table in tables.items():
                table.write_parquet(fresh / f"{name}.parquet", compression="zstd")
            if metrics is not None:
                _write_json(fresh / "metrics.json", metrics)
            if phase == "extract" and _config_text(target) not in ("", text):
                shutil.rmtree(folder / "process", ignore_errors=True)  # it belongs to the extraction that goes
            if target.exists():
                target.rename(old)
            fresh.rename(target)
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise ConfigError(
            f"cannot write the cell folder {folder}: {error.strerror}; set run_dir to a folder you may write"
        ) from error


def _config_text(place: Path) -> str:
    path = place / "config.yaml"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def read_phase(folder: Path, phase: Phase) -> tuple[dict[str, object], dict[str, pl.DataFrame]]:
    """Read a phase's configuration and tables.

    Raises:
        DataMissing: the phase has not been run in this folder.
    """
    place = folder / phase
    if not (place / "config.yaml").is_file():
        raise DataMissing(
            f"{folder} holds no finished {phase}; run phases=[extract,process] (what is in the ledger is replayed)"
        )
    config = yaml.safe_load((place / "config.yaml").read_text(encoding="utf-8"))
    return config, {path.stem: pl.read_parquet(path) for path in sorted(place.glob("*.parquet"))}


def read_metrics(folder: Path) -> tuple[dict[str, object], Metrics]:
    """Read what the second phase concluded: its configuration and metrics; empty where it has not been run."""
    place = folder / "process"
    if not (place / "metrics.json").is_file():
        return {}, {}
    config = yaml.safe_load((place / "config.yaml").read_text(encoding="utf-8"))
    return config, json.loads((place / "metrics.json").read_text(encoding="utf-8"))


def read_spend(folder: Path) -> dict[str, object]:
    """Read `spend.json`; empty where there is none."""
    path = folder / "spend.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def make_folder(folder: Path) -> None:
    """Make the folder of a sweep.

    Raises:
        ConfigError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"cannot make the folder of the sweep {folder}: {error.strerror}; set hydra.sweep.dir to one you may write"
        ) from error


def write_record(folder: Path, number: int, values: Mapping[str, object]) -> None:
    """Write what became of one cell of a sweep: `cell-<number>.json`, replaced as a whole.

    Raises:
        ConfigError: the folder cannot be written.
    """
    path = folder / f"cell-{number:05d}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_json(path.with_suffix(".new"), values)
        path.with_suffix(".new").replace(path)
    except OSError as error:
        raise ConfigError(
            f"cannot write the folder of the sweep {folder}: {error.strerror}; set hydra.sweep.dir to one you may write"
        ) from error


def read_records(folder: Path) -> list[dict[str, Any]]:
    """Read the records of a sweep, by number."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("cell-*.json"))]


def write_spend(folder: Path, spend: Mapping[str, object]) -> None:
    """Write `spend.json` beside the phases: what was paid, outside of everything that is compared by bytes."""
    _write_json(folder / "spend.json", spend)


def _write_json(path: Path, values: Mapping[str, object]) -> None:
    text = json.dumps(values, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
