"""Unions made for real: recorded models through `run`, then `union`; what is known about them must come out exactly."""

from collections.abc import Iterable, Mapping
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import Compose
from unions import WHAT, Measure, fact, merged

from src.cells import find_cells
from src.errors import ConfigError, DataMissing
from src.lab.build import ROOT
from src.merge import find_unions
from src.rehearsal import Rehearsal
from src.stats.recall import jaccard, leave_one_out, recall_count, recall_match, unique_discoveries

SHARES: Mapping[str, Iterable[int]] = {
    "one": range(60),
    "two": range(40, 80),
    "three": [*range(10), *range(70, 100)],
}


@pytest.mark.parametrize("names", list(permutations(("a", "b", "c"))))
def test_known_shares_come_out_exactly_in_every_order_of_the_models(
    measure: Measure, tmp_path: Path, names: tuple[str, str, str]
) -> None:
    called = dict(zip(SHARES, names, strict=True))
    for model, numbers in SHARES.items():
        texts = [fact(number) for number in numbers]
        texts += [texts[0].replace("The ", "The very same ")] if model == "one" else []
        measure(called[model], texts, "dedup.strict=0.99")
    merged(tmp_path, "dedup.strict=0.99")
    (made,) = find_unions(tmp_path / "cells")
    counts = made.counts(models=[called[model] for model in SHARES])
    assert counts.shape == (101, 3)
    assert recall_match(counts).tolist() == [61 / 101, 40 / 101, 40 / 101]
    assert unique_discoveries(counts).tolist() == [31, 10, 20]
    assert jaccard(counts).tolist() == [[1, 20 / 81, 10 / 91], [20 / 81, 1, 10 / 70], [10 / 91, 10 / 70, 1]]
    assert leave_one_out(counts).tolist() == [30 / 70, 30 / 91, 20 / 81]
    assert made.metrics[f"recall_match_{called['two']}"] == 40 / 101


def test_which_model_is_called_what_changes_no_cluster(measure: Measure, tmp_path: Path) -> None:
    texts = [
        f"The {WHAT[i % 7]} of a layer scales weights in {'training' if i % 2 else 'the training'}." for i in range(14)
    ]
    found = []
    for names in (("a", "b"), ("b", "a")):
        for name, part in zip(names, (texts[:9], texts[5:]), strict=True):
            measure(name, part)
        merged(tmp_path)
        (made,) = find_unions(tmp_path / "cells")
        sets = (
            made.points.drop_nulls("cluster")
            .join(made.nodes, on="node")
            .group_by("cluster")
            .agg(pl.col("text").unique())
        )
        found.append(sorted(sorted(texts) for texts in sets["text"].to_list()))
    assert found[0] == found[1]
    assert 0 < len(found[0]) < 14


def test_paraphrases_of_one_fact_cannot_lift_recall_above_one(measure: Measure, tmp_path: Path) -> None:
    plain = [f"Layer {number} learns edges." for number in range(10)]
    measure("wordy", [*plain, "Layer 1 learns the edges.", "Layer 2 learns the edges."], "dedup.strict=0.999")
    measure("terse", plain[:5], "dedup.strict=0.999")
    merged(tmp_path, "dedup.strict=0.999")
    (made,) = find_unions(tmp_path / "cells")
    counts = made.counts()
    assert recall_match(counts).max() <= 1
    assert (recall_count(counts) >= recall_match(counts)).all()


def test_a_setting_of_the_sweep_is_what_cells_and_union_made_with_it_would_be(measure: Measure, tmp_path: Path) -> None:
    texts = [
        f"The {noun} of layer {i} {verb} weights {end}."
        for i, noun in enumerate(("output", "gradient", "norm"))
        for verb in ("scales", "updates")
        for end in ("in training", "during training", "in each training step", "slowly")
    ]
    shares = {"a": texts[:16], "b": texts[8:]}
    for model, part in shares.items():
        measure(model, part)
    merged(tmp_path)
    (own,) = find_unions(tmp_path / "cells")
    before = own.counts()
    setting = (0.90, 0.65)
    for model, part in shares.items():
        measure(model, part, "dedup.strict=0.9", "dedup.fuzzy=0.65")
    merged(tmp_path, "dedup.strict=0.9", "dedup.fuzzy=0.65")
    (other,) = find_unions(tmp_path / "cells")
    assert sorted(map(tuple, own.counts(setting=setting))) == sorted(map(tuple, other.counts()))
    assert len(other.counts()) != len(before), "the settings do not differ here, so nothing was tested"


def test_the_judge_is_asked_once_for_what_models_share(composed: Compose, tmp_path: Path, measure: Measure) -> None:
    with Rehearsal() as server:
        judge = (
            "judge=openai",
            "judge.id=scripted",
            "endpoint@judge.endpoint=rehearsal",
            f"judge.endpoint.base_url={server.base_url}",
        )
        texts = [f"The {noun} of a layer scales weights {end}." for noun in WHAT for end in ("in training", "in tests")]
        measure("a", texts[:12], *judge)
        measure("b", texts[8:], *judge)
        merged(tmp_path, *judge, "dry=true")
        asked = server.arrived
        assert not (tmp_path / "cells" / "union").exists()
        merged(tmp_path, *judge)
        first = server.arrived
        assert first > asked
        folder = tmp_path / "cells" / "union" / "deep_learning" / "recorded"
        content = {path.name: path.read_bytes() for path in folder.iterdir()}
        merged(tmp_path, *judge)
        assert server.arrived == first
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == content


