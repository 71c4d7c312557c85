"""The words that go with a result wherever it is shown: what it is about, who judged, why it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

CENSORED = frozenset({"budget", "context", "error"})
"""Stop reasons that cut a run short, so that its counts are lower bounds."""

_JUDGES = {
    "rules": (
        "form checked, not truth",
        "Fixed rules looked at the form of each point; nobody checked whether it is true.",
    ),
    "llm": (
        "judged by a language model",
        "A language model decided what is valid; people did not check it in this run.",
    ),
    "oracle": (
        "judged by the simulator's own truth",
        "The simulator knows which of its points are true; it errs at the rates that `judge` sets, by default never.",
    ),
    "match": (
        "compared with the gold answer",
        "An answer counts as right if it is the gold answer or one of its aliases once both are normalised; a right "
        "answer in other words counts as wrong.",
    ),
    "rehearsed": (
        "labels drawn by lot",
        "The rehearsal server drew a label for each point; nobody looked at any.",
    ),
}
_SUBJECTS = {
    "simulated": "Simulated: no language model was asked; the numbers describe the simulator.",
    "rehearsed": "Rehearsed: no language model was asked; the rehearsal server made the answers up.",
    "recorded": "Recorded: the answers were collected elsewhere; how they were obtained is not known here.",
}
_STOPS = {
    "saturated": "the last turn brought too little that was new",
    "max_turns": "the limit of turns was reached before saturation, so more may be there",
    "budget": "a limit on calls, tokens or money was reached; cut short, so the counts are lower bounds",
    "context": "the next prompt did not fit the model's context window; cut short, so the counts are lower bounds",
    "error": "the endpoint failed; cut short, so the counts are lower bounds; run again to continue",
    "recorded": "the answers were collected elsewhere, and all of them were taken",
    "finished": "every question was asked; what was not obtained is counted as missing",
}


@dataclass(frozen=True)
class Title:
    """What a result is about.

    Attributes:
        model, strategy, domain: names (slugs) of what was asked, how, and about what: a domain or a data set.
        query: the domain as the prompts say it.
        judge: `rules`, `llm`, `oracle`, `match` (with a gold answer), or `rehearsed`: a model at the rehearsal server.
        subject: `real`, `simulated` (the in-process simulator), `rehearsed` (the rehearsal server) or `recorded`.
    """

    model: str
    strategy: str
    domain: str
    query: str
    judge: str
    subject: Literal["real", "simulated", "rehearsed", "recorded"] = "real"

    @property
    def line(self) -> str:
        """`model · domain · strategy`."""
        return f"{self.model} · {self.domain} · {self.strategy}"

    @property
    def caveat(self) -> str:
        """What the judge does not check and whether the subject is a real model, in a few words."""
        return (
            f"{self.subject} · " if self.subject != "real" else ""
        ) + f"judge {self.judge}: {judge_label(self.judge)}"


REHEARSAL = "rehearsal"
"""Name of the endpoint whose answers mean nothing."""


def at_rehearsal(node: Mapping[str, Any]) -> bool:
    """Whether what a node of a configuration describes is asked at the rehearsal server."""
    return (node.get("endpoint") or {}).get("name") == REHEARSAL


def title_of(config: Mapping[str, Any]) -> Title:
    """What a cell is about, from its configuration, composed or as stored."""
    subject: Literal["real", "simulated", "rehearsed", "recorded"] = "real"
    if config["model"]["_target_"] == "src.llm.recorded.Recorded":
        subject = "recorded"
    elif config["model"]["_target_"] == "src.llm.simulated.Simulated":
        subject = "simulated"
    elif at_rehearsal(config):
        subject = "rehearsed"
    model = config["model"]["name"]
    if "dataset" in config:  # questions whose answers are known
        topic = config["dataset"]["name"]
        how = [config["knowledge"], config["reasoning"], *(["base"] if config["form"] == "completion" else [])]
        return Title(model, "_".join(how), topic, topic, "match", subject)
    judge = "rehearsed" if at_rehearsal(config["judge"]) else config["judge"]["kind"]
    domain = config["domain"]
    return Title(model, config["strategy"]["name"], domain["name"], domain["query"], judge, subject)


def subject_sentence(subject: str) -> str:
    """Where the answers came from if no language model was asked now; "" for a real one."""
    return _SUBJECTS.get(subject, "")


def judge_label(kind: str) -> str:
    """Who decided what is valid, in a few words; an unknown kind is named as it is."""
    return _JUDGES[kind][0] if kind in _JUDGES else f"judged by {kind}"


def judge_sentence(kind: str) -> str:
    """What a verdict of this kind of judge means, as a sentence."""
    return _JUDGES[kind][1] if kind in _JUDGES else f"Points were judged by {kind}."


def stop_words(reason: str) -> str:
    """A stop reason explained; an unknown one is named as it is."""
    return _STOPS.get(reason, f"stop reason {reason}")


def percent(share: float) -> str:
    """A share as `81.2 %`."""
    return f"{100 * share:.1f} %"


def plural(count: int, noun: str) -> str:
    """`1 turn`, `1,234 turns`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
