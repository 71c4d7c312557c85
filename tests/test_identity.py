from copy import deepcopy
from typing import Any

import pytest

from src.identity import identity, origin

CONFIG: dict[str, Any] = {
    "seed": 0,
    "phases": ["extract"],
    "run_dir": None,
    "debug": False,
    "ledger": {"path": "x", "mode": "live"},
    "budget": {"calls": None},
    "max_turns": 6,
    "domain": {"name": "d", "query": "q"},
    "model": {"id": "m", "temperature": 0.7, "price": {"input": 1}},
    "endpoint": {
        "name": "openai",
        "base_url": "https://user:secret@api.example.com/v1",
        "api_key_env": "KEY",
        "timeout_s": 60,
        "attempts": 5,
        "concurrency": 8,
    },
    "judge": {"kind": "rules"},
    "dedup": {"strict": 0.92},
    "rubrics": {"audit": {"name": "audit"}},
    "probe": {"name": "boundary", "max_turns": 6},
}


def changed(path: str, value: object) -> dict[str, Any]:
    config = deepcopy(CONFIG)
    node = config
    *parents, last = path.split(".")
    for part in parents:
        node = node[part]
    node[last] = value
    return config


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("phases", ["process"]),
        ("run_dir", "/elsewhere"),
        ("debug", True),
        ("ledger.mode", "replay"),
        ("budget.calls", 3),
        ("model.price", None),
        ("endpoint.api_key_env", None),
        ("endpoint.timeout_s", 1),
        ("endpoint.attempts", 1),
        ("endpoint.concurrency", 1),
        ("endpoint.base_url", "https://api.example.com/v2"),
    ],
)
def test_how_a_cell_is_run_changes_no_key(path: str, value: object) -> None:
    assert identity(changed(path, value)) == identity(CONFIG)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("seed", 1),
        ("max_turns", 7),
        ("domain.query", "r"),
        ("model.temperature", 0.0),
        ("endpoint.base_url", "http://127.0.0.1:8000/v1"),
        ("new_knob", 1),
        ("endpoint.extra_body", {"debug": True}),
        ("prompts", {"families": {"path": "x"}}),
    ],
)
def test_what_is_asked_changes_both_keys(path: str, value: object) -> None:
    other = identity(changed(path, value))
    assert other.extract_key != identity(CONFIG).extract_key
    assert other.cell_key != identity(CONFIG).cell_key


@pytest.mark.parametrize("path", ["dedup.strict", "judge.kind", "rubrics.audit.name"])
def test_how_it_is_judged_changes_the_cell_key_alone(path: str) -> None:
    other = identity(changed(path, "other"))
    assert other.extract_key == identity(CONFIG).extract_key
    assert other.cell_key != identity(CONFIG).cell_key


def test_one_is_one_whether_written_as_a_whole_number_or_not() -> None:
    assert identity(changed("model.temperature", 1)) == identity(changed("model.temperature", 1.0))


def test_the_hashed_fields_hold_no_secret_and_nothing_volatile() -> None:
    assert "secret" not in str(identity(CONFIG))
    assert identity(CONFIG).process["endpoint"] == {"name": "openai", "origin": "https://api.example.com"}


def test_origin() -> None:
    assert origin("http://[::1]:8000/v1") == "http://::1:8000"
