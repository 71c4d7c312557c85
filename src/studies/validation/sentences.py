"""What the tables of a validation say, in sentences; pure."""

from __future__ import annotations

import polars as pl

from src.figures.captions import plural
from src.studies.validation.catalogue import CAREFUL, ESTIMATORS, HOLDS, NOTHING, VERDICTS, whole
from src.studies.validation.planted import WEAKER
from src.studies.validation.summary import ALARMED, ALARMS, FEWEST, FOUND
from src.studies.wording import listed

SHOWN = ("accuracy_leaf", "accuracy_plain", "coverage_true", "chao2_bound", "chao2_bound_true", "ice_reachable")
"""Estimators of which a sentence of their own tells how often they held the truth."""


def of_intervals(estimates: pl.DataFrame) -> list[str]:
    """How many intervals hold, which fail, which are wider than they need be.

    Args:
        estimates: schema ESTIMATES of :mod:`src.studies.validation.summary`.
    """
    claimed = estimates.filter(pl.col("claims") != NOTHING)
    judged = claimed.filter(pl.col("verdict").is_in(VERDICTS))
    failed, careful = (judged.filter(pl.col("verdict") == name) for name in ("fails", "conservative"))
    where = f"{plural(estimates['setting'].n_unique(), 'setting')} of {plural(tries(estimates), 'universe')} each"
    lines = []
    if judged.height:
        holds = judged.height - failed.height - careful.height
        lines.append(
            f"Of {plural(judged.height, 'interval')} (estimator × setting) that claim 95 %, {holds} hold: they "
            f"cover the truth in {whole(HOLDS)} of the universes or more; {careful.height} are conservative, above "
            f"{whole(CAREFUL)}; {failed.height} fail, below {whole(HOLDS)} ({where})."
        )
    lines += [
        f"Fails: {ESTIMATORS[row['estimator']].title} in {row['setting']}, {_percent(row['coverage'])} "
        f"[{100 * row['coverage_low']:.1f}, {100 * row['coverage_high']:.1f}] of {row['intervals']} intervals."
        for row in failed.sort("coverage").iter_rows(named=True)
    ]
    for name in SHOWN:
        own = estimates.filter((pl.col("estimator") == name) & pl.col("verdict").is_in(VERDICTS))
        if own.height:
            ends = f"{_percent(own['coverage'].min())} to {_percent(own['coverage'].max())}"
            lines.append(f"{ESTIMATORS[name].title}: covers the truth in {ends} of the universes, by setting.")
    few = claimed.filter(~pl.col("verdict").is_in(VERDICTS))
    if few.height:
        names = [f"{ESTIMATORS[row['estimator']].title} in {row['setting']}" for row in few.iter_rows(named=True)]
        lines.append(f"No verdict from fewer than {FEWEST} intervals: {listed(names)}.")
    return lines


def of_studies(studies: pl.DataFrame) -> list[str]:
    """What the studies found of what was planted, and how often they saw what was not."""
    lines = []
    for study in studies["study"].unique(maintain_order=True):
        rows = studies.filter(pl.col("study") == study)
        real, false = rows.filter(pl.col("planted_claim")), rows.filter(~pl.col("planted_claim"))
        found, weaker = (
            [f"{row['claim']} {row['said']} of {row['seeds']}" for row in some.iter_rows(named=True)]
            for some in (real.filter(pl.col("planted") != WEAKER), real.filter(planted=WEAKER))
        )
        most = false.sort("said", descending=True, maintain_order=True).row(0, named=True)
        failed = [f"{row['claim']} ({row['planted']})" for row in rows.filter(verdict="fails").iter_rows(named=True)]
        lines.append(
            f"Study {study}: what was planted is found: {listed(found)} (wanted: {whole(FOUND)}). "
            + (f"Of a weaker effect: {listed(weaker)} (power; nothing is wanted of it). " if weaker else "")
            + f"Of "
            f"{plural(false.height, 'claim')} about what was not planted the most frequent is “{most['claim']}” with "
            f"{most['said']} of {most['seeds']} ({most['planted']}; wanted: at most {ALARMS} of {ALARMED})."
            + (f" Fails: {listed(failed)}." if failed else "")
        )
    return lines


def of_stops(stops: pl.DataFrame) -> list[str]:
    """What each patience gives up and saves, in the settings where runs saturate at all."""
    lines = []
    for patience in stops["patience"].unique(maintain_order=True):
        rows = stops.filter(pl.col("patience") == patience)
        ends = rows.filter(2 * pl.col("saturated") >= pl.col("seeds"))
        never = rows.filter(pl.col("saturated") == 0)["setting"].to_list()
        said = f"no setting saturates with patience {patience} in most of its universes"
        if ends.height:
            lost, saved = ends["valid_lost"], ends["points_saved"]
            said = (
                f"where most runs saturate ({listed(ends['setting'].to_list())}), patience {patience} gives up "
                f"{_percent(lost.min())} to {_percent(lost.max())} of the valid statements that all turns bring, and "
                f"saves {_percent(saved.min())} to {_percent(saved.max())} of the points"
            )
        lines.append(f"{said[0].upper()}{said[1:]}." + (f" Never saturated: {listed(never)}." if never else ""))
    return lines


def of_ways(ways: pl.DataFrame) -> list[str]:
    """Whether text and direct draws agree."""
    if ways.is_empty():
        return []
    apart = ways.filter((pl.col("difference_low") > 0) | (pl.col("difference_high") < 0))
    seeds = int(ways["seeds"][0])
    head = f"Through text and straight from the model ({plural(seeds, 'seed')})"
    if seeds < 2:
        return [f"{head}: one seed has no spread, so nothing can be said."]
    names = [f"{row['number']} by {row['relative']:+.1%}" for row in apart.iter_rows(named=True)]
    if not names:
        reach = ((ways["difference_high"] - ways["difference_low"]) / 2 / ways["direct"].abs()).max()
        return [
            f"{head}, none of {ways.height} numbers can be told apart; the widest interval reaches {_percent(reach)} "
            "to either side, so smaller differences of that number cannot be seen."
        ]
    return [f"{head}, {len(names)} of {ways.height} numbers are apart: {listed(names)}."]


def tries(estimates: pl.DataFrame) -> int:
    """Universes of each setting."""
    return int(estimates["seeds"][0])


def _percent(share: object) -> str:
    assert isinstance(share, float)
    return f"{100 * share:.1f} %"
