"""Raw points to clusters to audited knowledge: strict merge, judged merge, audit of every distinct text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from src.asking import call_row, call_table
from src.dedup.evidence import cluster
from src.dedup.gather import gather_verdicts
from src.dedup.nodes import distinct
from src.dedup.settings import Dedup
from src.interfaces import Lab
from src.records import Domain, Progress, Rubric, Tables, Verdict
from src.schemas import JUDGED_ATOMS, LINKAGE
from src.settle import settle

KINDS = ("factual", "conceptual", "procedural")


async def process(
    lab: Lab, atoms: pl.DataFrame, *, domain: Domain, dedup: Dedup, rubrics: Mapping[str, Rubric]
) -> Tables:
    """Judge which points say the same and which are valid; returns the tables atoms, pairs, linkage and calls.

    Every distinct raw text is audited, merged or not, so that no other threshold ever needs a new audit.
    """
    nodes = distinct(atoms["atom_id"], atoms["text"])
    encoded = await lab.encoder.encode(nodes.texts)
    evidence, verdicts = await gather_verdicts(
        nodes, encoded.vectors, dedup, lab.judge, rubrics["duplicate"], lab.progress
    )
    clusters = cluster(evidence, dedup)
    audits = await audit(lab, nodes.texts, domain, rubrics["audit"])
    of_node = pl.DataFrame(
        {
            "atom_id": nodes.atom_ids,
            "valid": [audits[node].accepted for node in nodes.node_of],
            "kind": [_kind(audits[node]) for node in nodes.node_of],
            "audit_state": ["unparsed" if audits[node].unparsed else "judged" for node in nodes.node_of],
        },
        schema={name: JUDGED_ATOMS[name] for name in ("atom_id", "valid", "kind", "audit_state")},
    )
    calls = [
        call_row("judge", rubric, completion)
        for rubric, judged in (("duplicate", verdicts), ("audit", audits))
        for verdict in judged
        for completion in verdict.completions
    ]
    linkage = {
        "largest_cluster": clusters.largest,
        "smallest_cosine": clusters.smallest_cosine(encoded.vectors),
        "chain_alarm": clusters.chain_alarm,
        "judge_unparsed": clusters.unparsed,
    }
    return {
        "atoms": clusters.table().join(of_node, on="atom_id", how="left", maintain_order="left"),
        "pairs": evidence.table(),
        "linkage": pl.DataFrame([linkage], schema=LINKAGE),
        "calls": call_table(calls),
    }


async def audit(lab: Lab, texts: Sequence[str], domain: Domain, rubric: Rubric) -> list[Verdict]:
    """Judge which texts are valid; verdicts come in their order."""
    done = tokens = calls = 0

    async def one(text: str) -> Verdict:
        nonlocal done, tokens, calls
        verdict = await lab.judge.judge(rubric, {"domain": domain.query, "atom": text})
        done += 1
        calls += len(verdict.completions)
        tokens += sum(completion.usage.tokens_out or 0 for completion in verdict.completions)
        lab.progress(Progress("audit", done=done, total=len(texts), calls=calls, tokens=tokens))
        return verdict

    return await settle(one(text) for text in texts)


def _kind(verdict: Verdict) -> str | None:
    """The kind of knowledge, where the judge named one; judges of kind rules and yes-no rubrics do not."""
    label = (verdict.label or "").lower()
    return label if label in KINDS else None
