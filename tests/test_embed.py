import asyncio
import json
import logging
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from endpoint import NO_USAGE, Fault, ScriptedEndpoint, embedding, status

from src.embed import EndpointModel, HashingModel, SentenceModel
from src.errors import BudgetReached, ConfigError, DataMissing, EmbeddingError, EndpointError
from src.ledger import Budgets, Ledger
from src.llm.config import Endpoint, Price

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "data/raw/minilm"
TEXTS = ["A graph has nodes and edges.", "Nodes and edges make up a graph.", "Rome fell in 476.", "苯是一种芳香烃。"]
BLANK = ["", " \n\t", "\u200b", "\x00"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def encode(model, path, texts, mode="live", budgets=None):
    async def main(ledger):
        encoder = model.encoder(ledger=ledger, cell_key="cell")
        if isinstance(model, EndpointModel):
            async with encoder:
                return await encoder.encode(texts)
        return await encoder.encode(texts)

    with Ledger(path, mode, budgets) as ledger:
        return asyncio.run(main(ledger))


def are_units(encoded, count):
    assert encoded.vectors.dtype == np.float32
    assert encoded.vectors.shape[0] == encoded.tokens.shape[0] == count
    assert np.allclose(np.linalg.norm(encoded.vectors, axis=1), 1, atol=1e-6)


# -- sentence-transformers ---------------------------------------------------------------------------------------------

REPLAY = """
import asyncio, sys
from pathlib import Path
from src.embed import SentenceModel
from src.ledger import Ledger
with Ledger(Path(sys.argv[1]), "replay") as ledger:
    model = SentenceModel("minilm", Path("gone"), "1")
    encoder = model.encoder(ledger=ledger, cell_key="cell")
    encoded = asyncio.run(encoder.encode(sys.argv[2:]))
assert "torch" not in sys.modules
sys.stdout.buffer.write(encoded.vectors.tobytes())
"""


def minilm(**more):
    return SentenceModel(**{"name": "minilm", "path": FOLDER, "revision": "1", **more})


def test_the_model_is_loaded_in_silence(path, capfd):
    encoded = encode(minilm(), path, TEXTS)
    are_units(encoded, 4)
    assert encoded.tokens.tolist() == [9, 10, 8, 10]
    assert capfd.readouterr() == ("", "")


def test_nothing_is_loaded_when_every_vector_is_stored(path):
    encoded = encode(minilm(), path, TEXTS)
    command = [sys.executable, "-W", "error", "-c", REPLAY, str(path), *TEXTS]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, timeout=60, check=False)
    assert done.stderr == b""
    assert done.stdout == encoded.vectors.tobytes()


def test_a_vector_does_not_depend_on_its_neighbours(path):
    together = encode(minilm(), path, TEXTS)
    assert together.vectors[0] @ together.vectors[1] > 0.8 > 0.3 > together.vectors[0] @ together.vectors[2]
    for number, text in enumerate(TEXTS):
        alone = encode(minilm(), path.with_name(f"alone {number}"), [text])
        assert np.array_equal(alone.vectors[0], together.vectors[number])
    mixed = encode(minilm(), path.with_name("mixed"), [TEXTS[2], "More text. " * 30, TEXTS[0], TEXTS[2]])
    assert np.array_equal(mixed.vectors[[0, 2, 3]], together.vectors[[2, 0, 2]])


def test_a_text_longer_than_the_window_is_read_to_its_end_and_counted(path, caplog):
    long = "The committee met on Monday and discussed the budget of the town. " * 40
    with caplog.at_level(logging.WARNING):
        encoded = encode(minilm(), path, [long + "Rome fell in 476.", long + "Cats purr.", "x" * 20_000, "Short."])
    are_units(encoded, 4)
    assert (encoded.tokens > 256).tolist() == [True, True, False, False]
    assert not np.array_equal(encoded.vectors[0], encoded.vectors[1])
    assert "2 of 4 texts exceed 256 tokens" in caplog.text


