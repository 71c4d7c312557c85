"""What a run can take, before anything is asked: frozen records."""

from __future__ import annotations

from dataclasses import dataclass

from src.records import Role


@dataclass(frozen=True)
class Calls:
    """What a turn of a strategy asks for. A second, larger ask of one and the same question is not counted here.

    Attributes:
        least: calls if the answers offer as little as they can.
        asked: calls if every answer offers what was asked for.
        most: calls if every missing name has to be asked for again.
        answers: answers that points are read from, at most.
        shown: earlier answers that the prompts show, at most, summed over the prompts.
        names: names of sub-fields that the prompts show, at most, summed over the prompts.
    """

    least: int
    asked: int
    most: int
    answers: int
    shown: int = 0
    names: int = 0


@dataclass(frozen=True)
class Limits:
    """What bounds a cell's cost besides the probe's own knobs.

    Attributes:
        answer: longest answer of the subject, in tokens.
        context: context window of the subject in tokens, where it is known.
        verdict: longest answer of the judge, in tokens; None if the judge is no model.
        batch: texts per request of the embedder; None if it works in this process.
        extract, process: whether the phase is run.
        texts: the raw points, where they are known before: of a finished extraction, or recorded.
    """

    answer: int
    context: int | None = None
    verdict: int | None = None
    batch: int | None = None
    extract: bool = True
    process: bool = True
    texts: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Load:
    """Calls (answers that are paid for, a larger second one included) and tokens."""

    calls: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True)
class Planned:
    """What one role takes, if nothing is replayed and nothing cuts the run short.

    Attributes:
        role: who is asked.
        least, most: bounds.
        asked: calls if every answer obeys, all turns are run and nothing is asked twice; None if that hangs on what the
            answers say.
    """

    role: Role
    least: Load
    asked: int | None
    most: Load
