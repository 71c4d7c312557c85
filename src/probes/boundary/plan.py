"""What a boundary cell can take, before anything is asked: bounds by role, from the shape of the strategy alone; pure.

The bounds hold for a run that nothing cuts short. Repeats are in them, and a budget must cover them: they are drawn
before the run is judged, so that what they use up can be missing there. The bounds rest on four assumptions about
tokens: a text takes at most one per UTF-8 byte; the template around the messages of a request takes at most `WRAPPING`;
an answer that a prompt shows again takes at most twice what it took to write, its bullets included; and an answer
written in n tokens has at most `BYTES` · n bytes (English has four or five to a token). A point takes at least one
token to write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from math import ceil, comb
from unicodedata import normalize

from src.costs import Calls, Limits, Load, Planned
from src.interfaces import Strategy
from src.prompts import PromptSet
from src.records import Domain, Rubric
from src.saturation import Saturation
from src.text.lists import LONGEST_NAME

WRAPPING = 128
BYTES = 8
LARGER = 2
"""How much longer the second answer may be where the first one was all reasoning."""
RE_ASKED = 2
"""Verdicts that a judge is asked for before a question counts as unparsed."""
FENCE = 64
"""Bytes around a text put before a judge, and of the line that names the labels in a second ask."""

NOTHING = Load(0, 0, 0)


def plan(
    limits: Limits,
    *,
    domain: Domain,
    strategy: Strategy,
    prompts: PromptSet,
    saturation: Saturation,
    rubrics: Mapping[str, Rubric],
    max_turns: int,
    repeats: int = 1,
) -> tuple[Planned, ...]:
    """Bound the calls and tokens of a cell, in the order subject, judge, embedder."""
    turns = [strategy.calls(turn) for turn in range(1, max_turns + 1)]
    drawn = [_mined(turns[0])] * (repeats - 1)
    least = [*turns[: saturation.earliest(max_turns)], *drawn]
    turns += drawn
    longest = LARGER * limits.answer
    answers = sum(turn.answers for turn in turns)
    return (
        _subject(limits, least, turns, prompts, domain),
        _judge(limits, answers * longest, domain, rubrics),
        _embedder(limits, [turn.answers * longest for turn in turns]),
    )


def _subject(limits: Limits, least: list[Calls], turns: list[Calls], prompts: PromptSet, domain: Domain) -> Planned:
    if not limits.extract:
        return Planned("subject", NOTHING, 0, NOTHING)
    fewest = sum(turn.least for turn in least)
    completions = sum(turn.most for turn in turns)
    frame = WRAPPING + max(_bytes(source, domain) for source in _sources(prompts))
    shown = sum(turn.shown for turn in turns) * 2 * (LARGER * limits.answer + 1)
    names = sum(turn.names for turn in turns) * 4 * LONGEST_NAME  # a character has at most four bytes
    prompted = completions * frame + shown + names
    if limits.context is not None:
        prompted = min(prompted, completions * limits.context)
    return Planned(
        "subject",
        least=Load(fewest, fewest, 0),
        asked=sum(turn.asked for turn in turns),
        most=Load(2 * completions, 2 * prompted, completions * (1 + LARGER) * limits.answer),
    )


def _mined(first: Calls) -> Calls:
    """What asking again for the answers of turn 1 takes: as many calls, and no names to ask for."""
    return replace(first, least=min(1, first.answers), asked=first.answers, most=first.answers)


def _judge(limits: Limits, written: int, domain: Domain, rubrics: Mapping[str, Rubric]) -> Planned:
    """Every distinct text is audited; which pairs are asked about hangs on their cosines, from none to all.

    Args:
        limits: of the cell.
        written: tokens of all answers that points are read from.
        domain: what is asked about.
        rubrics: the questions.
    """
    if limits.verdict is None or not limits.process:
        return Planned("judge", NOTHING, 0, NOTHING)
    known = None if limits.texts is None else {normalize("NFC", text) for text in limits.texts}
    texts, size = (written, written * BYTES) if known is None else (len(known), _size(known))
    pairs = comb(texts, 2)
    audit, duplicate = (WRAPPING + FENCE + _bytes(rubrics[name].template, domain) for name in ("audit", "duplicate"))
    labels = sum(len(label.encode()) + 2 for rubric in rubrics.values() for label in rubric.labels)
    # A fence is one longer than the longest run of its sign in a text, hence three times the text.
    shown = 3 * size + 3 * size * max(texts - 1, 0)  # each text is audited, and stands in a pair with every other
    asks = RE_ASKED * 2  # the second ask, and the larger answer of each
    least = 0 if known is None else len(known)
    return Planned(
        "judge",
        least=Load(least, least, 0),
        asked=0 if known is not None and not known else None,
        most=Load(
            asks * (texts + pairs),
            asks * (texts * (audit + labels) + pairs * (duplicate + FENCE + labels) + shown),
            RE_ASKED * (texts + pairs) * (1 + LARGER) * limits.verdict,
        ),
    )


def _embedder(limits: Limits, written: list[int]) -> Planned:
    """Each distinct text is encoded once, in batches that never span turns; those of repeats can only be fewer."""
    known = None if limits.texts is None else set(limits.texts)
    if known is None:
        texts, size, least = sum(written), sum(written) * BYTES, 0
        batches = sum(ceil(turn / limits.batch) for turn in written) if limits.batch else 0
    else:
        texts, size, least = len(known), _size(known), len({normalize("NFC", text) for text in known})
        batches = texts if limits.batch else 0
    return Planned(
        "embedder",
        least=Load(ceil(least / limits.batch) if limits.batch else 0, least, 0),
        asked=None if limits.batch else 0,
        most=Load(batches, size + 2 * texts, 0),
    )


def _bytes(source: str, domain: Domain) -> int:
    """Bytes of a template once the domain is put in, without the texts that it shows."""
    placed = source.count("query") + source.count("domain")
    return len(source.encode()) + placed * len(domain.query.encode())


def _sources(prompts: PromptSet) -> chain[str]:
    return chain.from_iterable(family.values() for family in prompts.families.values())


def _size(texts: set[str]) -> int:
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
