"""The numbers of a boundary cell as lines that a stranger can read, for the terminal and for MLflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

from src.figures.captions import (
    CENSORED,
    Title,
    judge_label,
    judge_sentence,
    percent,
    plural,
    stop_words,
    subject_sentence,
)
from src.figures.reach import reach_basis, reach_line
from src.records import Metrics, Role

Spend = Mapping[str, Any]
"""What a cell cost over all its processes, as in `spend.json`; None is unknown, not zero.

Read here: `tokens_spent`, `cost_usd`, `failed`, and `roles`, a mapping of role to `calls`, `failed`, `tokens_in`,
`tokens_out` and `cost_usd`. Absent, as in a file that an earlier version left, is unknown too.
"""

LONGEST_QUERY = 300
ASSUMED = {
    "accuracy": "Wilson, points taken as independent",
    "accuracy_leaf": "Wilson on n/deff, points of a branch taken as alike",
}
ODDITIES = {
    "taxonomy_shortfall": "sub-fields asked for and not named",
    "unlisted": "answers without a readable list, so without points",
    "truncated": "answers cut at the token limit",
    "cut": "last points of cut answers, set aside",
    "empty": "empty answers",
    "refused": "refused answers",
    "audit_unparsed": "points the audit gave no readable verdict on; outside accuracy",
    "judge_unparsed": "pairs the judge gave no readable verdict on; kept apart",
    "chain_alarm": "a cluster is a chain: its ends hardly resemble each other",
    "injection_attempts": "points that read like orders to the judge; judged as data",
}


class Row(NamedTuple):
    """One line of a result: what it is, its value, and what to know about it."""

    label: str
    value: str
    remark: str


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


def rows(title: Title, metrics: Metrics, spend: Spend) -> list[Row]:
    """The result as lines in reading order: what was measured, then oddities where there were any.

    A metric that is absent, as after an extraction alone, has no line; one that is None says why.
    """
    reason = str(metrics.get("stop_reason"))
    free = metrics.get("calls_judge") == 0  # a judge of kind rules makes no calls and reads no tokens
    asked = ({"calls_judge": 0} if title.judge in ("rules", "oracle") else {}) | metrics  # also before it was asked
    lines = {
        "raw": Row("raw", _count(metrics, "raw"), "points as they were listed"),
        "unique": Row(
            "unique", _count(metrics, "unique"), f"clusters, same merged; dedup rate {_share(metrics, 'dedup_rate')}"
        ),
        "valid": Row("valid", _count(metrics, "valid"), judge_label(title.judge)),
        "accuracy": Row("accuracy", _share(metrics, "accuracy"), f"valid of n = {_judged(metrics)} judged"),
        "accuracy_low": _interval(metrics, "accuracy"),
        "accuracy_leaf_low": _interval(metrics, "accuracy_leaf"),
        "audit_rejection": Row(
            "audit rejection",
            _share(metrics, "audit_rejection"),
            f"invalid of n = {_judged(metrics)} judged; interval: 100 % − that of accuracy",
        ),
        "stop_reason": Row("stop reason", reason, f"{_turns(metrics)}: {stop_words(reason)}"),
        "calls": Row("calls", _count(metrics, "calls"), f"to the model; {_count(asked, 'calls_judge')} to the judge"),
        "tokens_nominal": Row("tokens", _count(metrics, "tokens_nominal"), _tokens(metrics)),
        "tokens_judge": Row("tokens to judge", _count(metrics, "tokens_judge"), _audit_tokens(metrics)),
    }
    return [
        *(row for name, row in lines.items() if name in metrics and not (name == "tokens_judge" and free)),
        *_truths(metrics),
        Row("tokens spent", *_bill([spend.get("tokens_spent")], spend, "over all runs of this cell")),
        *(_role(role, spend["roles"][role]) for role in get_args(Role) if role in spend.get("roles", {})),
        *(Row(name.replace("_", " "), _count(metrics, name), ODDITIES[name]) for name in ODDITIES if metrics.get(name)),
    ]


def _truths(metrics: Metrics) -> list[Row]:
    """What the simulator knows beside what was estimated of it; nothing of a real model."""
    if "truth_unique" not in metrics:
        return []
    known = (
        ("unique", "unique", _count, "different meanings among the points"),
        ("valid", "valid", _count, "those of them that are true"),
        ("accuracy", "accuracy", _share, "share of the clusters whose representative is true"),
        ("coverage", "coverage", _share, "share of the chances of turn 1 that its repeats brought"),
        ("reachable", "chao2", _count, "known facts, branch by branch, that turn 1 can bring; chao2 is a lower bound"),
        ("known", "", _count, "facts of the domain that the model knows"),
    )
    lines = []
    for name, estimate, written, meaning in known:
        if metrics.get(f"truth_{name}") is not None:
            said = f"estimate {written(metrics, estimate)}; " if metrics.get(estimate) is not None else ""
            lines.append(Row(f"truth: {name}", written(metrics, f"truth_{name}"), said + meaning))
    wrong, missed = (_count(metrics, f"truth_{name}_merges") for name in ("wrong", "missed"))
    return [*lines, Row("truth: merges", f"{wrong} wrong", f"and {missed} missed, of pairs of distinct texts")]


def note(title: Title, metrics: Metrics, spend: Spend) -> str:
    """The description of a run in Markdown, cautions first."""
    found = (
        f"`{title.model}` was asked what it knows about **{_plain(title.query)}**, strategy `{title.strategy}`. "
        f"It listed **{_count(metrics, 'raw')}** points; **{_count(metrics, 'unique')}** remained when those that say "
        f"the same were merged; **{_count(metrics, 'valid')}** of these are valid"
    )
    if metrics.get("accuracy") is not None:
        intervals = [_interval(metrics, name) for name in ASSUMED]
        bounds = "; ".join(f"{row.value}, {row.remark}" for row in intervals if row.value != "none")
        found += f": **{_share(metrics, 'accuracy')}** of n = {_judged(metrics)} judged (95 %: {bounds})"
    reason = str(metrics.get("stop_reason", "unknown"))
    first = " ".join(cautions(title, metrics))
    # A page of MLflow folds all but the first lines of a description: what matters most comes first.
    return "\n\n".join(
        [
            *([f"**{first}**"] if first else []),
            f"{found}.",
            f"**Who judged:** `{title.judge}`. {judge_sentence(title.judge)}",
            f"**Why it stopped:** `{reason}` {_turns(metrics)}: {stop_words(reason)}.",
            "\n".join(
                [
                    "| number | value | what it is |",
                    "|:--|--:|:--|",
                    *(f"| {row.label} | **{row.value}** | {row.remark} |" for row in rows(title, metrics, spend)),
                ]
            ),
            *(
                [f"**What was not seen:** {_plain(reach_line(metrics))}. {reach_basis(metrics)}"]
                if reach_line(metrics)
                else []
            ),
            "**Look at:** `atoms.html` (every point, searchable), `figures/`, the tables in `extract/` and `process/`.",
        ]
    )


def _interval(metrics: Metrics, name: str) -> Row:
    low, high = metrics.get(f"{name}_low"), metrics.get(f"{name}_high")
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return Row("95 % interval", "none", f"{ASSUMED[name]}: {_why(metrics, f'{name}_low')}")
    return Row("95 % interval", f"{100 * low:.1f}–{percent(high)}", ASSUMED[name])


def _tokens(metrics: Metrics) -> str:
    parts = ("generation_in", "in"), ("generation_out", "out"), ("embedding", "embedding")
    words = ", ".join(f"{_count(metrics, f'tokens_{name}')} {label}" for name, label in parts)
    return _why(metrics, "tokens_nominal") or f"nominal, as if nothing were replayed: {words}"


def _audit_tokens(metrics: Metrics) -> str:
    return f"nominal, for duplicates under every setting of the sweep; {_count(metrics, 'tokens_audit')} for the audit"


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


def _turns(metrics: Metrics) -> str:
    return f"after {plural(_whole(metrics, 'turns'), 'turn')}"


def _judged(metrics: Metrics) -> str:
    return f"{_whole(metrics, 'valid') + _whole(metrics, 'invalid'):,}"


def _whole(metrics: Metrics, name: str) -> int:
    value = metrics.get(name)
    return int(value) if isinstance(value, int | float) else 0


def _count(values: Mapping[str, float | int | str | None], name: str) -> str:
    value = values.get(name)
    return f"{value:,.0f}" if isinstance(value, int | float) else "unknown"


def _share(metrics: Metrics, name: str) -> str:
    value = metrics.get(name)
    return percent(value) if isinstance(value, int | float) else "none"


def _why(metrics: Metrics, name: str) -> str:
    """Why a metric is None; "" when it is not."""
    return "" if metrics.get(name) is not None else str(metrics.get(f"{name}_reason", "not computed"))


def _plain(text: str) -> str:
    """Text of a user inside Markdown, with nothing that formats, on one line."""
    line = " ".join(text.split())
    line = line if len(line) <= LONGEST_QUERY else f"{line[: LONGEST_QUERY - 1]}…"
    return "".join(f"\\{c}" if c in r"\`*_{}[]<>#|~" else c for c in line)
