"""Folders of findings: what studies, calibrations, validations concluded, `<reports>/<kind>/<name>`; small, for git."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from src.errors import ConfigError, DataMissing
from src.records import Metrics
from src.store.files import replacing, write_json
from src.store.names import slug

Kind = Literal["studies", "calibration", "validation"]
FILES = ("finding.json", "metrics.json")


@dataclass(frozen=True)
class StoredFinding:
    """A finding as it lies in its folder.

    Attributes:
        folder: where, with `<table>.csv`, `<figure>.png` and `<figure>.svg`.
        kind: `studies`, `calibration` or `validation`.
        facts: `finding.json`: name, question, verdict, captions, definitions, missing, sources, reference.
        metrics: `metrics.json`: flat.
        tables: names of its tables, sorted; figures: names of its figures, sorted.
    """

    folder: Path
    kind: Kind
    facts: Mapping[str, Any]
    metrics: Metrics
    tables: tuple[str, ...]
    figures: tuple[str, ...]


def finding_folder(reports: Path, kind: Kind, name: str) -> Path:
    """Where a finding lies."""
    return reports / kind / slug(name, "study.name" if kind == "studies" else "name")


def write_finding(
    folder: Path,
    facts: Mapping[str, object],
    metrics: Metrics,
    tables: Mapping[str, pl.DataFrame],
    images: Mapping[str, bytes],
) -> None:
    """Write a finding in place of the one that was there; `images` is file name with ending → bytes.

    Raises:
        ConfigError: the folder cannot be written.
    """
    try:
        with replacing(folder) as fresh:
            for name, table in sorted(tables.items()):
                text = table.write_csv(line_terminator="\n")
                (fresh / f"{name}.csv").write_text(text, encoding="utf-8", newline="\n")
            for name, content in sorted(images.items()):
                (fresh / name).write_bytes(content)
            write_json(fresh / "metrics.json", metrics)
            write_json(fresh / "finding.json", facts)
    except OSError as error:
        raise ConfigError(
            f"cannot write the finding {folder}: {error.strerror}; set reports to a folder you may write"
        ) from error


def write_numbers(reports: Path, cells: Mapping[str, Metrics]) -> None:
    """Write the numbers of every cell to `<reports>/cells/<name>.json`, in place of what was there.

    Raises:
        OSError: the folder cannot be written.
    """
    with replacing(reports / "cells") as fresh:
        for name, metrics in cells.items():
            write_json(fresh / f"{name}.json", metrics)


def read_findings(reports: Path) -> list[StoredFinding]:
    """Read every finding: studies first, by name.

    Raises:
        DataMissing: one is damaged.
    """
    found = []
    for kind in get_args(Kind):
        for path in sorted((reports / kind).glob("[!.]*/finding.json")):
            folder = path.parent
            try:
                facts, metrics = (json.loads((folder / name).read_text(encoding="utf-8")) for name in FILES)
            except (OSError, ValueError) as error:
                raise DataMissing(
                    f"{folder} cannot be read ({error}): remove it, or make that finding again"
                ) from error
            found.append(
                StoredFinding(
                    folder,
                    kind,
                    facts,
                    metrics,
                    tuple(sorted(file.stem for file in folder.glob("*.csv"))),
                    tuple(sorted(file.stem for file in folder.glob("*.png"))),
                )
            )
    return found
