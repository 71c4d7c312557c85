"""What is stored in folders: cells, sweeps, unions, findings; the only maker of paths."""

from src.store.cells import Phase, cell_folders, read_metrics, read_phase, read_spend, write_phase, write_spend
from src.store.findings import Kind, StoredFinding, finding_folder, read_findings, write_finding, write_numbers
from src.store.names import run_folder, slug, slug_of
from src.store.sweeps import make_folder, read_records, write_record
from src.store.unions import read_union, union_folder, union_folders, write_union

__all__ = [
    "Kind",
    "Phase",
    "StoredFinding",
    "cell_folders",
    "finding_folder",
    "make_folder",
    "read_findings",
    "read_metrics",
    "read_phase",
    "read_records",
    "read_spend",
    "read_union",
    "run_folder",
    "slug",
    "slug_of",
    "union_folder",
    "union_folders",
    "write_finding",
    "write_numbers",
    "write_phase",
    "write_record",
    "write_spend",
    "write_union",
]
