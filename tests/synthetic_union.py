"""Cells of several models that know facts of one list, and their unions: a study's input with a planted truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from src.cells import MeasuredCell
from src.dedup.settings import Dedup
from src.figures.captions import Title
from src.merge import Union
from src.schemas import ATOMS, CALLS, JUDGED_ATOMS, LINKAGE, PAIRS, STOP, TURNS, UNION_NODES, UNION_POINTS
from src.stats.intervals import wilson, wilson_leaf
from src.studies.known import Known


@dataclass(frozen=True)
class Planted:
    """What a model is like: the share of facts it finds, and the log odds that a point of turn t is valid."""

    recall: float = 0.5
    level: float = 2.0
    slope: float = 0.0
    parameters: float | None = None


def make_known(
    models: Mapping[str, Planted],
    domains: Sequence[str] = ("deep_learning",),
    *,
    facts: int = 120,
    turns: int = 6,
    leaves: int = 25,
    strategy: str = "taxonomy_l5w5",
    seed: int = 0,
) -> Known:
    """Cells and unions of all models in all domains; a fact is found by each model on its own."""
    rng = np.random.default_rng(seed)
    cells, unions = [], []
    for domain in domains:
        found = {name: np.flatnonzero(rng.random(facts) < model.recall) for name, model in models.items()}
        for name, model in models.items():
            cells.append(make_cell(name, model, domain, found[name], turns, leaves, strategy, rng))
        unions.append(make_union({name: found[name] for name in sorted(models)}, domain, strategy))
    sizes = {name: model.parameters for name, model in models.items() if model.parameters is not None}
    cells.sort(key=lambda cell: (cell.domain, cell.strategy, cell.model))
    return Known(tuple(cells), (), tuple(unions), sizes, seed)


def make_cell(
    name: str, model: Planted, domain: str, found: np.ndarray, turns: int, leaves: int, strategy: str,
    rng: np.random.Generator,
) -> MeasuredCell:  # fmt: skip
    """A cell whose valid points are the facts found; invalid ones are mixed in as the turn's odds say."""
    rows: list[tuple[int, int, bool]] = []
    for fact in found.tolist():
        turn = int(rng.integers(1, turns + 1))
        odds = np.exp(-(model.level + model.slope * (turn - 1)))
        rows.append((turn, fact, True))
        rows.extend((turn, -1, False) for _ in range(rng.poisson(odds)))
    rows.sort(key=lambda row: row[0])
    atoms = pl.DataFrame(
        {
            "atom_id": range(len(rows)),
            "text": [f"fact {fact}" if valid else f"noise {place}" for place, (_, fact, valid) in enumerate(rows)],
            "turn": [turn for turn, _, _ in rows],
            "branch": [f"{leaf % 5 + 1}/{leaf // 5 + 1}" for leaf in rng.integers(leaves, size=len(rows)).tolist()],
            **dict.fromkeys(("context", "call_key"), ""),
            **dict.fromkeys(("position", "draw"), 0),
            "novel": True,
        }
    ).with_columns(nearest_id=None, nearest_cosine=None)
    judged = pl.DataFrame(
        {"atom_id": range(len(rows)), "unique": True, "valid": [valid for *_, valid in rows], "audit_state": "judged"}
    ).with_columns(cluster_id=pl.col("atom_id"), representative=pl.col("atom_id"), kind=None)
    table = pl.DataFrame(
        {"turn": range(1, turns + 1), **dict.fromkeys((name for name in TURNS.names() if name != "turn"), 0)}
    )
    title = Title(name, strategy, domain, domain.replace("_", " "), "rules")
    return MeasuredCell(
        f"data/cells/{domain}/{name}",
        f"key-{name}-{domain}",
        f"key-{name}-{domain}",
        title,
        {},
        accuracy_metrics(atoms, judged),
        {
            "atoms": atoms.select(ATOMS.names()).cast(ATOMS),
            "turns": table.select(TURNS.names()).cast(TURNS),
            "calls": CALLS.to_frame(),
            "stop": pl.DataFrame([("max_turns", "")], schema=STOP, orient="row"),
        },
        {
            "atoms": judged.select(JUDGED_ATOMS.names()).cast(JUDGED_ATOMS),
            "pairs": PAIRS.to_frame(),
            "calls": CALLS.to_frame(),
            "linkage": pl.DataFrame([(1, None, False, 0)], schema=LINKAGE, orient="row"),
        },
    )


def accuracy_metrics(atoms: pl.DataFrame, judged: pl.DataFrame) -> dict[str, float | int | str | None]:
    """The metrics of a cell that studies read."""
    valid, n = int(judged["valid"].sum() or 0), judged.height
    plain, leaf = wilson(valid, n), wilson_leaf(judged["valid"].to_list(), atoms["branch"].to_list())
    metrics: dict[str, float | int | str | None] = {
        "stop_reason": "max_turns", "valid": valid, "invalid": n - valid, "accuracy": valid / n if n else None,
    }  # fmt: skip
    for name, interval in (("accuracy", plain), ("accuracy_leaf", leaf)):
        metrics[f"{name}_low"] = None if interval.reason else interval.low
        metrics[f"{name}_high"] = None if interval.reason else interval.high
    return metrics


def make_union(found: Mapping[str, np.ndarray], domain: str, strategy: str) -> Union:
    """The union in which a fact is a cluster, of one of 25 branches."""
    rows = [
        (name, place, fact, 1, f"{fact % 5 + 1}/{fact // 5 % 5 + 1}", 1, fact)
        for name, facts in found.items()
        for place, fact in enumerate(facts)
    ]
    points = pl.DataFrame(rows, schema=UNION_POINTS, orient="row")
    keys = {name: f"key-{name}-{domain}" for name in found}
    return Union(
        domain,
        strategy,
        "rules",
        keys,
        keys,
        Dedup(),
        points,
        UNION_NODES.to_frame(),
        PAIRS.to_frame(),
        CALLS.to_frame(),
        {},
    )
