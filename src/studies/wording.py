"""Numbers as studies write them: with their interval into sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence

from src.figures.captions import plural
from src.stats.flat import number
from src.stats.intervals import Interval

LONGEST = 5


def share(value: float, interval: Interval) -> str:
    """A share as `36.9 % [33.1, 40.7]`; without an interval `36.9 % (no interval: …)`."""
    if interval.reason:
        return f"{100 * value:.1f} % (no interval: {interval.reason})"
    return f"{100 * value:.1f} % [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def points(value: float, interval: Interval, digits: int = 1) -> str:
    """A difference of shares as `+3.8 percentage points [+1.2, +6.4]`."""
    said = f"{100 * value:+.{digits}f} percentage points"
    if interval.reason:
        return f"{said} (no interval: {interval.reason})"
    return f"{said} [{100 * interval.low:+.{digits}f}, {100 * interval.high:+.{digits}f}]"


def judged(interval: Interval) -> str:
    """What an accuracy or a trend rests on, as `n = 1,200 judged points in 25 branches`."""
    branches = f"{interval.branches:,} branch{'' if interval.branches == 1 else 'es'}"
    return f"n = {plural(interval.n, 'judged point')} in {branches}"


def p_words(p: float, name: str = "p") -> str:
    """A p-value as `p = 0.031`, or `p < 0.001`."""
    return f"{name} < 0.001" if p < 0.001 else f"{name} = {p:.3f}"


def listed(names: Sequence[str]) -> str:
    """Names as `a, b and c`; of many the first few and how many more."""
    if len(names) > LONGEST + 1:
        return f"{', '.join(names[:LONGEST])} and {len(names) - LONGEST} more"
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part) if names else "none"


def columns(name: str, value: float, interval: Interval) -> dict[str, float | str | None]:
    """A number as columns of a table: itself, `_low`, `_high`, and `_reason` where a bound is none."""
    return {
        name: number(value),
        f"{name}_low": number(interval.low),
        f"{name}_high": number(interval.high),
        f"{name}_reason": interval.reason,
    }
