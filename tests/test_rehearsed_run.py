"""A whole run against the rehearsal server, as users rehearse a paid one."""

from pathlib import Path

import polars as pl
import pytest
from conftest import Compose

from src.errors import EndpointError
from src.rehearsal import Rates, Rehearsal
from src.rehearsal.faults import Body, Fault
from src.rehearsal.kinds import KINDS, fault
from src.run import run

QUICK = {"slow": "slow:0.1", "drip": "drip:0.1", "429_ms": "429_ms:20", "429_date": "429_date:0", "giant": "giant:0.5"}


def overrides(server: Rehearsal, cell: Path, *more: str) -> list[str]:
    """A paid run of taxonomy_l2w2 with all roles at the rehearsal, in a folder and with a ledger of its own."""
    said = ["model=llama70b", "judge=deepseek_v31", "embedder=qwen3_8b", "embedder.dimension=64", "max_turns=3"]
    for place in ("", "judge.", "embedder."):
        said.append(f"endpoint@{place}endpoint=rehearsal" if place else "endpoint=rehearsal")
        said += [f"{place}endpoint.base_url={server.base_url}", f"{place}endpoint.attempts=30"]
    return [*said, f"run_dir={cell}", f"ledger.path={cell}.db", *more]


def tables(cell: Path, phase: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((cell / phase).glob("*.parquet"))}


def rates(group: str, share: float, seed: int = 0, without: tuple[str, ...] = ()) -> Rates:
    """The faults of a group, the slow ones less slow."""
    names = [kind.name for kind in KINDS if kind.group == group and kind.name not in without]
    return Rates(",".join(f"{QUICK.get(name, name)}={share / len(names)}" for name in names), seed)


def test_transport_faults_leave_no_trace_in_what_was_found(composed: Compose, tmp_path: Path) -> None:
    with Rehearsal(dimension=64) as server:
        run(composed(*overrides(server, tmp_path / "well")))
        needed = server.count()
    # Its origin is in the keys: the same port.
    with Rehearsal(dimension=64, port=server.port, faults=rates("transport", 0.1, without=("null_usage",))) as server:
        ill = run(composed(*overrides(server, tmp_path / "ill")))
        assert server.faulty > 10
        assert server.count() > needed
        assert (ill.failure, ill.spend["attempts"]) == ("", server.count())
    for phase in ("extract", "process"):
        assert tables(tmp_path / "ill", phase) == tables(tmp_path / "well", phase)


def test_usage_that_is_not_told_is_unknown_and_the_points_are_the_same(composed: Compose, tmp_path: Path) -> None:
    with Rehearsal(dimension=64) as server:
        run(composed(*overrides(server, tmp_path / "well", "phases=[extract]")))
    with Rehearsal(dimension=64, port=server.port, faults=Rates("null_usage=0.7", 0)) as server:
        ill = run(composed(*overrides(server, tmp_path / "ill", "phases=[extract]")))
        assert (server.faulty > 0, ill.failure) == (True, "")
    assert ill.metrics["tokens_generation_out"] is None
    one, other = (tables(tmp_path / cell, "extract")["atoms.parquet"] for cell in ("well", "ill"))
    assert one == other


def test_each_content_fault_is_counted_in_its_state(composed: Compose, tmp_path: Path) -> None:
    left = ["think", "think_closed", "reasoning_content", "cut_list", "content_filter", "giant", "think_unclosed"]
    assert set(left) == {kind.name for kind in KINDS if kind.group == "content"}

    def later(number: int, body: Body) -> Fault | None:
        if body.get("max_tokens") == 2 * 4096:  # asked again with more room
            return fault("think_unclosed")[1]()
        if "List only new statements" not in str(body.get("messages")) or not left:
            return None
        name = left.pop()
        return fault(QUICK.get(name, name))[1]()

    with Rehearsal(dimension=64, faults=later) as server:
        config = overrides(server, tmp_path / "cell", "phases=[extract]")
        outcome = run(composed(*config))
        assert (left, server.faulty, outcome.failure) == ([], 8, "")
        asked, once = server.count(), tables(tmp_path / "cell", "extract")
        assert run(composed(*config)).metrics == outcome.metrics
        assert server.count() == asked
    assert tables(tmp_path / "cell", "extract") == once
    counted = {name: outcome.metrics[name] for name in ("truncated", "refused", "empty", "unlisted", "cut")}
    assert counted == {"truncated": 3, "refused": 1, "empty": 0, "unlisted": 0, "cut": 2}
    assert outcome.metrics["calls"] == 7 + 4 + 4 + 1
    texts = pl.read_parquet(tmp_path / "cell/extract/atoms.parquet")["text"]
    assert not [text for text in texts if "idea that is no point" in text or "!!" in text]


def test_content_faults_of_every_role_end_no_run_and_a_rerun_asks_nothing(composed: Compose, tmp_path: Path) -> None:
    with Rehearsal(dimension=64, faults=rates("content", 0.1)) as server:
        outcome = run(composed(*overrides(server, tmp_path / "cell")))
        assert (server.faulty > 10, outcome.failure) == (True, "")
        asked, once = server.count(), tables(tmp_path / "cell", "process")
        again = run(composed(*overrides(server, tmp_path / "cell")))
        assert (server.count(), again.metrics) == (asked, outcome.metrics)
    assert tables(tmp_path / "cell", "process") == once
    rows = pl.read_parquet(tmp_path / "cell/extract/calls.parquet")
    for state in ("truncated", "refused", "empty"):
        assert outcome.metrics[state] == rows.filter(state=state).height


def test_nothing_of_a_rehearsal_is_replayed_by_a_real_endpoint(composed: Compose, tmp_path: Path) -> None:
    def real(server: Rehearsal) -> list[str]:
        address = (f"endpoint.base_url={server.base_url}", "endpoint.api_key_env=null")
        place = (f"run_dir={tmp_path / 'real'}", f"ledger.path={tmp_path / 'cell'}.db")
        return ["model=llama70b", "embedder=hashing", "max_turns=1", "phases=[extract]", *address, *place]

    with Rehearsal(dimension=64) as server:
        run(composed(*overrides(server, tmp_path / "cell", "max_turns=1", "phases=[extract]")))
        with pytest.raises(EndpointError, match="choose endpoint=rehearsal"):
            run(composed(*real(server)))
    with Rehearsal(port=server.port, without_name=True) as server:
        assert run(composed(*real(server))).spend["replayed"] == 0
        assert server.count() == 7
