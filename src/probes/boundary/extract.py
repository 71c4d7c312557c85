"""The extraction loop: answers to points to novelty to pool, turn by turn, until it is saturated (arXiv 2602.00959)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from src.asking import CENSORED, Asker, call_table
from src.dedup.novelty import Novelty
from src.errors import EndpointError
from src.interfaces import Lab, Strategy
from src.probes.boundary.repeats import Repeats, points_of, repeat
from src.prompts import PromptSet
from src.records import Answer, Domain, Point, Progress, Tables, Turn
from src.saturation import Saturation, efficiency, growth
from src.schemas import ATOMS, STOP, TURNS


@dataclass
class Extraction:
    """The state of one extraction; all of it is derived from the answers, so a rerun resumes by replaying them."""

    lab: Lab
    domain: Domain
    strategy: Strategy
    prompts: PromptSet
    saturation: Saturation
    max_turns: int
    repeats: int = 1

    def __post_init__(self) -> None:
        self.asker = Asker(self.lab.subject, self.prompts)
        self.novelty = Novelty(self.saturation.novelty)
        self.pool: list[Point] = []
        self.atoms: list[dict[str, object]] = []
        self.turns: list[dict[str, object]] = []
        self.calls: list[dict[str, object]] = []
        self.first: tuple[Answer, ...] = ()
        self.embedded: set[str] = set()

    async def run(self) -> Tables:
        """Run turn after turn until there is a reason to stop, then repeat what was mined in turn 1.

        Returns the tables atoms, turns, calls, stop, repeats and draws.

        Raises:
            EndpointError: the endpoint failed before the first turn was whole.
        """
        turns = self.strategy.propose(self.domain, self.asker.ask)
        reason, detail, number = "", "", 0
        while not reason:
            number += 1
            try:
                turn = await self._next(turns, number)
                await self._take(turn, number)
            except tuple(CENSORED) as failure:
                if isinstance(failure, EndpointError) and not self.turns:
                    raise  # nothing was obtained: there is no cell to keep
                reason, detail = CENSORED[type(failure)], str(failure)
            else:
                reason, detail = self._stop(turn, number)
        await turns.aclose()
        repeats = await self._repeat(reason)
        return {
            "atoms": pl.DataFrame(self.atoms, schema=ATOMS) if self.atoms else ATOMS.to_frame(),
            "turns": pl.DataFrame(self.turns, schema=TURNS) if self.turns else TURNS.to_frame(),
            "calls": call_table(self.calls),
            "stop": pl.DataFrame([(reason, detail)], schema=STOP, orient="row"),
            **repeats.tables(),
        }

    async def _repeat(self, reason: str) -> Repeats:
        """Draw turn 1 again, once nothing that the repeats use up can be missing in the run itself."""
        if self.repeats > 1 and reason in ("budget", "error"):
            return Repeats(self.repeats, (self.first,), f"the run itself was cut short ({reason})")
        self.asker.take_calls(None)  # of a turn that was not finished
        repeats = await repeat(self.asker, self.first, self.repeats, self.lab.progress)
        self.calls.extend(self.asker.take_calls(None))
        return repeats

    def _stop(self, turn: Turn, number: int) -> tuple[str, str]:
        """Why the loop ends after a turn, and the details; ("", "") if it goes on."""
        if turn.left is not None:
            return ("" if turn.left else "recorded"), ""
        if fault := _unreadable(turn.answers, self.turns[-1]):
            return "error", f"turn {number}: {fault}"
        if self.saturation.saturated([bool(row["stale"]) for row in self.turns]):
            return "saturated", ""
        return ("max_turns" if number == self.max_turns else ""), ""

    async def _next(self, turns: AsyncGenerator[Turn, Sequence[Point]], number: int) -> Turn:
        return await (anext(turns) if number == 1 else turns.asend(tuple(self.pool)))

    async def _take(self, turn: Turn, number: int) -> None:
        """Read the answers of a turn into points, decide which are novel, and write the turn down."""
        lists = [points_of(answer) for answer in turn.answers]
        points = [
            (answer, position, item.text, item.context)
            for answer, listed in zip(turn.answers, lists, strict=True)
            for position, item in enumerate(listed.items)
        ]
        if number == 1:
            self.first = turn.answers
        texts = [text for _, _, text, _ in points]
        encoded = await self.lab.encoder.encode(texts)
        first = len(self.atoms)
        found = self.novelty.add(np.arange(first, first + len(texts)), encoded.vectors)
        pool_before = len(self.pool)
        for i, (answer, position, text, context) in enumerate(points):
            self.atoms.append(
                {
                    "atom_id": first + i,
                    "text": text,
                    "context": context,
                    "turn": number,
                    "branch": answer.branch,
                    "position": position,
                    "draw": answer.draw,
                    "call_key": answer.completion.key,
                    "nearest_id": found.nearest[i],
                    "nearest_cosine": found.cosine[i],
                    "novel": found.novel[i],
                }
            )
            if found.novel[i]:
                self.pool.append(Point(first + i, text, answer.branch, number))
        novel, raw = len(self.pool) - pool_before, len(points)
        calls = self.asker.take_calls(number)
        generation = [{"tokens_in": None, "tokens_out": None}] if turn.left is not None else calls
        self.calls.extend(calls)
        self.turns.append(
            {
                "turn": number,
                "raw": raw,
                "novel": novel,
                "growth": growth(novel, pool_before),
                "efficiency": efficiency(novel, raw),
                "stale": self.saturation.stale(raw=raw, novel=novel, pool=pool_before),
                "unlisted": sum(listed.unlisted for listed in lists),
                "truncated": _count(calls, "truncated"),
                "cut": sum(listed.cut is not None for listed in lists),
                "empty": _count(calls, "empty"),
                "refused": _count(calls, "refused"),
                "shortfall": turn.shortfall,
                "calls": _total([call["requests"] for call in calls]),
                "tokens_generation_in": _total([call["tokens_in"] for call in generation]),
                "tokens_generation_out": _total([call["tokens_out"] for call in generation]),
                "tokens_embedding": self._embedding_tokens(texts, encoded.tokens),
            }
        )
        self.lab.progress(
            Progress(
                "extract",
                done=number,
                total=self.max_turns if turn.left is None else number + turn.left,
                calls=len(self.calls),
                tokens=sum(int(str(call["tokens_out"] or 0)) for call in self.calls),
                raw=len(self.atoms),
                novel=len(self.pool),
            )
        )

    def _embedding_tokens(self, texts: Sequence[str], tokens: np.ndarray) -> int | None:
        """Tokens the encoder reads for texts that this cell has not embedded before; None if it does not count."""
        new = {text: int(count) for text, count in zip(texts, tokens, strict=True) if text not in self.embedded}
        self.embedded.update(new)
        return None if -1 in new.values() else sum(new.values())


def _unreadable(answers: Sequence[Answer], row: dict[str, object]) -> str:
    """Why a turn says nothing about saturation: no point, and no answer that was whole; "" otherwise."""
    states = sorted({answer.completion.state for answer in answers})
    if row["raw"] or "ok" in states:
        return ""
    return (
        f"no answer could be read ({', '.join(states)}); that is no sign of saturation: raise model.max_tokens if "
        "answers are cut while reasoning, or choose another model or prompts"
    )


def _count(calls: Sequence[dict[str, object]], state: str) -> int:
    return sum(call["state"] == state for call in calls)


def _total(parts: Sequence[object]) -> int | None:
    """Sum of counts; None if one is unknown, because unknown is not zero."""
    known = [part for part in parts if isinstance(part, int)]
    return sum(known) if len(known) == len(parts) else None
