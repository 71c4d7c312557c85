"""The whole way of a cell, from a composed configuration to its folder, over real HTTP."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from conftest import Compose
from endpoint import Fault, ScriptedEndpoint, content, status

from src.command import refuse_secrets
from src.errors import ConfigError, DataMissing, EndpointError, LedgerMiss
from src.run import run


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for phase in ("extract", "process")
        for path in sorted((folder / phase).iterdir())
    }


@pytest.mark.parametrize(
    ("strategy", "first", "later"),
    [("sequential", 1, 1), ("taxonomy_l2w2", 7, 4), ("taxonomy_l3w3", 13, 9), ("taxonomy_l5w5", 31, 25)],
)
def test_calls_of_two_turns_are_those_of_the_paper(
    remote: Compose, server: ScriptedEndpoint, tmp_path: Path, strategy: str, first: int, later: int
) -> None:
    outcome = run(remote(f"strategy={strategy}", "max_turns=2"))
    turns = pl.read_parquet(tmp_path / "cell/extract/turns.parquet")
    assert turns["calls"].to_list() == [first, later]
    assert server.count() == first + later
    assert outcome.metrics["calls"] == first + later
    assert outcome.metrics["taxonomy_shortfall"] == 0


def test_a_second_run_asks_nothing_and_leaves_the_same_bytes(
    remote: Compose, server: ScriptedEndpoint, tmp_path: Path
) -> None:
    run(remote("max_turns=3"))
    once, asked = contents(tmp_path / "cell"), server.count()
    again = run(remote("max_turns=3"))
    assert server.count() == asked
    assert contents(tmp_path / "cell") == once
    assert again.spend["replayed"] == asked
    assert again.spend["attempts"] == asked + 3  # and three batches of vectors, paid for by the first run
    replayed = run(remote("max_turns=3", "ledger.mode=replay", "endpoint.api_key_env=NO_SUCH_KEY"))
    assert replayed.metrics == again.metrics


def test_an_interrupted_run_continues_where_it_stopped(
    remote: Compose, server: ScriptedEndpoint, tmp_path: Path
) -> None:
    run(remote("max_turns=3", "budget.calls=9"))
    stopped = json.loads((tmp_path / "cell/process/metrics.json").read_text())
    assert stopped["stop_reason"] == "budget"
    assert stopped["turns"] == 1
    assert server.count() == 9
    whole = run(remote("max_turns=3"))
    assert whole.metrics["turns"] == 3
    assert max(Counter(json.dumps(request.body, sort_keys=True) for request in server.requests).values()) == 1


def test_phases_can_run_apart(remote: Compose, server: ScriptedEndpoint, tmp_path: Path) -> None:
    whole = run(remote("max_turns=2"))
    once = contents(tmp_path / "cell")
    asked = server.count()
    extracted = run(remote("max_turns=2", "phases=[extract]"))
    assert "valid" not in extracted.metrics
    assert extracted.metrics["raw"] == whole.metrics["raw"]
    assert run(remote("max_turns=2", "phases=[process]")).metrics == whole.metrics
    assert contents(tmp_path / "cell") == once
    assert server.count() == asked


def test_an_extraction_of_another_configuration_is_not_processed(remote: Compose) -> None:
    run(remote("max_turns=1", "phases=[extract]"))
    with pytest.raises(ConfigError, match="another configuration of max_turns: run phases="):
        run(remote("max_turns=2", "phases=[process]"))


def test_an_llm_judge_is_asked_once_per_pair_and_text(
    remote: Compose, server: ScriptedEndpoint, tmp_path: Path
) -> None:
    judged = (
        "judge=openai",
        "judge.id=scripted-judge",
        f"judge.endpoint.base_url={server.base_url}",
        "judge.endpoint.api_key_env=null",
    )
    outcome = run(remote("max_turns=2", *judged))
    asked = Counter(
        request.body["messages"][-1]["content"]
        for request in server.requests
        if request.body["model"] == "scripted-judge"
    )
    assert max(asked.values()) == 1
    assert outcome.metrics["calls_judge"] == sum(asked.values())
    distinct = pl.read_parquet(tmp_path / "cell/extract/atoms.parquet")["text"].n_unique()
    judged_texts = pl.read_parquet(tmp_path / "cell/process/calls.parquet").filter(prompt="audit").height
    assert judged_texts == distinct
    assert outcome.metrics["tokens_audit"]
    kinds = set(pl.read_parquet(tmp_path / "cell/process/atoms.parquet")["kind"].drop_nulls())
    assert kinds <= {"factual", "conceptual", "procedural"}
    assert kinds
    before = server.count()
    run(remote("max_turns=2", *judged, "dedup.strict=0.94", "dedup.fuzzy=0.75"))
    assert server.count() == before, "another of the nine sweep settings must need no call"


def test_a_prompt_that_does_not_fit_ends_the_cell_as_context(composed: Compose) -> None:
    with ScriptedEndpoint(context=260) as small:
        outcome = run(
            composed(
                "model=openai",
                "model.id=scripted",
                f"endpoint.base_url={small.base_url}",
                "endpoint.api_key_env=null",
                "embedder=hashing",
                "strategy=sequential",
            )
        )
    assert outcome.metrics["stop_reason"] == "context"
    assert outcome.failure == ""


def test_a_refusal_in_the_middle_keeps_what_is_done(composed: Compose, tmp_path: Path) -> None:
    def fault(number: int, body: object) -> object:
        return status(401, "bad key") if number >= 8 else None

    with ScriptedEndpoint(faults=fault) as failing:  # type: ignore[arg-type]
        port = int(failing.base_url.rsplit(":", 1)[1].split("/")[0])
        overrides = (
            "model=openai",
            "model.id=scripted",
            f"endpoint.base_url={failing.base_url}",
            "endpoint.api_key_env=null",
            "embedder=hashing",
            "max_turns=3",
        )
        outcome = run(composed(*overrides))
    assert outcome.metrics["stop_reason"] == "error"
    assert outcome.metrics["turns"] == 1
    assert "401" in outcome.failure
    with ScriptedEndpoint(port=port) as mended:
        healed = run(composed(*overrides))
        assert healed.metrics["turns"] == 3
        assert mended.count() == 7 + 4 + 4 - 8


def test_replay_with_an_edited_prompt_names_the_request(remote: Compose, server: ScriptedEndpoint) -> None:
    run(remote("max_turns=1"))
    asked = server.count()
    with pytest.raises(LedgerMiss, match=r"taxonomy\.children.*ledger\.mode=live"):
        run(remote("max_turns=1", "domain.query=deeper learning", "ledger.mode=replay"))
    assert server.count() == asked


@pytest.mark.parametrize(
    ("overrides", "error", "sentence"),
    [
        (["endpoint.base_url=http://127.0.0.1:9/v1", "endpoint.attempts=1"], EndpointError, "cannot be reached"),
        (["endpoint.api_key_env=KEY_THAT_IS_NOT_SET"], ConfigError, "KEY_THAT_IS_NOT_SET, which is not set"),
        (["max_turns=0"], ConfigError, r"^max_turns=0: .*greater than or equal to 1"),
        (["max_turns=many"], ConfigError, r"^max_turns='many': .*integer"),
        (["dedup.fuzzy=0.95"], ConfigError, "dedup.fuzzy=0.95"),
        (["saturation.patience=-1"], ConfigError, "patience"),
        (["strategy.widths=[]"], ConfigError, "widths"),
        (["domain.name=../../x", "run_dir=null"], ConfigError, "cannot name a folder"),
        (["phases=[proces]"], ConfigError, r"phases\.0='proces': .*'extract' or 'process'"),
        (["+rephrasings=3"], ConfigError, "rephrasings: neither the lab nor a probe reads"),
        (["seed=true"], ConfigError, "seed=True: "),
        (["dedup.strict=nan"], ConfigError, r"dedup\.strict=nan do not fit"),
        (["model.temperature=nan"], ConfigError, "finite"),
        (["endpoint.base_url=http://127.0.0.1:abc/v1"], ConfigError, "base_url is no address"),
        (["domain.query=12"], ConfigError, "domain.query=12: "),
        (["domain.query=''"], ConfigError, "domain.query"),
        (["budget=null"], ConfigError, "budget"),
        (["judge.kind=foo"], ConfigError, "judge.kind='foo'"),
        (["rubrics.audit.accept=[FOO]"], ConfigError, "FOO, which is none of labels"),
        (["seed=x"], ConfigError, "seed='x': "),
        (["+model.api_key=sk-canary"], ConfigError, r"model\.api_key"),
        (["endpoint.api_key_env=sk-canary"], ConfigError, "name of the environment variable"),
        (["ledger.mode=life"], ConfigError, "'live', 'replay' or 'refresh'"),
        (["budget.usd=1"], ConfigError, "model.price is null"),
        (["run_dir=/proc/nowhere"], ConfigError, "set run_dir to a folder you may write"),
        (["embedder=minilm", "embedder.path=/no/such/folder"], DataMissing, "src.fetch"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    remote: Compose, tmp_path: Path, store: str, overrides: list[str], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence) as caught:
        run(remote(*overrides))
    assert "\n" not in str(caught.value)
    assert "canary" not in str(caught.value)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    for path in [*written, Path(store.removeprefix("sqlite:///"))]:
        assert not path.exists() or b"canary" not in path.read_bytes(), path


def test_a_missing_model_file_is_named(composed: Compose) -> None:
    with pytest.raises(DataMissing, match=r"no-such\.gguf is not there: fetch it"):
        run(composed("endpoint.model_path=no-such.gguf", "embedder=hashing"))


def test_a_wrong_model_name_is_named(composed: Compose) -> None:
    with ScriptedEndpoint(models={"scripted"}) as server, pytest.raises(EndpointError, match=r"model\.id"):
        run(
            composed(
                "model=openai",
                "model.id=scriptet",
                f"endpoint.base_url={server.base_url}",
                "endpoint.api_key_env=null",
                "embedder=hashing",
            )
        )


def test_a_budget_that_allows_no_call_is_a_result_without_points(remote: Compose, server: ScriptedEndpoint) -> None:
    outcome = run(remote("budget.calls=0"))
    assert server.count() == 0
    assert outcome.metrics["stop_reason"] == "budget"
    assert outcome.metrics["accuracy"] is None
    assert outcome.metrics["accuracy_reason"] == "no audited clusters"


def test_domain_text_of_any_script_is_asked_as_it_is(remote: Compose, server: ScriptedEndpoint) -> None:
    run(remote("domain.query='苯, 甲苯'", "max_turns=1", "strategy=sequential"))
    assert "苯, 甲苯" in server.requests[0].body["messages"][0]["content"]


def test_the_embedded_model_is_dug_for_real_and_a_rerun_asks_it_nothing(composed: Compose, tmp_path: Path) -> None:
    short = ("max_turns=1", "model.max_tokens=96", "endpoint.threads=1")  # two that wait for each other crawl
    first = run(composed(*short))
    assert first.metrics["raw"]
    assert first.metrics["tokens_generation_out"]
    assert first.metrics["accuracy_low"] is not None
    once = contents(tmp_path / "cell")
    again = run(composed(*short, "ledger.mode=replay", "endpoint.model_path=gone/SmolLM2-135M-Instruct.Q4_1.gguf"))
    assert contents(tmp_path / "cell") == once
    assert again.spend["replayed"] == first.metrics["calls"]


@pytest.mark.parametrize("fault", [content("<think>never ends", "length"), content(None, "length")])
def test_answers_that_cannot_be_read_are_no_sign_of_saturation(composed: Compose, fault: Fault) -> None:
    with ScriptedEndpoint(faults=lambda number, body: fault) as server:
        outcome = run(
            composed(
                "model=openai",
                "model.id=scripted",
                f"endpoint.base_url={server.base_url}",
                "endpoint.api_key_env=null",
                "embedder=hashing",
                "strategy=sequential",
            )
        )
    assert outcome.metrics["stop_reason"] == "error"
    assert "no answer could be read" in outcome.failure


@pytest.mark.parametrize(
    "argument",
    [
        "+model.api_key=sk-canary",
        "+api_key=sk-canary",
        "endpoint.base_url=http://me:sk-canary@host/v1",
        "+a.token=x",
        "endpoint.api_key_env=sk-canary",
    ],
)
def test_a_secret_on_the_command_line_is_refused_before_hydra_sees_it(argument: str) -> None:
    with pytest.raises(ConfigError, match="environment variable") as caught:
        refuse_secrets(["-m", "seed=1", argument])
    assert "canary" not in str(caught.value)


def test_the_name_of_a_variable_is_no_secret() -> None:
    arguments = [
        "endpoint.api_key_env=MY_KEY",
        "judge.endpoint.api_key_env=null",
        "model.max_tokens=5",
        "budget.tokens=9",
    ]
    refuse_secrets(arguments)
    assert len(arguments) == 4


@pytest.mark.parametrize("given", ["model.temperature=1.0", "strategy=sequential"])
def test_an_option_that_the_probe_does_not_read_is_refused_before_any_file_is_read(tmp_path: Path, given: str) -> None:
    path = tmp_path / "not_there.jsonl"
    done = subprocess.run(
        [sys.executable, "-m", "src.run", "probe=categories", "dataset=jsonl", f"dataset.path={path}", "questions=1",
         given, "dry=true"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    name = given.partition("=")[0]
    assert done.stderr == f"error: probe=categories makes no use of {name}: leave {name}=… out\n"


def test_a_cell_that_fails_does_not_stop_the_sweep(tmp_path: Path, store: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "src.run", "-m", "strategy=sequential,taxonomy_l2w2", "domain.name=a/b,sweep_test",
         "budget.calls=0", "embedder=hashing", f"ledger.path={tmp_path / 'ledger.db'}",
         f"hydra.sweep.dir={tmp_path / 'sweep'}"],
        env={**os.environ, "MLFLOW_TRACKING_URI": store}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.count("cannot name a folder") == 2
    assert done.stdout.count("cannot name a folder") == 2  # below the closing table
    assert done.stdout.count("· sweep_test ·") == 2
    assert "Traceback" not in done.stderr
