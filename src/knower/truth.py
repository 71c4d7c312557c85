"""The truth about a run of a simulated model, to stand beside what was estimated of it; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from math import comb

import numpy as np
import polars as pl

from src.knower.answer import MINING, scope_of
from src.knower.drawing import chances
from src.knower.knowledge import Knower, knowledge
from src.knower.wording import Statement, domain_tag, read
from src.knower.world import Numbers, World
from src.records import Metrics, Tables

NO_REPEATS = "the mining prompts of turn 1 were not repeated (repeats: 1)"
NO_REACH = "the mining prompts of turn 1 can bring no fact that the model knows"


def truth(
    world: World, knower: Knower, query: str, extracted: Tables, processed: Tables, expert_points: int
) -> Metrics:
    """What an estimator would have to say, each with a `<name>_reason` where there is nothing to say.

    Args:
        world: what there is to know.
        knower: the model.
        query: the domain, as prompts say it.
        extracted: the tables of the extraction.
        processed: the tables of the processing.
        expert_points: points that an expert is asked for.

    Returns:
        `truth_unique`, `truth_valid`: different meanings among the raw points, and those of them that are true;
        `truth_accuracy`: share of the run's clusters whose representative is true;
        `truth_wrong_merges`: pairs of distinct texts in one cluster that mean different things;
        `truth_missed_merges`: pairs of distinct texts that mean the same, in two clusters;
        `truth_known`: facts of the domain that the model knows;
        `truth_reachable`: units (branch, known fact) that the mining prompts of turn 1 can bring;
        `truth_coverage`: share of their chances that belongs to units which the repeats brought.
    """
    points = extracted["atoms"].select("atom_id", "text").join(processed["atoms"], on="atom_id", how="left")
    meanings = [_meaning(text) for text in points["text"]]
    chance = _chances(world, knower, query, extracted["calls"], expert_points)
    return {
        "truth_unique": len(set(meanings)),
        "truth_valid": sum(_true(meaning) for meaning in set(meanings)),
        **_accuracy(points.filter("unique")["text"]),
        **_merges(points.unique("text", keep="first", maintain_order=True)),
        "truth_known": int(knowledge(world, knower, query).known.sum()),
        "truth_reachable": sum(int((row > 0).sum()) for row in chance.values()),
        **_coverage(chance, domain_tag(world, query), extracted),
    }


def _meaning(text: str) -> Hashable:
    """What a text means; one that is no statement means itself."""
    return read(text) or text


def _true(meaning: Hashable) -> bool:
    return isinstance(meaning, Statement) and meaning.what == "true"


def _accuracy(representatives: Iterable[str]) -> Metrics:
    right = [_true(_meaning(text)) for text in representatives]
    if not right:
        return {"truth_accuracy": None, "truth_accuracy_reason": "no points were found"}
    return {"truth_accuracy": sum(right) / len(right)}


def _merges(texts: pl.DataFrame) -> Metrics:
    """Pairs of distinct texts that clusters and meanings disagree about, from the table of the two."""
    meanings = [_meaning(text) for text in texts["text"]]
    clusters = texts["cluster_id"].to_list()
    both = _pairs(zip(clusters, meanings, strict=True))
    return {
        "truth_wrong_merges": _pairs(clusters) - both,
        "truth_missed_merges": _pairs(meanings) - both,
    }


def _pairs(labels: Iterable[Hashable]) -> int:
    """Pairs that have one label."""
    return sum(comb(count, 2) for count in Counter(labels).values())


def _chances(world: World, knower: Knower, query: str, calls: pl.DataFrame, expert_points: int) -> dict[str, Numbers]:
    """By branch the chances of one answer to its mining prompt of turn 1 to hold each known fact, shape (n,)."""
    known = knowledge(world, knower, query)
    nothing = np.zeros((1, world.facts), dtype=bool)
    asked = calls.filter(pl.col("turn") == 1, pl.col("prompt").is_in(MINING)).unique(["prompt", "branch"])
    return {
        branch: chances(known, scope_of(prompt, branch, expert_points), 1, nothing).facts[0] * known.known
        for prompt, branch in asked.select("prompt", "branch").sort("branch").iter_rows()
    }


def _coverage(chance: dict[str, Numbers], domain: int, extracted: Tables) -> Metrics:
    draws = extracted["draws"].row(0, named=True)
    total = sum(row.sum() for row in chance.values())
    if reason := draws["reason"] or (NO_REPEATS if draws["asked"] == 1 else NO_REACH if not total else ""):
        return {"truth_coverage": None, "truth_coverage_reason": reason}
    units = {(branch, _meaning(text)) for branch, text in extracted["repeats"].select("branch", "text").iter_rows()}
    seen = [
        chance[branch][meaning.number]
        for branch, meaning in units
        if isinstance(meaning, Statement) and meaning.what == "true" and meaning.domain == domain
    ]
    return {"truth_coverage": float(sum(sorted(seen)) / total)}
