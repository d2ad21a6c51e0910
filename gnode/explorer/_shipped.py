"""The small trained networks that come with gnode, as documents of the explorer. Nothing here waits for jax."""

import gzip
import json
from pathlib import Path
from typing import Any

from gnode import errors

FOLDER = Path(__file__).parent / "networks"
ENDING = ".json.gz"
WITHOUT_TRIALS = "Its trials are recordings of others and do not come with gnode; this is the live state."


def shipped_names() -> list[str]:
    """Returns the names of the networks that come with gnode.

    >>> isinstance(shipped_names(), list)
    True
    """
    return sorted(path.name.removesuffix(ENDING) for path in FOLDER.glob(f"*{ENDING}"))


def shipped(name: str) -> dict[str, Any]:
    """Reads the document of a network that comes with gnode.

    **Raises:** `ArgumentError` for an unknown name.
    """
    errors.one_of("the network", name, shipped_names())
    document = json.loads(gzip.decompress((FOLDER / f"{name}{ENDING}").read_bytes()))
    for network in document["networks"]:
        if network["trials"] is None:  # a network that comes with gnode was trained on some
            network["without_trials"] = WITHOUT_TRIALS
    return document


def packed_document(document_text: str) -> bytes:
    """Compresses a document, to the same bytes on every machine and at every time."""
    return gzip.compress(document_text.encode("ascii"), compresslevel=9, mtime=0)
