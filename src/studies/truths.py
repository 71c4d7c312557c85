"""What is true of simulated models, to stand beside what a study estimates of them; of real ones nobody knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from src.cells import MeasuredCell
from src.figures.captions import plural
from src.merge import Union
from src.stats.intervals import Number
from src.studies.wording import listed

Truths = Mapping[str, float]
"""Of one model, means over the domains: `truth_recall_match`, `truth_accuracy`."""

TRUTH = (
    "planted, known of simulated models only. Recall_match: Σ_f π_mf / Σ_f π_∪f, from fresh runs of the same models "
    "without text; accuracy: share of the run's own clusters whose representative is true. Means over domains"
)


def truths(
    models: Sequence[str], cells: Mapping[tuple[str, str], MeasuredCell], unions: Sequence[Union]
) -> dict[str, Truths]:
    """The truth about models; nothing unless all of them are simulated.

    Args:
        models: that are compared.
        cells: (model, domain) → its cell.
        unions: of the domains.
    """
    known: dict[str, Truths] = {}
    recalls = [union.recall_truth(models) for union in unions]
    for model in models:
        own = [cell.metrics.get("truth_accuracy") for (name, _), cell in cells.items() if name == model]
        shares = [shares.get(model) for shares in recalls]
        found = [[value for value in values if isinstance(value, int | float)] for values in (shares, own)]
        if len(found[0]) < len(unions) or len(found[1]) < len(own):
            return {}
        known[model] = dict(
            zip(("truth_recall_match", "truth_accuracy"), (float(np.mean(part)) for part in found), strict=True)
        )
    return known


def truth_sentence(known: Mapping[str, Truths], recall: Mapping[str, Number]) -> list[str]:
    """How the intervals of recall_match stand to the truth; nothing where nobody knows it."""
    if not known:
        return []
    told = [(model, each["truth_recall_match"], *recall[model]) for model, each in known.items()]
    given = [(truth, interval) for _, truth, _, interval in told if not interval.reason]
    held = sum(interval.low <= truth <= interval.high for truth, interval in given)
    shares = listed([f"{model} {100 * truth:.1f} % (found {100 * value:.1f} %)" for model, truth, value, _ in told])
    return [
        f"Simulated, so the truth is known: recall_match of {shares}; {held} of {plural(len(given), 'interval')} of "
        "95 % hold it."
    ]
