"""What judged clusters are worth, under the setting of a run and under the nine of the sweep (2602.00959); pure.

The unit is a cluster, judged by its representative.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from src.dedup.rethreshold import rethreshold, stored_evidence
from src.dedup.settings import SWEEP, Dedup
from src.errors import ConfigError
from src.records import Metrics, Tables
from src.stats.flat import put, put_interval
from src.stats.intervals import wilson, wilson_leaf
from src.stats.trends import Judged, decline

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
        put(metrics, f"{name}_low", interval.low, interval.reason)
        put(metrics, f"{name}_high", interval.high, interval.reason)
    return metrics


def judged_points(atoms: pl.DataFrame, judged: pl.DataFrame) -> Judged:
    """The audited clusters: verdict and branch of the representative, turn of the earliest member.

    Args:
        atoms: the table `extract/atoms`.
        judged: the table `process/atoms`, as stored or under another setting.
    """
    turns = judged.join(atoms.select("atom_id", "turn"), on="atom_id", how="left")
    first = turns.group_by("representative").agg(first=pl.col("turn").min())
    units = judged.filter(pl.col("unique") & pl.col("valid").is_not_null())
    units = units.join(atoms.select("atom_id", "branch"), on="atom_id", how="left")
    units = units.join(first, left_on="atom_id", right_on="representative", how="left").sort("atom_id")
    number = {branch: place for place, branch in enumerate(sorted(set(units["branch"])))}
    return Judged(
        units["valid"].to_numpy().astype(np.bool_),
        units["first"].to_numpy().astype(np.int64),
        np.array([number[branch] for branch in units["branch"]], dtype=np.int64),
    )


def decline_metrics(atoms: pl.DataFrame, judged: pl.DataFrame, turns: pl.DataFrame) -> Metrics:
    """How fast accuracy falls from turn 1 to the last turn of the run, per turn, accuracies cumulative.

    Args:
        atoms: the table `extract/atoms`.
        judged: the table `process/atoms`, as stored or under another setting.
        turns: the table `extract/turns`.

    Returns:
        `decline_rate`, `decline_rate_low` and `decline_rate_high` (unit: branch); None with a reason where there is
        none, as after a single turn.
    """
    rate = decline(judged_points(atoms, judged), turns.height)
    metrics: Metrics = {}
    put_interval(metrics, "decline_rate", rate.value, rate.interval)
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
