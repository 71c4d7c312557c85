import asyncio
import io
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from src.dedup.evidence import Clusters, Evidence, cluster, from_table
from src.dedup.gather import gather_verdicts
from src.dedup.nodes import Nodes, distinct
from src.dedup.settings import Dedup, computed, sweep
from src.errors import BudgetReached, ConfigError, EmbeddingError
from src.records import Completion, Progress, Rubric, Usage, Verdict
from src.text.guards import difference

RUBRIC = Rubric("duplicate", ("YES", "NO"), ("YES",), "{{ first }} {{ second }}")
SETTINGS = [
    Dedup(linkage=linkage, candidates=candidates, strict=strict)  # type: ignore[arg-type]
    for linkage, candidates, strict in [
        ("greedy", "all", 0.92),
        ("greedy", 1, 0.92),
        ("greedy", "all", 0.85),
        ("representative", "all", 0.92),
        ("components", "all", 0.92),
        ("complete", "all", 0.92),
    ]
]


def verdict_of(first: str, second: str) -> Verdict:
    """A judge's mind: fixed per pair of texts, here and there unreadable."""
    weight = sum(map(ord, first)) * 31 + sum(map(ord, second)) * 17
    if weight % 11 == 0:
        return Verdict(None, None)
    return Verdict("YES", True) if weight % 3 == 0 else Verdict("NO", False)


class SlowJudge:
    """Answers after a random while and writes down what it was asked and how much at once."""

    kind = "recorded"

    def __init__(self, mind: Callable[[str, str], Verdict] = verdict_of, seed: int | None = None) -> None:
        self.mind, self.rng = mind, np.random.default_rng(seed)
        self.slow = seed is not None
        self.asked: list[tuple[str, str]] = []
        self.now = self.most = 0

    async def judge(self, rubric: Rubric, values: Mapping[str, str]) -> Verdict:
        assert rubric is RUBRIC
        self.asked.append((values["first"], values["second"]))
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(float(self.rng.uniform(0, 0.002)) if self.slow else 0)
        self.now -= 1
        return self.mind(values["first"], values["second"])


