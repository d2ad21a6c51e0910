"""Train continuous-time recurrent networks and see what they have learned."""

__version__ = "0.1.0"

import importlib
from typing import TYPE_CHECKING, Any

from gnode import analysis as analysis
from gnode import cells as cells
from gnode import init as init
from gnode import solve as solve
from gnode import tasks as tasks
from gnode import theory as theory
from gnode import train as train
from gnode.errors import GnodeError as GnodeError
from gnode.models import build as build
from gnode.network import Network as Network
from gnode.solve import Solver as Solver
from gnode.solve import rollout as rollout
from gnode.solve import use_cores as use_cores
from gnode.train import Run as Run
from gnode.train import Settings as Settings
from gnode.train import Sweep as Sweep
from gnode.train import fit as fit
from gnode.train import load as load
from gnode.train import resume as resume
from gnode.train import resume_sweep as resume_sweep
from gnode.train import sweep as sweep

if TYPE_CHECKING:
    from gnode import expressivity as expressivity
    from gnode import plots as plots

_ON_DEMAND = ("plots", "expressivity")
"""Rooms that bring in matplotlib or are rarely needed: imported when they are first asked for."""


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return importlib.import_module(f"gnode.{name}")
    raise AttributeError(f"module 'gnode' has no attribute {name!r}")
