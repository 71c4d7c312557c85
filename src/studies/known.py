"""What a study is given: the cells and unions that there are. Studies are pure: tables in, tables out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from src.cells import MeasuredCell
from src.figures.finding import Finding
from src.merge import Union


@dataclass(frozen=True)
class Known:
    """Everything that was measured.

    Attributes:
        cells: one per domain, strategy and model; of another probe than `boundary` all that fit.
        variants: cells whose prompts are a variant of others', such as `synonyms`.
        unions: one per domain and strategy, of exactly these cells.
        parameters: name of a model → its parameters in billions, where they are known.
        seed: of every bootstrap.
    """

    cells: tuple[MeasuredCell, ...]
    variants: tuple[MeasuredCell, ...]
    unions: tuple[Union, ...]
    parameters: Mapping[str, float]
    seed: int

    def cell(self, model: str, strategy: str, domain: str) -> MeasuredCell | None:
        """The cell of a model, or None."""
        wanted = (model, strategy, domain)
        return next((cell for cell in self.cells if (cell.model, cell.strategy, cell.domain) == wanted), None)

    def union(self, domain: str, strategy: str) -> Union | None:
        """The union of a domain and a strategy, or None."""
        return next((each for each in self.unions if (each.domain, each.strategy) == (domain, strategy)), None)


class Study(Protocol):
    """A question to the cells. Configuration class of `conf/study/<name>.yaml`."""

    name: str
    question: str
    probe: ClassVar[str]

    def run(self, known: Known) -> Finding:
        """Answer it from what there is; what is missing is named, not an error.

        Raises:
            ConfigError: nothing of what it needs is there.
        """
        ...
