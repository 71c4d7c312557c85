"""Cells and unions of models whose facts are planted: measured by the real processing, without text that means much."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

import numpy as np
import polars as pl

from src.cells import MeasuredCell
from src.dedup.gather import gather_verdicts
from src.dedup.novelty import Novelty
from src.dedup.settings import Dedup
from src.figures.captions import title_of
from src.identity import key_of
from src.interfaces import Lab
from src.merge import Union, gather_points, linked, union_tables
from src.probes.boundary.metrics import summarise
from src.probes.boundary.process import process
from src.records import Domain, Encoded, Rubric, Tables, Verdict
from src.saturation import Saturation, efficiency, growth
from src.schemas import ATOMS, CALLS, STOP, TURNS
from src.studies.known import Known

RUBRICS = {
    "duplicate": Rubric("duplicate", ("YES", "NO"), ("YES",), "?"),
    "audit": Rubric("audit", ("YES", "NO"), ("YES",), "?"),
}
SATURATION = Saturation(novelty=0.92, growth=0.01, efficiency=0.1, points=3, patience=0)
FALSE = "wrongly"
"""A text with this word is not valid."""


def letters(number: int) -> str:
    """A number without digits, which guards would look at."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def vector(text: str) -> np.ndarray:
    """Texts of one fact lie close together; how close depends on the wording."""
    fact, _, wording = text.partition(" said ")
    centre, noise = (
        np.random.default_rng(int.from_bytes(hashlib.sha256(part.encode()).digest()[:8])).normal(size=24)
        for part in (fact, text)
    )
    scale = (0.25, 0.4, 0.55, 0.75)[len(wording) % 4]
    unit = centre / np.linalg.norm(centre) + scale * noise / np.linalg.norm(noise)
    return unit / np.linalg.norm(unit)


class FactEncoder:
    async def encode(self, texts: Sequence[str]) -> Encoded:
        rows = np.array([vector(text) for text in texts], dtype=np.float32).reshape(len(texts), 24)
        return Encoded(rows, np.full(len(texts), 9, dtype=np.int64))


class FactJudge:
    """Knows which fact a text tells, and whether it is true."""

    kind = "oracle"

    async def judge(self, rubric: Rubric, values: Mapping[str, str]) -> Verdict:
        if rubric.name == "audit":
            accepted = FALSE not in values["atom"]
        else:
            accepted = values["first"].partition(" said ")[0] == values["second"].partition(" said ")[0]
        return Verdict("YES" if accepted else "NO", accepted)


LAB = Lab(None, FactJudge(), None, FactEncoder(), np.random.default_rng(0), lambda _: None)  # type: ignore[arg-type]


