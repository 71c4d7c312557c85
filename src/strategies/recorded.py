"""Answers and points collected elsewhere, taken turn by turn; nothing is asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from src.costs import Calls
from src.interfaces import Ask
from src.recordings import Row, read_recording, turns_of
from src.records import Answer, Completion, Domain, Point, Turn, Usage


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Recorded:
    """Gives the rows of `path` that are about the domain; all turns are taken, whatever they bring."""

    name: str
    path: Path

    async def propose(self, domain: Domain, ask: Ask) -> AsyncGenerator[Turn, Sequence[Point]]:
        """Yield the recorded turns in order (no call in any).

        Raises:
            ConfigError: the file has no row of the domain, or one that cannot be read.
        """
        turns = turns_of(read_recording(self.path).rows, domain, self.path)
        for number, rows in enumerate(turns, start=1):
            yield Turn(tuple(map(_answer, rows)), left=len(turns) - number)

    def calls(self, turn: int) -> Calls:
        """Nothing is asked in turn `turn`, as in any other."""
        return Calls(0, 0, 0, answers=0)


def _answer(row: Row) -> Answer:
    """A row as an answer; its key is its line in the file, whose hash is the model's revision."""
    completion = Completion(
        text=row.text,
        state="ok",
        finish_reason=None,
        usage=Usage(None, None),
        attempts=0,
        replayed=True,
        key=f"line:{row.line}",
        requests=0,
    )
    return Answer(row.branch, 0, completion, row.form)
