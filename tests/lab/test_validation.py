"""`python -m src.validate` from a composed configuration to a finding, its page and its section of the report."""

from __future__ import annotations

import json

import pytest
from hydra import compose

from src.errors import ConfigError
from src.lab.validation import validate
from src.store import read_findings

TINY = (
    "{why: quick, world: {facts: 60, topics: [2, 2]}, widths: [2, 2], turns: 2, sheet: 20, "
    "judge: {false_valid: 0, false_invalid: 0}}"
)


def configured(tmp_path, *overrides):
    places = (f"reports={tmp_path / 'reports'}", f"page={tmp_path / 'docs' / 'validation.md'}")
    small = ("seeds=2", "universes=20", "workers=1", "max_turns=3", "encoder=hashing", "pipeline=0", "studies=null")
    return compose("validate", [*places, *small, f"+try.tiny={TINY}", "settings=[tiny]", *overrides])


@pytest.mark.usefixtures("composed")
def test_a_validation_leaves_a_finding_and_a_page_and_the_same_bytes_again(tmp_path):
    told = []
    cfg = configured(tmp_path, "pipeline=1", f"++second_way={TINY}", "studies=tiny")
    finding, folder = validate(cfg, told.append)
    (stored,) = read_findings(tmp_path / "reports")
    assert (stored.kind, stored.folder) == ("validation", folder)
    assert stored.facts["cautions"][0].startswith("Simulated:")
    assert set(stored.tables) == set(finding.tables)
    assert {"coverage", "estimates_of_shares", "studies", "patience", "ways_of_counts", "linkages"} <= set(
        stored.tables
    )
    assert {step.phase for step in told} == {"tiny: truth", "tiny: trials", "studies", "through text"}
    page = (tmp_path / "docs" / "validation.md").read_text()
    assert "| accuracy, leaf interval | 95 % |" in page
    assert "](../reports/validation/estimators/coverage.png)" in page
    assert "Missing" not in page
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    validate(configured(tmp_path, "pipeline=1", f"++second_way={TINY}", "studies=tiny"), told.append)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert (tmp_path / "docs" / "validation.md").read_text() == page


@pytest.mark.usefixtures("composed")
def test_no_page_is_written_where_none_is_wanted_and_what_was_not_tried_is_missing(tmp_path):
    finding, folder = validate(configured(tmp_path, "page=null"), lambda _: None)
    assert not (tmp_path / "docs").exists()
    assert len(finding.missing) == 2
    assert json.loads((folder / "metrics.json").read_text())["settings"] == 1


@pytest.mark.usefixtures("composed")
def test_an_unknown_setting_is_one_sentence(tmp_path):
    with pytest.raises(ConfigError, match="there is no setting huge; there are default, few_branches"):
        validate(configured(tmp_path, "settings=[huge]"), lambda _: None)


@pytest.mark.usefixtures("composed")
@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("second_way.judge.false_valid=0.1", "second_way.judge errs"),
        ("second_way.widths=[4, 4]", "there is no strategy=taxonomy_l4w4"),
    ],
)
def test_a_second_way_that_cannot_be_gone_is_one_sentence(tmp_path, override, said):
    with pytest.raises(ConfigError, match=said):
        validate(configured(tmp_path, "pipeline=1", override), lambda _: None)