def test_a_union_of_one_model_holds_all_it_knows(measure: Measure, tmp_path: Path) -> None:
    measure("alone", [fact(number) for number in range(5)])
    merged(tmp_path)
    (made,) = find_unions(tmp_path / "cells")
    assert made.metrics["recall_match_alone"] == 1.0
    for end in ("low", "high"):
        assert made.metrics[f"recall_match_alone_{end}"] is None
        assert "alone" in str(made.metrics[f"recall_match_alone_{end}_reason"])
    assert made.metrics["leave_one_out_alone"] is None
    assert "alone" in str(made.metrics["leave_one_out_alone_reason"])


def test_a_model_without_a_valid_point_has_recall_zero(measure: Measure, tmp_path: Path) -> None:
    measure("good", [fact(number) for number in range(5)])
    measure("empty", ["Overview"])
    merged(tmp_path)
    (made,) = find_unions(tmp_path / "cells")
    assert dict(zip(made.models, recall_match(made.counts()), strict=True)) == {"empty": 0.0, "good": 1.0}


def test_nothing_valid_at_all_gives_reasons(measure: Measure, tmp_path: Path) -> None:
    measure("empty", ["Overview"])
    merged(tmp_path)
    (made,) = find_unions(tmp_path / "cells")
    assert made.metrics["clusters"] == 0
    assert made.metrics["recall_match_empty"] is None
    assert made.metrics["recall_match_empty_reason"]


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (("judge=openai",), "give that of the cells, as judge=…"),
        (("embedder=minilm",), "give that of the cells, as embedder=…"),
        (("thresholds=paper",), "was merged with dedup"),
        (("dedup.linkage=greedy",), "depends on the order of the models"),
        (("domain=ml_systems",), "there are deep_learning"),
        (("where={seed: 7}",), "fits where"),
        (("where={no.such: 7}",), "no cell has a value no.such"),
        (("cells=nowhere/at/all",), "holds no finished cell"),
        (("budget.usd=1", "judge=openai"), "judge.price is null"),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_sentence(
    measure: Measure, tmp_path: Path, overrides: tuple[str, ...], said: str
) -> None:
    measure("a", [fact(1)])
    with pytest.raises((ConfigError, DataMissing), match=said):
        merged(tmp_path, *overrides)
    assert not (tmp_path / "cells" / "union").exists()


def test_two_cells_of_one_model_need_a_choice(measure: Measure, tmp_path: Path) -> None:
    measure("a", [fact(1)])
    measure("a", [fact(1)], "seed=1", name="again")
    with pytest.raises(ConfigError, match="they differ in seed"):
        merged(tmp_path)
    merged(tmp_path, "where={seed: 1}")
    (made,) = find_unions(tmp_path / "cells")
    assert made.models == ("a",)
    keys = {cell.key: cell.value("seed") for cell in find_cells(tmp_path / "cells", ROOT).cells}
    assert keys[made.keys["a"]] == 1


def test_variants_stay_out_of_unions_and_unfinished_cells_are_named(measure: Measure, tmp_path: Path) -> None:
    measure("a", [fact(1)])
    measure("a", [fact(1), fact(2)], "prompts=synonyms", name="a-synonyms")
    measure("b", [fact(3)], "phases=[extract]")
    found = find_cells(tmp_path / "cells", ROOT)
    assert [clause.rpartition("/")[2] for clause in found.unfinished] == ["b is not finished"]
    merged(tmp_path)
    (made,) = find_unions(tmp_path / "cells")
    assert made.models == ("a",)
    assert made.counts().tolist() == [[1]]


def test_counts_leave_out_what_the_chosen_models_do_not_touch(measure: Measure, tmp_path: Path) -> None:
    measure("a", [fact(1), fact(2)])
    measure("b", [fact(2), fact(3)])
    merged(tmp_path)
    (made,) = find_unions(tmp_path / "cells")
    assert made.counts().sum(axis=0).tolist() == [2, 2]
    assert np.array_equal(made.counts(models=["b"]), [[1], [1]])


def test_the_table_of_clusters_has_a_column_per_model(measure: Measure, tmp_path: Path) -> None:
    measure("a", [fact(1), fact(2)])
    measure("b", [fact(2), fact(3)])
    merged(tmp_path)
    table = pl.read_parquet(tmp_path / "cells" / "union" / "deep_learning" / "recorded" / "clusters.parquet")
    assert table.columns == ["cluster", "text", "points_a", "points_b"]
    rows = {row["text"]: (row["points_a"], row["points_b"]) for row in table.iter_rows(named=True)}
    assert rows == {fact(1): (1, 0), fact(2): (1, 1), fact(3): (0, 1)}
