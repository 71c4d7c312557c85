"""Study `sensitivity`: do results hang on thresholds, patience or wording? No call is made (arXiv 2602.00959)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import polars as pl
from matplotlib.figure import Figure
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from src.cells import MeasuredCell, source
from src.errors import ConfigError
from src.figures.captions import plural
from src.figures.finding import Finding
from src.figures.sensitivity import cosines, prompts, settings
from src.studies.alikeness import alikeness
from src.studies.known import Known
from src.studies.patience import patience_table
from src.studies.prompting import pair_prompts
from src.studies.settings import cells_table, recalls_table, reversals_table, spread_table
from src.studies.stability import Evidence, sentences, summary

DEFINITIONS = {
    "nine settings": "strict .90, .92, .94 × fuzzy .65, .70, .75, from one pass of similarities and stored verdicts, "
    "with the cell's own guards, candidates and linkage; unions under the same setting as their cells",
    "± (half range)": "half of the distance between the largest and the smallest value over the nine settings; not an "
    "interval; of cells and unions whose value is known in all nine",
    "recall_match": "share of a union's clusters that hold a valid point of the model; unit: union cluster",
    "accuracy": "valid / (valid + invalid) clusters; bounds: Wilson 95 %, by point and by branch",
    "change places": "one model has the higher recall in some settings and the other in others; tied: Holm's p over "
    "all pairs of the union, under its own setting, is 5 % or more",
    "cosine": "of a raw point to its nearest earlier novel point or earlier point of its turn; texts that are the same "
    "(cosine above 0.999999) are left out",
    "two modes": "the deepest bin (width .02) lies further below the lower of the two peaks around it than in 95 % of "
    "2,000 histograms drawn from the best one with a single mode, and holds less than half of that peak; points "
    "taken as independent",
    "Sarle's coefficient": "(skewness² + 1) / (excess kurtosis + 3 (n-1)² / ((n-2)(n-3))), bias-corrected; above "
    "5/9 = .556 (uniform) it suggests two modes, or a strong skew; shown beside the test, it does not decide",
    "patience": "stale turns that a run forgives: it stops after patience + 1 stale turns in a row",
    "change by wording": "total of the cells with prompts in other words / total of their bases - 1; interval: 2,000 "
    "bootstrap draws over pairs (model, strategy, domain), at least 3 pairs",
}


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Sensitivity:
    """What changes when a choice of ours changes.

    Attributes:
        name, question: of the study.
        models, strategies, domains: those looked at; None: all that are found.
        synonyms: name of a prompt set → name of the set that says the same in other words.
    """

    name: str
    question: str
    models: tuple[str, ...] | None
    strategies: tuple[str, ...] | None
    domains: tuple[str, ...] | None
    synonyms: Mapping[str, str]
    probe: ClassVar[str] = "boundary"

    def run(self, known: Known) -> Finding:
        """Apply the settings and compare.

        Raises:
            ConfigError: no cell is asked for.
        """
        cells = sorted(filter(self._wants, known.cells), key=lambda cell: (cell.domain, cell.strategy, cell.model))
        if not cells:
            raise ConfigError(
                f"study {self.name} has none of {len(known.cells)} cells to look at: set study.models, "
                "study.strategies or study.domains to some that are there, or to null"
            )
        models = {cell.model for cell in cells}
        places = {(cell.domain, cell.strategy) for cell in cells}
        unions = [union for union in known.unions if (union.domain, union.strategy) in places]
        under, recalls = cells_table(cells), recalls_table(unions, sorted(models))
        pairs, unpaired = pair_prompts(cells, [cell for cell in known.variants if self._wants(cell)], self.synonyms)
        modes, histogram = alikeness(cells, known.seed)
        found = Evidence(
            cells=under,
            recalls=recalls,
            spread=spread_table(under, ["model", "strategy", "domain"], "accuracy"),
            recall_spread=spread_table(recalls, ["domain", "strategy", "model"], "recall_match"),
            reversals=reversals_table(unions, recalls, known.seed),
            patience=patience_table(cells),
            prompts=pairs,
            modes=modes,
            cosines=histogram,
            seed=known.seed,
        )
        caveat = "; ".join(sorted({cell.title.caveat for cell in cells}))
        return Finding(
            name=self.name,
            question=self.question,
            reference="arXiv 2602.00959, sensitivity of thresholds and prompts; Pfister et al. 2013 (Sarle)",
            verdict=tuple(sentences(found)),
            metrics=summary(found),
            tables=found.tables,
            figures=_figures(found, caveat),
            captions=_captions(found),
            definitions=DEFINITIONS,
            missing=(*_missing(found, cells, known), *unpaired),
            sources=tuple(source(cell) for cell in cells),
        )

    def _wants(self, cell: MeasuredCell) -> bool:
        wanted = {"model": self.models, "strategy": self.strategies, "domain": self.domains}
        return all(names is None or getattr(cell, of) in names for of, names in wanted.items())


def _figures(found: Evidence, caveat: str) -> dict[str, Figure]:
    drawn = {
        "settings": settings(found.cells, found.recalls, caveat),
        "cosines": cosines(found.modes, found.cosines, caveat),
    }
    if found.prompts.height:
        drawn["prompts"] = prompts(found.prompts, caveat)
    return drawn


def _captions(found: Evidence) -> dict[str, str]:
    n = plural(found.cells.select("model", "strategy", "domain").n_unique(), "cell")
    captions = {
        "settings": "Unique clusters against the cell's own setting, accuracy and recall_match under nine settings; "
        f"n = {n}. Line: from the smallest to the largest of nine; ticks: each of them; mark: the own setting. No "
        "intervals: the points are the same in all nine.",
        "cosines": "Cosine of each raw point to its nearest earlier one, by encoder; n in the panel. Shaded: where the "
        "nine settings put their two thresholds. Test of modes: see the definitions.",
    }
    if found.prompts.height:
        captions["prompts"] = (
            f"Raw points and accuracy with prompts in other words against the same cell without; n = "
            f"{plural(found.prompts.height, 'pair')}. Interval of accuracy: 95 %, Wilson by branch (or point), "
            "square-and-add; a change of counts in one pair has none."
        )
    return captions


def _missing(found: Evidence, cells: list[MeasuredCell], known: Known) -> list[str]:
    clauses = []
    there = {(union.domain, union.strategy): union for union in known.unions}
    for place in sorted({(cell.domain, cell.strategy) for cell in cells}):
        union = there.get(place)
        domain, strategy = place
        if union is None:
            clauses.append(
                f"no union of {domain} by {strategy}: run `python -m src.union domain={domain} strategy={strategy}`"
            )
        elif len(set(union.models) & {cell.model for cell in cells}) < 2:
            clauses.append(f"one model alone in the union of {domain} by {strategy}: its recall is 1 by definition")
    for row in found.cells.filter(pl.col("unique").is_null()).iter_rows(named=True):
        place_of = f"{row['model']}/{row['strategy']}/{row['domain']}"
        clauses.append(f"{place_of} under {row['strict']:.2f}/{row['fuzzy']:.2f}: {row['reason']}")
    uncounted = found.recalls.filter(pl.col("recall_match").is_null())
    for (domain, strategy, reason), rows in uncounted.group_by("domain", "strategy", "reason", maintain_order=True):
        of = rows.select("strict", "fuzzy").n_unique()
        clauses.append(f"union of {domain} by {strategy} under {plural(of, 'setting')}: {reason}")
    return clauses
