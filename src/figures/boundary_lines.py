"""The numbers of a boundary cell as lines; pure."""

from __future__ import annotations

from collections.abc import Mapping

from src.figures.captions import Title, judge_label, percent, plural, stop_words
from src.figures.reach import reach_basis, reach_line
from src.figures.summary import Row, Told, plain
from src.records import Metrics

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


def tell(title: Title, metrics: Metrics) -> Told:
    """What a boundary cell says.

    A metric that is absent, as after an extraction alone, has no line; one that is None says why.
    """
    found = (
        f"`{title.model}` was asked what it knows about **{plain(title.query)}**, strategy `{title.strategy}`. "
        f"It listed **{_count(metrics, 'raw')}** points; **{_count(metrics, 'unique')}** remained when those that say "
        f"the same were merged; **{_count(metrics, 'valid')}** of these are valid"
    )
    if metrics.get("accuracy") is not None:
        intervals = [_interval(metrics, name) for name in ASSUMED]
        bounds = "; ".join(f"{row.value}, {row.remark}" for row in intervals if row.value != "none")
        found += f": **{_share(metrics, 'accuracy')}** of n = {_judged(metrics)} judged (95 %: {bounds})"
    seen, basis = reach_line(metrics), reach_basis(metrics)
    return Told(
        found=f"{found}.",
        rows=(*_measured(title, metrics), *_truths(metrics)),
        oddities=tuple(
            Row(name.replace("_", " "), _count(metrics, name), ODDITIES[name]) for name in ODDITIES if metrics.get(name)
        ),
        lines=((seen, basis),) if seen else (),
        stopped=_turns(metrics),
        closing=(f"**What was not seen:** {plain(seen)}. {basis}",) if seen else (),
        look="`atoms.html` (every point, searchable), `figures/`, the tables in `extract/` and `process/`.",
    )


def _measured(title: Title, metrics: Metrics) -> list[Row]:
    """What was measured, in reading order."""
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
    return [row for name, row in lines.items() if name in metrics and not (name == "tokens_judge" and free)]


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
