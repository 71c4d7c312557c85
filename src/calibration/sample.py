"""Which judgements people are asked to check: a sample drawn by verdict, model, strategy and domain.

Half of it are points that the judge accepted, however rare the others are; inside a verdict every cell has as many as
the next, as far as it has so many. How many there are of each kind is kept, so that shares can be weighted back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from src.calibration.questions import QUESTIONS, Question, What
from src.cells import MeasuredCell
from src.dedup.nodes import distinct
from src.errors import ConfigError, DataMissing

UNITS = pl.Schema({"stratum": pl.Int64, "a": pl.Int64, "b": pl.Int64, "query": pl.String, "first": pl.String,
                   "second": pl.String})  # fmt: skip
STRATA = pl.Schema(
    {
        "stratum": pl.Int64,
        "verdict": pl.Boolean,
        **dict.fromkeys(
            ("domain", "strategy", "model", "cell_key", "judge", "subject", "stop_reason", "folder"), pl.String
        ),
        "population": pl.Int64,
        "unparsed": pl.Int64,
        "sampled": pl.Int64,
    }
)
_SIDES = ((0, "first"), (1, "second"))
Sizes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sample:
    """A sample and the population it was drawn from; the key, which annotators must not see.

    Attributes:
        what: which judgements.
        judge: name of the judge that is checked; all cells have the same.
        rubric: the question it was asked, as configured.
        seed: of the draw and of the order of the sheet.
        asked: how many were asked for.
        units: schema UNITS: what was drawn: atom ids (`b` null for a point), the domain as it was asked about, texts
            (`second` is "" for a point).
        strata: schema STRATA: verdict × cell, how many judgements it has and how many were drawn; `unparsed`: those of
            the cell without a readable verdict, which no stratum holds.
    """

    what: What
    judge: str
    rubric: Mapping[str, Any]
    seed: int
    asked: int
    units: pl.DataFrame
    strata: pl.DataFrame

    @property
    def question(self) -> Question:
        """What is asked about it."""
        return QUESTIONS[self.what]


def draw_sample(cells: Sequence[MeasuredCell], what: What, n: int, seed: int) -> Sample:
    """Draw a sample from finished cells; the same cells and seed give the same one, whatever their order.

    Args:
        cells: one per domain, strategy and model.
        what: which of their judgements.
        n: how many; all of them if there are not so many.
        seed: of the draw.

    Raises:
        ConfigError: the cells were judged by different judges, or asked differently.
        DataMissing: there is nothing to check.
    """
    ordered = sorted(cells, key=lambda cell: (cell.domain, cell.strategy, cell.model))
    question = QUESTIONS[what]
    for name in ("judge", f"rubrics.{question.rubric}"):
        _one_only(ordered, name)
    judged = [_judged(cell, what) for cell in ordered]
    rows: list[dict[str, Any]] = []
    parts: list[pl.DataFrame] = []
    for cell, (table, unparsed) in zip(ordered, judged, strict=True):
        for verdict in (True, False):
            part = table.filter(pl.col("verdict") == verdict).drop("verdict")
            if part.height:
                parts.append(part)
                rows.append(_stratum(cell, len(rows), verdict, part.height, unparsed))
    if not parts:
        raise DataMissing(f"{len(cells)} cells hold no {question.unit} with a verdict of the judge: nothing to check")
    strata = pl.DataFrame(rows, schema=STRATA)
    rng = np.random.default_rng(seed)
    counts = _allocate(strata["population"].to_numpy(), strata["verdict"].to_numpy(), n, rng)
    drawn = []
    for number, (part, count) in enumerate(zip(parts, counts.tolist(), strict=True)):
        chosen = np.sort(rng.choice(part.height, count, replace=False))
        drawn.append(part[chosen].select(pl.lit(number, dtype=pl.Int64).alias("stratum"), *list(UNITS)[1:]))
    return Sample(
        what=what,
        judge=str(ordered[0].value("judge.name")),
        rubric=ordered[0].value(f"rubrics.{question.rubric}"),
        seed=seed,
        asked=n,
        units=pl.concat(drawn),
        strata=strata.with_columns(sampled=pl.Series(counts, dtype=pl.Int64)),
    )


def level(sizes: Sizes, n: int, rng: np.random.Generator) -> Sizes:
    """Spread n over places as evenly as their sizes allow; who gets one more is drawn by lot.

    Args:
        sizes: room in each place, shape (k,).
        n: how many there are to spread.
        rng: draws the lots.
    """
    counts = np.zeros_like(sizes)
    left = min(n, int(sizes.sum()))
    while left:
        free = np.flatnonzero(counts < sizes)
        each = left // free.size
        if not each:
            counts[rng.choice(free, left, replace=False)] += 1
            break
        counts[free] += np.minimum(sizes[free] - counts[free], each)
        left = min(n, int(sizes.sum())) - int(counts.sum())
    return counts


def _allocate(sizes: Sizes, verdict: npt.NDArray[np.bool_], n: int, rng: np.random.Generator) -> Sizes:
    """How many of each stratum: first even over the verdicts, then over the cells of a verdict."""
    halves = level(np.array([sizes[~verdict].sum(), sizes[verdict].sum()]), n, rng)
    counts = np.zeros_like(sizes)
    for side in (0, 1):
        counts[verdict == side] = level(sizes[verdict == side], int(halves[side]), rng)
    return counts


def _judged(cell: MeasuredCell, what: What) -> tuple[pl.DataFrame, int]:
    """What the judge said in a cell (UNITS without `stratum`, with `verdict`), and how often it was not readable."""
    atoms = cell.extracted["atoms"].select("atom_id", "text")
    query = pl.lit(cell.title.query).alias("query")
    if what == "audit":
        units = cell.processed["atoms"].filter("unique").join(atoms, on="atom_id", how="left").sort("atom_id")
        judged = units.filter(pl.col("valid").is_not_null())
        none = pl.lit(None, dtype=pl.Int64).alias("b")
        texts = (pl.col("text").alias("first"), pl.lit("").alias("second"))
        return judged.select(pl.col("atom_id").alias("a"), none, query, *texts, pl.col("valid").alias("verdict")), (
            units.height - judged.height
        )
    asked = cell.processed["pairs"].filter(pl.col("verdict").is_not_null()).sort("a", "b")
    judged = asked.filter(pl.col("verdict").is_in(["YES", "NO"]))
    text = dict(atoms.iter_rows())
    # The order in which the judge saw them: it tells nothing about which came first.
    shown = [distinct((0, 1), (text[a], text[b])).canonical(0, 1) for a, b in judged.select("a", "b").iter_rows()]
    sides = (
        pl.Series(name, [pair[i] for pair in shown], dtype=pl.String) for i, name in enumerate(("first", "second"))
    )
    return judged.select("a", "b", query, *sides, verdict=pl.col("verdict") == "YES"), asked.height - judged.height


def _stratum(cell: MeasuredCell, number: int, verdict: bool, population: int, unparsed: int) -> dict[str, Any]:
    title = cell.title
    return {
        "stratum": number,
        "verdict": verdict,
        "domain": title.domain,
        "strategy": title.strategy,
        "model": title.model,
        "cell_key": cell.key,
        "judge": title.judge,
        "subject": title.subject,
        "stop_reason": str(cell.metrics.get("stop_reason")),
        "folder": cell.folder,
        "population": population,
        "unparsed": unparsed,
        "sampled": 0,
    }


def _one_only(cells: Sequence[MeasuredCell], name: str) -> None:
    """Refuse cells that differ in who judged or in what was asked.

    Raises:
        ConfigError: they differ.
    """
    first = cells[0].value(name)
    for cell in cells:
        value = cell.value(name)
        if value != first:
            fields = ", ".join(sorted(key for key in {*first, *value} if first.get(key) != value.get(key)))
            raise ConfigError(
                f"{cells[0].folder} and {cell.folder} have different {name} ({first.get('name')} and "
                f"{value.get('name')}; they differ in {fields}): a sample checks one judge with one question; choose, "
                f"as where='{{{name}.name: {first.get('name')}}}'"
            )
