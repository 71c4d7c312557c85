"""What a probe reads of a configuration, and what of it is refused because the probe would not read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

from src.errors import ConfigError
from src.lab.build import ROOT

OPTIONAL_ROLES = {"judge", "embedder"}
"""Of the lab; a probe that does without one has cells that do not hang on how it is configured."""
OPTIONAL = {"thresholds": "saturation"}
"""Options that are not called like the root value that they set."""


def check_temperature(config: Mapping[str, Any], overrides: Sequence[str]) -> None:
    """Refuse a model that takes no temperature where the probe needs one.

    Raises:
        ConfigError: it is one.
    """
    model = config["model"]
    if "temperature" in overrides and model.get("temperature", "") is None:
        raise ConfigError(
            f"model.temperature=null says that {model['id']} takes no temperature, but probe={config['probe']['name']} "
            "compares a greedy answer with sampled ones: choose a model that takes it"
        )


def check_read(config: Mapping[str, Any], overrides: Sequence[str]) -> None:
    """Refuse options that were given and that the probe does not read.

    Raises:
        ConfigError: there is one.
    """
    knobs = knobs_of_all()
    for path in _given():
        name = path.split(".")[0]
        ignored = OPTIONAL.get(name, name) in knobs | OPTIONAL_ROLES and OPTIONAL.get(name, name) not in config
        if ignored or path in {f"model.{value}" for value in overrides}:
            raise ConfigError(f"probe={config['probe']['name']} makes no use of {path}: leave {path}=… out")


def _given() -> Iterator[str]:
    """Dotted names of what was set on the command line."""
    given = HydraConfig.get().overrides.task if HydraConfig.initialized() else []
    for override in OverridesParser.create().parse_overrides(list(given)):
        yield override.key_or_group
        value = override.value()
        if isinstance(value, dict):
            yield from (f"{override.key_or_group}.{name}" for name in value)


def knobs_of(probe: DictConfig) -> set[str]:
    """Root values that a probe reads, by the interpolations in its node."""
    return set(re.findall(r"\$\{(\w+)\}", str(OmegaConf.to_container(probe, resolve=False))))


def knobs_of_all() -> set[str]:
    """Root values that some probe reads: an option may set a knob of one, and is there for the others too."""
    files = (ROOT / "conf" / "probe").glob("*.yaml")
    return set[str]().union(*(knobs_of(cast(DictConfig, OmegaConf.load(path)).probe) for path in files))
