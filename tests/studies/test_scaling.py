from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from src.errors import ConfigError
from src.figures.canvas import png, svg
from src.studies.scaling import Scaling
from tests.synthetic_union import Planted, make_known

DOMAINS = ("deep_learning", "ml_systems")
LLAMAS = {
    "llama8b": Planted(0.4, 1.5, parameters=8.03),
    "llama70b": Planted(0.75, 2.1, parameters=70.6),
    "llama405b": Planted(0.8, 2.1, parameters=405.9),
}


def scaling(models=None, domains=None):
    return Scaling("scaling", "Do larger models know more?", "taxonomy_l5w5", models, domains)


def test_a_planted_rise_that_flattens_is_found() -> None:
    finding = scaling().run(make_known(LLAMAS, DOMAINS, facts=400))
    head, best, returns, accuracy = finding.verdict
    assert head.startswith("Among these models, the larger ones know more: recall_match +")
    assert "not separable from it" in best or "2 of 2 others are separated" in best
    assert returns.startswith("Returns are diminishing")
    assert "llama8b to llama70b +" in returns
    assert accuracy.startswith("Accuracy changes by +")
    assert finding.missing == ()
    assert len(finding.sources) == 6
    models = finding.tables["models"]
    assert models["model"].to_list() == ["llama8b", "llama70b", "llama405b"]
    assert finding.metrics["recall_match_llama8b"] == models["recall_match"][0]
    steps = finding.tables["steps"]
    assert steps["to"].to_list() == ["llama70b", "llama405b"]
    assert (steps["gain_per_decade_low"] < steps["gain_per_decade"]).all()
    pair = finding.tables["pairs"].filter(model="llama405b", other="llama8b").row(0, named=True)
    low = models.filter(model="llama8b")["recall_match"][0]
    assert pair["difference"] == pytest.approx(models.filter(model="llama405b")["recall_match"][0] - low)


def test_without_an_effect_the_study_stays_quiet() -> None:
    equal = {name: Planted(0.5, parameters=size) for name, size in (("a", 1.0), ("b", 10.0), ("c", 100.0))}
    finding = scaling().run(make_known(equal, facts=150))
    assert "cannot be said to know more or less than the smaller" in finding.verdict[0]
    assert finding.verdict[2].startswith("Returns are not told from constant")
    assert finding.metrics["tied_with_best"] == 3


def test_what_it_takes_to_tell_two_models_apart_is_said_for_those_that_know_most() -> None:
    finding = scaling().run(make_known(LLAMAS, DOMAINS, facts=400))
    row = finding.tables["pairs"].filter(model="llama405b", other="llama70b").row(0, named=True)
    needed, low, high = (f"{row[f'clusters_needed{end}']:,}" for end in ("", "_low", "_high"))
    assert finding.verdict[1].endswith(
        f" A gap of 3 points between llama405b and llama70b would need about {needed} [{low}, {high}] union clusters; "
        f"there are {row['clusters']:,}."
    )
    assert finding.metrics["clusters_needed"] == row["clusters_needed"]
    assert row["clusters_needed_low"] < row["clusters_needed"] < row["clusters_needed_high"]
    assert row["clusters_needed"] < row["clusters_needed_holm"]


def test_beside_the_interval_over_clusters_stands_that_over_branches() -> None:
    finding = scaling().run(make_known(LLAMAS, DOMAINS, facts=400))
    pairs = finding.tables["pairs"]
    assert ((pairs["branch_low"] < pairs["difference"]) & (pairs["difference"] < pairs["branch_high"])).all()
    assert pairs["branches"].to_list() == [100, 100, 100]  # 25 of each model in each domain
    known = make_known(LLAMAS)
    alone = replace(known.unions[0], points=known.unions[0].points.with_columns(branch=pl.lit("")))
    without = scaling().run(replace(known, unions=(alone,))).tables["pairs"]
    assert without["branch_low"].null_count() == 3
    assert set(without["branch_reason"]) == {"a model has points of 1 branch: draws need 3"}
    assert without["difference_low"].null_count() == 0


def test_few_clusters_give_a_slope_without_interval_and_no_claim() -> None:
    known = make_known({"a": Planted(0.0, parameters=1.0), "b": Planted(0.7, parameters=10.0)}, facts=20)
    finding = scaling().run(known)
    assert finding.verdict[0].startswith(
        "Among these models, the larger ones cannot be said to know more or less than the smaller: recall_match +100.0 "
        "percentage points (no interval: 0 of "
    )
    assert finding.metrics["recall_slope_per_decade_low"] is None
    assert "unlike the rest" in finding.tables["steps"]["gain_per_decade_reason"][0]
    assert finding.tables["models"]["recall_count_low"].to_list() == [None, None]


def test_a_step_against_the_slope_is_told() -> None:
    humped = {
        "a": Planted(0.2, parameters=1.0), "b": Planted(0.7, parameters=10.0), "c": Planted(0.5, parameters=100.0)
    }  # fmt: skip
    head = scaling().run(make_known(humped, DOMAINS, facts=400)).verdict[0]
    assert "the larger ones know more on the whole: recall_match +" in head
    assert "; but against it, with the whole interval, 1 of 2 steps between neighbouring sizes: b to c -" in head


