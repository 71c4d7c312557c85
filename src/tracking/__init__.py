"""Runs and sweeps in MLflow; the only package that imports it."""

from src.entries import Results, TrackedCell
from src.tracking.run import TrackedRun, tracked
from src.tracking.study import track_study
from src.tracking.sweep import finished, track_sweep

__all__ = ["Results", "TrackedCell", "TrackedRun", "finished", "track_study", "track_sweep", "tracked"]
