"""The annotation page: one self-contained HTML file, for people who label a blind sample with the keyboard, offline."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from jinja2 import Environment, StrictUndefined

TEMPLATE = Path(__file__).with_name("annotate.html.j2")


def annotate_page(
    items: pl.DataFrame, ask: str, labels: Sequence[tuple[str, str]], texts: Sequence[str], starts: frozenset[str]
) -> str:
    """Render the page; model text gets into it as data and out of it as text only.

    A content security policy lets the page run its own script and nothing else, and reach no network.

    Args:
        items: columns item, query, first, second, in the order in which they are shown.
        ask: the question.
        labels: name and meaning of each label, in the order of their keys 1, 2, 3, …
        texts: headings of the texts, one or two.
        starts: what a comment may not begin with in the file that is downloaded, lest a spreadsheet runs it.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters["hash"] = _hash
    data = {
        "sheet": items["item"][0].partition("-")[0] if items.height else "",
        "labels": [name for name, _ in labels],
        "texts": list(texts),
        "starts": "".join(sorted(starts)),
        "items": [[item, query, list(shown[: len(texts)])] for item, query, *shown in items.iter_rows()],
    }
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(data=data, ask=ask, labels=list(enumerate(labels, start=1)), texts=list(texts))


def _hash(script: object) -> str:
    """A script as a content security policy names it."""
    digest = hashlib.sha256(str(script).encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
