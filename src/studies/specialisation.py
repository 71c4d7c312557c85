"""Study `specialisation`: a specialised model against its general sibling, with a prediction made before the run.

Specialised models are said to start more accurate and to fall off faster (arXiv 2602.00959, trade-off of specialised
and general models).
"""

from __future__ import annotations

from collections import Counter
from typing import ClassVar, Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from src.audited import judged_points
from src.cells import MeasuredCell, source
from src.errors import ConfigError
from src.figures.captions import plural
from src.figures.finding import Finding
from src.figures.specialisation import specialisation
from src.merge import Union
from src.records import Metrics
from src.stats.flat import put_interval
from src.studies.block import absent, by_strategy, caveat_of
from src.studies.comparison import Comparison, compare
from src.studies.duel import Duel, Event, Side, duel, events
from src.studies.duel_tables import duels_table, events_table, gaps_table, turns_table
from src.studies.known import Known
from src.studies.pairing import PAIRED, needed_sentence, put_needed
from src.studies.wording import judged, listed, p_words, points, share

OUTCOMES = ("kept", "not kept", "contradicted", "not contradicted", "undecided", "not testable")
Zone = Literal["inside", "outside"]
DEFINITIONS = {
    "inside, outside": "domains that the specialised model was and was not specialised in, as the configuration says",
    **{term: PAIRED[term] for term in ("recall_match", "difference", "branch_low, branch_high", "clusters_needed")},
    "union": "of these two models, one domain",
    "accuracy by turn": "valid of valid and invalid clusters that first appeared up to a turn; interval: Wilson on "
    "n/deff (unit: branch), with fewer than three branches plain Wilson (unit: point)",
    "decline rate": "(accuracy up to turn 1 − accuracy up to turn T) / (T − 1), T the last turn that both models "
    "reached; interval: linearised, unit branch, t",
    "crossover": "the turn in which the accuracies of new points meet, -β_model/β_interaction of a binomial regression "
    "valid ~ model × turn of first appearance, standard errors by branch, Fieller interval; only if it is bounded and "
    "lies in 1 to T. As an event: the specialised model is ahead before it and behind after it",
    "collapse": "the accuracy of the specialised model declines faster than that of the general one although it was "
    "behind in turn 1 (log odds on the lines of the regression, with the whole interval)",
    "shown": "Holm's p below 5 % over both tests of all domains: for a crossover of the interaction, for a collapse of "
    "the difference of decline rates",
    "kept": "an event that was predicted is shown",
    "contradicted": "an event that was expected not to happen is shown; that it is not shown does not prove that there "
    "is none",
    "undecided": "the decline is faster, and the interval of the lead in turn 1 spans 0",
}


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Prediction:
    """What is expected, stated before the run; where a zone is not named, the event is expected not to happen.

    Attributes:
        crossover: zones in which the specialised model starts ahead and is overtaken.
        collapse: zones in which it falls off without having been ahead.
    """

    crossover: tuple[Zone, ...]
    collapse: tuple[Zone, ...]

    def __str__(self) -> str:
        said = (f"{name} {' and '.join(zones) or 'nowhere'}" for name, zones in self.items())
        return ", ".join(said)

    def items(self) -> tuple[tuple[str, tuple[Zone, ...]], ...]:
        """The events with their zones."""
        return (("crossover", self.crossover), ("collapse", self.collapse))


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Specialisation:
    """A general and a specialised model, in domains inside and outside the speciality.

    Attributes:
        name, question: of the study.
        strategy: by which both were asked.
        general, specialised: names of the models.
        inside, outside: names of domains.
        prediction: stated before the run.
    """

    name: str
    question: str
    strategy: str
    general: str
    specialised: str
    inside: tuple[str, ...]
    outside: tuple[str, ...]
    prediction: Prediction

    probe: ClassVar[str] = "boundary"

    def __post_init__(self) -> None:
        if both := sorted(set(self.inside) & set(self.outside)):
            raise ConfigError(f"study.inside and study.outside both name {listed(both)}: a domain is one or the other")
        if self.general == self.specialised:
            raise ConfigError(f"study.general and study.specialised are both {self.general}: name two models")

    def run(self, known: Known) -> Finding:
        """Test the prediction on what there is; where the models are not there, say that it cannot be tested.

        Raises:
            ConfigError: no cell is by this strategy.
        """
        cells = {(cell.model, cell.domain): cell for cell in by_strategy(known, self.strategy, self.name)}
        zones = dict.fromkeys(sorted(self.inside), "inside") | dict.fromkeys(sorted(self.outside), "outside")
        pair = (self.general, self.specialised)
        fought = []
        missing = absent(cells, pair, list(zones), self.strategy)
        for domain, zone in zones.items():
            if (pair[0], domain) in cells and (pair[1], domain) in cells:
                union = known.union(domain, self.strategy)
                general, specialised = (_side(cells[model, domain]) for model in pair)
                gap = None
                if union is not None and set(pair) <= set(union.models):
                    gap = _gap(union, pair, known.seed)
                else:
                    missing.append(
                        f"no union of {domain} by {self.strategy}, so no recall: run "
                        f"`python -m src.union domain={domain} strategy={self.strategy}`"
                    )
                fought.append(duel(zone, domain, general, specialised, gap))
        tested = events(fought, dict(self.prediction.items()))
        missing += [
            f"{event.name} {event.zone} in {event.domain}: {event.why}" for event in tested if not event.testable
        ]
        turns = turns_table(fought)
        table = events_table(tested)
        used = [cells[model, each.domain] for each in fought for model in pair]
        caveat = caveat_of(used, [union for union in known.unions if union.strategy == self.strategy])
        return Finding(
            name=self.name,
            question=self.question,
            reference="arXiv 2602.00959, specialised against general models",
            verdict=self._verdict(fought, tested),
            metrics=_metrics(fought, tested),
            tables={"events": table, "domains": duels_table(fought), "pairs": gaps_table(fought), "turns": turns},
            figures={"specialisation": specialisation(turns, table, pair, self.strategy, caveat)} if fought else {},
            captions={
                "specialisation": "Accuracy of all points up to a turn, bands: 95 % intervals (unit: branch where "
                "there are three or more, else point). Vertical line and grey band: crossover of the accuracies of new "
                "points with its Fieller interval, where there is one. The sentence under each domain says what was "
                "predicted for it and what was found."
            }
            if fought
            else {},
            definitions=DEFINITIONS,
            missing=tuple(missing),
            sources=tuple(source(cell) for cell in used),
        )

    def _verdict(self, fought: list[Duel], tested: list[Event]) -> tuple[str, ...]:
        stated = f"Predicted before the run: {self.prediction}"
        if not fought:
            return (
                f"Not testable: {self.general} and {self.specialised} have no cells by {self.strategy} in one and the "
                f"same domain. {stated}.",
            )
        lines = [f"{_head(_tally(tested))}. {stated}, and nothing of it elsewhere."]
        lines += [event.sentence for event in tested]
        for each in fought:
            recall = "recall not known (no union)"
            if each.gap is not None:
                (specialised, general), (gap,) = each.gap.recall, each.gap.pairs
                recall = (
                    f"recall_match {share(*specialised)} against {share(*general)}, difference "
                    f"{points(gap.difference, gap.interval)} (n = {plural(gap.interval.n, 'union cluster')}, "
                    f"{p_words(gap.p)})"
                )
            lines.append(
                f"{each.domain} ({each.zone}): {self.specialised} has {recall}; accuracy {share(*each.accuracies[1])} "
                f"({judged(each.accuracies[1][1])}) against {share(*each.accuracies[0])} "
                f"({judged(each.accuracies[0][1])}) at the end."
                f"{needed_sentence((self.specialised, self.general), each.gap) if each.gap else ''}"
            )
        return tuple(lines)


