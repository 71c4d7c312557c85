"""Finished cells as they lie in their folders: found, read, chosen; what compares models begins with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from src.errors import ConfigError, DataMissing
from src.figures.captions import Title, title_of
from src.figures.finding import Source
from src.identity import key_of
from src.records import Metrics, Tables
from src.store import Phase, cell_folders, read_metrics, read_phase
from src.store.files import DAMAGED, first_line

TABLES: Mapping[str, Mapping[Phase, tuple[str, ...]]] = {
    "boundary": {"extract": ("atoms", "turns", "calls", "stop"), "process": ("atoms", "pairs", "calls")},
    "categories": {"extract": ("questions", "answers", "calls", "stop"), "process": ("answers", "questions")},
}
"""By probe, what a finished cell holds at least."""
CONTENT = {
    "boundary": ("extract/atoms", "process/atoms", "process/pairs"),
    "categories": ("extract/questions", "process/answers", "process/questions"),
}
"""By probe, the tables that say what was found."""


@dataclass(frozen=True)
class MeasuredCell:
    """A cell whose both phases are finished.

    Attributes:
        folder: where it lies, relative to the repository where it lies inside, for people.
        key: its cell_key.
        content: sha256 over the tables of what was found: one and the same cell may go on and hold more.
        title: what it is about, who judged, whether a real model was asked.
        config: the configuration that the key hashes, as in `process/config.yaml`.
        metrics: `process/metrics.json`.
        extracted, processed: the tables of its phases.
    """

    folder: str
    key: str
    content: str
    title: Title
    config: Mapping[str, Any]
    metrics: Metrics
    extracted: Tables
    processed: Tables

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.title.model

    @property
    def strategy(self) -> str:
        """Name of the strategy."""
        return self.title.strategy

    @property
    def domain(self) -> str:
        """Name of the domain."""
        return self.title.domain

    def value(self, name: str) -> Any:
        """A value of the configuration by its dotted name, such as `prompts.name`; None if there is none."""
        node: Any = self.config
        for part in name.split("."):
            node = node.get(part) if isinstance(node, Mapping) else None
        return node


@dataclass(frozen=True)
class Found:
    """What lies in a collection of cells.

    Attributes:
        cells: finished cells, sorted by domain, strategy, model, folder.
        unfinished: a clause for every folder that holds an extraction and no processing, or cannot be read.
    """

    cells: tuple[MeasuredCell, ...]
    unfinished: tuple[str, ...]


def find_cells(place: Path, root: Path, probe: str = "boundary") -> Found:
    """Read every cell of a probe below `place`.

    Raises:
        DataMissing: there is no such folder, or no finished cell in it.
    """
    found = _find(place, root, (probe,))
    if not found.cells:
        raise DataMissing(
            f"{place} holds no finished cell of probe {probe}: run `python -m src.run probe={probe} …` or `dvc repro` "
            "first, or give the folder of your cells as cells=FOLDER"
        )
    return found


def find_every(place: Path, root: Path) -> Found:
    """Read every cell of every probe below `place`.

    Raises:
        DataMissing: there is no such folder, or no finished cell in it.
    """
    found = _find(place, root, tuple(TABLES))
    if not found.cells:
        raise DataMissing(
            f"{place} holds no finished cell: run `python -m src.run …` or `dvc repro` first, or give the folder of "
            "your cells as cells=FOLDER"
        )
    return found


def _find(place: Path, root: Path, probes: Sequence[str]) -> Found:
    found: list[MeasuredCell] = []
    unfinished: list[str] = []
    for folder in cell_folders(place):
        shown = folder.relative_to(root).as_posix() if folder.is_relative_to(root) else folder.as_posix()
        try:
            config, metrics = read_metrics(folder)
            if not config:
                unfinished.append(f"{shown} is not finished")
            elif (probe := str(config.get("probe"))) in probes:
                found.append(_read(folder, shown, config, metrics, probe))
        except DAMAGED as error:  # one cell of many: the others are of use
            unfinished.append(f"{shown} cannot be read ({first_line(error)}): remove it, or run that cell again")
    found.sort(key=lambda cell: (cell.domain, cell.strategy, cell.model, cell.folder))
    return Found(tuple(found), tuple(unfinished))


def _read(folder: Path, shown: str, config: Mapping[str, Any], metrics: Metrics, probe: str) -> MeasuredCell:
    _, extracted = read_phase(folder, "extract")
    _, processed = read_phase(folder, "process")
    for (phase, names), there in zip(TABLES[probe].items(), (extracted, processed), strict=True):
        if absent := [name for name in names if name not in there]:
            raise ValueError(f"{phase} lacks {', '.join(absent)}")
    digest = sha256()
    for table in CONTENT[probe]:
        digest.update(sha256((folder / f"{table}.parquet").read_bytes()).digest())
    return MeasuredCell(
        shown, key_of(config), digest.hexdigest(), title_of(config), config, metrics, extracted, processed
    )


def choose(
    cells: Sequence[MeasuredCell], where: Mapping[str, Any], variant_prompts: Sequence[str]
) -> tuple[tuple[MeasuredCell, ...], tuple[MeasuredCell, ...]]:
    """The cells that are compared, one per domain, strategy and model; and their variants with other prompts.

    Args:
        cells: all of them.
        where: dotted name of a configured value → the value, or a list of values, that a cell must have.
        variant_prompts: names of prompt sets whose cells are variants.

    Raises:
        ConfigError: a name that no cell has; nothing is left; two different cells would be compared as one.
    """
    fit = fitting(cells, where)
    variants = [cell for cell in fit if cell.value("prompts.name") in variant_prompts]
    chosen = [cell for cell in fit if cell.value("prompts.name") not in variant_prompts]
    if not chosen:
        raise ConfigError(
            f"none of {len(cells)} cells fits where={dict(where)} with other prompts than {', '.join(variant_prompts)}"
        )
    return _one_each(chosen), tuple(variants)


def fitting(cells: Sequence[MeasuredCell], where: Mapping[str, Any]) -> tuple[MeasuredCell, ...]:
    """The cells that have the wanted values; copies of one and the same cell count once.

    Args:
        cells: all of them.
        where: dotted name of a configured value → the value, or a list of values, that a cell must have.

    Raises:
        ConfigError: a name that no cell has.
    """
    for name in where:
        if all(cell.value(name) is None for cell in cells):
            raise ConfigError(
                f"where: no cell has a value {name}; names are those of process/config.yaml, such as seed"
            )
    fit = [cell for cell in cells if all(cell.value(name) in _values(value) for name, value in where.items())]
    kept: dict[str, MeasuredCell] = {}
    for cell in fit:
        kept.setdefault(cell.key, cell)
    return tuple(kept.values())


def _one_each(cells: Sequence[MeasuredCell]) -> tuple[MeasuredCell, ...]:
    """The cells, one per domain, strategy and model; copies of one and the same cell count once."""
    kept: dict[tuple[str, str, str], MeasuredCell] = {}
    for cell in cells:
        place = (cell.domain, cell.strategy, cell.model)
        other = kept.setdefault(place, cell)
        if other.key != cell.key:
            names = ", ".join(_differences(other.config, cell.config)[:5])
            raise ConfigError(
                f"{other.folder} and {cell.folder} are two cells of {cell.model} for {cell.domain} by {cell.strategy}; "
                f"they differ in {names}: say which one counts, as where='{{seed: 0}}', or remove one"
            )
    return tuple(kept.values())


def source(cell: MeasuredCell) -> Source:
    """A cell as a finding names it."""
    title = cell.title
    stop = str(cell.metrics.get("stop_reason"))
    return Source(title.model, title.strategy, title.domain, title.judge, title.subject, stop, cell.key, cell.folder)


def _values(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else (value,)


def _differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Dotted names of the values that differ."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        names = sorted(one.keys() | other.keys(), key=str)
        parts = (_differences(one.get(name), other.get(name), f"{path}.{name}" if path else name) for name in names)
        return [name for part in parts for name in part]
    return [] if one == other else [path]
