"""Whether a file of weights is the one that its revision names; ledger keys hold the revision, not the path."""

from __future__ import annotations

import hashlib
from pathlib import Path

from src.errors import DataMissing

PREFIX = "sha256:"


def check_revision(path: Path, revision: str, key: str) -> None:
    """Compare a file with a revision of the form `sha256:…`; any other revision is the user's word.

    Args:
        path: the file.
        revision: what it should be.
        key: what configuration calls the revision, for messages.

    Raises:
        DataMissing: it is another file.
    """
    if not revision.startswith(PREFIX):
        return
    with path.open("rb") as file:
        found = PREFIX + hashlib.file_digest(file, "sha256").hexdigest()
    if found != revision:
        raise DataMissing(
            f"{path} is not the file that {key} names ({revision}): fetch it again with `python -m src.fetch`, "
            f"or set {key}={found} to use it under its own name"
        )
