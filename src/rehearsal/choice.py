"""Which fault a request meets: by seeded rates, by a script, or because it is beyond a quota."""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable

from src.errors import ConfigError
from src.rehearsal.faults import Body, Chosen, Fault
from src.rehearsal.kinds import KINDS, fault

_STEP = re.compile(r"(?:(?P<count>\d+)\s*x\s+)?(?P<what>\S+)")
_WINDOW = re.compile(r"from\s+(?P<start>[\d.]+)\s+for\s+(?P<length>[\d.]+)\s*:\s*(?P<what>\S+)")

Make = Callable[[], Fault] | None


class Rates:
    """Faults by rate, whatever the order and concurrency of the requests.

    The n-th time that a body is seen, it meets the fault that a hash of the seed, the body and n draws: the same
    requests meet the same faults, and one that is tried again may pass.
    """

    def __init__(self, written: str, seed: int) -> None:
        """Read rates.

        Args:
            written: `0.05` (of all transport faults together), `429=0.02,drip:5=0.01`, or `content=0.05` by group.
            seed: another one draws other faults.

        Raises:
            ConfigError: no such fault or group, or rates that are none.
        """
        self._seed = seed
        self._seen: Counter[bytes] = Counter()
        self._rates: list[tuple[float, Callable[[], Fault]]] = []
        for part in written.split(","):
            name, _, rate = part.rpartition("=") if "=" in part else ("transport", "", part)
            share = _number(rate, part)
            names = [kind.name for kind in KINDS if kind.group == name.strip()] or [name]
            self._rates += [(share / len(names), fault(one)[1]) for one in names]
        if not 0 <= sum(rate for rate, _ in self._rates) <= 1 + 1e-9:
            raise ConfigError(f"faults={written!r}: rates are shares of the requests and add up to at most 1")

    def __call__(self, number: int, body: Body) -> Fault | None:
        """Draw the fault of a request; see :data:`src.rehearsal.faults.Chosen`."""
        digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest()
        self._seen[digest] += 1
        drawn = hashlib.sha256(f"{self._seed} {digest.hex()} {self._seen[digest]}".encode()).digest()
        left = int.from_bytes(drawn[:8], "big") / 2**64
        for rate, make in self._rates:
            if left < rate:
                return make()
            left -= rate
        return None


class Script:
    """Faults in a fixed order, or at fixed times, written one per line.

    `429` is what the next request meets, `3x 500` the next three, `ok` a proper answer; after the last line all is
    well. `from 10 for 60: 429` is what every request meets from the tenth second after the first one on, for a minute:
    it beats the order, and uses none of it. `#` starts a comment.
    """

    def __init__(self, text: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Read a script.

        Args:
            text: its lines.
            clock: seconds, for tests.

        Raises:
            ConfigError: a line that cannot be read, with its number.
        """
        self._clock = clock
        self._began: float | None = None
        self._windows: list[tuple[float, float, Make]] = []
        self._left: list[tuple[int, Make]] = []
        for place, line in enumerate(text.split("\n"), start=1):
            bare = line.partition("#")[0].strip()
            try:
                if window := _WINDOW.fullmatch(bare):
                    start = _number(window["start"], bare)
                    self._windows.append((start, start + _number(window["length"], bare), _make(window["what"])))
                elif step := _STEP.fullmatch(bare):
                    self._left.append((int(step["count"] or 1), _make(step["what"])))
                elif bare:
                    raise ConfigError(f"{bare!r} is neither `FAULT`, `N x FAULT` nor `from SECONDS for SECONDS: FAULT`")
            except ConfigError as error:
                raise ConfigError(f"line {place} of the script: {error}") from None
        self._left.reverse()

    def __call__(self, number: int, body: Body) -> Fault | None:
        """Take the fault of a request; see :data:`src.rehearsal.faults.Chosen`."""
        now = self._clock()
        self._began = now if self._began is None else self._began
        for start, end, make in self._windows:
            if start <= now - self._began < end:
                return make() if make else None
        while self._left:
            count, make = self._left.pop()
            if count > 0:
                self._left.append((count - 1, make))
                return make() if make else None
        return None


class Quota:
    """So many requests per second, and as many at once after a pause; what is beyond meets a 429."""

    def __init__(self, per_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s, self._clock = per_s, clock
        self._most = self._level = max(per_s, 1.0)
        self._filled = clock()
        self._busy = fault("429")[1]

    def __call__(self, number: int, body: Body) -> Fault | None:
        """Take a request from the quota; see :data:`src.rehearsal.faults.Chosen`."""
        now = self._clock()
        self._level = min(self._level + (now - self._filled) * self._per_s, self._most)
        self._filled = now
        if self._level < 1:
            return self._busy()
        self._level -= 1
        return None


def first(*choices: Chosen) -> Chosen:
    """What the first choice that has a fault says; those after it are not asked."""

    def chosen(number: int, body: Body) -> Fault | None:
        return next((found for choice in choices if (found := choice(number, body))), None)

    return chosen


def _make(written: str) -> Make:
    return None if written == "ok" else fault(written)[1]


def _number(written: str, where: str) -> float:
    try:
        number = float(written)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise ConfigError(f"{where.strip()!r}: {written.strip()!r} is no number from 0 on")
    return number
