"""What the study of sensitivity found, in sentences and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from src.dedup.settings import SWEEP
from src.figures.captions import percent, plural
from src.figures.sensitivity import mode_words
from src.records import Metrics
from src.stats.flat import put
from src.stats.modality import UNIFORM
from src.studies.prompting import change
from src.studies.wording import listed, p_words

TOLD = 5
"""Reversals, encoders and the like that are told one by one."""
UNION = ["domain", "strategy"]
"""What names a union."""


@dataclass(frozen=True)
class Evidence:
    """The tables of the study.

    Attributes:
        cells, recalls: values under every setting.
        spread, recall_spread: how far accuracy and recall_match move.
        reversals: pairs of models that change places.
        patience, prompts, modes, cosines: as their modules make them.
        seed: of the bootstrap.
    """

    cells: pl.DataFrame
    recalls: pl.DataFrame
    spread: pl.DataFrame
    recall_spread: pl.DataFrame
    reversals: pl.DataFrame
    patience: pl.DataFrame
    prompts: pl.DataFrame
    modes: pl.DataFrame
    cosines: pl.DataFrame
    seed: int

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """As they are stored."""
        return {
            "cells": self.cells,
            "accuracy_spread": self.spread,
            "recalls": self.recalls,
            "recall_spread": self.recall_spread,
            "reversals": self.reversals,
            "patience": self.patience,
            "prompts": self.prompts,
            "modes": self.modes,
            "cosines": self.cosines,
        }

    @property
    def accuracy_known(self) -> pl.DataFrame:
        """How far accuracy moves, for the cells that have one in all nine settings."""
        return self.spread.filter(settings=len(SWEEP))

    @property
    def recall_known(self) -> pl.DataFrame:
        """How far recall_match moves, for the unions that have one in all nine settings."""
        return self.recall_spread.filter(settings=len(SWEEP))

    @property
    def unordered(self) -> pl.DataFrame:
        """Unions whose models have no recall in some setting: domain, strategy, settings that have one."""
        partly = self.recall_spread.filter(pl.col("settings") < len(SWEEP))
        return partly.select("domain", "strategy", "settings").unique().sort("domain", "strategy")

    @property
    def unions(self) -> int:
        """Unions whose models can be ordered in all nine settings."""
        return self.recall_known.select(UNION).n_unique()

    @property
    def kept(self) -> int:
        """Those of them in which no two models change places."""
        return self._without(self.reversals)

    @property
    def kept_but_tied(self) -> int:
        """Those in which at most models change places that cannot be told apart anyway."""
        return self._without(self.reversals.filter(~pl.col("tied")))

    @property
    def cut_to_nought(self) -> pl.DataFrame:
        """Runs made with some patience, as they would have been with none; those whose loss is known."""
        return self.patience.filter(
            pl.col("patience") == 0, pl.col("own_patience") > 0, pl.col("share_lost").is_not_null()
        )

    def _without(self, reversals: pl.DataFrame) -> int:
        return self.recall_known.select(UNION).unique().join(reversals, on=UNION, how="anti").height


def sentences(found: Evidence) -> list[str]:
    """The verdict, most important first."""
    return [_settings(found), *_reversals(found), *_modes(found), _patience(found), _prompts(found)]


def summary(found: Evidence) -> Metrics:
    """The verdict's numbers."""
    metrics: Metrics = {
        "cells": found.spread.height,
        "unions": found.unions,
        "unions_unordered": found.unordered.height,
        "order_kept": found.kept,
        "order_kept_but_tied": found.kept_but_tied,
    }
    for name, table, why in (
        ("accuracy", found.accuracy_known, "no cell has an accuracy in all nine settings"),
        ("recall_match", found.recall_known, "no union of two models has recalls in all nine settings"),
    ):
        for measure, value in (("mean", table["half_range"].mean()), ("largest", table["half_range"].max())):
            put(metrics, f"{name}_half_range_{measure}", float(value) if value is not None else None, why)  # type: ignore[arg-type]
    for row in found.modes.iter_rows(named=True):
        for name in ("sarle", "valley_p"):
            put(metrics, f"{name}_{row['embedder']}", row[name], row["reason"])
    for name in ("raw", "valid"):
        value, interval = change(found.prompts, name, found.seed)
        put(metrics, f"{name}_change_synonyms", value, interval.reason)
        for end, bound in (("low", interval.low), ("high", interval.high)):
            put(metrics, f"{name}_change_synonyms_{end}", None if interval.reason else bound, interval.reason)
    mean = found.cut_to_nought["share_lost"].mean()
    why = "no run was made with more patience than 0"
    put(metrics, "share_lost_patience_0", float(mean) if mean is not None else None, why)  # type: ignore[arg-type]
    return metrics


