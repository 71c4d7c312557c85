"""What a person sees at the terminal: progress while it works, the result, one sentence when it cannot."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TextIO

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from src.figures.captions import Title, percent, plural
from src.figures.finding import Finding
from src.figures.plans import COLUMNS as PLAN_COLUMNS
from src.figures.plans import LEGEND, Compared, PlanRow, fact_lines, plan_lines
from src.figures.summary import Spend, Told, cautions, rows
from src.figures.sweeps import STATUS, UNDONE, SweptCell, caveats, headline, intervals, labels, varied
from src.figures.sweeps import rows as sweep_rows
from src.interfaces import Report
from src.records import Metrics, Progress

WIDTH = 130
"""Columns that the table of a sweep needs."""


@contextmanager
def progress(console: Console | None = None) -> Iterator[Report]:
    """Yield what shows the steps of long work, one line per phase; silent where nobody looks.

    Args:
        console: where to draw; standard error by default, so that output can be piped.
    """
    # Under FORCE_COLOR, which many CI systems set, rich takes any stream for a terminal.
    looked_at = console is not None or sys.stderr.isatty()
    console = console or _console(sys.stderr)
    if not looked_at or not console.is_terminal or console.is_dumb_terminal:
        yield silent
        return
    columns = SpinnerColumn(finished_text="✓"), TextColumn("{task.description}"), BarColumn(bar_width=10), _Counts()
    with Bars(*columns, console=console) as bars:
        phases = _Phases(bars)
        yield phases
        phases.finish()


def show_result(
    title: Title,
    metrics: Metrics,
    told: Told,
    spend: Spend,
    folder: Path,
    facts: Sequence[Compared] = (),
    console: Console | None = None,
) -> None:
    """Print the result of a cell: what must be known first, the numbers, where they lie.

    Args:
        title: what the cell is about.
        metrics: the metrics of the cell; after an extraction alone those that there are.
        told: what its probe says of them.
        spend: what it cost.
        folder: the cell folder.
        facts: what it took beside what was planned.
        console: where to print; standard output by default.
    """
    console = console or _console(sys.stdout)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold", style="dim")
    for row in rows(told, spend):
        table.add_row(Text(row.label), Text(row.value, style="bold"), Text(row.remark))
    console.print(Text(title.line, style="bold"))
    for line in cautions(title, metrics):
        console.print(Text(line, style="bold yellow"))
    console.print(table)
    for line, basis in told.lines:
        console.print(Text(line, style="bold" if basis else "dim"))
        if basis:
            console.print(Text(basis, style="dim"))
    for line in fact_lines(facts):
        console.print(Text(f"planned beside taken: {line}", style="dim"))
    console.print(Text(f"tables and metrics: {folder}"), soft_wrap=True)
    console.print(Text("figures, every point, comparison of runs: make ui"))


def show_finding(finding: Finding, folder: Path, console: Console | None = None) -> None:
    """Print what a study or a calibration concluded, what must be known first, what it lacked and where it lies."""
    console = console or _console(sys.stdout)
    console.print(Text(f"{finding.name}: {finding.question}", style="bold"))
    for line in finding.cautions:
        console.print(Text(line, style="bold yellow"))
    for line in finding.verdict:
        console.print(Text(f"• {line}"))
    for line in finding.missing:
        console.print(Text(f"missing: {line}", style="dim"))
    console.print(Text(f"tables, figures and numbers: {folder}"), soft_wrap=True)


def show_union(
    domain: str,
    strategy: str,
    titles: Sequence[Title],
    metrics: Metrics,
    folder: Path,
    console: Console | None = None,
) -> None:
    """Print a union: clusters, and per model what it knows of them; of one that was not made, what it would ask.

    Args:
        domain: of the union.
        strategy: of the union.
        titles: of its cells.
        metrics: of the union; `texts` and `questions` where nothing was asked.
        folder: where it lies.
        console: where to print; standard output by default.
    """
    console = console or _console(sys.stdout)
    console.width = max(console.width, WIDTH)
    models = ", ".join(title.model for title in titles)
    console.print(Text(f"union · {domain} · {strategy} · {plural(len(titles), 'model')}: {models}", style="bold"))
    for caveat in sorted({title.caveat for title in titles}):
        console.print(Text(caveat, style="bold yellow"))
    if "questions" in metrics:
        console.print(
            f"{metrics['texts']:,} distinct texts; at most {metrics['questions']:,} pairs are questions to the judge, "
            "less what the ledger holds; nothing was asked"
        )
        return
    console.print(
        f"{metrics['clusters']:,} clusters of {metrics['points']:,} valid points; "
        f"largest {metrics['largest_cluster']}; {metrics['calls_judge']:,} calls to the judge"
    )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    true = [metrics.get(f"truth_recall_{title.model}") for title in titles]  # known of simulated models only
    names = ("model", "recall_match", "95 % (Wilson over clusters)", "recall_count", "alone", "of the others")
    for name in (*names, *(("truth: recall",) if None not in true else ())):
        table.add_column(name, justify="left" if name == "model" else "right")
    for title, share in zip(titles, true, strict=True):
        name = title.model
        low, high = (metrics.get(f"recall_match_{name}_{end}") for end in ("low", "high"))
        bounds = f"{100 * float(low):.1f}–{percent(float(high))}" if low is not None and high is not None else "none"
        shares = [metrics.get(f"{measure}_{name}") for measure in ("recall_match", "recall_count", "leave_one_out")]
        match, count, out = (percent(float(share)) if share is not None else "none" for share in shares)
        cells = [match, bounds, count, f"{metrics[f'unique_discoveries_{name}']:,}", out]
        table.add_row(Text(name), *cells, *([percent(float(share))] if share is not None else []))
    console.print(table)
    console.print(Text(f"tables and metrics: {folder}"), soft_wrap=True)


def show_sweep(name: str, cells: Sequence[SweptCell], console: Console | None = None) -> None:
    """Print what became of the cells of a sweep, and why some are not done.

    Args:
        name: id of the sweep.
        cells: in the order of its grid.
        console: where to print; standard output by default.
    """
    console = console or _console(sys.stdout)
    console.width = max(console.width, WIDTH)  # a narrow terminal wraps; cut numbers would be worse
    names, values = varied(cells)
    cell_rows = sweep_rows(cells)
    shown = [column for column in cell_rows[0] if column not in ("unique", "tokens")]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for varying in names:
        table.add_column(varying.rpartition(".")[2], overflow="fold")
    for column in shown:
        justify: Literal["left", "right"] = "left" if column in ("status", "stop") else "right"
        table.add_column(column, justify=justify, no_wrap=True)
    for value, row in zip(values, cell_rows, strict=True):
        table.add_row(*map(Text, (*value, *(row[column] for column in shown))))
    console.print(Text(headline(name, cells), style="bold"))
    for line in caveats(cells):
        console.print(Text(line, style="bold yellow"))
    console.print(table)
    if made := intervals(cells):
        console.print(Text(made, style="dim"))
    for label, cell in zip(labels(cells), cells, strict=True):
        if cell.status in UNDONE:
            console.print(Text(f"{label}: {cell.why or STATUS[cell.status]}", style="bold red"), soft_wrap=True)
    if any(cell.status in UNDONE for cell in cells):
        console.print(Text("the same command runs again only what is missing; no answer is paid for twice"))


def show_plan(title: str, plan: Sequence[PlanRow], console: Console | None = None, *, legend: bool = True) -> None:
    """Print what a run can cost, a line per role.

    Args:
        title: what is planned.
        plan: its rows.
        legend: whether to say what the columns mean.
        console: where to print; standard output by default.
    """
    console = console or _console(sys.stdout)
    console.width = max(console.width, WIDTH)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for column in PLAN_COLUMNS:
        table.add_column(column, justify="right", no_wrap=True)
    for line in plan_lines(plan):
        table.add_row(*map(Text, line))
    console.print(Text(f"plan of {title}: nothing was asked", style="bold"))
    console.print(table if plan else Text("no calls and no tokens"))
    if legend:
        console.print(Text(LEGEND, style="dim"))


def show_error(message: str, console: Console | None = None) -> None:
    """Print why it stopped, as one sentence on standard error."""
    console = console or _console(sys.stderr)
    console.print(Text.assemble(("error: ", "bold red"), message), soft_wrap=True)


def show_text(line: str) -> None:
    """Print a line on standard output, at once."""
    _console(sys.stdout).print(Text(line), soft_wrap=True)
    sys.stdout.flush()


class _Phases:
    """A bar per phase; a phase is over when the next one begins, even if it needed fewer steps than planned."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._last: Progress | None = None
        self._began = bars.get_time()
        self._task = bars.add_task("waiting for the first answers", total=None, words="")

    def __call__(self, step: Progress) -> None:
        if self._last is None or step.phase != self._last.phase:
            self.finish()
            self._task = self._bars.add_task(step.phase, total=step.total, words="")
        self._last = step
        seconds = self._bars.get_time() - self._began
        words = "  ".join((*_counts(step, seconds), *_left(step, seconds)))
        self._bars.update(self._task, completed=step.done, total=step.total, words=words)

    def finish(self) -> None:
        """Close the bar of the phase that ran last."""
        now = self._bars.get_time()
        if self._last is None:
            self._bars.remove_task(self._task)
        else:
            words = "  ".join(_counts(self._last, now - self._began))
            self._bars.update(self._task, total=self._last.done, words=words)
        self._began = now


class _Counts(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(str(task.fields["words"]))


def _counts(step: Progress, seconds: float) -> list[str]:
    """`3/15`, `raw 1,234 novel 987`, `12k tokens 210/s`: with the bar they fit into 80 columns."""
    words = [f"{step.done:,}/{step.total:,}"]
    if step.raw:
        words.append(f"raw {step.raw:,} novel {step.novel:,}")
    if step.tokens:
        words.append(f"{_short(step.tokens)} tokens {_short(round(step.tokens / max(seconds, 0.001)))}/s")
    return words


def _left(step: Progress, seconds: float) -> list[str]:
    """Time left, as `5:10`; `≤` for an extraction, which may saturate before its last turn."""
    if step.done >= step.total:
        return []
    left = round(seconds / max(step.done, 1) * (step.total - step.done))
    return [f"{'≤ ' if step.phase == 'extract' else ''}{left // 60}:{left % 60:02d}"]


def _short(count: int) -> str:
    return f"{count:,}" if count < 10_000 else f"{count / 1000:,.0f}k"


def silent(step: Progress) -> None:
    """Show nothing: nobody looks."""


def _console(stream: TextIO) -> Console:
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # a terminal without Unicode gets "?", not a crash
    return Console(file=stream, highlight=False)
