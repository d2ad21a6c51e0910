"""The engine that suits this machine."""

from gnode import devices
from gnode.sweeps.engines.base import Engine
from gnode.sweeps.engines.one_program import OneProgram
from gnode.sweeps.engines.threads import Threads


def auto(workers: int | None = None) -> Engine:
    """Returns `Threads` on a CPU, where small matrices leave nothing for a second core, and `OneProgram` elsewhere."""
    return Threads(workers) if devices.is_on_cpu() else OneProgram()
