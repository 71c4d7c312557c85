"""Folders of sweeps: what became of each cell, a file per cell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from src.errors import ConfigError
from src.store.files import write_json


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
        write_json(path.with_suffix(".new"), values)
        path.with_suffix(".new").replace(path)
    except OSError as error:
        raise ConfigError(
            f"cannot write the folder of the sweep {folder}: {error.strerror}; set hydra.sweep.dir to one you may write"
        ) from error


def read_records(folder: Path) -> list[dict[str, Any]]:
    """Read the records of a sweep, by number."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("cell-*.json"))]
