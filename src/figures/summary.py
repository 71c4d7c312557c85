"""A cell in lines that a stranger can read, for the terminal and for MLflow: what every probe has in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

from src.figures.captions import CENSORED, Title, judge_sentence, plural, stop_words, subject_sentence
from src.records import Metrics, Role

Spend = Mapping[str, Any]
"""What a cell cost over all its processes, as in `spend.json`; None is unknown, not zero.

Read here: `tokens_spent`, `cost_usd`, `failed`, and `roles`, a mapping of role to `calls`, `failed`, `tokens_in`,
`tokens_out` and `cost_usd`. Absent, as in a file that an earlier version left, is unknown too.
"""

LONGEST_QUERY = 300


class Row(NamedTuple):
    """One line of a result: what it is, its value, and what to know about it."""

    label: str
    value: str
    remark: str


@dataclass(frozen=True)
class Told:
    """What a probe says of a cell.

    Attributes:
        found: what was asked and found, a sentence or two in Markdown.
        rows: what was measured, in reading order.
        oddities: what went wrong, counted; empty if nothing did.
        lines: further lines for the terminal, each with what it rests on ("" if that is said already).
        stopped: when it stopped, as `after 3 turns`.
        closing: further paragraphs of the note, in Markdown.
        look: what else to look at, in Markdown.
    """

    found: str
    rows: tuple[Row, ...]
    oddities: tuple[Row, ...]
    stopped: str
    look: str
    lines: tuple[tuple[str, str], ...] = ()
    closing: tuple[str, ...] = ()


def cautions(title: Title, metrics: Metrics) -> list[str]:
    """What must be read before the numbers: simulated, judged by rules, cut short."""
    lines = []
    if title.subject != "real":
        lines.append(subject_sentence(title.subject))
    if title.judge == "rules":
        lines.append("Judged by rules: form checked, not truth.")
    reason = str(metrics.get("stop_reason", ""))
    if reason in CENSORED:
        lines.append(f"Stopped early ({reason}): {stop_words(reason)}.")
    return lines


def rows(told: Told, spend: Spend) -> list[Row]:
    """The result as lines in reading order: what was measured, what it cost, then oddities where there were any."""
    return [
        *told.rows,
        Row("tokens spent", *_bill([spend.get("tokens_spent")], spend, "over all runs of this cell")),
        *(_role(role, spend["roles"][role]) for role in get_args(Role) if role in spend.get("roles", {})),
        *told.oddities,
    ]


def note(title: Title, metrics: Metrics, told: Told, spend: Spend) -> str:
    """The description of a run in Markdown, cautions first."""
    reason = str(metrics.get("stop_reason", "unknown"))
    first = " ".join(cautions(title, metrics))
    # A page of MLflow folds all but the first lines of a description: what matters most comes first.
    return "\n\n".join(
        [
            *([f"**{first}**"] if first else []),
            told.found,
            f"**Who judged:** `{title.judge}`. {judge_sentence(title.judge)}",
            f"**Why it stopped:** `{reason}` {told.stopped}: {stop_words(reason)}.",
            "\n".join(
                [
                    "| number | value | what it is |",
                    "|:--|--:|:--|",
                    *(f"| {row.label} | **{row.value}** | {row.remark} |" for row in rows(told, spend)),
                ]
            ),
            *told.closing,
            f"**Look at:** {told.look}",
        ]
    )


def _role(role: str, part: Mapping[str, Any]) -> Row:
    """What one role took: its tokens, and beside them calls, tokens in and out, dollars and what failed."""
    calls, tokens = part.get("calls"), [part.get("tokens_in"), part.get("tokens_out")]
    words = [] if calls is None else [plural(calls, "call") if calls else "on this machine"]
    if calls != 0 and None not in tokens:
        words += [f"{tokens[0]:,} in", f"{tokens[1]:,} out"]
    return Row(f"· {role}", *_bill(tokens, part, *words))


def _bill(tokens: Sequence[int | None], part: Mapping[str, Any], *words: str) -> tuple[str, str]:
    """The tokens; and words, what they cost in dollars, and how many attempts failed, if any did."""
    known = [count for count in tokens if count is not None]
    counted = len(known) == len(tokens)
    cost, failed = part.get("cost_usd"), part.get("failed")
    unknown = "price unknown" if counted else "cost unknown"
    money = unknown if cost is None else f"${cost:,.4f}" if cost else "no charge"
    said = ", ".join([*words, money, *([f"{plural(failed, 'attempt')} failed"] if failed else [])])
    return f"{sum(known):,.0f}" if counted else "unknown", said


def plain(text: str) -> str:
    """Text of a user inside Markdown, with nothing that formats, on one line."""
    line = " ".join(text.split())
    line = line if len(line) <= LONGEST_QUERY else f"{line[: LONGEST_QUERY - 1]}…"
    return "".join(f"\\{c}" if c in r"\`*_{}[]<>#|~" else c for c in line)
