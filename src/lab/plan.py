"""What a cell can cost, before anything is asked, and whether it did: no network, no model, no ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from src.costs import Limits, Load, Planned
from src.embed import EndpointModel
from src.figures.captions import CENSORED
from src.figures.plans import Compared, PlanRow
from src.lab.config import Cell
from src.lab.stored import stored_extract
from src.llm.config import Model, Price
from src.llm.local import Embedded
from src.llm.recorded import Recorded
from src.recordings import read_recording, turns_of
from src.records import Domain, Metrics, Role, Usage
from src.text.points import read_points

FREE = Price(0.0, 0.0, "2026-11-30")
"""What works in this process."""


def plan_cell(cell: Cell) -> tuple[PlanRow, ...]:
    """Plan a cell, role by role.

    Raises:
        DataMissing, ConfigError: only `process` is to be run, and the cell folder holds no extraction of this cell.
    """
    return tuple(
        _row(cell, planned, *_who(cell, planned.role))
        for planned in cell.probe.plan(_limits(cell))
        if planned.most != Load(0, 0, 0)
    )


def compare(rows: tuple[PlanRow, ...], metrics: Metrics, spend: Mapping[str, object]) -> tuple[Compared, ...]:
    """Put a plan beside what a run took, as if nothing had been replayed.

    A run that was cut short may have taken less. Dollars are those that were spent, which may be less, too: an answer
    that was paid for by another cell is free.

    Args:
        rows: as planned.
        metrics: of the cell.
        spend: of the cell, with `cost_usd`.
    """
    cut = metrics.get("stop_reason") in CENSORED or metrics.get("repeats", 1) is None
    found = []
    for row in rows:
        least, most = row.least, row.most
        tokens = (least.tokens_in + least.tokens_out, most.tokens_in + most.tokens_out)
        figures: Mapping[str, tuple[float, float, float | None]] = {
            "subject": {
                "calls": (least.calls, most.calls, _sum(metrics, "calls", "calls_repeats")),
                "tokens in": (
                    least.tokens_in,
                    most.tokens_in,
                    _sum(metrics, "tokens_generation_in", "tokens_repeats_in"),
                ),
                "tokens out": (
                    least.tokens_out,
                    most.tokens_out,
                    _sum(metrics, "tokens_generation_out", "tokens_repeats_out"),
                ),
            },
            "judge": {
                "calls": (least.calls, most.calls, _sum(metrics, "calls_judge", "calls_repeats_judge")),
                "tokens": (*tokens, _sum(metrics, "tokens_judge", "tokens_audit", "tokens_repeats_judge")),
            },
            "embedder": {"tokens": (*tokens, _sum(metrics, "tokens_embedding"))},
        }[row.role]
        found += [_compared(row.role, what, *numbers, cut=cut) for what, numbers in figures.items()]
    dearest = [row.usd_most for row in rows]
    cost = spend.get("cost_usd")
    if isinstance(cost, int | float) and None not in dearest:
        most_usd = sum(usd for usd in dearest if usd is not None)
        found.append(_compared("subject", "dollars of all roles", 0.0, most_usd, cost, cut=cut))
    return tuple(found)


def _limits(cell: Cell) -> Limits:
    parts, phases = cell.parts, cell.operation.phases
    texts = None
    if isinstance(parts.model, Recorded):
        texts = _recorded_texts(cell)
    elif "extract" not in phases:
        stored = stored_extract(cell)
        texts = tuple(text for name in ("atoms", "repeats") if name in stored for text in stored[name]["text"])
    return Limits(
        answer=0 if isinstance(parts.model, Recorded) else parts.model.max_tokens,
        context=parts.endpoint.n_ctx if isinstance(parts.endpoint, Embedded) else None,
        verdict=parts.judge.max_tokens if isinstance(parts.judge, Model) else None,
        batch=parts.embedder.batch if isinstance(parts.embedder, EndpointModel) else None,
        extract="extract" in phases,
        process="process" in phases,
        texts=texts,
    )


def _recorded_texts(cell: Cell) -> tuple[str, ...]:
    path = Path(cell.config["model"]["file"])
    domain = Domain(cell.config["domain"]["name"], cell.config["domain"]["query"])
    rows = [row for turn in turns_of(read_recording(path).rows, domain, path) for row in turn]
    return tuple(item.text for row in rows for item in read_points(row.text, row.form, truncated=False).items)


def _who(cell: Cell, role: Role) -> tuple[str, Price | None]:
    """Name and price of a role that the probe asks."""
    model, judge, embedder = cell.parts.model, cell.parts.judge, cell.parts.embedder
    if role == "subject":
        return cell.config["model"]["name"], model.price if isinstance(model, Model) else FREE
    if role == "judge":
        return cell.config["judge"]["name"], judge.price if isinstance(judge, Model) else None
    if isinstance(embedder, EndpointModel):
        return embedder.id, embedder.price
    return str(cell.config["embedder"].get("name", "embedder")), FREE


def _row(cell: Cell, planned: Planned, name: str, price: Price | None) -> PlanRow:
    least, most = planned.least, planned.most
    usd = [price.cost(Usage(load.tokens_in, load.tokens_out)) if price else None for load in (least, most)]
    if most.calls:  # work of this machine counts against no budget
        for budget in (cell.operation.budget, cell.operation.budget.sweep):
            least, most = (_capped(load, budget.calls, budget.tokens) for load in (least, most))
            usd = [value if value is None or budget.usd is None else min(value, budget.usd) for value in usd]
    return PlanRow(planned.role, name, least, planned.asked, most, *usd)


def _capped(load: Load, calls: int | None, tokens: int | None) -> Load:
    if calls is not None:
        load = replace(load, calls=min(load.calls, calls))
    if tokens is not None:
        load = replace(load, tokens_in=min(load.tokens_in, tokens), tokens_out=min(load.tokens_out, tokens))
    return load


def _compared(role: Role, what: str, least: float, most: float, fact: float | None, *, cut: bool) -> Compared:
    within = None if fact is None else fact <= most and (cut or fact >= least)
    return Compared(role, what, least, most, fact, within)


def _sum(metrics: Metrics, *names: str) -> float | None:
    values = [metrics[name] for name in names if name in metrics]
    known = [value for value in values if isinstance(value, int | float)]
    return sum(known) if values and len(known) == len(values) else None
