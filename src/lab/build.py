"""From a composed configuration to objects: resolved, checked, its classes built; what is wrong is one sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from src.errors import ConfigError, FrontierError

ROOT = Path(__file__).resolve().parents[2]


def resolved(cfg: DictConfig) -> dict[str, Any]:
    """Resolve a composed configuration.

    Raises:
        ConfigError: a value is missing, or cannot be resolved or written.
    """
    try:
        config = cast(dict[str, Any], OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True))
    except OmegaConfBaseException as error:
        if missing := _missing(error):
            raise ConfigError(f"{missing} is not set: give it, as {missing}=…") from None
        raise ConfigError(f"the configuration cannot be resolved: {_first_line(error)}") from error
    try:
        json.dumps(config, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConfigError("the configuration holds bytes that are no UTF-8; write the value in UTF-8") from error
    return config


def build(node: Mapping[str, Any], what: str) -> Any:
    """Instantiate a configuration node; a bad value is one sentence.

    Raises:
        ConfigError: the node does not fit its class.
    """
    try:
        return instantiate(dict(node), _convert_="all")
    except InstantiationException as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, ValidationError | FrontierError):
            cause = cause.__cause__
        if isinstance(cause, FrontierError):
            raise cause from None
        if isinstance(cause, ValidationError):
            raise ConfigError(_fields(cause, what)) from None
        raise ConfigError(f"{what} cannot be built: {_first_line(error)}") from error


def without(node: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """A configuration node without some of its fields."""
    return {key: value for key, value in node.items() if key not in names}


def _missing(error: OmegaConfBaseException) -> str:
    """The value that has to be given and is not, also where another one refers to it; "" for other faults."""
    if isinstance(error, MissingMandatoryValue):
        return str(error.full_key)
    found = re.search(r"Missing mandatory value: (\S+)", str(error))
    return found[1] if found else ""


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0]


def _fields(error: ValidationError, what: str) -> str:
    """The faults of a configuration node: where, what is allowed, and the value unless it might be a secret."""
    faults = []
    for fault in error.errors():
        # The probe gathers sections of the root by their names: what is set there is set at the root.
        where = ".".join(str(part) for part in (what if what != "probe" else "", *fault["loc"]) if part != "")
        value = f"={fault['input']!r}" if isinstance(fault["input"], str | int | float) and _harmless(fault) else ""
        faults.append(f"{where}{value}: {fault['msg'].removeprefix('Value error, ')}")
    return "; ".join(faults)


def _harmless(fault: ErrorDetails) -> bool:
    """Whether a refused value can be shown: not that of an unknown field, a key or an address."""
    unknown = fault["type"] in ("unexpected_keyword_argument", "extra_forbidden")
    return not unknown and not any(word in str(part) for part in fault["loc"] for word in ("key", "url"))
