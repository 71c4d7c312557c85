"""Checkpoints of one model as a series: cells of questions that differ in the model's revision alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from src.figures.captions import plural
from src.stats.categories import measures
from src.studies.answered import Answered, Compared, compare, differing, natural
from src.studies.wording import columns, p_words, points


@dataclass(frozen=True)
class Series:
    """Checkpoints of one model, asked alike.

    Attributes:
        name: data set, model and setting.
        revisions: in the order of the series.
        cells: one for each.
    """

    name: str
    revisions: tuple[str, ...]
    cells: tuple[Answered, ...]

    def ends(self, seed: int) -> Compared:
        """The first against the last on the questions of both."""
        return compare(self.cells[0], self.cells[-1], seed)

    def rows(self, seed: int) -> list[dict[str, Any]]:
        """One row for each revision."""
        rows = []
        for place, (revision, each) in enumerate(zip(self.revisions, self.cells, strict=True)):
            row = {"series": self.name, "place": place, "revision": revision, "cell": each.label}
            row["questions"] = len(each.known)
            for name, number in measures(each.known, seed).items():
                row |= columns(name, *number)
            rows.append(row)
        return rows

    def sentence(self, seed: int) -> str:
        """What changed from the first to the last."""
        found = self.ends(seed)
        return (
            f"From {self.revisions[0]} to {self.revisions[-1]}, {self.name}: accuracy "
            f"{points(*found.moved.accuracy)} ({p_words(found.moved.p_accuracy, 'McNemar mid-p')}), "
            f"n = {plural(found.shared, 'shared question')}."
        )


def find_series(cells: Sequence[Answered], revisions: Sequence[str] | None) -> list[Series]:
    """Every model of which there are two revisions or more, asked alike; sorted by name.

    Hashes of weights have no order, so they are no series unless one is given; simulated models have no checkpoints.

    Args:
        cells: of one data set.
        revisions: the order; None: sorted, numbers by their value.
    """
    groups: list[list[Answered]] = []
    for cell in cells:
        if not _checkpoint(cell, revisions):
            continue
        like = (group for group in groups if cell.cell.model == group[0].cell.model and _alike(cell, group[0]))
        group = next(like, None)
        if group is None:
            groups.append([cell])
        else:
            group.append(cell)
    found = []
    for group in groups:
        found_here = {_revision(each): each for each in group}
        if len(found_here) < 2:
            continue
        order = sorted(found_here, key=natural if revisions is None else list(revisions).index)
        name = f"{group[0].dataset} · {group[0].cell.model} · {group[0].cell.strategy.replace('_', ', ')}"
        found.append(Series(name, tuple(order), tuple(found_here[each] for each in order)))
    return sorted(found, key=lambda each: (each.name, each.revisions))


def _checkpoint(cell: Answered, revisions: Sequence[str] | None) -> bool:
    """Whether a cell is one of a series."""
    if cell.cell.title.subject == "simulated":
        return False
    return _revision(cell) in revisions if revisions is not None else not _revision(cell).startswith("sha256:")


def _alike(one: Answered, other: Answered) -> bool:
    models = [{**each.cell.config["model"], "revision": ""} for each in (one, other)]
    ends = [each.cell.config.get("endpoint") for each in (one, other)]
    return models[0] == models[1] and ends[0] == ends[1] and differing(one.cell, other.cell) <= {"model"}


def _revision(cell: Answered) -> str:
    return str(cell.cell.value("model.revision"))