def _side(cell: MeasuredCell) -> Side:
    """A model in a domain, as far as its cell tells."""
    points_of = judged_points(cell.extracted["atoms"], cell.processed["atoms"])
    return Side(cell.model, points_of, cell.extracted["turns"].height)


def _gap(union: Union, pair: tuple[str, str], seed: int) -> Comparison | None:
    """Both on their union, the specialised one first; None if neither has a valid point there."""
    counts = union.counts(pair[::-1])
    return compare([counts], seed, [union.origins(pair[::-1])]) if len(counts) else None


def _tally(tested: list[Event]) -> dict[str, int]:
    """How many events have each outcome; those expected and those not are counted apart."""
    outcomes = Counter(event.outcome for event in tested)
    return {name.replace(" ", "_"): outcomes[name] for name in OUTCOMES}


def _head(tally: dict[str, int]) -> str:
    """The outcomes in words: an event that does not show itself is no success."""
    expected, excluded = (tally[name] + tally[f"not_{name}"] for name in ("kept", "contradicted"))
    said = []
    if expected:
        said.append(f"{tally['kept']} of {plural(expected, 'predicted event')} shown")
    if excluded:
        said.append(
            f"{tally['contradicted']} of {plural(excluded, 'event')} expected not to happen shown (none shown proves "
            "nothing where data are weak)"
        )
    said += [f"{tally[name]} {name.replace('_', ' ')}" for name in ("undecided", "not_testable") if tally[name]]
    return "; ".join(said) if expected or excluded or tally["undecided"] else "Not testable"


def _metrics(fought: list[Duel], tested: list[Event]) -> Metrics:
    metrics: Metrics = {"domains": len(fought), **_tally(tested)}
    for each in fought:
        put_interval(metrics, f"crossover_{each.domain}", each.crossing.turn, each.crossing.interval)
        put_interval(metrics, f"decline_difference_{each.domain}", each.faster.value, each.faster.interval)
        if each.gap is not None:
            (gap,) = each.gap.pairs
            put_interval(metrics, f"recall_difference_{each.domain}", gap.difference, gap.interval)
            put_needed(metrics, f"clusters_needed_{each.domain}", each.gap)
    return metrics