def test_a_window_wider_than_the_model_is_refused(path):
    with pytest.raises(ConfigError, match=r"embedder\.window=600 .* embedder\.window=256"):
        encode(minilm(window=600), path, TEXTS)


def test_a_missing_or_damaged_model_is_one_sentence(path, tmp_path):
    with pytest.raises(DataMissing, match=r"minilm is not in .*gone: .*python -m src\.fetch.*embedder\.path"):
        encode(minilm(path=tmp_path / "gone"), path, TEXTS)
    for file in FOLDER.rglob("*.*"):
        copy = tmp_path / "damaged" / file.relative_to(FOLDER)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if file.is_file():
            copy.write_bytes(file.read_bytes()[:1000] if file.suffix == ".safetensors" else file.read_bytes())
    with pytest.raises(DataMissing, match=r"cannot be loaded .*python -m src\.fetch"):
        encode(minilm(path=tmp_path / "damaged"), path, TEXTS)


# -- hashing -----------------------------------------------------------------------------------------------------------


def test_similar_wording_has_similar_hashes(path):
    encoded = encode(HashingModel(), path, [*TEXTS, "!!!", "x" * 20_000])
    are_units(encoded, 6)
    assert encoded.vectors[0] @ encoded.vectors[1] > 0.6 > 0.2 > abs(encoded.vectors[0] @ encoded.vectors[2])
    assert encoded.tokens.tolist() == [6, 7, 4, 1, 1, 1]
    assert encode(HashingModel(), path, TEXTS, "replay").vectors.tolist() == encoded.vectors[:4].tolist()


@pytest.mark.parametrize("blank", BLANK)
@pytest.mark.parametrize("model", [HashingModel(), minilm()], ids=["hashing", "sentence"])
def test_a_blank_text_has_no_vector(model, blank, path):
    with pytest.raises(EmbeddingError, match="Text 1 of 2 is blank"):
        encode(model, path, ["A.", blank])


def test_no_text_is_no_vector(path):
    assert encode(HashingModel(), path, []).vectors.shape[0] == 0


# -- an endpoint -------------------------------------------------------------------------------------------------------


def remote(server, **more):
    served = Endpoint("scripted", server.base_url, attempts=2)
    return EndpointModel(**{"id": "e", "endpoint": served, "batch": 4, **more})


def vectors(*rows, usage=None, indices=None):
    places = indices or range(len(rows))
    data = [{"index": index, "embedding": row} for index, row in zip(places, rows, strict=True)]
    return Fault(body=json.dumps({"data": data, "usage": usage}).encode())


def test_an_endpoint_is_asked_in_batches_and_once(path):
    texts = [f"Text number {number}." for number in range(10)]
    with ScriptedEndpoint() as server:
        encoded = encode(remote(server), path, [*texts, *texts[:3]])
        assert sorted(len(arrived.body["input"]) for arrived in server.requests) == [2, 4, 4]
    are_units(encoded, 13)
    raw = np.array([embedding(text) for text in texts])
    assert np.allclose(encoded.vectors[:10], raw / np.linalg.norm(raw, axis=1, keepdims=True))
    assert np.array_equal(encoded.vectors[10:], encoded.vectors[:3])
    assert encoded.tokens[:10].sum() == 30
    again = encode(remote(server), path, texts, "replay")
    assert np.array_equal(again.vectors, encoded.vectors[:10])


def test_vectors_are_taken_by_index(path):
    with ScriptedEndpoint(faults=[vectors([0, 2], [3, 0], indices=[1, 0])]) as server:
        encoded = encode(remote(server), path, ["first", "second"])
    assert encoded.vectors.tolist() == [[1, 0], [0, 1]]
    assert encoded.tokens.tolist() == [-1, -1]


