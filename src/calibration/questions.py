"""What annotators are asked, and what they may answer (arXiv 2602.00959, with the labels of its calibration)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

What = Literal["audit", "pairs"]


@dataclass(frozen=True)
class Label:
    """An answer.

    Attributes:
        name: as it stands in a labels file.
        meaning: when it is to be given.
        verdict: whether it accepts; None: it does not decide.
    """

    name: str
    meaning: str
    verdict: bool | None


@dataclass(frozen=True)
class Question:
    """What a sheet asks about each of its items.

    Attributes:
        what: which of a cell's judgements are checked: `audit` or `pairs`.
        rubric: name of the judge's rubric in the configuration of a cell.
        ask: the question, one sentence.
        labels: the answers, in the order of their keys 1, 2, 3, …
        texts: headings of the texts that are shown.
        unit: what an item is, and accepted: what the answer yes means; both for people.
    """

    what: What
    rubric: str
    ask: str
    labels: tuple[Label, ...]
    texts: tuple[str, ...]
    unit: str
    accepted: str


WRONG = "factually wrong"
UNSURE = Label("unsure", "You cannot decide, even after looking it up. It is counted, and decides nothing.", None)

QUESTIONS: dict[What, Question] = {
    "audit": Question(
        what="audit",
        rubric="audit",
        ask="Is this statement a valid piece of knowledge about the domain?",
        labels=(
            Label(
                "valid",
                "True, substantive, precise, and complete on its own: a fact, a concept or a procedure of the domain.",
                True,
            ),
            Label(
                "niche but plausible",
                "Too special for you to be certain, but sound in form and in keeping with what you know. Counts as "
                "valid.",
                True,
            ),
            Label(
                "invalid by form",
                "No piece of knowledge: a fragment, a heading, a remark about the list, a commonplace, talk about how "
                "the field develops.",
                False,
            ),
            Label(WRONG, "A complete statement that is not true.", False),
            UNSURE,
        ),
        texts=("statement",),
        unit="point",
        accepted="valid",
    ),
    "pairs": Question(
        what="pairs",
        rubric="duplicate",
        ask="Is one of these two statements redundant, given the other?",
        labels=(
            Label("same", "Both say the same about the same thing, in other words or with pure synonyms.", True),
            Label(
                "distinct",
                "One holds a detail that the other lacks, or they are related but about different things, aspects, "
                "numbers or names.",
                False,
            ),
            UNSURE,
        ),
        texts=("first statement", "second statement"),
        unit="pair",
        accepted="same",
    ),
}
