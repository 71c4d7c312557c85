from dataclasses import replace

import pytest

from src.figures.boundary_lines import tell
from src.figures.captions import CENSORED, Title, judge_label, stop_words
from src.figures.summary import Spend, note, rows
from src.records import Metrics
from tests.synthetic_cell import RULES, make_cell

SPEND = {"tokens_spent": 0.0, "cost_usd": 0.0123}


def said(title: Title, metrics: Metrics, spend: Spend) -> str:
    return note(title, metrics, tell(title, metrics), spend)


def test_note_tells_a_stranger_what_was_found_and_how_far_to_trust_it() -> None:
    metrics = make_cell().metrics
    text = said(replace(RULES, judge="llm"), metrics, SPEND)
    first = text.split("\n\n")[0]
    assert first.startswith("`smollm2_135m` was asked what it knows about **deep learning**")
    counts = [text.index(f"**{metrics[name]}**") for name in ("raw", "unique", "valid")]
    assert counts == sorted(counts)
    assert f"**{100 * metrics['accuracy']:.1f} %** of n = {metrics['unique']} judged" in first
    for name in ("accuracy", "accuracy_leaf"):
        assert f"{100 * metrics[f'{name}_low']:.1f}–{100 * metrics[f'{name}_high']:.1f} %" in first
    assert "people did not check it" in text
    assert "`saturated` after 6 turns: the last turn brought too little" in text
    assert "$0.0123" in text


def test_note_says_simulated_and_rules_and_cut_short_first() -> None:
    text = said(replace(RULES, subject="simulated"), make_cell(2, stop="context").metrics, SPEND)
    first = text.split("\n\n")[0]
    order = [first.index(words) for words in ("Simulated", "form checked, not truth", "Stopped early (context)")]
    assert order == sorted(order)


def test_note_of_an_empty_cell() -> None:
    text = said(RULES, make_cell(0, stop="error").metrics, SPEND)
    assert "listed **0** points" in text
    assert "nan" not in text.lower()
    assert "None" not in text


def test_note_takes_a_domain_as_data_and_keeps_it_short() -> None:
    text = said(replace(RULES, query="a|b *c*\n# d " + "x" * 7000), make_cell().metrics, SPEND)
    assert r"**a\|b \*c\* \# d x" in text
    assert len(text) < 4000


def test_rows_say_what_is_unknown() -> None:
    metrics = {**make_cell().metrics, "calls_judge": 4, "tokens_judge": None, "tokens_audit": 7}
    lines = {row.label: row for row in rows(tell(RULES, metrics), {})}
    assert lines["tokens to judge"].value == "unknown"
    assert "7 for the audit" in lines["tokens to judge"].remark
    assert lines["tokens spent"] == ("tokens spent", "unknown", "over all runs of this cell, cost unknown")


def test_every_role_has_a_line_that_says_what_it_cost() -> None:
    subject = {"calls": 24, "failed": 5, "tokens_in": 8220, "tokens_out": 4800, "cost_usd": 0.0123}
    roles = {
        "embedder": {"calls": 0, "failed": 0, "tokens_in": 3456, "tokens_out": 0, "cost_usd": 0.0},
        "judge": {"calls": 1, "failed": 0, "tokens_in": 10, "tokens_out": 2, "cost_usd": None},
        "subject": subject,
        "writer": {"calls": 3, "failed": 1, "tokens_in": None, "tokens_out": 2, "cost_usd": None},
    }
    spend = {"tokens_spent": None, "cost_usd": None, "failed": 6, "roles": roles}
    lines = rows(tell(RULES, make_cell().metrics), spend)
    start = [row.label for row in lines].index("tokens spent")
    assert lines[start : start + 5] == [
        ("tokens spent", "unknown", "over all runs of this cell, cost unknown, 6 attempts failed"),
        ("· subject", "13,020", "24 calls, 8,220 in, 4,800 out, $0.0123, 5 attempts failed"),
        ("· judge", "12", "1 call, 10 in, 2 out, price unknown"),
        ("· writer", "unknown", "3 calls, cost unknown, 1 attempt failed"),
        ("· embedder", "3,456", "on this machine, no charge"),
    ]
    assert "| · subject | **13,020** | 24 calls, 8,220 in, 4,800 out, $0.0123, 5 attempts failed |" in said(
        RULES, make_cell().metrics, spend
    )


def test_spend_of_an_earlier_version_is_read_as_far_as_it_goes() -> None:
    spend = {"tokens_spent": 9, "cost_usd": 0.5, "roles": {"subject": {"tokens_in": 8, "tokens_out": 1}}}
    lines = {row.label: row for row in rows(tell(RULES, make_cell().metrics), spend)}
    assert lines["tokens spent"].remark == "over all runs of this cell, $0.5000"
    assert lines["· subject"] == ("· subject", "9", "8 in, 1 out, price unknown")


@pytest.mark.parametrize("reason", ["saturated", "max_turns", "budget", "context", "error", "recorded"])
def test_every_stop_reason_is_explained(reason: str) -> None:
    assert not stop_words(reason).startswith("stop reason")
    assert ("lower bounds" in stop_words(reason)) == (reason in CENSORED)


def test_unknown_names_are_shown_as_they_are() -> None:
    assert stop_words("eclipse") == "stop reason eclipse"
    assert judge_label("jury") == "judged by jury"
