"""A finished cell under other thresholds: from the stored pairs and verdicts, without a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from src.dedup.evidence import Evidence, cluster, from_table
from src.dedup.nodes import distinct
from src.dedup.settings import Dedup
from src.records import Tables


def dedup_of(config: Mapping[str, Any]) -> Dedup:
    """The dedup setting of a cell, from its stored configuration."""
    return Dedup(**{name: value for name, value in config["dedup"].items() if name != "_target_"})


def stored_evidence(extracted: Tables, processed: Tables, own: Dedup) -> Evidence:
    """The evidence of a finished cell."""
    atoms = extracted["atoms"]
    return from_table(processed["pairs"], distinct(atoms["atom_id"], atoms["text"]), own)


def rethreshold(evidence: Evidence, audited: pl.DataFrame, setting: Dedup) -> pl.DataFrame:
    """The table `process/atoms` (schema JUDGED_ATOMS) as it is under another setting.

    Args:
        evidence: of the cell.
        audited: its table `process/atoms`; every distinct text was audited, so the verdicts are there.
        setting: one that was computed.

    Raises:
        ConfigError: it was not computed.
    """
    audits = audited.select("atom_id", "valid", "kind", "audit_state")
    return cluster(evidence, setting).table().join(audits, on="atom_id", how="left", maintain_order="left")
