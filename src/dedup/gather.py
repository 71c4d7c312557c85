"""Asks the judge exactly what the settings need: no pair twice, none on speculation, as many at once as possible."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator

import numpy as np
import numpy.typing as npt

from src.dedup.evidence import UNPARSED, Evidence
from src.dedup.link import Flags, Graph, merge_strict, open_questions
from src.dedup.nodes import Nodes
from src.dedup.objections import objections
from src.dedup.pairs import Pairs, similar_pairs, unit_rows
from src.dedup.settings import Dedup, computed
from src.interfaces import Judge, Report
from src.records import Progress, Rubric, Verdict
from src.settle import settle

_AT_ONCE = 10_000  # far above what any endpoint takes at once; bounds the memory of a union's hundred thousand pairs


async def gather_verdicts(
    nodes: Nodes,
    vectors: npt.ArrayLike,
    own: Dedup,
    judge: Judge,
    rubric: Rubric,
    report: Report,
    *,
    swept: bool = True,
) -> tuple[Evidence, tuple[Verdict, ...]]:
    """Judge every pair that the run's own setting or one of the nine of the sweep asks for.

    Which pairs those are does not depend on which answer comes first.

    Args:
        nodes: distinct texts, n of them.
        vectors: shape (n, d), one row per node.
        own: the run's own setting.
        judge: who decides.
        rubric: the question; its template gets the two texts as `first` and `second`, in the order of their hashes.
        report: is told of every verdict; `total` is an upper bound until the last one.
        swept: whether the nine settings of the sweep are judged for, too; without them the evidence holds for `own`.

    Returns:
        The evidence, and the verdicts in the order of their pairs, for the accounts.

    Raises:
        EmbeddingError: as :func:`unit_rows`.
        FrontierError: the judge failed; questions under way are let in first, no new one is asked.
    """
    settings = computed(own) if swept else (own,)
    unit = unit_rows(vectors, rows=len(nodes))
    pairs = similar_pairs(unit, min(setting.fuzzy for setting in settings))
    guards = _guards(nodes, pairs, settings)
    guarded = np.array([bool(guard) for guard in guards], dtype=bool)
    graphs = [Graph.of(len(nodes), pairs, guarded, setting) for setting in settings]
    inquiry = _Inquiry(nodes, pairs, judge, rubric, report, int(_any(graphs).sum()))
    if own.linkage == "greedy":
        walks = [walk for graph in graphs for walk in _walks(graph, inquiry, nearest_only=own.candidates == 1)]
        await settle(walks)
    else:
        wanted = np.flatnonzero(_any(graphs)).tolist()
        for start in range(0, len(wanted), _AT_ONCE):
            await settle([inquiry.confirm(pair) for pair in wanted[start : start + _AT_ONCE]])
    verdicts = inquiry.verdicts()
    labels = tuple(_label(verdicts[pair]) if pair in verdicts else None for pair in range(len(guards)))
    return Evidence(own, nodes, pairs, guards, labels), tuple(verdicts[pair] for pair in sorted(verdicts))


def questions(nodes: Nodes, vectors: npt.ArrayLike, own: Dedup) -> int:
    """How many pairs :func:`gather_verdicts` may ask the judge about; nothing is asked."""
    settings = computed(own)
    pairs = similar_pairs(unit_rows(vectors, rows=len(nodes)), min(setting.fuzzy for setting in settings))
    guarded = np.array([bool(guard) for guard in _guards(nodes, pairs, settings)], dtype=bool)
    return int(_any([Graph.of(len(nodes), pairs, guarded, setting) for setting in settings]).sum())


def _guards(nodes: Nodes, pairs: Pairs, settings: tuple[Dedup, ...]) -> tuple[str | None, ...]:
    """The guard of every pair that some setting would merge without asking."""
    return objections(nodes, pairs, min((setting.strict for setting in settings if setting.guards), default=np.inf))


def _any(graphs: list[Graph]) -> Flags:
    """Pairs that are a candidate in at least one of the graphs."""
    found: Flags = np.logical_or.reduce([graph.candidate for graph in graphs])
    return found


def _label(verdict: Verdict) -> str:
    return UNPARSED if verdict.unparsed else "YES" if verdict.accepted else "NO"


class _Inquiry:
    """Asks about each pair at most once, whoever wants to know, and reports progress."""

    def __init__(self, nodes: Nodes, pairs: Pairs, judge: Judge, rubric: Rubric, report: Report, at_most: int) -> None:
        self._nodes, self._pairs = nodes, pairs
        self._judge, self._rubric = judge, rubric
        self._report, self._at_most = report, at_most
        self._tasks: dict[int, asyncio.Task[Verdict]] = {}
        self._failure: Exception | None = None
        self._done = self._calls = self._tokens = 0

    async def confirm(self, pair: int) -> bool:
        """Whether the judge says YES; unparsed is not YES."""
        if pair not in self._tasks:
            if self._failure:
                raise self._failure  # for instance out of budget: asking on would only fail again
            self._tasks[pair] = asyncio.create_task(self._ask(pair))
        return bool((await self._tasks[pair]).accepted)

    def verdicts(self) -> dict[int, Verdict]:
        """The verdict of every pair asked about, once all are in."""
        self._report(Progress("pairs", self._done, self._done, self._calls, self._tokens))
        return {pair: task.result() for pair, task in self._tasks.items()}

    async def _ask(self, pair: int) -> Verdict:
        first, second = self._nodes.canonical(int(self._pairs.a[pair]), int(self._pairs.b[pair]))
        try:
            verdict = await self._judge.judge(self._rubric, {"first": first, "second": second})
        except Exception as failure:
            self._failure = self._failure or failure
            raise
        self._done += 1
        self._calls += sum(completion.requests for completion in verdict.completions)
        for completion in verdict.completions:
            self._tokens += (completion.usage.tokens_in or 0) + (completion.usage.tokens_out or 0)
        self._report(Progress("pairs", self._done, self._at_most, self._calls, self._tokens))
        return verdict


def _walks(graph: Graph, inquiry: _Inquiry, *, nearest_only: bool) -> Iterator[Awaitable[bool]]:
    """One task per survivor of the strict stage that has candidates: does it merge?

    The walk is that of :func:`src.dedup.link.greedy`, except that a survivor waits for the fate of a candidate before
    it asks about it; whatever does not hang on one another runs at once.
    """
    fates: dict[int, asyncio.Task[bool]] = {}

    async def merges(candidates: list[tuple[int, int]]) -> bool:
        for earlier, pair in candidates:
            if earlier in fates and await fates[earlier]:
                continue
            if await inquiry.confirm(pair):
                return True
            if nearest_only:
                break
        return False

    for later, candidates in open_questions(graph, merge_strict(graph)).items():
        fates[later] = asyncio.create_task(merges(candidates))
        yield fates[later]
