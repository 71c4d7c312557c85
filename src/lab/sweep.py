"""A sweep: many cells by one command. Each cell leaves a record, also from a process of its own; the end reads them."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter

from src.figures.sweeps import SweptCell
from src.store import read_records, slug, write_record

OURS = re.compile(r"\+{0,2}(?P<key>sweep|hydra\.sweep\.dir)=(?P<value>.*)", re.DOTALL)
"""Arguments that a sweep reads itself."""

PASSING = ("-", "budget.", "ledger.", "hydra", "debug=", "dry=", "sweep=", "+sweep=", "++sweep=")
"""How arguments begin that change no cell: with others of them it is the same sweep, which goes on."""


@dataclass(frozen=True)
class Sweep:
    """A sweep as one command runs it.

    Attributes:
        name: its id; the same grid has the same one again, and so shares a budget with what was run before.
        folder: where the records of this command lie.
        arguments: the command's arguments, completed.
    """

    name: str
    folder: Path
    arguments: tuple[str, ...]


def read_sweep(arguments: Sequence[str], now: datetime, place: Path) -> Sweep | None:
    """The sweep that arguments ask for; None if they ask for one run.

    Args:
        arguments: of the command line.
        now: names the folder of the records.
        place: where the folders of sweeps lie.

    Raises:
        ConfigError: `sweep=` is no name.
    """
    if not any(_asks(argument) for argument in arguments):
        return None
    given = [found for argument in arguments if (found := OURS.fullmatch(argument))]
    values = {found["key"]: found["value"].strip("\"'") for found in given}
    cells = sorted(argument for argument in arguments if not argument.startswith(PASSING))
    name = values.get("sweep", "null")
    if name in ("", "null"):
        name = f"sweep-{hashlib.sha256(repr(cells).encode()).hexdigest()[:8]}"
    parent = Path(values["hydra.sweep.dir"]) if values.get("hydra.sweep.dir") else place / slug(name, "sweep")
    folder = parent / f"{now:%Y%m%d-%H%M%S}-{os.getpid()}"
    others = [argument for argument in arguments if not OURS.fullmatch(argument)]
    return Sweep(slug(name, "sweep"), folder, (*others, f"sweep='{name}'", f"hydra.sweep.dir={str(folder)!r}"))


def _asks(argument: str) -> bool:
    """Whether it asks for a sweep; Hydra also takes the flag cut short."""
    flag = len(argument) > len("--mu") and "--multirun".startswith(argument)
    return flag or argument in ("-m", "--mu", "hydra.mode=MULTIRUN")


def keep(folder: Path, cell: SweptCell) -> None:
    """Write the record of a cell, in place of an earlier one."""
    write_record(folder, cell.number, asdict(cell))


def records(folder: Path) -> list[SweptCell]:
    """The records of a sweep in the order of its grid."""
    cells = TypeAdapter(SweptCell)
    return [cells.validate_python(row) for row in read_records(folder)]
