"""Folders of calibrations: `sheet`, which annotators get, and `key`, which they must not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from filelock import FileLock

from src.errors import ConfigError, DataMissing
from src.records import Tables
from src.store.files import write_json
from src.store.names import slug


def calibration_folder(place: Path, name: str) -> Path:
    """Where a calibration lies."""
    return place / slug(name, "name")


def write_calibration(folder: Path, about: Mapping[str, Any], key: Tables, sheet: Mapping[str, str]) -> None:
    """Write a sample and its sheet, whole or not at all; one that is there is never replaced by another.

    Args:
        folder: of the calibration.
        about: what the key is about.
        key: its tables.
        sheet: file name → content.

    Raises:
        ConfigError: another sample lies there, or the folder cannot be written.
    """
    fresh = folder.with_name(f".{folder.name}.new")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / f".{folder.name}.lock"):
            if folder.exists():
                _check_same(folder, about, key)
            else:
                shutil.rmtree(fresh, ignore_errors=True)
                (fresh / "key").mkdir(parents=True)
                (fresh / "sheet").mkdir()
                write_json(fresh / "key" / "about.json", about)
                for name, table in key.items():
                    table.write_parquet(fresh / "key" / f"{name}.parquet", compression="zstd")
                fresh.rename(folder)
            for name, text in sheet.items():  # also of one that was there: a newer page may show it better
                path = folder / "sheet" / name
                path.with_suffix(".new").write_text(text, encoding="utf-8", errors="replace", newline="")
                path.with_suffix(".new").replace(path)
    except OSError as error:
        raise ConfigError(
            f"cannot write the sample {folder}: {error.strerror}; set calibrations to a folder you may write"
        ) from error


def read_calibration(folder: Path) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    """Read the key of a calibration.

    Raises:
        DataMissing: there is none.
    """
    path = folder / "key" / "about.json"
    if not path.is_file():
        known = sorted(other.parents[1].name for other in folder.parent.glob("*/key/about.json"))
        raise DataMissing(
            f"there is no sample {folder.name} in {folder.parent} (there {'is' if len(known) == 1 else 'are'} "
            f"{', '.join(known) or 'none'}): run `python -m src.calibrate export name={folder.name}` first"
        )
    tables = {file.stem: pl.read_parquet(file) for file in sorted(path.parent.glob("*.parquet"))}
    return json.loads(path.read_text(encoding="utf-8")), tables


def _check_same(folder: Path, about: Mapping[str, Any], key: Tables) -> None:
    known: dict[str, Any] = {}
    tables: dict[str, pl.DataFrame] = {}
    if (folder / "key" / "about.json").is_file():
        known, tables = read_calibration(folder)
    if known != about or tables.keys() != key.keys() or not all(tables[name].equals(key[name]) for name in key):
        raise ConfigError(
            f"{folder} holds another sample, whose labels may be under way: choose another name, as name=…, or move "
            "that folder away"
        )
