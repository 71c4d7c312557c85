import asyncio
import sqlite3
import unicodedata
from contextlib import closing

import numpy as np
import pytest

from src.errors import EmbeddingError, LedgerMiss
from src.ledger import Ledger, Payer
from src.records import Encoded

IDENTITY = {"model": "minilm", "revision": "1", "dtype": "float32", "normalise": True}
PAYER = Payer("cell", "embedder", "", "embedded", lambda usage: 0.5 if usage.tokens_in is not None else None)


def row_of(text):
    vector = np.array([len(text), sum(map(ord, text)) % 97, 1], dtype=np.float64)
    return vector / np.linalg.norm(vector)


class Encoder:
    """Encodes and notes what it was given."""

    def __init__(self):
        self.batches = []

    async def encode(self, texts):
        self.batches.append(texts)
        await asyncio.sleep(0)
        return Encoded(np.array([row_of(text) for text in texts]), np.array([len(text) for text in texts]))


def vectors(ledger, texts, encode, identity=IDENTITY):
    return asyncio.run(asyncio.wait_for(ledger.vectors(texts, identity, PAYER, encode), 30))


def count(path, table):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


def test_only_missing_distinct_texts_are_encoded_and_rows_keep_their_order(path):
    encoder = Encoder()
    with Ledger(path) as ledger:
        vectors(ledger, ["b", "dd"], encoder.encode)
        encoded, replayed = vectors(ledger, ["zz", "b", "a", "zz", "dd"], encoder.encode)
    assert encoder.batches == [["b", "dd"], ["zz", "a"]]
    assert replayed == 2
    assert encoded.vectors.dtype == np.float32
    assert encoded.tokens.dtype == np.int64
    np.testing.assert_array_equal(
        encoded.vectors, np.array([row_of(text) for text in ("zz", "b", "a", "zz", "dd")], np.float32)
    )
    assert encoded.tokens.tolist() == [2, 1, 1, 2, 2]


def test_replayed_vectors_are_the_same_bytes(path):
    texts = [f"fact {i}" for i in range(2000)]
    with Ledger(path) as ledger:
        first, none = vectors(ledger, texts, Encoder().encode)
    with Ledger(path, "replay") as ledger:
        again, all_of_them = vectors(ledger, texts, None)
        with pytest.raises(LedgerMiss, match=r"vector of 'unseen'.*minilm"):
            vectors(ledger, [texts[0], "unseen"], None)
    assert (none, all_of_them) == (0, 2000)
    assert first.vectors.tobytes() == again.vectors.tobytes()
    assert first.tokens.tolist() == again.tokens.tolist()


def test_another_identity_is_another_vector(path):
    encoder = Encoder()
    with Ledger(path) as ledger:
        for change in ({}, {"model": "other"}, {"revision": "2"}, {"dtype": "float16"}, {"normalise": False}):
            vectors(ledger, ["a"], encoder.encode, IDENTITY | change)
    assert len(encoder.batches) == 5


def test_texts_equal_in_nfc_share_a_vector_and_hostile_text_is_kept_apart(path):
    encoder = Encoder()
    texts = ["é", unicodedata.normalize("NFD", "é"), "é\x00", "e", "\ud800", "\ufffd", ""]
    with Ledger(path) as ledger:
        encoded, _ = vectors(ledger, texts, encoder.encode)
        _, replayed = vectors(ledger, texts, None)
    assert encoder.batches == [["é", "é\x00", "e", "\ufffd", ""]]
    assert replayed == len(texts)
    assert (encoded.vectors[0] == encoded.vectors[1]).all()


def test_spend_covers_the_embedder_and_unknown_tokens_stay_unknown(path):
    async def silent(texts):
        return Encoded(np.ones((len(texts), 3)), np.full(len(texts), -1))

    with Ledger(path) as ledger:
        vectors(ledger, ["a", "bb", "a"], Encoder().encode)
        spent = ledger.spend("cell")["embedder"]
        assert (spent.answers, spent.attempts, spent.tokens_in, spent.tokens_out, spent.cost_usd) == (2, 1, 3, 0, 0.5)
        encoded, _ = vectors(ledger, ["c"], silent)
        assert encoded.tokens.tolist() == [-1]
        spent = ledger.spend("cell")["embedder"]
        assert (spent.answers, spent.tokens_in, spent.cost_usd) == (3, None, None)


