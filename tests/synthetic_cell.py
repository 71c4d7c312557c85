"""A boundary cell made of numbers: tables that follow the schemas, of any size, always the same for one seed."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from src.figures.captions import Title
from src.records import Metrics, Tables
from src.schemas import ATOMS, CALLS, JUDGED_ATOMS, PAIRS, STOP, TURNS
from src.stats.intervals import wilson, wilson_leaf

RULES = Title("smollm2_135m", "taxonomy_l2w2", "deep_learning", "deep learning", "rules")


@dataclass(frozen=True)
class Cell:
    extracted: Tables
    processed: Tables

    @property
    def turns(self) -> pl.DataFrame:
        return self.extracted["turns"]

    @property
    def atoms(self) -> pl.DataFrame:
        return self.extracted["atoms"]

    @property
    def judged(self) -> pl.DataFrame:
        return self.processed["atoms"]

    @property
    def metrics(self) -> Metrics:
        """Every name of the probe's metrics, as it would compute them."""
        units = self.judged.filter("unique").join(self.atoms.select("atom_id", "branch"), on="atom_id")
        raw, unique, valid = self.atoms.height, units.height, int(units["valid"].sum())
        plain, leaf = wilson(valid, unique), wilson_leaf(units["valid"].to_list(), units["branch"].to_list())
        metrics: Metrics = {
            "raw": raw,
            "unique": unique,
            "valid": valid,
            "invalid": unique - valid,
            "turns": self.turns.height,
            "stop_reason": self.extracted["stop"]["reason"][0],
            "unlisted": int(self.turns["unlisted"].sum()),
            "calls": int(self.turns["calls"].sum()),
            "calls_judge": 0,
            "tokens_judge": 0,
            "tokens_audit": 0,
        }
        metrics |= dict.fromkeys(("audit_unparsed", "judge_unparsed", "taxonomy_shortfall", "injection_attempts"), 0)
        metrics |= dict.fromkeys(("truncated", "cut", "empty", "refused"), 0)
        tokens = ("tokens_generation_in", "tokens_generation_out", "tokens_embedding")
        metrics |= {name: int(self.turns[name].sum()) for name in tokens}
        metrics["tokens_nominal"] = sum(int(self.turns[name].sum()) for name in tokens)
        for name, value, reason in (
            ("dedup_rate", 1 - unique / raw if raw else None, "no points were found"),
            ("accuracy", valid / unique if unique else None, "no audited clusters"),
            ("audit_rejection", 1 - valid / unique if unique else None, "no audited clusters"),
            ("accuracy_low", None if plain.reason else plain.low, plain.reason),
            ("accuracy_high", None if plain.reason else plain.high, plain.reason),
            ("accuracy_leaf_low", None if leaf.reason else leaf.low, leaf.reason),
            ("accuracy_leaf_high", None if leaf.reason else leaf.high, leaf.reason),
        ):
            metrics[name] = value
            if value is None:
                metrics[f"{name}_reason"] = reason
        return metrics


def make_cell(
    turns: int = 6, per_leaf: int = 8, leaves: int = 4, stop: str = "saturated", valid: float = 0.7, seed: int = 0
) -> Cell:
    """Turn after turn the points repeat themselves more; `valid` is the share that the audit accepts."""
    rng = np.random.default_rng(seed)
    atoms, judged, rows, pool = [], [], [], 0
    for turn in range(1, turns + 1):
        raw = novel = 0
        for leaf in range(leaves):
            for position in range(per_leaf):
                atom = len(atoms)
                cosine = None if atom == 0 else float(np.clip(rng.normal(0.45 + 0.08 * turn, 0.18), -0.1, 1))
                new = cosine is None or cosine <= 0.92
                merged = cosine is not None and cosine > 0.86
                target = int(rng.integers(atom)) if merged else atom
                target = judged[target]["representative"] if merged else atom
                raw, novel = raw + 1, novel + new
                atoms.append(
                    {
                        "atom_id": atom,
                        "text": f"Point {atom}: a network of {leaf + 2} layers learns <b>weights</b> & biases.",
                        "context": "",
                        "turn": turn,
                        "branch": f"{1 + leaf // 2}/{1 + leaf % 2}",
                        "position": position,
                        "draw": 0,
                        "call_key": f"{turn:02d}{leaf:02d}",
                        "nearest_id": None if atom == 0 else int(rng.integers(atom)),
                        "nearest_cosine": cosine,
                        "novel": new,
                    }
                )
                accepted = bool(rng.random() < valid)
                judged.append(
                    {
                        "atom_id": atom,
                        "cluster_id": target,
                        "representative": target,
                        "unique": not merged,
                        "valid": accepted,
                        "kind": ("factual", "conceptual", "procedural")[atom % 3] if accepted else None,
                        "audit_state": "judged",
                    }
                )
        rows.append(
            {
                "turn": turn,
                "raw": raw,
                "novel": novel,
                "growth": novel / pool if pool else 1.0,
                "efficiency": novel / raw if raw else 0.0,
                "stale": novel < 3,
                "unlisted": int(turn == 2),
                **dict.fromkeys(("truncated", "cut", "empty", "refused", "shortfall"), 0),
                "calls": leaves,
                "tokens_generation_in": 600 + 220 * turn,
                "tokens_generation_out": 25 * raw,
                "tokens_embedding": 18 * raw,
            }
        )
        pool += novel
    return Cell(
        {
            "atoms": pl.DataFrame(atoms, schema=ATOMS),
            "turns": pl.DataFrame(rows, schema=TURNS),
            "calls": CALLS.to_frame(),
            "stop": pl.DataFrame([(stop, "")], schema=STOP, orient="row"),
        },
        {
            "atoms": pl.DataFrame(judged, schema=JUDGED_ATOMS),
            "pairs": PAIRS.to_frame(),
            "calls": CALLS.to_frame(),
        },
    )
