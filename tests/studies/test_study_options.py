"""Studies that compare models are configured by their YAML files alone."""

import pytest
from conftest import CONF
from omegaconf import OmegaConf

from src.lab.config import build
from src.studies.specialisation import Prediction


@pytest.mark.parametrize("name", ["scaling", "series", "specialisation"])
def test_the_option_builds_its_study(name: str) -> None:
    node = OmegaConf.to_container(OmegaConf.load(CONF / "study" / f"{name}.yaml"))
    study = build(node, "study")
    assert study.name == name
    assert (study.strategy, study.question.endswith("?")) == ("taxonomy_l5w5", True)


def test_the_prediction_is_stated_in_the_configuration() -> None:
    study = build(OmegaConf.to_container(OmegaConf.load(CONF / "study" / "specialisation.yaml")), "study")
    assert study.prediction == Prediction(crossover=("inside",), collapse=("outside",))
    assert str(study.prediction) == "crossover inside, collapse outside"
