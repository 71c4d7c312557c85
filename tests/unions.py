"""What tests of unions and studies share: facts by number, and the merge of what was measured."""

from collections.abc import Callable
from pathlib import Path

from hydra import compose

from src.union import union

WHAT = ("length", "mass", "charge", "spin", "age", "width", "depth", "speed", "height", "volume")
OF = ("alphaton", "betaron", "gammaline", "deltium", "epsilan", "zetafan", "etamor", "thetapol", "iotalen", "kappador")


def fact(number: int) -> str:
    return f"The {WHAT[number // 10]} of {OF[number % 10]} is {number * 37 + 11} units."


Measure = Callable[..., Path]


def merged(tmp_path: Path, *overrides: str) -> None:
    places = (f"cells={tmp_path / 'cells'}", f"ledger.path={tmp_path / 'ledger.db'}", "embedder=hashing")
    union(compose("union", [*places, *overrides]))