def _settings(found: Evidence) -> str:
    said = []
    if found.unions:
        spread = found.recall_known
        row = _most(spread)
        said.append(
            f"recall_match moves by ± {_points(spread['half_range'].mean())} on average (most: {row['model']} in "
            f"{row['domain']} by {row['strategy']}, ± {_points(row['half_range'])}; n = {spread.height} recalls in "
            f"{plural(found.unions, 'union')})"
        )
    known = found.accuracy_known
    if known.height:
        row, n = _most(known), plural(known.height, "cell")
        said.append(
            f"accuracy moves by ± {_points(known['half_range'].mean())} on average (most: {row['model']} by "
            f"{row['strategy']} for {row['domain']}, ± {_points(row['half_range'])}; n = {n})"
        )
    order = ""
    if found.unions:
        order = (
            f" The order of the models by recall_match is kept in all nine in {found.kept} of "
            f"{plural(found.unions, 'union')}"
        )
        tied = found.kept_but_tied - found.kept
        order += f", and in {tied} more but for models that cannot be told apart." if tied else "."
    if found.unordered.height:
        names = [
            f"{row['domain']} by {row['strategy']} (in {row['settings']})"
            for row in found.unordered.iter_rows(named=True)
        ]
        order += f" Left out, for want of recalls in all nine: {listed(names)}."
    if not said:
        return f"No cell has an accuracy in all nine settings.{order}"
    return f"Over the nine settings {' and '.join(said)}.{order}"


def _most(spread: pl.DataFrame) -> dict[str, Any]:
    """The row that moves most; of equals the first by name."""
    order = ["half_range", "domain", "strategy", "model"]
    return spread.sort(order, descending=[True, False, False, False]).row(0, named=True)


def _reversals(found: Evidence) -> list[str]:
    lines = []
    for row in found.reversals.sort("p_holm", "domain", "ahead", "behind").head(TOLD).iter_rows(named=True):
        bounds = ""
        if row["difference_low"] is not None:
            bounds = f" [{100 * row['difference_low']:+.1f}, {100 * row['difference_high']:+.1f}]"
        p = p_words(row["p_holm"], "Holm's p")
        separated = "separated under the own setting; the reversed gap was not tested"
        lines.append(
            f"{row['ahead']} and {row['behind']} change places in {row['domain']} by {row['strategy']} (the other way "
            f"round in {row['reversed_in']} of {row['known_in']} settings; own setting "
            f"{100 * row['difference']:+.1f} percentage points{bounds}, {p}): "
            f"{'tied under the own setting' if row['tied'] else separated}."
        )
    if found.reversals.height > TOLD:
        tied = int(found.reversals["tied"].sum())
        lines.append(f"{found.reversals.height} pairs change places in all, {tied} of them tied; see the table.")
    return lines


def _modes(found: Evidence) -> list[str]:
    lines = []
    for row in found.modes.head(TOLD).iter_rows(named=True):
        if row["sarle"] is None:
            lines.append(f"Cosines of {row['embedder']}: nothing to say about their modes ({row['reason']}).")
            continue
        lines.append(
            f"Cosines of {row['embedder']} {mode_words(row)}; Sarle's coefficient {row['sarle']:.3f} (above "
            f"{UNIFORM:.3f}: two modes or a strong skew); n = {plural(row['n'], 'raw point')}, {row['same_text']:,} "
            "word for word repeats left out."
        )
    return lines


def _patience(found: Evidence) -> str:
    lines = []
    known = found.cut_to_nought
    if known.height:
        lost, whole = int(known["valid_lost"].sum()), int((known["valid"] + known["valid_lost"]).sum())
        lines.append(
            f"Patience 0 would have lost {lost:,} of {whole:,} valid points ({percent(lost / whole)}) of "
            f"{plural(known.height, 'run')} made with more"
        )
    less = found.patience.filter(
        pl.col("patience") == 1, pl.col("own_patience") == 0, pl.col("stop_reason") != "recorded"
    )
    if less.height:
        same = less.filter(pl.col("stop_turn").is_not_null()).height
        ends = [f"{same} would have ended the same with patience 1"] if same else []
        if same < less.height:
            ends.append(f"how far {less.height - same} would have gone with patience 1 is not known")
        lines.append(f"of {plural(less.height, 'run')} made with patience 0, {'; '.join(ends)}")
    return f"{'; '.join(lines)[:1].upper()}{'; '.join(lines)[1:]}." if lines else "Nothing is known about patience."


def _prompts(found: Evidence) -> str:
    if not found.prompts.height:
        return "No cell was measured with prompts in other words, so nothing is known about wording."
    said = []
    for name in ("raw", "valid"):
        value, interval = change(found.prompts, name, found.seed)
        if value is None:
            said.append(f"{name} points: {interval.reason}")
            continue
        bounds = f"[{100 * interval.low:+.1f}, {100 * interval.high:+.1f}]"
        if interval.reason:
            bounds = f"(no interval: {interval.reason})"
        said.append(f"{100 * value:+.1f} % {name} points {bounds}")
    return f"Prompts in other words give {' and '.join(said)}; n = {plural(found.prompts.height, 'pair')} of cells."


def _points(value: object) -> str:
    """Half a range of shares as `1.7 percentage points`."""
    return f"{100 * float(value):.1f} percentage points"  # type: ignore[arg-type]
