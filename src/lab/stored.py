"""The extraction that lies in a cell folder."""

from __future__ import annotations

from src.errors import ConfigError
from src.lab.config import Cell
from src.records import Tables
from src.store import read_phase


def stored_extract(cell: Cell) -> Tables:
    """Read the extraction in the cell folder, if it is this cell's.

    Raises:
        DataMissing: there is none.
        ConfigError: it was made with another configuration.
    """
    config, tables = read_phase(cell.folder, "extract")
    if config != cell.identity.extract:
        now = cell.identity.extract
        changed = sorted(key for key in config.keys() | now.keys() if config.get(key) != now.get(key))
        raise ConfigError(
            f"{cell.folder} holds an extraction with another configuration of {', '.join(changed)}: "
            "run phases=[extract,process], or give the values it was extracted with"
        )
    return tables
