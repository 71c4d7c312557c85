import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from src.console import progress, show_error, show_result
from src.figures.boundary_lines import tell
from src.records import Metrics, Progress
from tests.synthetic_cell import RULES, make_cell

SPEND = {
    "tokens_spent": None,
    "cost_usd": None,
    "roles": {"embedder": {"tokens_in": None, "tokens_out": 0}, "subject": {"tokens_in": 8000, "tokens_out": 1000}},
}
FOLDER = Path("data/runs/boundary/deep_learning/smollm2_135m-taxonomy_l2w2-s0-01234567")


def terminal(*, is_terminal: bool = True, width: int = 80) -> Console:
    return Console(
        file=io.StringIO(), force_terminal=is_terminal, width=width, no_color=True, _environ={"TERM": "xterm"}
    )


def said(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def result(title=RULES, metrics: Metrics | None = None, spend=SPEND) -> str:
    console = terminal(is_terminal=False)
    metrics = metrics or make_cell().metrics
    show_result(title, metrics, tell(title, metrics), spend, FOLDER, console=console)
    return said(console)


def line_of(text: str, label: str) -> str:
    (line,) = [line for line in text.splitlines() if line.startswith(label)]
    return line


def test_result_has_the_numbers_in_80_columns_without_colour() -> None:
    cell = make_cell()
    text = result()
    assert "\x1b" not in text
    assert max(map(len, text.splitlines()[:-2])) <= 80
    assert f"{cell.metrics['raw']}" in line_of(text, "raw")
    accuracy = line_of(text, "accuracy")
    assert f"{100 * cell.metrics['accuracy']:.1f} %" in accuracy
    assert f"n = {cell.metrics['unique']}" in accuracy
    intervals = [line for line in text.splitlines() if line.startswith("95 % interval")]
    assert f"{100 * cell.metrics['accuracy_leaf_low']:.1f}–" in intervals[1]
    assert "independent" in intervals[0]
    assert "branch" in intervals[1]
    assert "unknown  over all runs of this cell, cost unknown" in line_of(text, "tokens spent")
    assert "9,000  8,000 in, 1,000 out" in line_of(text, "· subject")
    assert str(FOLDER) in text
    assert "make ui" in text


def test_caution_comes_before_the_numbers() -> None:
    text = result(replace(RULES, subject="simulated"), make_cell(2, stop="budget").metrics)
    order = [text.index(words) for words in ("Simulated", "form checked, not truth", "Stopped early (budget)", "raw ")]
    assert order == sorted(order)


@pytest.mark.parametrize("stop", ["budget", "context", "error"])
def test_censored_stops_are_never_called_saturated(stop: str) -> None:
    text = result(metrics=make_cell(2, stop=stop).metrics)
    assert f"Stopped early ({stop})" in text
    assert "saturated" not in text


def test_no_caution_for_a_full_run_with_a_model_as_judge() -> None:
    text = result(replace(RULES, judge="llm"))
    assert "Stopped early" not in text
    assert "not truth" not in text
    assert "judged by a language model" in line_of(text, "valid")


def test_oddities_are_shown_only_when_they_happened() -> None:
    metrics = make_cell().metrics
    assert "taxonomy shortfall" not in result(metrics=metrics)
    assert "truncated" not in result(metrics=metrics)
    text = result(metrics={**metrics, "taxonomy_shortfall": 3, "truncated": 2})
    assert "3" in line_of(text, "taxonomy shortfall")
    assert "2" in line_of(text, "truncated")


def test_missing_numbers_say_why() -> None:
    text = " ".join(result(metrics=make_cell(0, stop="error").metrics).split())
    assert "accuracy none" in text
    assert "points taken as independent: no point was judged" in text
    metrics: Metrics = {
        **make_cell().metrics,
        "tokens_nominal": None,
        "tokens_nominal_reason": "the endpoint did not say",
    }
    assert "tokens unknown the endpoint did not say" in " ".join(result(metrics=metrics).split())


def test_after_an_extraction_alone_only_its_numbers_are_shown() -> None:
    text = result(metrics={"raw": 12, "turns": 2, "stop_reason": "saturated", "calls": 3})
    assert "12" in line_of(text, "raw")
    assert "accuracy" not in text
    assert "valid" not in text


def test_an_error_is_one_line_as_it_is_written() -> None:
    console = terminal(is_terminal=False, width=40)
    message = "the endpoint [bold]openai[/bold] refused the key: set OPENAI_API_KEY"
    show_error(message, console)
    assert said(console) == f"error: {message}\n"


def test_progress_is_silent_where_nobody_looks(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress() as report:
        report(Progress("extract", 1, 6, raw=3, novel=3))
    assert capfd.readouterr() == ("", "")


def test_progress_shows_turn_points_tokens_and_what_is_left() -> None:
    console = terminal()
    with progress(console) as report:
        report(Progress("extract", 1, 6, calls=7, tokens=1200, raw=32, novel=30))
        report(Progress("extract", 2, 6, calls=11, tokens=2400, raw=64, novel=51))
        report(Progress("audit", 40, 40, calls=40, tokens=99))
    last = said(console).rsplit("extract", 1)[1]
    assert "2/6" in last
    assert "raw 64 novel 51" in last
    assert "2,400 tokens" in last
    assert "≤" not in last.split("audit")[0]
    assert "40/40" in last


def test_progress_of_nothing_leaves_nothing_wrong() -> None:
    console = terminal()
    with progress(console) as report:
        report(Progress("pairs", 0, 0))
    assert "0/0" in said(console)
    with progress(terminal()):
        pass


def test_progress_ends_when_the_work_fails() -> None:
    console = terminal()

    def work() -> None:
        with progress(console) as report:
            report(Progress("extract", 1, 6))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        work()
    assert said(console).endswith("\x1b[?25h")  # the cursor is back