def test_what_an_accuracy_rests_on_is_told_with_its_branches() -> None:
    finding = scaling().run(make_known(LLAMAS, DOMAINS, facts=400))
    judged = finding.tables["models"]["judged"].sum()
    assert finding.tables["models"]["branches"].to_list() == [50, 50, 50]
    assert finding.verdict[-1].endswith(f"(n = {judged:,} judged points in 150 branches; unit: branch).")
    assert "percentage points [" in finding.verdict[-1]


def test_a_mid_p_over_several_domains_says_why_it_is_none() -> None:
    pairs = scaling().run(make_known(LLAMAS, DOMAINS)).tables["pairs"]
    assert pairs["p_midp"].null_count() == 3
    assert all("only with one domain" in reason for reason in pairs["p_midp_reason"])
    one = scaling().run(make_known(LLAMAS)).tables["pairs"]
    assert (one["p_midp"].null_count(), set(one["p_midp_reason"])) == (0, {""})


def test_one_model_alone_says_what_is_missing() -> None:
    finding = scaling().run(make_known({"smollm2_135m": Planted(parameters=0.135)}, DOMAINS))
    assert finding.verdict[0].startswith("smollm2_135m is the only model")
    assert any("another size" in clause for clause in finding.missing)
    assert finding.metrics["recall_slope_per_decade"] is None
    assert "two sizes" in finding.metrics["recall_slope_per_decade_reason"]
    assert finding.metrics["recall_match_smollm2_135m_low"] is None
    assert "definition" in finding.metrics["recall_match_smollm2_135m_low_reason"]
    assert set(finding.figures) == {"scaling"}


def test_two_sizes_have_a_slope_and_no_curvature_and_one_size_has_neither() -> None:
    two = scaling(("llama8b", "llama70b")).run(make_known(LLAMAS))
    assert two.metrics["recall_slope_per_decade"] > 0
    assert "three sizes" in two.metrics["recall_curvature_per_decade_reason"]
    assert any("third size" in clause for clause in two.missing)
    twins = {"a": Planted(0.3, parameters=7.0), "b": Planted(0.6, parameters=7.0)}
    one = scaling().run(make_known(twins))
    assert one.verdict[0].startswith("All models are of one size, so there is no slope")
    assert one.tables["steps"].is_empty()


def test_models_of_unknown_size_are_named_and_left_out() -> None:
    known = make_known({**LLAMAS, "gpt": Planted(0.9)})
    finding = scaling(("gpt", "llama8b", "llama70b")).run(known)
    assert "gpt is left out: its parameters are not known" in finding.missing
    assert finding.tables["models"]["model"].to_list() == ["llama8b", "llama70b"]
    with pytest.raises(ConfigError, match=r"parameters of gpt are not known; give them in billions"):
        scaling(("gpt",)).run(known)


def test_every_none_in_the_metrics_has_its_reason() -> None:
    for models in (LLAMAS, {"one": Planted(parameters=1.0)}, {"none": Planted(0.0, parameters=2.0), **LLAMAS}):
        metrics = scaling().run(make_known(models)).metrics
        lacking = {name for name, value in metrics.items() if value is None}
        assert all(metrics[f"{name}_reason"] for name in lacking)
        assert not any(isinstance(value, float) and np.isnan(value) for value in metrics.values())


def test_a_model_without_points_has_no_accuracy_and_a_recall_of_nothing() -> None:
    finding = scaling().run(make_known({"mute": Planted(0.0, parameters=2.0), **LLAMAS}))
    row = finding.tables["models"].filter(model="mute").row(0, named=True)
    assert (row["recall_match"], row["accuracy"]) == (0.0, None)
    assert "no point was judged" in row["accuracy_reason"]
    assert len(finding.verdict) == 3  # no sentence on accuracy: one model has none
    assert png(finding.figures["scaling"])


def test_the_same_input_in_any_order_gives_the_same_bytes() -> None:
    known = make_known(LLAMAS, DOMAINS)
    shuffled = type(known)(known.cells[::-1], (), known.unions[::-1], dict(reversed(known.parameters.items())), 0)
    one, other = scaling().run(known), scaling().run(shuffled)
    assert (one.verdict, one.metrics) == (other.verdict, other.metrics)
    assert all(one.tables[name].write_csv() == other.tables[name].write_csv() for name in one.tables)
    for name, figure in one.figures.items():
        assert png(figure) == png(other.figures[name])
        assert svg(figure) == svg(other.figures[name])


def test_fifty_models_stay_readable() -> None:
    many = {f"model_{k:02d}": Planted(0.2 + k / 100, parameters=0.1 * 1.2**k) for k in range(50)}
    finding = scaling().run(make_known(many, facts=200))
    assert finding.tables["pairs"].height == 1225
    assert max(len(line) for line in finding.verdict) < 600
    assert finding.tables["pairs"]["p_holm"].null_count() == 0
    assert isinstance(finding.tables["models"], pl.DataFrame)
    width, height = finding.figures["differences"].get_size_inches()
    assert width * height < 250
