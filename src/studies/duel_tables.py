"""Tables of a general and a specialised model: events, domains, turns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from src.stats.flat import number
from src.stats.intervals import Interval
from src.studies.duel import Duel, Event, accuracy
from src.studies.pairing import PAIRS, pairs_table
from src.studies.wording import columns

NO_UNION = Interval(math.nan, math.nan, 0, "union cluster", "Wilson", "no union with a valid point")

EVENTS = pl.Schema(
    {
        "event": pl.String,
        "zone": pl.String,
        "domain": pl.String,
        "predicted": pl.Boolean,
        "shown": pl.Boolean,
        "outcome": pl.String,
        "number": pl.Float64,
        "number_low": pl.Float64,
        "number_high": pl.Float64,
        "number_unit": pl.String,
        "p": pl.Float64,
        "p_holm": pl.Float64,
        "judged": pl.Int64,
        "branches": pl.Int64,
        "turns": pl.Int64,
        "why": pl.String,
    }
)
TURNS = pl.Schema(
    {
        "zone": pl.String,
        "domain": pl.String,
        "model": pl.String,
        "turn": pl.Int64,
        "judged": pl.Int64,
        "branches": pl.Int64,
        "accuracy": pl.Float64,
        "accuracy_low": pl.Float64,
        "accuracy_high": pl.Float64,
        "unit": pl.String,
    }
)


def events_table(tested: Sequence[Event]) -> pl.DataFrame:
    """The events, in the order of event, zone, domain."""
    rows: list[dict[str, Any]] = []
    for event in tested:
        numbers = columns("number", event.number, event.interval)
        numbers.pop("number_reason")
        rows.append(
            {
                **{"event": event.name, "zone": event.zone, "domain": event.domain, "predicted": event.predicted},
                "shown": event.shown,
                "outcome": event.outcome,
                **numbers,
                "number_unit": "turn" if event.name == "crossover" else "share per turn",
                "p": number(event.p),
                "p_holm": number(event.p_holm),
                "judged": event.interval.n,
                "branches": event.interval.branches,
                "turns": event.turns,
                "why": event.why,
            }
        )
    return pl.DataFrame(rows, schema=EVENTS)


def duels_table(fought: Sequence[Duel]) -> pl.DataFrame:
    """One row for each domain and model: recall, accuracy at the end, decline up to T."""
    rows: list[dict[str, Any]] = []
    for each in fought:
        for place, side in enumerate((each.general, each.specialised)):
            trend, (value, interval) = each.declines[place], each.accuracies[place]
            recall = each.gap.recall[1 - place] if each.gap else (math.nan, NO_UNION)
            rows.append(
                {
                    **{"zone": each.zone, "domain": each.domain, "model": side.model},
                    **columns("recall_match", *recall),
                    "clusters": recall[1].n,
                    **columns("accuracy", value, interval),
                    "judged": interval.n,
                    "branches": interval.branches,
                    "turns": side.turns,
                    "compared_turns": each.last,
                    **columns("decline_per_turn", trend.value, trend.interval),
                }
            )
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.with_columns(pl.col(name).cast(pl.Float64) for name, kind in table.schema.items() if kind == pl.Null)


def gaps_table(fought: Sequence[Duel]) -> pl.DataFrame:
    """The specialised model against the general one on their union, one row for each domain that has one."""
    schema = pl.Schema([("zone", pl.String()), ("domain", pl.String()), *PAIRS.items()])
    tables = [
        pairs_table((each.specialised.model, each.general.model), each.gap)
        .with_columns(zone=pl.lit(each.zone), domain=pl.lit(each.domain))
        .select(schema.names())
        for each in fought
        if each.gap
    ]
    return pl.concat(tables) if tables else schema.to_frame()


def turns_table(fought: Sequence[Duel]) -> pl.DataFrame:
    """Accuracy of all points up to each turn, for each domain and model."""
    rows = []
    for each in fought:
        for side in (each.general, each.specialised):
            for turn in range(1, side.turns + 1):
                value, bounds = accuracy(side.points.until(turn))
                numbers = (number(value), number(bounds.low), number(bounds.high))
                place = (each.zone, each.domain, side.model, turn, bounds.n, bounds.branches)
                rows.append((*place, *numbers, bounds.unit))
    return pl.DataFrame(rows, schema=TURNS, orient="row")
