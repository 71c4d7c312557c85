"""The rules of the house that no linter knows: small modules, telling names, a file map that is complete."""

from __future__ import annotations

import tomllib
from pathlib import Path
from statistics import median

import pytest
from packaging.requirements import Requirement

from docs import tables

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "src").rglob("*.py"))

README = """# A title
<!-- generated: options -->
<!-- end -->
Between.
<!-- generated: knobs -->
OUTDATED
<!-- end -->
<!-- generated: files -->
<!-- end -->
Last.
"""


@pytest.fixture
def small(tmp_path):
    """A project with one probe of its own, a README and nothing else."""
    written = {
        "README.md": README,
        "src/__init__.py": '"""A package."""\n',
        "src/deep/dig.py": '"""Digs | deeper.\n\nMore.\n"""\n',
        "conf/config.yaml": (
            "defaults:\n  - probe: dig\n  - model: small\n  - _self_\n"
            "seed: 0\nphases: [extract, process]  # which halves to run\nbudget:\n  calls: null  # none: no limit\n"
            "hydra: {output_subdir: null}\n"
        ),
        "conf/probe/dig.yaml": "# @package _global_\n# Digs.\nmax_turns: 15  # turns\nprobe: {turns: '${max_turns}'}\n",
        "conf/probe/sink.yaml": "# @package _global_\n# Sinks.\ndepth: 1\nprobe: {depth: '${depth}'}\n",
        "conf/model/small.yaml": "# @package _global_\n# A small model.\nmax_turns: 6\nmodel: {name: small}\n",
    }
    for name, text in written.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_modules_are_small():
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert median(lines.values()) <= 150
    assert {name: count for name, count in lines.items() if count > 300} == {}


def test_no_module_is_named_after_nothing():
    vague = {"utils", "util", "common", "helpers", "base", "misc", "core"}
    assert [path for path in MODULES if vague & {path.stem, *path.relative_to(ROOT).parent.parts}] == []


def test_every_module_is_in_the_file_map_of_the_readme():
    rows = tables.files(ROOT)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(rows.splitlines()) == len(MODULES) + 2, "a module has no docstring"
    assert [row for row in rows.splitlines() if row not in readme.splitlines()] == []


def test_every_dependency_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split())
    pinned = {name.lower().replace("_", "-"): version for name, version in pins.items()}
    for line in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        wanted = Requirement(line)
        assert wanted.specifier.contains(pinned[wanted.name]), line


def test_tables_are_written_between_their_markers_and_then_current(small, capsys):
    assert tables.main(["--check"], root=small) == 1
    assert "make docs" in capsys.readouterr().err
    assert tables.main([], root=small) == 0
    assert tables.main(["--check"], root=small) == 0
    readme = (small / "README.md").read_text()
    assert readme.startswith("# A title\n")
    assert readme.endswith("<!-- end -->\nLast.\n")
    assert "OUTDATED" not in readme
    assert "| `probe=dig` (default) | Digs. |\n" in readme
    assert "| `probe=sink` | Sinks. |\n" in readme
    assert "| `src/deep/dig.py` | Digs \\| deeper. |\n" in readme


def test_knobs_show_what_holds_after_composing(small):
    assert tables.knobs(small).splitlines()[2:] == [
        "| `seed` | `0` | `src.run` |  |",
        "| `phases` | `[extract, process]` | `src.run` | which halves to run |",
        "| `budget.calls` | `null` | `src.run` | none: no limit |",
        "| `max_turns` | `6` | `probe=dig` | turns |",
        "| `depth` | `1` | `probe=sink` |  |",
    ]


def test_a_missing_marker_is_one_sentence(small):
    (small / "README.md").write_text("# nothing generated here\n")
    with pytest.raises(SystemExit, match="no part between '<!-- generated: options -->'"):
        tables.main([], root=small)
