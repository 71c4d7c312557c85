"""Write the generated parts of README.md: `python -m docs.tables`; with `--check` only say whether they are current.

A part lies between `<!-- generated: NAME -->` and `<!-- end -->`, NAME being options, knobs or files. It is read from
where it is decided: the first comment of an option's YAML, the comment beside a knob, a module's first line.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, cast

import yaml
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

ROOT = Path(__file__).resolve().parents[1]
OURS = {"defaults", "hydra"}  # root keys of config.yaml that are wiring, not knobs


def options(root: Path) -> str:
    """Every option of every config group, the default one marked, each with the first comment of its file."""
    chosen = _defaults(root)
    rows = []
    for folder in sorted(path for path in (root / "conf").iterdir() if path.is_dir()):
        for path in sorted(folder.glob("*.yaml")):
            said = _said(folder.name, path.stem)
            default = " (default)" if chosen.get(folder.name) == path.stem else ""
            rows.append((f"`{said}`{default}", _first_comment(path)))
    return _table(("option", "what it is"), rows)


def _said(group: str, option: str) -> str:
    """What to type to get an option."""
    if group == "fetch":
        return f"python -m src.fetch {option}"
    if group == "rubric":  # chosen by the probe, for each question that it puts to the judge
        return f"rubric@rubrics.{option.partition('_')[0]}={option}"
    return f"{group}={option}"


def knobs(root: Path) -> str:
    """Every value at the root of a configuration and of the probes, with what it is when nothing is said."""
    conf = root / "conf"
    default_probe = _defaults(root)["probe"]
    others = sorted(path for path in conf.glob("*.yaml") if path.stem != "config")
    rows = []
    for path in [conf / "config.yaml", *sorted((conf / "probe").glob("*.yaml")), *others]:
        text = path.read_text(encoding="utf-8")
        command = "run" if path.stem == "config" else path.stem
        of = f"`src.{command}`" if path.parent == conf else f"`probe={path.stem}`"
        # An option may set a knob, so what holds by default is known after composing only.
        composed = path.parent == conf or path.stem == default_probe
        values = _composed(conf, path.stem if path.parent == conf else "config") if composed else yaml.safe_load(text)
        for name, line in _leaves(yaml.compose(text), nested=path.parent == conf):
            value = reduce(lambda tree, key: tree[key], name.split("."), values)
            comment = text.splitlines()[line].partition(" # ")[2].strip()
            rows.append((f"`{name}`", f"`{json.dumps(value, ensure_ascii=False)}`".replace('"', ""), of, comment))
    return _table(("knob", "default", "of", "what it is"), rows)


def _composed(conf: Path, name: str) -> dict[str, Any]:
    with initialize_config_dir(str(conf), version_base="1.3"):
        return cast(dict[str, Any], OmegaConf.to_container(compose(name), resolve=False))


def files(root: Path) -> str:
    """Every module under src with the first line of its docstring."""
    rows = []
    for path in sorted((root / "src").rglob("*.py")):
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if said:
            where = path.parent if path.name == "__init__.py" else path
            rows.append((f"`{where.relative_to(root).as_posix()}`", said.splitlines()[0]))
    return _table(("file", "what it holds"), rows)


PARTS = {"options": options, "knobs": knobs, "files": files}


def regenerated(text: str, root: Path) -> str:
    """Return a README's text with its generated parts as they should be.

    Raises:
        SystemExit: a part has no markers, so that it could silently be missing.
    """
    for name, part in PARTS.items():
        start, end = f"<!-- generated: {name} -->\n", "<!-- end -->"
        before, found, rest = text.partition(start)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise SystemExit(f"README.md has no part between '{start.strip()}' and '{end}': add the two lines.")
        text = f"{before}{start}{part(root)}{end}{after}"
    return text


def main(arguments: Sequence[str] | None = None, *, root: Path = ROOT) -> int:
    """Write the parts, or with `--check` exit with 1 and a sentence when they are out of date."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.tables", description="Write the generated parts of README.md."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a part is out of date")
    chosen = parser.parse_args(arguments)
    readme = root / "README.md"
    found = readme.read_text(encoding="utf-8")
    wanted = regenerated(found, root)
    if chosen.check and found != wanted:
        sys.stderr.write("The tables in README.md are out of date: run `make docs` and commit the result.\n")
        return 1
    if not chosen.check:
        readme.write_text(wanted, encoding="utf-8")
    return 0


def _defaults(root: Path) -> dict[str, str]:
    """Group → chosen option, from the defaults list of config.yaml."""
    entries = yaml.safe_load((root / "conf" / "config.yaml").read_text(encoding="utf-8"))["defaults"]
    pairs = [pair for entry in entries if isinstance(entry, dict) for pair in entry.items()]
    return {re.sub(r"^(override )?/?|@.*$", "", group): str(option) for group, option in pairs}


def _first_comment(path: Path) -> str:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") and "@package" not in line:
            return line.lstrip("# ").strip()
    return ""


def _leaves(node: yaml.Node | None, *, nested: bool, prefix: str = "") -> Iterator[tuple[str, int]]:
    """Dotted names and line numbers of a mapping's values; blocks of a probe file are its wiring and left out."""
    assert isinstance(node, yaml.MappingNode)
    for key, value in node.value:
        if not prefix and key.value in OURS:
            continue
        if not isinstance(value, yaml.MappingNode):
            yield prefix + key.value, key.start_mark.line
        elif nested:
            yield from _leaves(value, nested=nested, prefix=f"{prefix}{key.value}.")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
