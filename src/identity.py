"""What makes a cell the cell it is: the configuration that its answers depend on, and the keys hashed from it.

Anything at the root of the configuration is part of the extraction unless it is named here; a new knob therefore
changes the key by itself, and forgetting to list it can cost a rerun but never mixes two results.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

PROCESSING = frozenset({"judge", "dedup", "rubrics", "confidence_over"})
"""Root keys that only the second phase reads."""

OPERATION = frozenset({"phases", "run_dir", "sweep", "dry", "debug", "ledger", "budget", "probe", "recorded"})
"""Root keys that say how or where to run; `probe` only gathers other root keys, and a recording counts by its hash."""

_REACHED = frozenset(
    {
        *("api_key_env", "timeout_s", "deadline_s", "attempts", "concurrency"),
        *("requests_per_minute", "tokens_per_minute", "debug", "model_path"),
    }
)
VOLATILE = {
    "endpoint": _REACHED,  # how a server is reached; where a pinned file lies, whose hash is the revision
    "strategy": frozenset({"path"}),  # where a recording lies, whose hash is the model's revision
    "model": frozenset({"file", "price", "parameters"}),  # what is known about a model, not what it is asked
    "judge": frozenset({"price", "parameters"}),
    "embedder": frozenset({"path", "price"}),
    "dataset": frozenset({"path", "source"}),  # where a file lies, whose hash is the revision
}
"""By the section they stand in, fields that change no answer. What lies deeper, such as `extra_body`, always counts."""


@dataclass(frozen=True)
class Identity:
    """The hashed configuration of a cell and its keys.

    Attributes:
        extract: what the raw answers depend on; process: the same and what judging depends on.
        extract_key, cell_key: sha256 hex digests of the two.
    """

    extract: dict[str, Any]
    process: dict[str, Any]
    extract_key: str
    cell_key: str


def identity(config: Mapping[str, Any]) -> Identity:
    """Derive the identity of a cell from its resolved root configuration."""
    measured = _stable({key: value for key, value in config.items() if key not in OPERATION}, frozenset())
    measured["probe"] = config["probe"]["name"]
    extract = {key: value for key, value in measured.items() if key not in PROCESSING}
    return Identity(extract, measured, _digest(extract), _digest(measured))


def stable(config: Mapping[str, Any]) -> dict[str, Any]:
    """Sections of a resolved configuration without the fields that change no answer, as a cell folder stores them."""
    return _stable(config, frozenset())


def key_of(stored: Mapping[str, Any]) -> str:
    """The key of a configuration as a folder stores it; that of a cell is its cell_key."""
    return _digest(stored)


def _stable(node: Mapping[str, Any], volatile: frozenset[str]) -> dict[str, Any]:
    """Drop volatile fields; a base_url counts by its origin, so that another server is another cell."""
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key == "base_url" and volatile is _REACHED:
            kept["origin"] = origin(str(value))
        elif isinstance(value, Mapping):
            kept[key] = _stable(value, VOLATILE.get(key, frozenset()))
        elif key not in volatile:
            kept[key] = _plain(value)
    return {key: value for key, value in kept.items() if key not in volatile}


def _plain(value: Any) -> Any:
    """1.0 and 1 are the same number and so the same key."""
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def origin(base_url: str) -> str:
    """Scheme, host and port of an address; a user name or password in it is left out."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.hostname or ''}" + (f":{parts.port}" if parts.port else "")


def _digest(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