WRONG = {
    "fewer": vectors([1, 2]),
    "more": vectors([1, 2], [1, 2], [1, 2]),
    "same index": vectors([1, 2], [1, 2], indices=[0, 0]),
    "odd index": vectors([1, 2], [1, 2], indices=["a", [0]]),
    "other dimension": vectors([1, 2], [1, 2, 3]),
    "not that of the configuration": vectors([1, 2, 3], [1, 2, 3]),
    "empty": vectors([], []),
    "null": vectors(None, None),
    "nan": vectors([1, float("nan")], [1, 2]),
    "infinite": vectors([1, float("inf")], [1, 2]),
    "zero": vectors([0, 0], [1, 2]),
    "words": vectors(["a", "b"], [1, 2]),
    "no list": Fault(body=b'{"data": "QUJD"}'),
    "no data": Fault(body=b"{}"),
}


@pytest.mark.parametrize("fault", WRONG.values(), ids=WRONG)
def test_what_is_no_vector_is_a_failure_and_nothing_of_it_is_stored(fault, path):
    with ScriptedEndpoint(faults=[fault]) as server:
        with pytest.raises(EmbeddingError, match="scripted"):
            encode(remote(server, dimension=2), path, ["first", "second"])
        assert server.count() == 1
        with pytest.raises(EmbeddingError):  # the proper answer has eight numbers
            encode(remote(server, dimension=2), path, ["first", "second"])
        assert server.count() == 2


def test_another_dimension_than_the_stored_one_is_a_failure(path):
    with ScriptedEndpoint(faults=[None, vectors([1, 2])]) as server:
        encode(remote(server), path, ["first"])
        with pytest.raises(EmbeddingError, match="dimension 2"):
            encode(remote(server), path, ["second"])


def test_attempts_used_up_are_a_failure_and_the_next_run_goes_on(path):
    texts = [f"Text {number}" for number in range(8)]
    with ScriptedEndpoint(
        faults=lambda number, body: status(500) if texts[4] in body["input"] and number < 3 else None
    ) as server:
        with pytest.raises(EmbeddingError, match=r"HTTP 500.*2 attempts.*run again"):
            encode(remote(server), path, texts)
        assert server.count() == 3
        are_units(encode(remote(server), path, texts), 8)
        assert server.count() == 4


def test_the_budget_binds_the_encoder_by_the_most_that_it_can_take(path):
    with ScriptedEndpoint(faults=[NO_USAGE]) as server:
        with pytest.raises(BudgetReached, match=r"budget\.calls=2"):
            encode(remote(server), path, list("abcdefghijkl"), budgets=Budgets(calls=2))
        assert server.count() == 2
        with Ledger(path) as ledger:
            assert ledger.spend("cell")["embedder"].answers == 8
        priced = remote(server, price=Price(1e6, 0, "2026-11-30"))
        dear = path.with_name("priced")
        with pytest.raises(BudgetReached, match=r"budget\.usd=10 "):
            encode(priced, dear, ["two words"], budgets=Budgets(usd=10))  # nine bytes, and two tokens around them
        encode(priced, dear, ["two words"], budgets=Budgets(usd=11))
        assert server.count() == 3
        with Ledger(dear) as ledger:
            assert ledger.spend("cell")["embedder"].cost_usd == 2


def test_vectors_paid_for_in_vain_are_written_down(path):
    broken = vectors([0, 2], [3, float("nan")], usage={"prompt_tokens": 7})
    with ScriptedEndpoint(faults=[status(500), broken, status(500), status(401)]) as server:
        for error in (EmbeddingError, EndpointError):
            with pytest.raises(error):
                encode(remote(server), path, ["first", "second"])
        assert server.count() == 4
        with Ledger(path) as ledger:
            spent = ledger.spend("cell")["embedder"]
    assert (spent.answers, spent.attempts, spent.tokens_in) == (0, 4, 7)


def test_limits_per_minute_hold_for_vectors_too(path):
    with ScriptedEndpoint() as server:
        served = Endpoint("scripted", server.base_url, tokens_per_minute=6000)
        start = time.monotonic()
        encode(remote(server, endpoint=served), path, ["x" * 300 for _ in range(1)] + ["y" * 180])
        assert 0.4 < time.monotonic() - start < 3  # 160 tokens, of which a second's 100 go at once