def make_measured(
    model: str,
    strategy: str = "taxonomy_l2w2",
    domain: str = "deep_learning",
    *,
    turns: int = 4,
    per_leaf: int = 6,
    leaves: int = 4,
    facts: int = 120,
    valid: float = 0.8,
    stop: str = "saturated",
    prompts: str = "default",
    patience: int = 0,
    judge: str = "oracle",
    target: str = "src.llm.config.Model",
    tokens: bool = True,
    seed: int = 0,
) -> MeasuredCell:
    """A finished cell; the model tells `facts` known facts of the domain, popular ones first and more than once."""
    rng = np.random.default_rng([seed, *model.encode(), *strategy.encode(), *domain.encode(), *prompts.encode()])
    popularity = 1 / np.arange(1, facts + 1)
    known = rng.permutation(facts)
    atoms: list[dict[str, object]] = []
    rows: list[dict[str, object]] = []
    novelty, pool = Novelty(0.92), 0
    for turn in range(1, turns + 1):
        texts, places = [], []
        for leaf in range(leaves):
            for position in range(per_leaf):
                chosen = (
                    int(rng.choice(facts, p=popularity / popularity.sum()))
                    if turn > 1
                    else int(known[len(texts) % facts])
                )
                # Whether a fact is got right is fixed for a model, so that models differ.
                wrong = np.random.default_rng([chosen, *model.encode()]).random() > valid
                word = letters(int(rng.integers(40)))
                texts.append(f"Fact {letters(chosen)} of {domain} {FALSE if wrong else 'rightly'} said {word}")
                places.append((f"{1 + leaf // 2}/{1 + leaf % 2}", position))
        found = novelty.add(np.arange(len(atoms), len(atoms) + len(texts)), [vector(text) for text in texts])
        for place, text in enumerate(texts):
            atoms.append(
                {
                    **dict.fromkeys(ATOMS.names()),
                    "atom_id": len(atoms),
                    "text": text,
                    "context": "",
                    "turn": turn,
                    "branch": places[place][0],
                    "position": places[place][1],
                    "draw": 0,
                    "call_key": f"{turn:02d}{place:02d}",
                    "nearest_id": found.nearest[place],
                    "nearest_cosine": found.cosine[place],
                    "novel": found.novel[place],
                }
            )
        raw, novel = len(texts), sum(found.novel)
        cost = (600 + 220 * turn) * leaves if tokens else None
        rows.append(
            {
                **dict.fromkeys(TURNS.names(), 0),
                "turn": turn,
                "raw": raw,
                "novel": novel,
                "growth": growth(novel, pool),
                "efficiency": efficiency(novel, raw),
                "stale": SATURATION.stale(raw=raw, novel=novel, pool=pool),
                "unlisted": int(turn == 2),
                "calls": leaves,
                "tokens_generation_in": cost,
                "tokens_generation_out": 25 * raw if tokens else None,
                "tokens_embedding": 18 * raw,
            }
        )
        pool += novel
    calls = [
        {**dict.fromkeys(CALLS.names()), "key": f"{turn}{leaf}", "role": "subject", "prompt": "taxonomy.mine",
         "turn": turn, "branch": "", "draw": 0, "state": "ok", "requests": 1}
        for turn in range(1, turns + 1) for leaf in range(leaves)
    ]  # fmt: skip
    extracted: Tables = {
        "atoms": pl.DataFrame(atoms, schema=ATOMS),
        "turns": pl.DataFrame(rows, schema=TURNS),
        "calls": pl.DataFrame(calls if tokens else [], schema=CALLS),
        "stop": pl.DataFrame([(stop, "")], schema=STOP, orient="row"),
    }
    own = Dedup()
    processed = asyncio.run(process(LAB, extracted["atoms"], domain=Domain(domain, domain), dedup=own, rubrics=RUBRICS))
    config = {
        "probe": "boundary",
        "model": {"_target_": target, "name": model},
        "strategy": {"name": strategy},
        "domain": {"name": domain, "query": domain},
        "judge": {"kind": judge},
        "embedder": {"name": "facts"},
        "prompts": {"name": prompts},
        "saturation": asdict(replace(SATURATION, patience=patience)),
        "dedup": {"_target_": "src.dedup.settings.Dedup", **asdict(own)},
        "max_turns": turns,
        "seed": seed,
    }
    folder = f"data/cells/boundary/{domain}/{model}-{strategy}-{prompts}"
    metrics = summarise(extracted, processed)
    return MeasuredCell(folder, key_of(config), key_of(config), title_of(config), config, metrics, extracted, processed)


def make_union(cells: Sequence[MeasuredCell]) -> Union:
    """The union of cells of one domain and strategy."""
    own = Dedup(linkage="representative")
    points, nodes = gather_points(cells)
    vectors = [vector(text) for text in nodes.texts]
    evidence, _ = asyncio.run(gather_verdicts(nodes, vectors, own, LAB.judge, RUBRICS["duplicate"], lambda _: None))
    points, clusters, keep = linked(points, evidence, own, 1)
    tables = union_tables(points, evidence, clusters, keep, sorted(cell.model for cell in cells))
    return Union(
        domain=cells[0].domain,
        strategy=cells[0].strategy,
        judge="oracle",
        keys={cell.model: cell.key for cell in sorted(cells, key=lambda cell: cell.model)},
        contents={cell.model: cell.content for cell in cells},
        own=own,
        points=tables["points"],
        nodes=tables["nodes"],
        pairs=tables["pairs"],
        calls=CALLS.to_frame(),
        metrics={},
    )


def make_known(cells: Sequence[MeasuredCell], variants: Sequence[MeasuredCell] = (), *, unions: bool = True) -> Known:
    """What a study is given, with a union of every domain and strategy."""
    groups: dict[tuple[str, str], list[MeasuredCell]] = {}
    for cell in cells:
        groups.setdefault((cell.domain, cell.strategy), []).append(cell)
    made = tuple(make_union(group) for group in groups.values()) if unions else ()
    return Known(tuple(cells), tuple(variants), made, {}, 0)
