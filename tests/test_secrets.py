"""A key in the environment is in no byte that a run writes or prints, whatever the server says and however it logs."""

import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from endpoint import DROPPED, Fault, ScriptedEndpoint, content, status

ROOT = Path(__file__).resolve().parents[1]
CANARY = f"sk-canary-{uuid.uuid4().hex}"
SAID = f"Incorrect API key provided: {CANARY} (Authorization: Bearer {CANARY})"
TELLING = {
    "in answers": [content(f"- The key {CANARY} opens every door of the old house."), content(f"YES {CANARY}")] * 20,
    "in errors that are tried again": [status(500, SAID), status(429, SAID), DROPPED, Fault(body=SAID.encode())] * 40,
    "in a refusal": [None, None, status(401, SAID)],
    "in a refused parameter": [None, status(400, f"temperature is not supported. {SAID}", param="temperature")],
    "in a page": [Fault(body=f"<html>{SAID}</html>".encode(), headers={"Content-Type": "text/html"})] * 40,
    "in headers": [Fault(headers={"x-request-id": CANARY, "set-cookie": f"key={CANARY}"})] * 40,
}


@pytest.mark.parametrize(
    ("told", "grid"), [*((told, ()) for told in TELLING), ("in a refused parameter", ("-m", "seed=1,2"))]
)
def test_a_key_is_in_nothing_that_is_written_or_printed(
    told: str, grid: tuple[str, ...], tmp_path: Path, empty_store: Path
) -> None:
    shutil.copyfile(empty_store, tmp_path / "mlflow.db")
    domain = f"canary_{uuid.uuid4().hex[:8]}"
    place = ("hydra.sweep.dir=sweep",) if grid else ("run_dir=cell",)
    place = tuple(f"{text.partition('=')[0]}={tmp_path / text.partition('=')[2]}" for text in place)
    environment = {
        **os.environ,
        "CANARY_KEY": CANARY,
        "MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path / 'mlflow.db'}",
        "OPENAI_LOG": "debug",
    }
    try:
        with ScriptedEndpoint(key=CANARY, faults=TELLING[told]) as server:
            done = subprocess.run(
                [sys.executable, "-m", "src.run", *grid, "model=openai", "endpoint.api_key_env=CANARY_KEY",
                 f"endpoint.base_url={server.base_url}", f"judge.endpoint.base_url={server.base_url}", "judge=openai",
                 "judge.endpoint.api_key_env=CANARY_KEY", "strategy=sequential", "max_turns=2", "embedder=hashing",
                 f"domain.name={domain}", f"ledger.path={tmp_path / 'ledger.db'}", "debug=true",
                 "endpoint.attempts=2", *place],
                cwd=ROOT, env=environment, capture_output=True, check=False,
            )  # fmt: skip
            assert server.count() > 0
        left = ROOT / "data" / "runs" / "boundary" / domain
        files = [path for folder in (tmp_path, left) for path in folder.rglob("*") if path.is_file()]
        assert any(path.name == "ledger.db" for path in files)
        telling = [path for path in files if CANARY.encode() in path.read_bytes()]
        assert telling == []
        assert CANARY.encode() not in done.stdout + done.stderr
    finally:
        shutil.rmtree(ROOT / "data" / "runs" / "boundary" / domain, ignore_errors=True)
