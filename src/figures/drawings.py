"""What a cell looks like, ready to be stored or shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl
from matplotlib.figure import Figure


@dataclass(frozen=True)
class Drawings:
    """Everything drawn of one cell.

    Attributes:
        figures: file name without ending → figure.
        pages: file name → HTML.
        curves: a column `turn` (the step) and numbers per turn.
    """

    figures: Mapping[str, Figure]
    pages: Mapping[str, str]
    curves: pl.DataFrame
