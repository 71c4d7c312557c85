"""Flat metrics: a number under its name, or None and the reason beside it; no name is given twice."""

from __future__ import annotations

import math

from src.errors import ConfigError
from src.records import Metrics
from src.stats.intervals import Interval


def put(metrics: Metrics, name: str, value: float | None, reason: str = "") -> None:
    """Write a number under its name; for None or NaN write None, and the reason under `<name>_reason`.

    Raises:
        ConfigError: the name is taken, as when a model is called like another one with a suffix such as _low.
    """
    known = number(value)
    entries: Metrics = {name: known} if known is not None else {name: None, f"{name}_reason": reason}
    if taken := sorted(entries.keys() & metrics.keys()):
        raise ConfigError(
            f"two numbers would be called {taken[0]}: a model, strategy or domain has the name of another one with a "
            "suffix such as _low; name it otherwise (model.name=…, strategy.name=… or domain.name=…)"
        )
    metrics.update(entries)


def put_interval(metrics: Metrics, name: str, value: float, interval: Interval) -> None:
    """Write a number under its name and its bounds under `<name>_low` and `<name>_high`, each as :func:`put` does.

    Raises:
        ConfigError: one of the names is taken.
    """
    for key, each in ((name, value), (f"{name}_low", interval.low), (f"{name}_high", interval.high)):
        put(metrics, key, each, interval.reason)


def number(value: float | None) -> float | None:
    """The number, or None for NaN."""
    return None if value is None or math.isnan(value) else value
