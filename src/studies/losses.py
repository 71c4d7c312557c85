"""What becomes of raw points and answers, counted in a cell and pooled over cells, each share with its intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from src.cells import MeasuredCell
from src.stats.intervals import wilson, wilson_leaf

ANSWERS = ("unlisted", "truncated", "cut", "empty", "refused")
POINTS = ("raw", "repeated", "merged", "unique", "valid", "invalid", "audit_unparsed")
SHARES = pl.Schema(
    {
        "stage": pl.String,
        "share": pl.Float64,
        "count": pl.Int64,
        "n": pl.Int64,
        "unit": pl.String,
        "low": pl.Float64,
        "high": pl.Float64,
        "leaf_low": pl.Float64,
        "leaf_high": pl.Float64,
        "branches": pl.Int64,
        "reason": pl.String,
    }
)
"""`low`, `high`: Wilson, units taken as independent; `leaf_`: Wilson on n/deff with the branch as unit."""

NO_ANSWERS = "no answer was asked for, or the answers were recorded elsewhere"


@dataclass(frozen=True)
class Losses:
    """What became of the points of one or several cells.

    Attributes:
        merged: bool, shape (raw,): raw points that do not stand for a cluster.
        kept: bool, shape (raw,): raw points that stand for a valid cluster.
        branch: str, shape (raw,): the branch of each, unique over cells.
        rejected: bool, shape (judged clusters,): those that the audit rejects.
        rejected_branch: str, shape (judged clusters,).
        counts: names of POINTS and ANSWERS, `answers`, `judged_pairs`, `judge_unparsed` → how many.
    """

    merged: npt.NDArray[np.bool_]
    kept: npt.NDArray[np.bool_]
    branch: npt.NDArray[np.str_]
    rejected: npt.NDArray[np.bool_]
    rejected_branch: npt.NDArray[np.str_]
    counts: dict[str, int]


def atoms_by_branch(cell: MeasuredCell) -> pl.DataFrame:
    """The table `process/atoms` of a cell with the branch of each point, unique over cells."""
    where = pl.lit(f"{cell.model}/{cell.strategy}/{cell.domain}/")
    branches = cell.extracted["atoms"].select("atom_id", branch=where + pl.col("branch"))
    return cell.processed["atoms"].join(branches, on="atom_id", how="left", maintain_order="left")


def judged_clusters(cell: MeasuredCell) -> pl.DataFrame:
    """Those of them that stand for a cluster with a verdict."""
    return atoms_by_branch(cell).filter(pl.col("unique") & pl.col("valid").is_not_null())


def lost(cell: MeasuredCell) -> Losses:
    """Count what became of the points of a cell."""
    atoms, turns = cell.extracted["atoms"], cell.extracted["turns"]
    judged, units = atoms_by_branch(cell), judged_clusters(cell)
    verdicts = cell.processed["pairs"]["verdict"].drop_nulls()
    counts = {name: int(cell.metrics[name] or 0) for name in ("raw", "unique", "valid", "invalid", "audit_unparsed")}
    counts |= {name: int(turns[name].sum()) for name in ANSWERS}
    counts |= {
        "repeated": atoms.height - atoms["text"].n_unique(),
        "merged": counts["raw"] - counts["unique"],
        "answers": cell.extracted["calls"]["turn"].drop_nulls().len(),  # repeats of turn 1 are of no turn
        "judged_pairs": len(verdicts),
        "judge_unparsed": int((verdicts == "unparsed").sum()),
    }
    return Losses(
        ~judged["unique"].to_numpy().astype(bool),
        (judged["unique"] & judged["valid"].fill_null(False)).to_numpy().astype(bool),
        judged["branch"].to_numpy().astype(str),
        ~units["valid"].to_numpy().astype(bool),
        units["branch"].to_numpy().astype(str),
        counts,
    )


def pooled(parts: Sequence[Losses]) -> Losses:
    """Several cells as one; branches stay apart."""
    return Losses(
        np.concatenate([part.merged for part in parts]),
        np.concatenate([part.kept for part in parts]),
        np.concatenate([part.branch for part in parts]),
        np.concatenate([part.rejected for part in parts]),
        np.concatenate([part.rejected_branch for part in parts]),
        {name: sum(part.counts[name] for part in parts) for name in parts[0].counts},
    )


def shares(losses: Losses) -> pl.DataFrame:
    """Every share, schema SHARES: what is merged, rejected and unreadable, of what there was."""
    counts, rejected, of = losses.counts, losses.rejected, losses.rejected_branch
    raw, unique, answers, pairs = (counts[name] for name in ("raw", "unique", "answers", "judged_pairs"))
    rows = [
        _share("dedup_rate", counts["merged"], raw, "point", losses.merged, losses.branch),
        _share("repeated", counts["repeated"], raw, "point"),
        _share("audit_rejection", counts["invalid"], len(rejected), "cluster", rejected, of),
        _share("audit_unparsed", counts["audit_unparsed"], unique, "cluster"),
        _share("valid_of_raw", counts["valid"], raw, "point", losses.kept, losses.branch),
        _share("judge_unparsed", counts["judge_unparsed"], pairs, "pair"),
        *(_share(name, min(counts[name], answers), answers, "answer") for name in ANSWERS),
    ]
    return pl.DataFrame(rows, schema=SHARES, orient="row")


def shares_by(groups: Iterable[tuple[tuple[str, ...], Losses]], names: Sequence[str]) -> pl.DataFrame:
    """The shares of several groups below one another, with the names of the groups in front."""
    parts = [
        shares(losses).select(*(pl.lit(value).alias(name) for name, value in zip(names, key, strict=True)), pl.all())
        for key, losses in groups
    ]
    return pl.concat(parts)


def _share(
    stage: str,
    count: int,
    n: int,
    unit: str,
    flags: npt.NDArray[np.bool_] | None = None,
    branches: npt.NDArray[np.str_] | None = None,
) -> tuple[object, ...]:
    """A row of SHARES; with flags and branches it has the interval by branch too."""
    if n == 0:
        reason = NO_ANSWERS if unit == "answer" else f"there is no {unit}"
        return (stage, None, count, 0, unit, None, None, None, None, None, reason)
    plain = wilson(count, n)
    if flags is None or branches is None:
        return (
            stage,
            count / n,
            count,
            n,
            unit,
            plain.low,
            plain.high,
            None,
            None,
            None,
            "by branch for points and clusters only",
        )
    leaf = wilson_leaf(flags.tolist(), branches.tolist())
    low, high = (None, None) if leaf.reason else (leaf.low, leaf.high)
    found = len(np.unique(branches))
    return (stage, count / n, count, n, unit, plain.low, plain.high, low, high, found, leaf.reason)
