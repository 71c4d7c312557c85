"""A rehearsal of a paid run: an OpenAI-compatible server that makes its answers up, and faults on demand."""

from src.rehearsal.choice import Quota, Rates, Script, first
from src.rehearsal.server import HEADER, Arrived, Rehearsal

__all__ = ["HEADER", "Arrived", "Quota", "Rates", "Rehearsal", "Script", "first"]