def said(i: int) -> str:
    """A text that differs from the others in punctuation, at which guards do not look."""
    return "It exists" + "".join("!;:?"[i // 4**k % 4] for k in range(5))


def points(n: int, seed: int = 0, d: int = 12) -> tuple[Nodes, npt.NDArray[np.float32]]:
    """Texts in bundles, so that cosines spread over 0.5 to 1; every sixth holds a number, which guards look at."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(max(1, n // 8), d))
    vectors = centres[rng.integers(len(centres), size=n)] + 0.42 * rng.normal(size=(n, d))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [f"It has {i} parts" if i % 6 == 0 else said(i) for i in range(n)]
    return distinct(range(100, 100 + n), texts), vectors.astype(np.float32)


def gathered(
    nodes: Nodes, vectors: npt.ArrayLike, own: Dedup, judge: SlowJudge, seen: list[Progress] | None = None
) -> Evidence:
    report = (lambda step: None) if seen is None else seen.append
    return asyncio.run(gather_verdicts(nodes, vectors, own, judge, RUBRIC, report))[0]


def reference(nodes: Nodes, vectors: npt.NDArray[np.float32], setting: Dedup) -> tuple[list[int], set[tuple[str, str]]]:
    """Greedy word by word as it is defined, one node after the other, every cosine computed; and the pairs asked."""
    cosines = vectors.astype(float) @ vectors.astype(float).T
    asked = set()

    def guarded(i: int, j: int) -> bool:
        return setting.guards and bool(difference(*nodes.canonical(i, j)))

    joined: dict[int, int] = {}
    for j in range(len(nodes)):
        able = [i for i in range(j) if i not in joined and cosines[i, j] > setting.strict and not guarded(i, j)]
        if able:
            joined[j] = max(able, key=lambda i: (cosines[i, j], -i))
    first_stage = dict(joined)
    for j in range(len(nodes)):
        if j in first_stage:
            continue
        survivors = [i for i in range(j) if i not in joined and cosines[i, j] >= setting.fuzzy]
        survivors.sort(key=lambda i: (-cosines[i, j], i))
        for i in survivors[:1] if setting.candidates == 1 else survivors:
            asked.add(nodes.canonical(i, j))
            if verdict_of(*nodes.canonical(i, j)).accepted:
                joined[j] = i
                break

    def top(node: int) -> int:
        return top(joined[node]) if node in joined else node

    return [top(node) for node in range(len(nodes))], asked


def groups(clusters: Clusters) -> set[frozenset[str]]:
    members: dict[int, set[str]] = {}
    for text, centre in zip(clusters.nodes.texts, clusters.representative, strict=True):
        members.setdefault(centre, set()).add(text)
    return {frozenset(group) for group in members.values()}


@pytest.mark.parametrize("candidates", ["all", 1])
@pytest.mark.parametrize("guards", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_greedy_is_what_is_defined_for_every_setting_and_asks_no_more(candidates: str, guards: bool, seed: int) -> None:
    nodes, vectors = points(70, seed)
    own = Dedup(strict=0.88, candidates=candidates, guards=guards)  # type: ignore[arg-type]
    judge = SlowJudge(seed=seed)
    evidence = gathered(nodes, vectors, own, judge)
    needed: set[tuple[str, str]] = set()
    for setting in computed(own):
        centres, asked = reference(nodes, vectors, setting)
        clusters = cluster(evidence, setting)
        assert list(clusters.representative) == centres
        assert clusters.judged == len(asked)
        assert clusters.unparsed == sum(verdict_of(*pair).unparsed for pair in asked)
        needed |= asked
    assert sorted(judge.asked) == sorted(needed)  # each once, nothing on speculation
    assert len(needed) > 40
    assert judge.most > 5


def test_all_asks_fewer_pairs_than_there_are_candidates() -> None:
    nodes, vectors = points(70)
    lazy, every = SlowJudge(), SlowJudge()
    gathered(nodes, vectors, Dedup(), lazy)
    gathered(nodes, vectors, Dedup(linkage="complete"), every)
    assert set(lazy.asked) < set(every.asked)


@pytest.mark.parametrize("own", SETTINGS, ids=str)
def test_neither_pairs_nor_table_depend_on_who_answers_first(own: Dedup) -> None:
    nodes, vectors = points(60, seed=9)
    tables, asked = [], []
    for seed in (None, 1, 2, 3):
        judge = SlowJudge(seed=seed)
        buffer = io.BytesIO()
        gathered(nodes, vectors, own, judge).table().write_parquet(buffer)
        tables.append(buffer.getvalue())
        asked.append(sorted(judge.asked))
    assert all(table == tables[0] for table in tables)
    assert all(pairs == asked[0] for pairs in asked)
    assert len(set(asked[0])) == len(asked[0]) > 20


@pytest.mark.parametrize("own", SETTINGS, ids=str)
def test_every_computed_setting_can_be_had_from_the_stored_table(own: Dedup, tmp_path: Path) -> None:
    nodes, vectors = points(90, seed=3)
    evidence = gathered(nodes, vectors, own, SlowJudge())
    evidence.table().sample(fraction=1, shuffle=True, seed=1).write_parquet(tmp_path / "pairs.parquet")
    rebuilt = from_table(pl.read_parquet(tmp_path / "pairs.parquet"), nodes, own)
    counts = set()
    for setting in computed(own):
        clusters = cluster(evidence, setting)
        again = cluster(rebuilt, setting)
        assert again == clusters
        counts.add(clusters.count)
    assert len(counts) > 2
    assert rebuilt.table().equals(evidence.table())


def test_a_cosine_beside_a_threshold_survives_the_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, y = np.linalg.qr(rng.normal(size=(384, 2)))[0].T
    for offset in (-4e-8, -1e-8, 0, 1e-8, 4e-8):
        cosine = 0.92 + offset
        vectors = np.array([x, cosine * x + np.sqrt(1 - cosine**2) * y], dtype=np.float32)
        nodes = distinct([1, 2], ["red things", "red things!"])
        evidence = gathered(nodes, vectors, Dedup(), SlowJudge(lambda a, b: Verdict("NO", False)))
        evidence.table().write_parquet(tmp_path / "pairs.parquet")
        rebuilt = from_table(pl.read_parquet(tmp_path / "pairs.parquet"), nodes, Dedup())
        exact = float(vectors[0].astype(float) @ vectors[1].astype(float))
        assert cluster(rebuilt, Dedup()).count == cluster(evidence, Dedup()).count == (1 if exact > 0.92 else 2)


@pytest.mark.parametrize("linkage", ["representative", "components", "complete"])
def test_clusters_of_order_free_linkages_do_not_depend_on_arrival(linkage: str) -> None:
    nodes, vectors = points(40, seed=6)
    own = Dedup(linkage=linkage)  # type: ignore[arg-type]
    results = []
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(40)
        mixed = distinct(range(40), [nodes.texts[i] for i in order])
        evidence = gathered(mixed, vectors[order], own, SlowJudge(seed=seed))
        results.append(
            [
                (groups(clusters), {mixed.texts[centre] for centre in clusters.representative}, clusters.unparsed)
                for clusters in (cluster(evidence, setting) for setting in computed(own))
            ]
        )
    assert all(result == results[0] for result in results)
    assert len(results[0][0][0]) < 40


@pytest.mark.parametrize("own", SETTINGS, ids=str)
def test_what_batching_does_to_the_last_digits_of_vectors_does_not_matter(own: Dedup) -> None:
    nodes, vectors = points(80, seed=11)
    noise = np.random.default_rng(0).uniform(-1e-7, 1e-7, size=vectors.shape).astype(np.float32)
    assert (vectors + noise != vectors).any()
    one, other = (gathered(nodes, each, own, SlowJudge()) for each in (vectors, vectors + noise))
    for setting in computed(own):
        assert cluster(one, setting) == cluster(other, setting)


SAME = [
    ("The treaty was signed in 1990.", "The treaty was signed in 1991."),
    ("The usual dose is 5 mg.", "The usual dose is 5 g."),
    ("The satellite is called MW-2.", "The satellite is called MW-3."),
    ("Smoking causes cancer.", "Smoking does not cause cancer."),
    ("Dropout increases variance.", "Dropout decreases variance."),
]


@pytest.mark.parametrize("pair", SAME)
@pytest.mark.parametrize("linkage", ["greedy", "representative", "components", "complete"])
def test_a_decisive_difference_is_never_merged_unasked(pair: tuple[str, str], linkage: str) -> None:
    vectors = np.array([[1, 0], [1, 0.001]], dtype=np.float32)
    own = Dedup(linkage=linkage)  # type: ignore[arg-type]
    for texts in (pair, pair[::-1]):
        nodes = distinct([1, 2], texts)
        judge = SlowJudge(lambda a, b: Verdict("NO", False))
        evidence = gathered(nodes, vectors, own, judge)
        assert len(judge.asked) == 1
        assert [cluster(evidence, setting).count for setting in computed(own)] == [2] * 9
        row = evidence.table().row(0, named=True)
        assert (row["stage"], row["verdict"]) == ("guarded", "NO")
        assert row["guard"]
        # The paper's thresholds have no guards: there the pair is one point, and nobody is asked.
        bold = SlowJudge()
        unguarded = replace(own, guards=False)
        assert cluster(gathered(nodes, vectors, unguarded, bold), unguarded).count == 1
        assert bold.asked == []


def test_an_unreadable_verdict_keeps_a_pair_apart_and_is_counted() -> None:
    nodes = distinct([1, 2], ["red things", "red things!"])
    vectors = np.array([[1, 0], [0.8, 0.6]], dtype=np.float32)
    evidence = gathered(nodes, vectors, Dedup(), SlowJudge(lambda a, b: Verdict(None, None)))
    clusters = cluster(evidence, Dedup())
    assert (clusters.count, clusters.judged, clusters.unparsed) == (2, 1, 1)
    assert evidence.table()["verdict"].to_list() == ["unparsed"]


def test_identical_texts_are_one_node_and_the_first_stands_for_them() -> None:
    nodes = distinct(
        [4, 5, 6, 7], ["Zürich is a city.", "Bern is a city.", "Zu\u0308rich is a city.", "Bern is a city."]
    )
    assert nodes.texts == ("Zürich is a city.", "Bern is a city.")
    vectors = np.array([[1, 0], [0.3, 0.9]], dtype=np.float32)
    table = cluster(gathered(nodes, vectors, Dedup(), SlowJudge()), Dedup()).table()
    assert table["cluster_id"].to_list() == [0, 1, 0, 1]
    assert table["representative"].to_list() == [4, 5, 4, 5]
    assert table["unique"].to_list() == [True, True, False, False]


def test_atom_ids_must_be_unique() -> None:
    with pytest.raises(ValueError, match="twice"):
        distinct([1, 1], ["a", "b"])


def test_the_table_names_stages_under_the_own_setting() -> None:
    cosines = [0.95, 0.8, 0.67]  # of each with the first; far from one another they are not listed
    vectors = np.zeros((4, 4))
    vectors[0, 0] = 1
    for i, cosine in enumerate(cosines, start=1):
        vectors[i, 0], vectors[i, i] = cosine, np.sqrt(1 - cosine**2)
    nodes = distinct([10, 11, 12, 13], ["a thing", "b thing", "c thing", "d thing"])
    table = gathered(nodes, vectors, Dedup(), SlowJudge(lambda a, b: Verdict("NO", False))).table()
    table = table.filter(pl.col("a") == 10)
    assert table["b"].to_list() == [11, 12, 13]
    assert table["stage"].to_list() == ["strict", "ambiguous", "below"]
    assert table["guard"].to_list() == ["", None, None]
    assert table["verdict"].to_list() == [None, "NO", "NO"]  # 0.67 is a question at fuzzy 0.65
    assert table["cosine"].to_list() == pytest.approx(cosines, abs=1e-7)


@pytest.mark.parametrize("change", [{"strict": 0.85}, {"fuzzy": 0.6}, {"linkage": "components"}, {"guards": True}])
def test_a_setting_that_lacks_evidence_is_an_error(change: dict[str, object]) -> None:
    nodes, vectors = points(80, seed=1)
    own = Dedup(guards="guards" not in change)
    evidence = gathered(nodes, vectors, own, SlowJudge())
    with pytest.raises(ConfigError, match="was not computed"):
        cluster(evidence, replace(own, **change))  # type: ignore[arg-type]


def test_chains_raise_an_alarm_under_components_only() -> None:
    angles = np.radians(np.arange(12) * 10)
    vectors = np.stack((np.cos(angles), np.sin(angles)), axis=1)
    nodes = distinct(range(12), [said(i) for i in range(12)])
    alarms = {}
    for linkage in ("greedy", "representative", "components", "complete"):
        own = Dedup(linkage=linkage)  # type: ignore[arg-type]
        clusters = cluster(gathered(nodes, vectors, own, SlowJudge(lambda a, b: Verdict("NO", False))), own)
        alarms[linkage] = (clusters.chain_alarm, clusters.largest == 12)
        smallest = clusters.smallest_cosine(vectors.astype(np.float32))
        assert smallest is not None
        assert (smallest < 0.70) == (clusters.chained > 0)
    assert alarms.pop("components") == (True, True)
    assert set(alarms.values()) == {(False, False)}


def test_smallest_cosine_is_that_of_the_least_alike_members() -> None:
    nodes, vectors = points(60, seed=2)
    clusters = cluster(gathered(nodes, vectors, Dedup(), SlowJudge()), Dedup())
    pairs = [
        vectors[i].astype(float) @ vectors[j].astype(float)
        for i, j in itertools.combinations(range(60), 2)
        if clusters.representative[i] == clusters.representative[j]
    ]
    assert clusters.smallest_cosine(vectors) == pytest.approx(min(pairs), abs=1e-7)
    assert sum(cosine < 0.70 for cosine in pairs) == clusters.chained


@pytest.mark.parametrize("own", SETTINGS, ids=str)
def test_nothing_and_one_point(own: Dedup) -> None:
    for n in (0, 1):
        nodes = distinct(range(n), ["alone"] * n)
        judge = SlowJudge()
        clusters = cluster(gathered(nodes, np.ones((n, 3)), own, judge), own)
        assert (clusters.count, clusters.largest, clusters.chained, judge.asked) == (n, n, 0, [])
        assert clusters.smallest_cosine(np.ones((n, 3), dtype=np.float32)) is None
        assert clusters.table().height == n


@pytest.mark.parametrize("broken", [np.ones((1, 3)), np.full((2, 3), np.nan), np.zeros((2, 3))])
def test_vectors_that_are_missing_or_not_finite_are_refused_before_any_call(broken: np.ndarray) -> None:
    judge = SlowJudge()
    with pytest.raises(EmbeddingError):
        gathered(distinct([1, 2], ["", "   "]), broken, Dedup(), judge)
    assert judge.asked == []


def test_a_very_long_text_is_handled() -> None:
    long = "The loss of layer 3 falls by 5 % not 6 mg; " * 500
    nodes = distinct([1, 2], [long, long + "it rises."])
    vectors = np.array([[1, 0], [1, 0.001]], dtype=np.float32)
    evidence = gathered(nodes, vectors, Dedup(), SlowJudge(lambda a, b: Verdict("YES", True)))
    assert cluster(evidence, Dedup()).count == 1


@pytest.mark.parametrize("own", SETTINGS[:4], ids=str)
def test_after_a_failure_nothing_new_is_asked_and_what_is_under_way_comes_in(own: Dedup) -> None:
    nodes, vectors = points(80, seed=4)

    class Poor(SlowJudge):
        answered = 0

        async def judge(self, rubric: Rubric, values: Mapping[str, str]) -> Verdict:
            if len(self.asked) == 12:
                raise BudgetReached("budget.calls=12 is used up")
            verdict = await super().judge(rubric, values)
            self.answered += 1
            return verdict

    judge = Poor(seed=0)
    with pytest.raises(BudgetReached, match=r"budget\.calls=12"):
        gathered(nodes, vectors, own, judge)
    assert judge.answered == len(judge.asked) == 12


def test_progress_and_accounts() -> None:
    nodes, vectors = points(60, seed=7)

    def paid(first: str, second: str) -> Verdict:
        verdict = verdict_of(first, second)
        done = Completion("x", "ok", "stop", Usage(7, 2), attempts=1, replayed=False, key=f"{first}|{second}")
        return replace(verdict, completions=(done, done) if verdict.unparsed else (done,))

    seen: list[Progress] = []
    judge = SlowJudge(paid, seed=1)
    evidence, verdicts = asyncio.run(gather_verdicts(nodes, vectors, Dedup(), judge, RUBRIC, seen.append))
    assert [step.done for step in seen[:-1]] == list(range(1, len(judge.asked) + 1))
    assert all(step.phase == "pairs" and step.done <= step.total for step in seen)
    assert seen[-1].done == seen[-1].total == len(judge.asked) == len(verdicts)
    assert seen[-1].calls == sum(len(verdict.completions) for verdict in verdicts) > len(verdicts)
    assert seen[-1].tokens == 9 * seen[-1].calls
    judged = evidence.table().filter(pl.col("verdict").is_not_null())
    texts = dict(zip(nodes.first, nodes.texts, strict=True))
    for (a, b), verdict in zip(judged.select("a", "b").rows(), verdicts, strict=True):
        assert {texts[a], texts[b]} == set(verdict.completions[0].key.split("|"))


def test_the_sweep_is_monotone_in_what_is_merged_unasked() -> None:
    nodes, vectors = points(90, seed=8)
    evidence = gathered(nodes, vectors, Dedup(), SlowJudge(lambda a, b: Verdict("NO", False)))
    counts = {setting.strict: cluster(evidence, setting).count for setting in sweep(Dedup())}
    assert counts[0.90] < counts[0.92] < counts[0.94] < 90


def outcome(seed: int) -> str:
    """What a run leaves, as text; used across processes."""
    nodes, vectors = points(60, seed)
    lines: list[object] = []
    for own in SETTINGS:
        evidence = gathered(nodes, vectors, own, SlowJudge())
        lines += [evidence.table().write_csv(), *(cluster(evidence, setting) for setting in computed(own))]
    return "\n".join(map(str, lines))


def run_with(hash_seed: str) -> str:
    code = "import test_gather, hashlib; print(hashlib.sha256(test_gather.outcome(1).encode()).hexdigest())"
    here = Path(__file__).parent
    path = os.pathsep.join((str(here), str(here.parents[1]), *sys.path))
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_pythonhashseed_changes_nothing() -> None:
    results: Sequence[str] = [run_with(seed) for seed in ("0", "1", "12345")]
    assert len(results[0]) > 60
    assert len(set(results)) == 1
