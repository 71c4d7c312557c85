"""What a cell looks like, ready to be stored or shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl
from matplotlib.figure import Figure

from src.records import Metrics


@dataclass(frozen=True)
class Setting:
    """What a cell would have been under another setting, without another call.

    Attributes:
        name: of the setting, for people.
        params: its values.
        metrics: name → number or None, with `<name>_reason` beside each None.
    """

    name: str
    params: Mapping[str, str]
    metrics: Metrics


@dataclass(frozen=True)
class Drawings:
    """Everything drawn of one cell.

    Attributes:
        figures: file name without ending → figure.
        pages: file name → HTML.
        curves: a column `turn` (the step) and numbers per turn.
        settings: the cell under other settings.
    """

    figures: Mapping[str, Figure]
    pages: Mapping[str, str]
    curves: pl.DataFrame
    settings: tuple[Setting, ...] = ()
