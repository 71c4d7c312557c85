"""Folders of unions: what several models know together about a domain, `<cells>/union/<domain>/<strategy>`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from src.errors import ConfigError, DataMissing
from src.records import Metrics, Tables
from src.store.cells import write_whole
from src.store.files import DAMAGED, first_line, read_config
from src.store.names import slug

PLACE = "union"


def union_folder(cells: Path, domain: str, strategy: str) -> Path:
    """Where the union of a domain and a strategy lies, beside the probes' folders of the same collection of cells."""
    return cells / PLACE / slug(domain, "domain.name") / slug(strategy, "strategy.name")


def union_folders(cells: Path) -> list[Path]:
    """Every finished union of a collection of cells."""
    return sorted(path.parent for path in (cells / PLACE).glob("[!.]*/[!.]*/metrics.json"))


def write_union(folder: Path, config: Mapping[str, object], tables: Tables, metrics: Metrics) -> None:
    """Write a union, whole or not at all.

    Raises:
        ConfigError: the folder cannot be written.
    """
    try:
        write_whole(folder, config, tables, metrics)
    except OSError as error:
        raise ConfigError(
            f"cannot write the union {folder}: {error.strerror}; set cells to a folder you may write"
        ) from error


def read_union(folder: Path) -> tuple[dict[str, Any], dict[str, pl.DataFrame], Metrics]:
    """Read a union's configuration, tables and metrics.

    Raises:
        DataMissing: it is damaged.
    """
    try:
        config = read_config(folder / "config.yaml")
        tables = {path.stem: pl.read_parquet(path) for path in sorted(folder.glob("*.parquet"))}
        return config, tables, json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    except DAMAGED as error:
        raise DataMissing(f"{folder} cannot be read ({first_line(error)}): run `python -m src.union` again") from error
