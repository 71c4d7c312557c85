"""Options that a command writes into `conf`: never in place of one that a person wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from src.errors import ConfigError
from src.store.files import first_line

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


def option_path(folder: Path, name: str, mark: str) -> Path:
    """Where an option is to be written.

    Args:
        folder: of its group, such as `conf/thresholds`.
        name: how it will be chosen.
        mark: the comment line by which a file says that the same command wrote it.

    Raises:
        ConfigError: the name is none, or a file is there that this command did not write.
    """
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"name {name!r} cannot name an option: 1 to 64 of a-z 0-9 _ are allowed, the first a letter; give name=…"
        )
    path = folder / f"{name}.yaml"
    if path.exists() and mark not in path.read_text(encoding="utf-8", errors="replace").splitlines():
        raise ConfigError(f"{path} is there and was not written by this command: choose another name, as name=…")
    return path


def write_option(path: Path, mark: str, about: Sequence[str], values: Mapping[str, object]) -> None:
    """Write an option of the global package: what it is, one comment line each, then its values.

    Raises:
        ConfigError: it cannot be written.
    """
    comments = "".join(f"# {' '.join(line.split())}\n" for line in about)
    text = f"# @package _global_\n{comments}{mark}\n{yaml.safe_dump(dict(values), sort_keys=False, allow_unicode=True)}"
    fresh = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text, encoding="utf-8", newline="\n")
        fresh.replace(path)
    except OSError as error:
        raise ConfigError(
            f"cannot write the option {path}: {first_line(error)}; set options to a folder you may write"
        ) from error
