"""How many networks run side by side. A trace does not see that it is mapped along an axis, but kernels are chosen by it."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_NETWORKS: ContextVar[int] = ContextVar("networks side by side", default=1)


@contextmanager
def side_by_side(networks: int) -> Generator[None]:
    """Says that what is traced inside will run for so many networks along an axis (`jax.vmap`), which no trace can see.

    >>> with side_by_side(27):
    ...     networks_side_by_side()
    27
    """
    before = _NETWORKS.set(networks)
    try:
        yield
    finally:
        _NETWORKS.reset(before)


def networks_side_by_side() -> int:
    """The number of networks that `side_by_side` says."""
    return _NETWORKS.get()
