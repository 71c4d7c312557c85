"""The oracle knows what simulated statements mean, and errs as often as it is told to."""

import asyncio
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from src.errors import ConfigError
from src.knower.wording import KINDS, read, say
from src.knower.world import INVENTIONS, JUNK, World, facts
from src.oracle import OracleJudge
from src.records import Rubric, Verdict

WORLD = World(facts=300)
N = WORLD.facts


@cache
def rubric(name: str) -> Rubric:
    fields = yaml.safe_load(Path(f"conf/rubric/{name}.yaml").read_text())
    return Rubric(**{key: value for key, value in fields.items() if key != "_target_"})


def said(meaning: int, way: int = 0) -> str:
    return say(WORLD, "deep learning", meaning, way)


def audit(judge: OracleJudge, text: str, name: str = "audit") -> Verdict:
    return asyncio.run(judge.judge(rubric(name), {"domain": "deep learning", "atom": text}))


def compare(judge: OracleJudge, first: str, second: str) -> Verdict:
    return asyncio.run(judge.judge(rubric("duplicate"), {"first": first, "second": second}))


def test_true_statements_are_valid_and_nothing_else_is() -> None:
    judge = OracleJudge()
    kinds = facts(WORLD, "deep learning").kind
    for fact in range(0, N, 17):
        assert audit(judge, said(fact, 3)) == Verdict(KINDS[kinds[fact]].upper(), True)
        assert audit(judge, said(fact), "audit_yesno") == Verdict("YES", True)
    for other in (said(N), said(2 * N), said(2 * N + INVENTIONS), "Dropout zeroes units.", ""):
        assert audit(judge, other) == Verdict("NO", False)


def test_the_same_is_what_means_the_same() -> None:
    judge = OracleJudge()
    assert compare(judge, said(5, 0), said(5, 3)) == Verdict("YES", True)
    second = int(facts(WORLD, "deep learning").sibling.argmax())
    for other in (said(second), said(N + second - 1), said(2 * N)):
        assert compare(judge, said(second - 1), other) == Verdict("NO", False)
    assert compare(judge, "a text", "a text").accepted
    assert not compare(judge, "a text", "another").accepted


def test_errors_come_at_their_rates_and_the_same_question_gets_the_same_answer() -> None:
    judge = OracleJudge(false_valid=0.2, false_invalid=0.1, unparsed=0.05)
    right = [audit(judge, said(fact, way)) for fact in range(0, N, 4) for way in range(4)]
    wrong = [audit(judge, said(N + fact, way)) for fact in range(0, N, 4) for way in range(4)]
    assert right == [audit(judge, said(fact, way)) for fact in range(0, N, 4) for way in range(4)]
    counts = [sum(verdict.accepted is answer for verdict in verdicts)
              for verdicts, answer in ((right, False), (wrong, True), (right + wrong, None))]  # fmt: skip
    for count, n, rate in zip(counts, (300, 300, 600), (0.095, 0.19, 0.05), strict=True):
        assert abs(count - n * rate) < 4 * (n * rate) ** 0.5
    assert {verdict.label for verdict in wrong if verdict.accepted} == {kind.upper() for kind in KINDS}
    assert right != [
        audit(OracleJudge(seed=1, false_invalid=0.1), said(f, w)) for f in range(0, N, 4) for w in range(4)
    ]


def test_pairs_are_confused_whatever_their_order() -> None:
    judge = OracleJudge(false_same=0.3, false_distinct=0.4)
    apart = [(said(one), said(other)) for one, other in pairwise(range(N)) if read(said(one)) != read(said(other))]
    alike = [(said(fact, 1), said(fact, 2)) for fact in range(N)]
    merged = sum(compare(judge, *pair).accepted for pair in apart) / len(apart)
    missed = sum(not compare(judge, *pair).accepted for pair in alike) / len(alike)
    assert abs(merged - 0.3) < 0.1
    assert abs(missed - 0.4) < 0.1
    for first, second in apart[:50]:
        assert compare(judge, first, second) == compare(judge, second, first)


def test_every_rubric_of_the_probe_has_an_answer_and_others_are_named() -> None:
    assert OracleJudge().kind == "oracle"
    with pytest.raises(ConfigError, match="no answer to rubric entailed: it knows audit, audit_yesno, duplicate"):
        asyncio.run(OracleJudge().judge(Rubric("entailed", ("YES", "NO"), ("YES",), "x"), {}))
    assert audit(OracleJudge(), said(2 * N + INVENTIONS + JUNK - 1)).label == "NO"
