"""The estimators that are tried: what each is, what it is held against, and whether its interval claims 95 %."""

from __future__ import annotations

from typing import Literal, NamedTuple

HOLDS, CAREFUL = 0.90, 0.98
"""An interval of nominal 95 % holds from the one on, and is conservative above the other."""
VERDICTS = ("holds", "conservative", "fails")


class Estimator(NamedTuple):
    """An estimator.

    Attributes:
        title: for people.
        unit: of its numbers: `share`, `count` or `turn`.
        claims: whether the project says that its interval holds this truth 95 times in 100.
        truth: what it is held against.
    """

    title: str
    unit: Literal["share", "count", "turn"]
    claims: bool
    truth: str


EVERYWHERE = "expected over all universes of the setting, whose topics and branches are others each time"
HERE = "expected over fresh runs of the same models in the same universe"
ACCURACY = "share of statements judged valid,"
RECALL = "valid statements of the model over those of the union,"
REACH = "number of (branch, fact) that the prompts can bring"
TRULY = "share of what the runs said that is truly valid"
ESTIMATORS = {
    "accuracy_plain": Estimator("accuracy, plain Wilson", "share", False, f"{ACCURACY} {EVERYWHERE}"),
    "accuracy_leaf": Estimator("accuracy, leaf interval", "share", True, f"{ACCURACY} {EVERYWHERE}"),
    "accuracy_here_plain": Estimator("accuracy here, plain Wilson", "share", False, f"{ACCURACY} {HERE}"),
    "accuracy_here_leaf": Estimator("accuracy here, leaf interval", "share", False, f"{ACCURACY} {HERE}"),
    "recall_wilson": Estimator("recall_match, Wilson", "share", True, f"{RECALL} {HERE}"),
    "recall_draws": Estimator("recall_match, draws", "share", True, f"{RECALL} {HERE}"),
    "gap_draws": Estimator("recall difference, draws", "share", True, f"difference of recall_match, {HERE}"),
    "gap_branches": Estimator("recall difference, by branch", "share", True, f"difference of recall_match, {HERE}"),
    "decline_rate": Estimator("decline rate", "share", True, f"decline of accuracy per turn, {EVERYWHERE}"),
    "crossover": Estimator("crossover turn, Fieller", "turn", True, f"where two models' lines meet, {EVERYWHERE}"),
    "coverage": Estimator("sample coverage", "share", True, "share of all chances that belongs to what was seen"),
    "chao2": Estimator("Chao2", "count", True, "its own expectation over repeats"),
    "chao2_bound": Estimator("Chao2, lower limit", "count", True, f"{REACH}; one-sided"),
    "ice": Estimator("ICE", "count", True, "its own expectation over repeats"),
    "ice_reachable": Estimator("ICE as what is reachable", "count", False, REACH),
    "valid_judged": Estimator("share of valid, as judged", "share", False, TRULY),
    "valid_corrected": Estimator("share of valid, corrected", "share", True, TRULY),
}


def verdict(coverage: float) -> str:
    """What a coverage says about an interval of nominal 95 %."""
    return "fails" if coverage < HOLDS else "conservative" if coverage > CAREFUL else "holds"
