"""Probe `boundary`: how much does a black-box model know about a domain, and how cheaply can it be dug out?

Agents propose knowledge atoms until nothing new comes; near duplicates are merged; an audit says which are valid
("Probing the Knowledge Boundary", arXiv 2602.00959).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from src.costs import Limits, Planned
from src.dedup.settings import Dedup
from src.figures.boundary_lines import tell
from src.figures.captions import Title
from src.figures.drawings import Drawings
from src.figures.summary import Told
from src.interfaces import Lab, Strategy
from src.knower.truth import truth
from src.llm.simulated import Simulated
from src.probes.boundary.draw import draw
from src.probes.boundary.extract import Extraction
from src.probes.boundary.metrics import summarise
from src.probes.boundary.plan import plan
from src.probes.boundary.process import process
from src.probes.boundary.reach import judge_repeats, reach
from src.probes.boundary.settings import settings
from src.prompts import PromptSet
from src.records import Domain, Metrics, Role, Rubric, Tables
from src.saturation import Saturation
from src.strategies.personas import POINTS


@dataclass(frozen=True, config=ConfigDict(extra="forbid", arbitrary_types_allowed=True))
class Boundary:
    """One cell of the probe: a domain asked about by a strategy, with thresholds and rubrics."""

    name: str
    question: str
    domain: Domain
    strategy: Strategy
    prompts: PromptSet
    saturation: Saturation
    dedup: Dedup
    rubrics: Mapping[str, Rubric]
    max_turns: int = Field(ge=1, le=10_000)
    repeats: int = Field(1, ge=1, le=1_000)
    roles: ClassVar[tuple[Role, ...]] = ("judge", "embedder")
    overrides: ClassVar[tuple[str, ...]] = ()

    async def extract(self, lab: Lab) -> Tables:
        """Dig until saturated, then draw turn 1 again; returns atoms, turns, calls, stop, repeats and draws."""
        return await Extraction(
            lab, self.domain, self.strategy, self.prompts, self.saturation, self.max_turns, self.repeats
        ).run()

    async def process(self, lab: Lab, extracted: Tables) -> Tables:
        """Merge and audit, then the repeats; returns the tables atoms, pairs, linkage, calls, repeats and draws."""
        known = await process(lab, extracted["atoms"], domain=self.domain, dedup=self.dedup, rubrics=self.rubrics)
        return await judge_repeats(lab, extracted, known, domain=self.domain, dedup=self.dedup, rubrics=self.rubrics)

    def plan(self, limits: Limits) -> tuple[Planned, ...]:
        """Bounds of what the cell takes, by role, before anything is asked."""
        return plan(
            limits,
            domain=self.domain,
            strategy=self.strategy,
            prompts=self.prompts,
            saturation=self.saturation,
            rubrics=self.rubrics,
            max_turns=self.max_turns,
            repeats=self.repeats,
        )

    def summarise(self, extracted: Tables, processed: Tables | None) -> Metrics:
        """The metrics of the cell; without `processed`, those of the extraction."""
        return summarise(extracted, processed) | reach(extracted, processed)

    def found(self) -> Mapping[str, Mapping[str, str]]:
        """Nothing: it reads no file."""
        return {}

    def tell(self, title: Title, metrics: Metrics) -> Told:
        """A cell in lines."""
        return tell(title, metrics)

    def truth(self, model: Simulated, extracted: Tables, processed: Tables) -> Metrics:
        """What is true of a simulated model; see :func:`src.knower.truth.truth`."""
        return truth(model.world, model.knower, self.domain.query, extracted, processed, POINTS)

    def draw(self, extracted: Tables, processed: Tables, metrics: Metrics, title: Title) -> Drawings:
        """Figures, pages and curves of the cell, and its numbers under the nine settings of the sweep."""
        drawn = draw(extracted, processed, metrics, title, limits=self.saturation, dedup=self.dedup)
        return replace(drawn, settings=settings(extracted, processed, self.dedup))
