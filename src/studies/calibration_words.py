"""The sentences of a calibration, with their numbers, n and intervals."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from src.calibration.questions import Question
from src.figures.calibration import rated_words
from src.figures.captions import percent, plural
from src.stats.agreement import Estimate
from src.studies.raters import Compared, people


def share(estimate: Estimate) -> str:
    """`86.8 % [80.7, 89.3]`, or why there is none."""
    if estimate.reason:
        return f"unknown ({estimate.reason})"
    return f"{percent(estimate.value)} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def number(estimate: Estimate) -> str:
    """`0.79 [0.64, 0.88]`, or why there is none."""
    if estimate.reason:
        return f"unknown ({estimate.reason})"
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def agree(one: str, other: str, whole: Compared, question: Question) -> str:
    """How far two raters agree, on the points as drawn and weighted to what they stand for."""
    drawn, weighted = whole.sample, whole.population
    n = rated_words(drawn["agreement"].n, whole.judgements, question.unit)
    return (
        f"{one[0].upper()}{one[1:]} and {other} agree on {share(drawn['agreement'])} of {n} drawn by "
        f"verdict: κ {number(drawn['kappa'])}, "
        f"AC1 {number(drawn['ac1'])}, PABAK {number(drawn['pabak'])}. Weighted to all "
        f"{plural(whole.size, f'judged {question.unit}')}: agreement {share(weighted['agreement'])}, "
        f"κ {number(weighted['kappa'])}."
    )


def judged(other: str, whole: Compared, question: Question) -> list[str]:
    """What the judge's share is worth, and what is wrong with what it accepts and turns down."""
    drawn, weighted = whole.sample, whole.population
    yes, accepted = weighted["first_share"], question.accepted
    sentences = [
        f"The judge calls {percent(yes.value) if not yes.reason else 'an unknown share'} of all "
        f"{plural(whole.size, f'judged {question.unit}')} {accepted}; corrected by {other}: "
        f"{share(weighted['prevalence'])}.",
        f"Of what the judge calls {accepted}, {share(drawn['precision'])} is {accepted} for {other} (precision, n = "
        f"{drawn['precision'].n:,}; weighted {share(weighted['precision'])}); of what it turns down, "
        f"{share(drawn['missed'])} (missed, n = {drawn['missed'].n:,}; weighted {share(weighted['missed'])}).",
    ]
    if 0 < whole.uncovered < 1:
        sentences.append(
            f"{percent(whole.uncovered)} of all judged {question.unit}s lie in strata without an answer; others of the "
            "same verdict stand for them."
        )
    return sentences


def wrong(compared: Compared) -> str:
    """How much people call factually wrong."""
    return (
        f"People call {share(compared.population['prevalence'])} of all judged points factually wrong, and "
        f"{share(compared.population['precision'])} of those that the judge accepts (weighted)."
    )


def labelled(labels: pl.DataFrame, question: Question, items: int) -> str:
    """Who labelled how much."""
    counted = people(labels, question)
    names = sorted(set(labels["annotator"]))
    undecided, tied = int(counted["people"].null_count()), int(counted["tied"].sum())
    return (
        f"{plural(len(names), 'annotator')} labelled {counted.height:,} of {plural(items, 'item')}; {undecided} "
        f"{'is' if undecided == 1 else 'are'} left out as undecided, {tied} of them because as many accept as do not."
    )


def annotators(pairs: Sequence[tuple[str, str, dict[str, Estimate]]]) -> list[str]:
    """How far annotators agree with one another; nothing if there is one alone."""
    if not pairs:
        return []
    if len(pairs) == 1:
        one, other, both = pairs[0]
        return [
            f"Annotators {one} and {other} agree on {share(both['agreement'])} of "
            f"{plural(both['agreement'].n, 'item')} that both decided: κ {number(both['kappa'])}, "
            f"AC1 {number(both['ac1'])}."
        ]
    known = [each["kappa"].value for *_, each in pairs if not each["kappa"].reason]
    if not known:
        return [f"κ between annotators: unknown ({pairs[0][2]['kappa'].reason})."]
    mean = sum(known) / len(known)
    return [
        f"κ between annotators: mean {mean:.2f} over {plural(len(known), 'pair')} of them, from {min(known):.2f} to "
        f"{max(known):.2f} (table annotators)."
    ]
