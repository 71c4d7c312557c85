"""One cell from its first call to its MLflow run: extract, process, store, track."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from src.entries import Results, TrackedCell
from src.errors import BudgetReached, ConfigError
from src.figures.plans import Compared
from src.figures.summary import note
from src.interfaces import Report
from src.lab.build import ROOT, without
from src.lab.config import Cell, title
from src.lab.plan import compare, plan_cell
from src.lab.roles import Paces, build_lab, check_budget
from src.lab.stored import stored_extract
from src.ledger import Ledger, Spend
from src.llm.simulated import Simulated
from src.records import Metrics, Tables
from src.store import read_metrics, read_spend, write_phase, write_spend
from src.tracking import finished, tracked


@dataclass(frozen=True)
class Outcome:
    """What a run left; `failure` says why it was cut short by an error, "" otherwise; `facts` are beside its plan."""

    cell: Cell
    metrics: Metrics
    spend: dict[str, Any]
    failure: str
    facts: tuple[Compared, ...] = ()


async def measure(cell: Cell, ledger: Ledger, report: Report, paces: Paces) -> tuple[Tables, Tables | None, Metrics]:
    """Run the phases of a cell and write each as soon as it is whole; tell how the pace of its endpoints changed."""
    async with build_lab(cell, ledger, report, paces) as lab:
        if "extract" in cell.operation.phases:
            extracted = await cell.probe.extract(lab)
            write_phase(cell.folder, "extract", cell.identity.extract, extracted)
        else:
            extracted = stored_extract(cell)
        if "process" not in cell.operation.phases:
            return extracted, None, cell.probe.summarise(extracted, None)
        try:
            processed = await cell.probe.process(lab, extracted)
        except BudgetReached:  # as in the extraction: not an error, and raising the limit goes on from here
            return extracted, None, {**cell.probe.summarise(extracted, None), "stop_reason": "budget"}
        metrics = cell.probe.summarise(extracted, processed)
        if isinstance(cell.parts.model, Simulated):
            metrics |= cell.probe.truth(cell.parts.model, extracted, processed)
        write_phase(cell.folder, "process", cell.identity.process, processed, metrics)
        return extracted, processed, metrics


def run_cell(cell: Cell, report: Report) -> Outcome:
    """Measure one cell, keep what it cost, and show it in MLflow.

    Raises:
        FrontierError: what stopped it before there was a result; all answers obtained are in the ledger.
    """
    check_budget(cell)
    plan = plan_cell(cell)
    config, names, place = cell.config, cell.identity, cell.operation.ledger
    tracked_cell = TrackedCell(
        probe=config["probe"]["name"],
        question=config["probe"]["question"],
        cell_key=names.cell_key,
        extract_key=names.extract_key,
        title=title(cell),
        config=names.process,
        tags={"sweep": cell.operation.sweep} if cell.operation.sweep else {},
    )
    with (
        Ledger(ROOT / place.path, place.mode, cell.operation.budget) as ledger,
        tracked(tracked_cell, ROOT) as run,
    ):
        _check_priced(cell, ledger)
        paces: Paces = {}
        try:
            extracted, processed, metrics = asyncio.run(measure(cell, ledger, report, paces))
        finally:  # what was paid is told whatever came of it
            spend = _spend(ledger.spend(names.cell_key), ledger)
            spend["paces"] = {name: [asdict(step) for step in steps] for name, steps in sorted(paces.items())}
            if cell.folder.is_dir():
                write_spend(cell.folder, spend)
        if processed is not None:
            words = title(cell)
            drawings = cell.probe.draw(extracted, processed, metrics, words)
            results = Results(
                metrics=metrics,
                spend=without(spend, "roles", "paces") | _by_role(spend),
                hit_rate=ledger.replayed / ledger.asked if ledger.asked else None,
                curves=drawings.curves,
                note=note(words, metrics, cell.probe.tell(words, metrics), spend),
                figures=drawings.figures,
                pages=drawings.pages,
                folder=cell.folder,
                settings=drawings.settings,
            )
            run.log(results)
    stop = extracted["stop"].row(0, named=True)
    failure = stop["detail"] if stop["reason"] == "error" else ""
    return Outcome(cell, metrics, spend, failure, compare(plan, metrics, spend))


def _check_priced(cell: Cell, ledger: Ledger) -> None:
    """Refuse a limit on money that could not see what was paid before."""
    budget = cell.operation.budget
    if budget.usd is None and budget.sweep.usd is None:
        return
    if count := ledger.unpriced(cell.identity.cell_key, cell.operation.sweep):
        raise ConfigError(
            f"budget.usd cannot be kept: {count} answers of this run or sweep were paid for while the price was null, "
            "so nobody knows what they cost; limit budget.tokens or budget.calls, or use another ledger.path"
        )


def kept(cell: Cell) -> Outcome | None:
    """What an earlier run of this very cell left, if there is nothing to add to it; None if it is to be run.

    A run that was cut short by a budget or an error has something to add, and so has one that MLflow does not show.
    """
    operation, names = cell.operation, cell.identity
    if operation.phases != ("extract", "process") or operation.ledger.mode == "refresh":
        return None
    outcome = done(cell)
    if outcome and finished(cell.config["probe"]["name"], names.cell_key, ROOT, operation.sweep or ""):
        return outcome
    return None


def done(cell: Cell) -> Outcome | None:
    """What lies in the cell folder, if it is the whole result of this very cell."""
    config, metrics = read_metrics(cell.folder)
    if config != cell.identity.process or metrics.get("stop_reason") in ("budget", "error"):
        return None
    if metrics.get("repeats", 1) is None and metrics.get("stop_reason") != "recorded":
        return None  # the draws that a limit or a failure kept from being asked
    return Outcome(cell, metrics, read_spend(cell.folder), "")


def _spend(roles: Mapping[str, Spend], ledger: Ledger) -> dict[str, Any]:
    """What the cell cost over all its processes, in sum and by role; unknown parts make a sum null."""
    parts = {role: asdict(spend) for role, spend in sorted(roles.items())}
    tokens = [part[name] for part in parts.values() for name in ("tokens_in", "tokens_out")]
    costs = [part["cost_usd"] for role, part in parts.items()]
    return {
        "tokens_spent": None if None in tokens else sum(tokens),
        "cost_usd": None if None in costs else sum(costs),
        **{name: sum(part[name] for part in parts.values()) for name in ("calls", "attempts", "failed")},
        "latency_s": round(sum(part["latency_s"] for part in parts.values()), 3),
        "replayed": ledger.replayed,
        "roles": parts,
    }


def _by_role(spend: Mapping[str, Any]) -> dict[str, float]:
    """What is known of the spend of each role, for runs to be compared by."""
    names = ("calls", "failed", "tokens_in", "tokens_out", "cost_usd")
    known = ((role, name, part[name]) for role, part in spend["roles"].items() for name in names)
    return {f"{role}/{name}": value for role, name, value in known if value is not None}
