"""JSON files, the same bytes for the same values; and the configurations beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


def write_json(path: Path, values: Mapping[str, object]) -> None:
    """Write values, sorted by name; NaN is refused."""
    text = json.dumps(values, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def read_config(path: Path) -> dict[str, Any]:
    """Read a configuration; by libyaml where it is there, which is ten times as fast."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    config: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    return config
