"""Answers and points collected elsewhere: a JSONL file of rows, as docs/recorded.md describes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from src.errors import ConfigError
from src.ledger.keys import clean
from src.records import Domain, Form


@dataclass(frozen=True)
class Row:
    """One raw answer, or one point.

    Attributes:
        line: its number in the file, from 1.
        domain: what it is about.
        turn: from 1.
        branch: "" without.
        form: `list` for a raw answer, `point` for a point as it is.
        text: the answer or the point.
        fields: the whole row, with fields that nobody here reads.
    """

    line: int
    domain: str
    turn: int
    branch: str
    form: Form
    text: str
    fields: Mapping[str, object]


@dataclass(frozen=True)
class Recording:
    """A file of rows and its sha256."""

    rows: tuple[Row, ...]
    sha256: str


def read_recording(path: Path) -> Recording:
    """Read every row of a file; blank lines are skipped, null counts as left out.

    Raises:
        ConfigError: no such file, or a row that is none: the sentence names its line.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"recorded.path={path} cannot be read ({error.strerror}): give the JSONL file of recorded answers"
        ) from error
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    rows = [_row(line, f"{path}, line {number}", number) for number, line in enumerate(lines, 1) if line.strip()]
    return Recording(tuple(rows), hashlib.sha256(content).hexdigest())


def turns_of(rows: Sequence[Row], domain: Domain, path: Path) -> tuple[tuple[Row, ...], ...]:
    """The rows of a domain, turn by turn in the order of their numbers, those of a turn in the order of the file.

    Args:
        rows: of all domains.
        domain: rows may call it by its name or by its query.
        path: their file, for messages.

    Raises:
        ConfigError: there are none.
    """
    of_turn: dict[int, list[Row]] = {}
    for row in rows:
        if row.domain in (domain.name, domain.query):
            of_turn.setdefault(row.turn, []).append(row)
    if not of_turn:
        present = sorted({row.domain for row in rows})
        more = f" and {len(present) - 20} more" if len(present) > 20 else ""
        found = ", ".join(map(repr, present[:20])) + more if present else "no domain at all"
        raise ConfigError(
            f"{path} holds no row of domain={domain.name}; it has {found}: choose one of them (domain.name or "
            "domain.query as in the rows)"
        )
    return tuple(tuple(of_turn[turn]) for turn in sorted(of_turn))


def _row(line: bytes, where: str, number: int) -> Row:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise ConfigError(f"{where} is not JSON in UTF-8: each line is one object, as docs/recorded.md says") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{where} is not a JSON object but {json.dumps(found)[:40]}: each line is one object")
    fields: dict[str, Any] = {name: value for name, value in found.items() if value is not None}
    content = [name for name in ("text", "atom") if name in fields]
    if len(content) != 1:
        raise ConfigError(
            f"{where} has {'both text and atom' if content else 'neither text nor atom'}: give exactly one, "
            "text for a raw answer or atom for one point"
        )
    for name in ("domain", "branch", *content):
        if not isinstance(fields.get(name, ""), str):
            raise ConfigError(f"{where}: {name}={json.dumps(fields[name])[:40]} is not a text")
    for name in ("domain", *(["atom"] if content == ["atom"] else [])):
        if not fields.get(name, "").strip():
            raise ConfigError(f"{where}: {name} is missing or blank")
    turn = fields.get("turn", 1)
    if not isinstance(turn, int) or isinstance(turn, bool) or turn < 1:
        raise ConfigError(f"{where}: turn={json.dumps(turn)[:40]} is not a whole number of at least 1")
    return Row(
        line=number,
        domain=fields["domain"],
        turn=turn,
        branch=clean(fields.get("branch", "")),
        form="point" if content == ["atom"] else "list",
        text=clean(fields[content[0]]),
        fields=fields,
    )
