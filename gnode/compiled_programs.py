"""The compiled programs of a process: old ones are dropped before there are more than the operating system allows.

JAX keeps every program that it has compiled. Each has some dozens of memory regions of its own, and Linux allows a process
65,530 of them by default: a sweep or a script that trains networks of hundreds of shapes gets there after an hour or so, the
compiler then finds no memory, and the process ends without a word.
"""

import gc
from pathlib import Path

__all__ = ["drop_if_too_many"]

MAPS, MOST_MAPS = Path("/proc/self/maps"), Path("/proc/sys/vm/max_map_count")
SHARE = 0.5
"""The share of the regions that may be in use before a network is trained or loaded; what is done with it needs some."""


def drop_if_too_many() -> bool:
    """Drops all compiled programs if they have taken much of what a process may have, and returns whether it did.

    Programs that are running are kept by those who run them. Any other one is compiled again when it is needed, or read from
    the cache on disk. On systems that do not tell (all but Linux) nothing is done.
    """
    used, most = regions_in_use(), regions_allowed()
    if used is None or most is None or used < SHARE * most:
        return False
    import jax

    jax.clear_caches()
    gc.collect()
    return True


def regions_in_use() -> int | None:
    """Returns how many memory regions this process has; None where the system does not tell."""
    try:
        return MAPS.read_bytes().count(b"\n")
    except OSError:
        return None


def regions_allowed() -> int | None:
    """Returns how many memory regions a process may have; None where the system does not tell."""
    try:
        return int(MOST_MAPS.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
