"""JSON files: the same bytes for the same values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


def write_json(path: Path, values: Mapping[str, object]) -> None:
    """Write values, sorted by name; NaN is refused."""
    text = json.dumps(values, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
