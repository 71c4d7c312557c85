"""The numbers of a cell of questions as lines; pure."""

from __future__ import annotations

from src.figures.captions import Title, percent, plural, stop_words
from src.figures.summary import Row, Told
from src.records import Metrics

MEANINGS = {
    "HK": "highly known: all answers right",
    "MK": "maybe known: the greedy answer right, not all samples",
    "WK": "weakly known: only samples right",
    "UU": "unconfident unknown: none right, all different",
    "MU": "may-confident unknown: none right, some alike",
    "CU": "confident unknown: none right, all alike",
}
ODDITIES = {
    "incomplete": "questions that lack an answer; outside every share",
    "truncated": "answers cut before their line was whole",
    "empty": "replies without an answer line",
    "refused": "refused answers",
    "missing": "answers that were not obtained",
}
HOW = {
    "internal": "from memory",
    "external": "with the passage that holds the answer",
    "direct": "the answer alone",
    "cot": "reasoning first",
    "base": "going on from four answered questions",
}


def tell(title: Title, metrics: Metrics) -> Told:
    """What a cell of questions says; a metric that is absent has no line, one that is None says why."""
    how = ", ".join(HOW.get(part, part) for part in title.strategy.split("_"))
    asked = f"`{title.model}` was asked the questions of `{title.domain}`, {how}"
    found = f"{asked}."
    if metrics.get("accuracy") is not None:
        found = (
            f"{asked}. Of **{metrics['questions']:,}** questions it answered **{_share(metrics, 'accuracy')}** right "
            f"at temperature 0 (95 %: {_bounds(metrics, 'accuracy')}); category score **{_score(metrics)}** of 1 to 6 "
            f"(95 %: {_score_bounds(metrics)})."
        )
    oddities = [Row(name, f"{metrics[name]:,}", words) for name, words in ODDITIES.items() if metrics.get(name)]
    reason = str(metrics.get("stop_reason"))
    return Told(
        found=found,
        rows=(
            *(_measured(metrics) if "questions" in metrics else ()),
            Row("stop reason", reason, stop_words(reason)),
            Row("calls", f"{metrics['calls']:,}", "to the model"),
            Row("tokens", *_tokens(metrics)),
        ),
        oddities=tuple(oddities),
        stopped=f"after {plural(int(metrics['calls'] or 0), 'answer')}",
        look="`questions.html` (every question with its answers), `figures/`, the tables in `extract/` and `process/`.",
    )


def _measured(metrics: Metrics) -> list[Row]:
    n = f"n = {plural(int(metrics['questions'] or 0), 'question')}"
    rows = [
        Row("questions", f"{metrics['questions']:,}", "with all of their answers"),
        Row("accuracy", _share(metrics, "accuracy"), f"greedy answers right; {n}{_true(metrics, 'accuracy')}"),
        Row("95 % interval", _bounds(metrics, "accuracy"), "Clopper–Pearson; unit: question"),
        Row("category score", _score(metrics), f"6 highly known … 1 confidently wrong; {n}{_true_score(metrics)}"),
        Row("95 % interval", _score_bounds(metrics), "Bayesian bootstrap; unit: question"),
        *(
            Row(f"share {name}", _share(metrics, f"share_{name}"), _class(metrics, name, meaning))
            for name, meaning in MEANINGS.items()
        ),
    ]
    for part, words in (("_yes_no", "yes or no"), ("_open", "anything else")):
        if metrics.get(f"questions{part}"):
            count = plural(int(metrics[f"questions{part}"] or 0), "question")
            bounds = _bounds(metrics, f"accuracy{part}")
            rows.append(
                Row(
                    f"accuracy, {part[1:].replace('_', '/')}",
                    _share(metrics, f"accuracy{part}"),
                    f"[{bounds}] of {count} whose answer is {words}",
                )
            )
    contained = f"[{_bounds(metrics, 'accuracy_contained')}] of greedy answers hold a gold answer"
    raw = f"{_share(metrics, 'accuracy_raw')} [{_bounds(metrics, 'accuracy_raw')}] are one as written"
    return [*rows, Row("other matches", _share(metrics, "accuracy_contained"), f"{contained}; {raw}")]


def _class(metrics: Metrics, name: str, meaning: str) -> str:
    return f"[{_bounds(metrics, f'share_{name}')}] {meaning}{_true(metrics, f'share_{name}')}"


def _true(metrics: Metrics, name: str) -> str:
    value = metrics.get(f"truth_{name}")
    return f"; truth: {percent(value)}" if isinstance(value, int | float) else ""


def _true_score(metrics: Metrics) -> str:
    value = metrics.get("truth_category_score")
    return f"; truth: {value:.2f}" if isinstance(value, int | float) else ""


def _share(metrics: Metrics, name: str) -> str:
    value = metrics.get(name)
    return percent(value) if isinstance(value, int | float) else "none"


def _score(metrics: Metrics) -> str:
    value = metrics.get("category_score")
    return f"{value:.2f}" if isinstance(value, int | float) else "none"


def _bounds(metrics: Metrics, name: str) -> str:
    low, high = metrics.get(f"{name}_low"), metrics.get(f"{name}_high")
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return f"none: {metrics.get(f'{name}_low_reason', 'not computed')}"
    return f"{100 * low:.1f}–{percent(high)}"


def _score_bounds(metrics: Metrics) -> str:
    low, high = metrics.get("category_score_low"), metrics.get("category_score_high")
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return f"none: {metrics.get('category_score_low_reason', 'not computed')}"
    return f"{low:.2f}–{high:.2f}"


def _tokens(metrics: Metrics) -> tuple[str, str]:
    counts = [metrics.get(f"tokens_generation_{end}") for end in ("in", "out")]
    known = [int(count) for count in counts if isinstance(count, int | float)]
    if len(known) < len(counts):
        return "unknown", str(metrics.get("tokens_generation_in_reason", "not computed"))
    return f"{sum(known):,}", f"nominal, as if nothing were replayed: {known[0]:,} in, {known[1]:,} out"
