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
        claims: what the project says of this truth: that the interval holds it 95 times in 100, that it is a bound
            which lies below it at least as often, or nothing.
        truth: what it is held against.
    """

    title: str
    unit: Literal["share", "count", "turn"]
    claims: str
    truth: str


NOMINAL, BOUND, NOTHING = "95 %", "a bound", "nothing"
EVERYWHERE = "expected over all universes of the setting, whose topics and branches are others each time"
HERE = "expected over fresh runs of the same models in the same universe"
ACCURACY = "share of statements judged valid,"
RECALL = "valid statements of the model over those of the union,"
REACH = "number of (branch, statement that the judge accepts) that the prompts can bring"
TRUE_REACH = "number of (branch, known fact) that the prompts can bring"
SEEN = "share of all chances that belongs to what was seen"
TRULY = "share of what the runs said that is truly valid"
ESTIMATORS = {
    "accuracy_plain": Estimator("accuracy, plain Wilson", "share", NOTHING, f"{ACCURACY} {EVERYWHERE}"),
    "accuracy_leaf": Estimator("accuracy, leaf interval", "share", NOMINAL, f"{ACCURACY} {EVERYWHERE}"),
    "accuracy_here_plain": Estimator("accuracy here, plain Wilson", "share", NOTHING, f"{ACCURACY} {HERE}"),
    "accuracy_here_leaf": Estimator("accuracy here, leaf interval", "share", NOTHING, f"{ACCURACY} {HERE}"),
    "recall_wilson": Estimator("recall_match, Wilson", "share", NOMINAL, f"{RECALL} {HERE}"),
    "recall_draws": Estimator("recall_match, draws", "share", NOMINAL, f"{RECALL} {HERE}"),
    "gap_draws": Estimator("recall difference, draws", "share", NOMINAL, f"difference of recall_match, {HERE}"),
    "gap_branches": Estimator("recall difference, by branch", "share", NOMINAL, f"difference of recall_match, {HERE}"),
    "decline_rate": Estimator("decline rate", "share", NOMINAL, f"decline of accuracy per turn, {EVERYWHERE}"),
    "crossover": Estimator("crossover turn, Fieller", "turn", NOMINAL, f"where two models' lines meet, {EVERYWHERE}"),
    "coverage": Estimator("sample coverage", "share", NOMINAL, f"{SEEN}, of statements that the judge accepts"),
    "coverage_true": Estimator("coverage as that of facts", "share", NOTHING, f"{SEEN}, of known facts"),
    "chao2": Estimator("Chao2", "count", NOMINAL, "its own expectation over repeats"),
    "chao2_bound": Estimator("Chao2, lower limit", "count", BOUND, f"{REACH}; one-sided"),
    "chao2_bound_true": Estimator("the same as a limit of facts", "count", NOTHING, f"{TRUE_REACH}; one-sided"),
    "ice": Estimator("ICE, withdrawn", "count", NOTHING, "its own expectation over repeats"),
    "ice_reachable": Estimator("ICE as what is reachable", "count", NOTHING, REACH),
    "valid_judged": Estimator("share of valid, as judged", "share", NOTHING, TRULY),
    "valid_corrected": Estimator("share of valid, corrected", "share", NOMINAL, TRULY),
}


def whole(share: float) -> str:
    """A share in whole percent."""
    return f"{100 * share:.0f} %"


def verdict(coverage: float, claims: str) -> str:
    """What a coverage says about an interval of nominal 95 %; a bound may lie as far off as it likes."""
    if coverage < HOLDS:
        return "fails"
    return "conservative" if coverage > CAREFUL and claims != BOUND else "holds"
