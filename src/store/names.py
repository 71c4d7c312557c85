"""Names that become parts of paths: checked here, and nowhere else are paths made of them."""

from __future__ import annotations

import re
from pathlib import Path

from src.errors import ConfigError

SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def slug(name: str, what: str) -> str:
    """Return `name` if it can safely be one part of a path.

    Raises:
        ConfigError: it holds anything but letters, digits, "_", "-" and ".", or starts with one of the latter three.
    """
    if not SLUG.fullmatch(name):
        raise ConfigError(
            f"{what} {name!r} cannot name a folder: 1 to 100 of A-Z a-z 0-9 _ - . are allowed, "
            f"the first a letter or digit; choose another {what}"
        )
    return name


def slug_of(identifier: str) -> str:
    """Make a slug of a model identifier such as `vendor/Model-7B:free` (its last part, in lower case)."""
    last = identifier.rstrip("/").rsplit("/", 1)[-1].lower()
    return re.sub(r"[^a-z0-9_.-]+", "-", last).strip("-._")[:100] or "model"


def run_folder(root: Path, *, probe: str, topic: str, model: str, strategy: str, seed: int, cell_key: str) -> Path:
    """Where an ad hoc run of a cell lies: data/runs/<probe>/<topic>/<model>-<strategy>-s<seed>-<8 of cell_key>."""
    name = f"{slug(model, 'model.name')}-{slug(strategy, 'strategy.name')}-s{seed}-{cell_key[:8]}"
    return root / "data" / "runs" / slug(probe, "probe") / slug(topic, "domain.name") / name
