"""The rehearsal server in the part of a real endpoint: `with ScriptedEndpoint() as server: ... server.base_url ...`.

See `src.rehearsal.server.Rehearsal` for what it takes and `src.rehearsal.answers` for what it answers. It leaves out
the header by which a rehearsal is known, unless `without_name=False`.
"""

from __future__ import annotations

from typing import Any

from src.rehearsal import Arrived, Rehearsal
from src.rehearsal.answers import derived, embedding, fact, name
from src.rehearsal.faults import (
    BROKEN_OFF,
    CUT_JSON,
    DROPPED,
    ENDLESS,
    HTML,
    NO_CHOICES,
    NO_USAGE,
    NULL_CHOICES,
    Body,
    Fault,
    content,
    slow,
    status,
)

__all__ = [
    "BROKEN_OFF",
    "CUT_JSON",
    "DROPPED",
    "ENDLESS",
    "HTML",
    "NO_CHOICES",
    "NO_USAGE",
    "NULL_CHOICES",
    "Arrived",
    "Body",
    "Fault",
    "ScriptedEndpoint",
    "content",
    "derived",
    "embedding",
    "fact",
    "name",
    "slow",
    "status",
]


class ScriptedEndpoint(Rehearsal):
    """A rehearsal server that seems to be a real one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"without_name": True, **options})
