"""What a tracking store is told about a cell; configurations and metrics as names and values it accepts; pure."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from src.figures.captions import Title
from src.figures.drawings import Setting
from src.records import Metrics

LONGEST_NAME = 250
LONGEST_PARAM = 500
LONGEST_TAG = 5000


@dataclass(frozen=True)
class TrackedCell:
    """What identifies a run.

    Attributes:
        probe: name of the probe and so of the experiment.
        question: what the probe asks, shown as the experiment's description.
        cell_key, extract_key: hashes of the whole configuration and of its extraction part.
        title: what the cell is about, who judges, where its answers came from.
        config: the configuration that the keys hash.
        tags: further tags, such as the id of a sweep.
    """

    probe: str
    question: str
    cell_key: str
    extract_key: str
    title: Title
    config: Mapping[str, object]
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Results:
    """What a finished cell shows.

    Attributes:
        metrics: name → number or None, texts in `stop_reason` and `<metric>_reason`.
        spend: what it cost over all its processes, name → number or None.
        hit_rate: share of answers that came from the ledger in this process; None if none was needed.
        curves: a column `turn` (the step) and numbers per turn.
        note: description in Markdown.
        figures: file name without ending → figure.
        pages: file name → HTML.
        folder: the cell folder, whose `extract` and `process` become artifacts as they are.
        settings: the cell under other settings, each a run below that of the cell.
    """

    metrics: Metrics
    spend: Mapping[str, float | None]
    hit_rate: float | None
    curves: pl.DataFrame
    note: str
    figures: Mapping[str, Figure]
    pages: Mapping[str, str]
    folder: Path
    settings: tuple[Setting, ...] = ()


def params(config: Mapping[str, object]) -> dict[str, str]:
    """A configuration as parameters: nested names joined by dots, lists as JSON, long values as their hash."""
    flat: dict[str, str] = {}
    for path, value in _leaves(config):
        name = safe_name(path)
        if name in flat:  # two names that differ only in characters a store refuses
            name = f"{name[: LONGEST_NAME - 9]}_{_digest(path)}"
        flat[name] = value if len(value) <= LONGEST_PARAM else f"sha256:{_digest(value, 64)}, {len(value):,} characters"
    return flat


def facts(metrics: Mapping[str, float | int | str | None]) -> tuple[dict[str, float], dict[str, str]]:
    """Metrics as numbers and texts; a number that is missing or not finite becomes the text `<name>_reason`."""
    numbers: dict[str, float] = {}
    texts: dict[str, str] = {}
    for name, value in metrics.items():
        if isinstance(value, str):
            texts[safe_name(name)] = safe_text(value)
        elif value is not None and math.isfinite(value):
            numbers[safe_name(name)] = float(value)
        elif f"{name}_reason" not in metrics:
            texts[safe_name(f"{name}_reason")] = "unknown" if value is None else f"not a finite number: {value}"
    return numbers, texts


def curves(turns: pl.DataFrame) -> list[tuple[str, float, int]]:
    """Every finite number of a table with a column `turn` as (name, value, turn)."""
    return [
        (safe_name(name), float(value), int(row["turn"]))
        for row in turns.iter_rows(named=True)
        for name, value in row.items()
        if name != "turn" and isinstance(value, int | float) and math.isfinite(value)
    ]


def safe_name(name: str) -> str:
    """A name of letters, digits and `_ - . :` that is short enough; `a[0]=x|y` becomes `a_0__x_y`."""
    clean = re.sub(r"^\.+|[^A-Za-z0-9_.:-]", "_", name) or "_"
    return clean if len(clean) <= LONGEST_NAME else f"{clean[: LONGEST_NAME - 9]}_{_digest(name)}"


def safe_text(text: str) -> str:
    """A text that can be stored: no lone surrogates, no NUL, short enough for a tag."""
    clean = text.encode("utf-8", errors="replace").decode("utf-8").replace("\0", "�")
    return clean if len(clean) <= LONGEST_TAG else f"{clean[: LONGEST_TAG - 1]}…"


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key in sorted(value, key=str):
            yield from _leaves(value[key], f"{path}.{key}" if path else str(key))
    else:
        yield path, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _digest(text: str, length: int = 8) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()[:length]
