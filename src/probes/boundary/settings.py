"""A boundary cell under the nine settings of the sweep, each as a run below that of the cell."""

from __future__ import annotations

from src.audited import swept
from src.dedup.settings import Dedup
from src.figures.drawings import Setting
from src.records import Tables


def settings(extracted: Tables, processed: Tables, own: Dedup) -> tuple[Setting, ...]:
    """The numbers of the cell under each (strict, fuzzy); no call."""
    return tuple(
        Setting(
            name=f"strict {strict:.2f} · fuzzy {fuzzy:.2f}",
            params={"strict": f"{strict:.2f}", "fuzzy": f"{fuzzy:.2f}"},
            metrics=metrics,
        )
        for (strict, fuzzy), metrics in swept(extracted, processed, own).items()
    )
