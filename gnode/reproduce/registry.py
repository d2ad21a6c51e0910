"""Every artefact of the paper by name: 15 figures, 6 tables and 3 claims, a file each in `gnode.reproduce.artefacts`."""

import dataclasses
import importlib

from gnode import errors
from gnode.reproduce.artefact import Artefact

FIGURES = (
    "fig1",
    "fig2",
    "fig3",
    "critical-depth",
    "jacobian-spectra",
    "fixed-3bit",
    "pca-l2",
    "abscissa-n6",
    "square",
    "rectangle-disk",
    "ring",
    "ou-tau",
    "ou-width",
    "ou-networks",
    "ou-depth",
)
TABLES = ("table1", "table-tau", "table-critical-speech", "table-fixed-points", "table-characters", "table-critical")
CLAIMS = ("annulus-generalisation", "gate-and-residual", "capacity")
NAMES = (*FIGURES, *TABLES, *CLAIMS)


def find_artefact(name: str) -> Artefact:
    """Returns the artefact of that name; `about` is the docstring of its file.

    **Raises:** `ArgumentError` for an unknown name, with the nearest one suggested.

    >>> find_artefact("capacity").kind
    'claim'
    """
    errors.one_of("artefact", name, NAMES)
    module = importlib.import_module(f"gnode.reproduce.artefacts.{name.replace('-', '_')}")
    return dataclasses.replace(module.ARTEFACT, about=(module.__doc__ or "").strip())


def all_artefacts() -> list[Artefact]:
    """All of them, in the order of `NAMES`."""
    return [find_artefact(name) for name in NAMES]
