"""What is true of a simulated model that answers questions, to stand beside what was measured; pure."""

from __future__ import annotations

import numpy as np
import polars as pl

from src.knower.knowledge import Knower
from src.knower.questions import class_chances, weights
from src.records import Metrics
from src.stats.categories import CLASSES, KNOWN, WEIGHTS


def truth(
    knower: Knower, questions: pl.DataFrame, *, passage: bool, temperature: float, samples: int, greedy_counts: bool
) -> Metrics:
    """`truth_share_HK` … `truth_share_CU`, `truth_accuracy` and `truth_category_score`.

    They are exact expectations over the questions that were classified: accuracy is what it is, as a greedy answer is
    always the same; the shares are what they would be on average if the samples were drawn anew.

    Args:
        knower: the model.
        questions: the classified questions.
        passage: whether a passage stood before each question.
        temperature: of the samples.
        samples: answers besides the greedy one.
        greedy_counts: whether the frequency of an answer counts the greedy one.
    """
    names = [f"truth_share_{name}" for name in CLASSES]
    ids = questions.filter(state="complete")["question_id"].to_list()
    if not ids:
        whole = [*names, "truth_accuracy", "truth_category_score"]
        return {key: value for name in whole for key, value in ((name, None), (f"{name}_reason", "no question"))}
    expected = np.mean(
        [
            class_chances(weights(knower, each, passage=passage), temperature, samples, greedy_counts=greedy_counts)
            for each in ids
        ],
        axis=0,
    )
    return {
        **dict(zip(names, expected.tolist(), strict=True)),
        "truth_accuracy": float(expected[:KNOWN].sum()),
        "truth_category_score": float((expected * WEIGHTS).sum()),
    }