@pytest.mark.parametrize(
    ("rows", "tokens", "fault"),
    [
        (np.ones((1, 3)), [1, 1], r"shape \(1, 3\) for 2 texts"),
        (np.ones((3, 3)), [1, 1], r"shape \(3, 3\) for 2 texts"),
        (np.ones((2, 0)), [1, 1], r"shape \(2, 0\) for 2 texts"),
        (np.ones(2), [1, 1], r"shape \(2,\) for 2 texts"),
        (np.ones((2, 3)), [1], r"token counts of shape \(1,\)"),
        (np.ones((2, 4)), [1, 1], "dimension 4, where those stored have 3"),
        (np.array([[1, 0, 0], [np.nan, 0, 0]]), [1, 1], "not finite"),
        (np.array([[1, 0, 0], [np.inf, 0, 0]]), [1, 1], "not finite"),
        (np.array([[1, 0, 0], [1e300, 0, 0]]), [1, 1], "not finite"),
        (np.array([[1, 0, 0], [0, 0, 0]]), [1, 1], "a vector of zeros"),
    ],
)
def test_bad_vectors_are_refused_but_their_payment_is_noted(path, rows, tokens, fault):
    async def encode(texts):
        return Encoded(rows, np.array(tokens))

    with Ledger(path) as ledger:
        vectors(ledger, ["known"], Encoder().encode)
        with pytest.raises(EmbeddingError, match=f"minilm at embedded returned .*{fault}"):
            vectors(ledger, ["a", "b"], encode)
        assert count(path, "vectors") == 1
        assert count(path, "leases") == 0
        spent = ledger.spend("cell")["embedder"]
        assert (spent.answers, spent.attempts) == (1, 2)


def test_a_damaged_vector_is_encoded_again(path):
    encoder = Encoder()
    with Ledger(path) as ledger:
        good, _ = vectors(ledger, ["a", "b"], encoder.encode)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE vectors SET vector = zeroblob(12) WHERE text = 'a'")
        again, replayed = vectors(ledger, ["a", "b"], encoder.encode)
        assert (replayed, ledger.quarantined, count(path, "quarantine")) == (1, 1, 1)
    assert encoder.batches == [["a", "b"], ["a"]]
    assert (again.vectors == good.vectors).all()


def test_tasks_whose_texts_overlap_encode_each_text_once(path):
    encoder = Encoder()

    async def together(ledger):
        asks = [[f"text {(i + shift) % 60}" for i in range(40)] for shift in range(0, 60, 5)]
        return await asyncio.gather(*(ledger.vectors(texts, IDENTITY, PAYER, encoder.encode) for texts in asks))

    with Ledger(path) as ledger:
        results = asyncio.run(asyncio.wait_for(together(ledger), 30))
    encoded = [text for batch in encoder.batches for text in batch]
    assert len(encoded) == len(set(encoded)) == 60
    assert sum(replayed for _, replayed in results) == 12 * 40 - 60


def test_no_texts_are_no_rows_of_the_known_dimension(path):
    with Ledger(path) as ledger:
        assert vectors(ledger, [], None)[0].vectors.shape == (0, 0)
        vectors(ledger, ["a"], Encoder().encode)
        encoded, replayed = vectors(ledger, [], None)
    assert (encoded.vectors.shape, encoded.tokens.shape, replayed) == ((0, 3), (0,), 0)


def test_refresh_encodes_once_more(path):
    encoder = Encoder()
    with Ledger(path) as ledger:
        vectors(ledger, ["a", "b"], encoder.encode)
    with Ledger(path, "refresh") as ledger:
        assert vectors(ledger, ["a"], encoder.encode)[1] == 0
        assert vectors(ledger, ["a"], encoder.encode)[1] == 1
        assert vectors(ledger, ["a", "b"], encoder.encode)[1] == 1
    assert encoder.batches == [["a", "b"], ["a"], ["b"]]
