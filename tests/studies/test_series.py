import polars as pl
import pytest

from src.figures.canvas import png
from src.studies.series import Series
from tests.synthetic_union import Planted, make_known

DOMAINS = ("deep_learning", "ml_systems", "probabilistic_methods")
FAMILIES = {"deepseek_r1_7b": Planted(0.3, 1.0), "llama8b": Planted(0.5, 1.5), "qwen7b": Planted(0.7, 2.2)}


def series(models=None, domains=None):
    return Series("series", "Is the order stable?", "taxonomy_l5w5", models, domains)


def test_a_planted_order_is_stable_and_the_spread_of_accuracy_is_seen() -> None:
    finding = series().run(make_known(FAMILIES, DOMAINS, facts=300))
    stable, recall, accuracy = finding.verdict
    assert stable.startswith("The order of 3 models by recall_match is the same in every domain: Kendall's W 1.00")
    assert "; no reversal beyond noise" in stable
    assert "Best, with those not separable from it: qwen7b; deep_learning: qwen7b;" in recall
    assert accuracy.startswith("Mean accuracy varies by +")
    assert "highest qwen7b" in accuracy
    assert finding.metrics["accuracy_spread_low"] > 0
    assert finding.tables["domains"].filter(model="qwen7b")["rank"].to_list() == [1.0, 1.0, 1.0]
    assert finding.tables["pairs"]["domains_behind"].sum() == 9  # every pair, in every domain, in the order of names


def test_a_reversal_is_named() -> None:
    one = make_known({"a": Planted(0.4), "b": Planted(0.7)}, DOMAINS[:1], facts=300)
    other = make_known({"a": Planted(0.7), "b": Planted(0.4)}, DOMAINS[1:2], facts=300, seed=1)
    known = type(one)(one.cells + other.cells, (), one.unions + other.unions, {}, 0)
    finding = series().run(known)
    assert "cannot be told from chance" in finding.verdict[0]
    assert "0.500 being the least that so few can reach" in finding.verdict[0]
    assert "1 of 1 pair reversed beyond noise: a and b" in finding.verdict[0]
    assert finding.metrics["reversals"] == 1


def test_an_order_with_reversals_agrees_in_part_however_small_its_p() -> None:
    names = [f"m{k}" for k in range(8)]
    turned = {0: 1, 1: 0}
    parts = [
        make_known(
            {name: Planted(0.2 + 0.09 * (turned.get(k, k) if place else k)) for k, name in enumerate(names)},
            [domain], facts=2_000, seed=place,
        )
        for place, domain in enumerate(DOMAINS)
    ]  # fmt: skip
    cells, unions = (tuple(each for part in parts for each in getattr(part, name)) for name in ("cells", "unions"))
    finding = series().run(type(parts[0])(cells, (), unions, {}, 0))
    assert finding.metrics["kendall_w_p"] < 0.05
    assert finding.verdict[0].startswith("The order of 8 models by recall_match agrees in part over domains")
    assert "; 1 of 28 pairs reversed beyond noise: m0 and m1" in finding.verdict[0]


def test_equal_models_have_no_order_and_no_spread() -> None:
    finding = series().run(make_known({name: Planted(0.5) for name in "abcde"}, DOMAINS, facts=80))
    assert "cannot be told from chance" in finding.verdict[0]
    assert finding.metrics["accuracy_spread_low"] == 0
    assert "A gap of 3 points between " in finding.verdict[1]


def test_every_domain_has_recall_count_with_its_interval() -> None:
    domains = series().run(make_known(FAMILIES, DOMAINS)).tables["domains"]
    doubled = domains.filter(pl.col("recall_count_low").is_not_null())
    assert doubled.height == domains.height
    assert (doubled["recall_count_low"] < doubled["recall_count"]).all()
    alone = series().run(make_known({"a": Planted()}, DOMAINS[:1])).tables["domains"].row(0, named=True)
    assert (alone["recall_count"], alone["recall_count_low"]) == (1.0, None)
    assert alone["recall_count_reason"]


def test_one_model_and_one_domain_say_what_is_missing() -> None:
    alone = series().run(make_known({"smollm2_135m": Planted()}, DOMAINS[:1]))
    assert alone.verdict[0].startswith("smollm2_135m is the only model, so there is no order: accuracy")
    assert len(alone.missing) == 2
    assert alone.metrics["kendall_w"] is None
    assert alone.metrics["kendall_w_reason"]
    assert "fewer than two models" in alone.metrics["accuracy_spread_reason"]
    assert set(alone.figures) == {"series"}
    pair = series(domains=("deep_learning",)).run(make_known(FAMILIES, DOMAINS))
    assert pair.verdict[0].startswith("Whether the order is stable cannot be said: one domain")
    assert "reversal" not in pair.verdict[0]


@pytest.mark.parametrize("models", [1, 12])
def test_figures_of_few_and_many_models_are_drawn(models: int) -> None:
    known = make_known({f"<b>model {k}</b> $x_{k}$": Planted(0.3 + k / 40) for k in range(models)}, DOMAINS, facts=60)
    for figure in series().run(known).figures.values():
        assert png(figure).startswith(b"\x89PNG")
