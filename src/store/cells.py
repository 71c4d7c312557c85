"""Cell folders: tables as parquet, metrics as JSON, the configuration that they belong to.

A phase (`extract` or `process`) is written whole beside its place and then moved there, so that a killed run leaves
either the old phase or the new one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import polars as pl
import yaml
from filelock import FileLock

from src.errors import ConfigError, DataMissing
from src.records import Metrics, Tables
from src.store.files import read_config, replacing, write_json

Phase = Literal["extract", "process"]
PHASES = ("extract", "process")


def write_phase(
    folder: Path, phase: Phase, config: Mapping[str, object], tables: Tables, metrics: Metrics | None = None
) -> None:
    """Write one phase of a cell: `config.yaml`, a parquet file per table, `metrics.json` if given.

    Raises:
        ConfigError: the folder cannot be written.
    """
    target = folder / phase
    text = yaml.safe_dump(dict(config), sort_keys=True, allow_unicode=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / f".{folder.name}.lock"), replacing(target) as fresh:
            _fill(fresh, text, tables, metrics)
            if phase == "extract" and _config_text(target) not in ("", text):
                shutil.rmtree(folder / "process", ignore_errors=True)  # it belongs to the extraction that goes
    except OSError as error:
        raise ConfigError(
            f"cannot write the cell folder {folder}: {error.strerror}; set run_dir to a folder you may write"
        ) from error


def write_whole(place: Path, config: Mapping[str, object], tables: Tables, metrics: Metrics) -> None:
    """Write a folder of tables, metrics and configuration beside its place, then move it there.

    Raises:
        OSError: it cannot be written.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(place.parent / f".{place.name}.lock"), replacing(place) as fresh:
        _fill(fresh, yaml.safe_dump(dict(config), sort_keys=True, allow_unicode=True), tables, metrics)


def _fill(place: Path, config: str, tables: Tables, metrics: Metrics | None) -> None:
    (place / "config.yaml").write_text(config, encoding="utf-8", newline="\n")
    for name, table in tables.items():
        table.write_parquet(place / f"{name}.parquet", compression="zstd")
    if metrics is not None:
        write_json(place / "metrics.json", metrics)


def cell_folders(cells: Path) -> list[Path]:
    """Every folder below `cells` that holds a phase of a cell: `<cells>/<probe>/<topic>/<name>`."""
    return sorted(
        {path.parents[1] for phase in PHASES for path in cells.glob(f"[!.]*/[!.]*/[!.]*/{phase}/config.yaml")}
    )


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
    config = read_config(place / "config.yaml")
    return config, {path.stem: pl.read_parquet(path) for path in sorted(place.glob("*.parquet"))}


def read_metrics(folder: Path) -> tuple[dict[str, object], Metrics]:
    """Read what the second phase concluded: its configuration and metrics; empty where it has not been run."""
    place = folder / "process"
    if not (place / "metrics.json").is_file():
        return {}, {}
    config = read_config(place / "config.yaml")
    return config, json.loads((place / "metrics.json").read_text(encoding="utf-8"))


def read_spend(folder: Path) -> dict[str, object]:
    """Read `spend.json`; empty where there is none."""
    path = folder / "spend.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def write_spend(folder: Path, spend: Mapping[str, object]) -> None:
    """Write `spend.json` beside the phases: what was paid, outside of everything that is compared by bytes."""
    write_json(folder / "spend.json", spend)
