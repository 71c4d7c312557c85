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

PROCESSING = frozenset({"judge", "dedup", "rubrics"})
"""Root keys that only the second phase reads."""

OPERATION = frozenset({"phases", "run_dir", "debug", "ledger", "budget", "probe"})
"""Root keys that say how or where to run; `probe` only gathers other root keys."""

VOLATILE = frozenset(
    {
        "api_key_env", "timeout_s", "attempts", "concurrency", "debug",  # how an endpoint is reached
        "path", "model_path", "file",  # where a pinned file lies; its hash is the revision
        "price", "parameters",  # what is known about a model, not what it is asked
    }
)  # fmt: skip
"""Fields, at any depth, that change no answer."""


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
    measured = {key: _stable(value) for key, value in config.items() if key not in OPERATION}
    measured["probe"] = config["probe"]["name"]
    extract = {key: value for key, value in measured.items() if key not in PROCESSING}
    return Identity(extract, measured, _digest(extract), _digest(measured))


def _stable(value: Any) -> Any:
    """Drop volatile fields; a base_url counts by its origin, so that another server is another cell."""
    if isinstance(value, Mapping):
        kept = {key: _stable(part) for key, part in value.items() if key not in VOLATILE and key != "base_url"}
        if value.get("base_url"):
            kept["origin"] = origin(str(value["base_url"]))
        return kept
    if isinstance(value, list | tuple):
        return [_stable(part) for part in value]
    return value


def origin(base_url: str) -> str:
    """Scheme, host and port of an address; a user name or password in it is left out."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.hostname or ''}" + (f":{parts.port}" if parts.port else "")


def _digest(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
