"""What a simulated model answers to a question whose gold answer is given, and with what chances; pure.

A question has one right answer and WRONG wrong ones. Each has a log weight, planted by the question and the model; at a
temperature T an answer is drawn by the weights to the power of 1/T, and the greedy answer is the heaviest. So the exact
chance of each class of correctness × confidence is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import factorial, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtr

from src.knower.knowledge import Knower
from src.knower.names import BITS, coined
from src.knower.world import Numbers, hashed, stream

ASKING = ("categories.direct", "categories.cot", "categories.base_direct", "categories.base_cot")
WRONG = 40
"""Wrong answers to a question: so many that seven often all differ where none is heavier than the others."""
REACH = 12.0
"""How much the log weight of the right answer changes from a question that is known best to one that is known least."""
GIVEN = 4.0
"""What a passage that holds the right answer adds to its log weight."""
STEEPEST = 2.5
"""Largest step of the log weight from one wrong answer to the next: then the same one comes nearly always."""


def weights(knower: Knower, question_id: str, *, passage: bool) -> Numbers:
    """Log weights of the right answer and of the wrong ones, the heaviest first, shape (1 + WRONG,).

    A model knows the answer if its place among all questions, which it shares with other models as `shared` says, is
    below `knows`.
    """
    of_question, own = stream("question", question_id), stream("answer", question_id, knower.seed)
    mixed = sqrt(knower.shared) * of_question.standard_normal() + sqrt(1 - knower.shared) * own.standard_normal()
    known = knower.knows - float(ndtr(mixed))
    step = STEEPEST * of_question.random() ** 2
    right = REACH * known + GIVEN * passage
    return np.array([right, *(-step * place for place in range(WRONG))])


def drawn(log_weights: Numbers, temperature: float) -> Numbers:
    """Chances of the answers at a temperature above 0, shape as `log_weights`."""
    scaled = np.exp((log_weights - log_weights.max()) / temperature)
    return np.asarray(scaled / scaled.sum(), dtype=np.float64)


def reply(knower: Knower, name: str, values: Mapping[str, Any], rng: np.random.Generator) -> str | None:
    """The reply to a question; None is a refusal.

    Args:
        knower: who is asked.
        name: of the prompt.
        values: `question_id`, `golds`, `passage` and `temperature`.
        rng: of this answer alone.
    """
    if rng.random() < knower.refuses:
        return None
    question_id, golds, temperature = str(values["question_id"]), list(values["golds"]), float(values["temperature"])
    log_weights = weights(knower, question_id, passage=bool(values["passage"]))
    chosen = int(log_weights.argmax())
    if temperature:
        chosen = int(rng.choice(len(log_weights), p=drawn(log_weights, temperature)))
    said = str(golds[0]) if chosen == 0 else wrong_answer(question_id, chosen)
    return f"I recall what was said of it.\nAnswer: {said}" if name.endswith("cot") else said


def wrong_answer(question_id: str, place: int) -> str:
    """A coined name; each wrong answer to a question has another one."""
    return coined((hashed("wrong answer", question_id) + place) % 2**BITS)


def class_chances(log_weights: Numbers, temperature: float, samples: int, *, greedy_counts: bool) -> Numbers:
    """Chances of the classes HK, MK, WK, UU, MU, CU of a question, shape (6,), summing to 1.

    Args:
        log_weights: see :func:`weights`.
        temperature: of the samples, above 0.
        samples: how many there are besides the greedy answer.
        greedy_counts: whether the frequency of an answer counts the greedy one.
    """
    chances, greedy = drawn(log_weights, temperature), int(log_weights.argmax())
    right, wrong = float(chances[0]), chances[1:]
    if greedy == 0:
        return np.array([right**samples, 1 - right**samples, 0, 0, 0, 0])
    others = np.delete(wrong, greedy - 1) if greedy_counts else wrong
    never = (1 - right) ** samples
    apart = factorial(samples) * _elementary(others.tolist(), samples) if samples <= len(others) else 0.0
    same = float(wrong[greedy - 1] ** samples if greedy_counts else (wrong**samples).sum())
    return np.array([0, 0, 1 - never, apart, max(0.0, never - apart - same), same])


def _elementary(values: Sequence[float], size: int) -> float:
    """Sum of the products of every `size` of the values."""
    sums = [1.0] + [0.0] * size
    for value in values:
        for place in range(size, 0, -1):
            sums[place] += value * sums[place - 1]
    return sums[size]
