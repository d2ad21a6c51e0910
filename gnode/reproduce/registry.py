"""All artefacts by name: 15 figures, 6 tables and 9 claims of the paper, and what goes beyond it, a file each in
`gnode.reproduce.artefacts`.
"""

import dataclasses
import importlib

from gnode import errors
from gnode.arguments import checked
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
CLAIMS = (
    "stable-points",
    "adaptive-solver",
    "points-n100",
    "three-components",
    "annulus-generalisation",
    "gate-and-residual",
    "variations",
    "capacity",
    "filling",
)
EXTENSIONS = (
    "gnode-protocol",
    "fresh-trials",
    "true-attractors",
    "continuous-attractor",
    "walker2d-protocol",
    "letters-protocol",
    "speech-protocol",
    "relatives",
    "critical-factorial",
)
NAMES = (*FIGURES, *TABLES, *CLAIMS, *EXTENSIONS)
"""The names of all artefacts: figures, tables and claims, each in the order of the paper, then what goes beyond it."""


@checked
def find_artefact(name: str) -> Artefact:
    """Returns the artefact of that name, with the docstring of its file as `about`.

    **Raises:** `ArgumentError` if there is no such artefact; the message suggests the nearest name.

    >>> find_artefact("capacity").kind
    'claim'
    """
    errors.one_of("artefact", name, NAMES)
    module = importlib.import_module(f"gnode.reproduce.artefacts.{name.replace('-', '_')}")
    return dataclasses.replace(module.ARTEFACT, about=(module.__doc__ or "").strip())


def all_artefacts() -> list[Artefact]:
    """Returns all artefacts in the order of `NAMES`.

    >>> len(all_artefacts())
    39
    """
    return [find_artefact(name) for name in NAMES]
