"""What judged clusters are worth, under the setting of a run and under the nine of the sweep (2602.00959); pure.

The unit is a cluster, judged by its representative.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from src.dedup.rethreshold import rethreshold, stored_evidence
from src.dedup.settings import SWEEP, Dedup
from src.errors import ConfigError
from src.records import Metrics, Tables
from src.stats.intervals import wilson, wilson_leaf

COUNTED = ("unique", "valid", "invalid", "audit_unparsed", "dedup_rate", "accuracy", "audit_rejection")
NO_POINTS, NO_CLUSTERS = "no points were found", "no audited clusters"


def audited(atoms: pl.DataFrame, judged: pl.DataFrame) -> Metrics:
    """The numbers of judged clusters.

    Args:
        atoms: the table `extract/atoms`.
        judged: the table `process/atoms`, as stored or under another setting.

    Returns:
        Those of :data:`COUNTED` and the bounds of accuracy, `accuracy_low`, `_high` with points taken as independent
        and `accuracy_leaf_low`, `_high` with branches; None with a `<name>_reason` where there is no number.
    """
    units = judged.filter("unique").join(atoms.select("atom_id", "branch"), on="atom_id", how="left")
    known = units.filter(pl.col("valid").is_not_null())
    unique, valid, n = units.height, int(known["valid"].sum()), known.height
    metrics: Metrics = {"unique": unique, "valid": valid, "invalid": n - valid, "audit_unparsed": unique - n}
    put(metrics, "dedup_rate", 1 - unique / atoms.height if atoms.height else None, NO_POINTS)
    put(metrics, "accuracy", valid / n if n else None, NO_CLUSTERS)
    put(metrics, "audit_rejection", (n - valid) / n if n else None, NO_CLUSTERS)
    plain = wilson(valid, n)
    leaf = wilson_leaf(known["valid"].to_list(), known["branch"].to_list())
    for name, interval in (("accuracy", plain), ("accuracy_leaf", leaf)):
        put(metrics, f"{name}_low", None if interval.reason else interval.low, interval.reason)
        put(metrics, f"{name}_high", None if interval.reason else interval.high, interval.reason)
    return metrics


def swept(extracted: Tables, processed: Tables, own: Dedup) -> dict[tuple[float, float], Metrics]:
    """The numbers of a cell under the nine (strict, fuzzy) of the sweep, from stored pairs and verdicts, no call.

    Args:
        extracted: the tables of its extraction.
        processed: the tables of its processing.
        own: its own setting, whose guards, candidates and linkage hold for all nine.

    Returns:
        (strict, fuzzy) → as of :func:`audited`; a setting that was not computed has None everywhere, and says so.
    """
    atoms, stored = extracted["atoms"], processed["atoms"]
    evidence = stored_evidence(extracted, processed, own)
    found: dict[tuple[float, float], Metrics] = {}
    for strict, fuzzy in SWEEP:
        setting = replace(own, strict=strict, fuzzy=fuzzy)
        try:
            found[strict, fuzzy] = audited(atoms, stored if setting == own else rethreshold(evidence, stored, setting))
        except ConfigError as error:
            found[strict, fuzzy] = {}
            for name in COUNTED:
                put(found[strict, fuzzy], name, None, str(error))
    return found


def put(metrics: Metrics, name: str, value: float | None, reason: str) -> None:
    """Write a number under its name, or None and the reason beside it."""
    metrics[name] = value
    if value is None:
        metrics[f"{name}_reason"] = reason
