"""JSON files, the same bytes for the same values; and the configurations beside them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import yaml

DAMAGED = (OSError, ValueError, KeyError, TypeError, yaml.YAMLError, pl.exceptions.PolarsError)
"""What reading a file that is cut, empty or something else may raise."""


def first_line(error: BaseException) -> str:
    """What went wrong, on one line."""
    return next(iter(str(error).splitlines()), type(error).__name__)


@contextmanager
def replacing(place: Path) -> Iterator[Path]:
    """A fresh folder beside `place` that takes its place, whole, when the block is through.

    A killed process leaves what was there or what came, and folders with a dot, which the next one removes.
    """
    fresh, old = place.with_name(f".{place.name}.new"), place.with_name(f".{place.name}.old")
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    fresh.mkdir(parents=True)
    yield fresh
    if place.exists():
        place.rename(old)
    fresh.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def write_json(path: Path, values: Mapping[str, object]) -> None:
    """Write values, sorted by name; NaN is refused."""
    text = json.dumps(values, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def read_config(path: Path) -> dict[str, Any]:
    """Read a configuration; by libyaml where it is there, which is ten times as fast."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    config: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    return config
