"""What a study concluded: a sentence with its numbers, tables, figures, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl
from matplotlib.figure import Figure

from src.figures.captions import CENSORED, judge_label, plural, subject_sentence
from src.records import Metrics


@dataclass(frozen=True)
class Source:
    """A cell that a finding rests on."""

    model: str
    strategy: str
    domain: str
    judge: str
    subject: str
    stop_reason: str
    cell_key: str
    folder: str


@dataclass(frozen=True)
class Finding:
    """What a study, a calibration or a validation concluded.

    Attributes:
        name: of the study, as it is chosen.
        question: what it asks, one sentence.
        reference: where the question and its measures come from.
        verdict: computed sentences with their numbers, n and intervals; the first is the headline.
        metrics: flat: name → number or None, with `<name>_reason` beside each None.
        tables: name → rows, sorted; each becomes a CSV file.
        figures: name → figure; each becomes PNG and SVG.
        captions: name of a figure → what it shows: unit, n, what the intervals are.
        definitions: term → what it means here, with unit and method.
        missing: what the study asks for and was not there, one clause each; empty if it is complete.
        sources: the cells it rests on.
        said_first: what must be read before the numbers and does not follow from the sources.
    """

    name: str
    question: str
    reference: str
    verdict: tuple[str, ...]
    metrics: Metrics
    tables: Mapping[str, pl.DataFrame]
    figures: Mapping[str, Figure]
    captions: Mapping[str, str]
    definitions: Mapping[str, str]
    missing: tuple[str, ...] = ()
    sources: tuple[Source, ...] = field(default=())
    said_first: tuple[str, ...] = ()

    @property
    def cautions(self) -> list[str]:
        """What must be read before the numbers."""
        return [*self.said_first, *cautions(self.sources)]


def cautions(sources: Sequence[Source]) -> list[str]:
    """What must be read before numbers that rest on these cells: simulated, judged by rules, cut short."""
    lines = []
    for subject in sorted({source.subject for source in sources} - {"real"}):
        count = sum(source.subject == subject for source in sources)
        lines.append(f"{subject_sentence(subject)} ({count} of {plural(len(sources), 'cell')})")
    for judge in sorted({source.judge for source in sources} - {"llm"}):
        count = sum(source.judge == judge for source in sources)
        lines.append(f"Judge {judge}: {judge_label(judge)} ({count} of {plural(len(sources), 'cell')}).")
    if cut := [source for source in sources if source.stop_reason in CENSORED]:
        names = ", ".join(f"{source.model}/{source.strategy}/{source.domain}" for source in cut[:5])
        lines.append(f"Cut short, so their counts are lower bounds: {names}{', …' if len(cut) > 5 else ''}.")
    return lines
