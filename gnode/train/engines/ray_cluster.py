"""On a Ray cluster (the extra `gnode[ray]`): a group is a task where workers have GPUs, a member is one where they have not.

A worker that dies is replaced by Ray and its task is done again; training is a pure function of its settings, so the
result is the same. Workers need gnode installed.
"""

import socket
from collections.abc import Sequence
from typing import Any

from gnode import errors
from gnode.train.engines import one_program, threads
from gnode.train.engines.threads import Deliver, Tick
from gnode.train.grid import Grid, TaskCache
from gnode.train.member import Outcome

KNOCK_SECONDS = 5.0

RETRIES = -1
"""As often as it takes: a dead worker is the cluster's trouble, not the sweep's."""


def train_on_ray(
    grid: Grid,
    todo: Sequence[int],
    deliver: Deliver,
    tick: Tick,
    address: str | None = None,
) -> None:
    """Trains members on a Ray cluster: the one at `address`, or a local one that is started and stopped here."""
    ray = _import_ray()
    started_here = not ray.is_initialized()
    if started_here:
        if address is not None:
            _knock(address)
        try:
            ray.init(address=address, log_to_driver=False, include_dashboard=False, logging_level="ERROR")
        except (ConnectionError, ValueError, RuntimeError) as problem:
            where = f"at {address}" if address else "on this machine"
            raise errors.GnodeError(
                f"no Ray cluster could be joined {where} ({problem}). A cluster with token authentication wants "
                f"RAY_AUTH_MODE=token and its RAY_AUTH_TOKEN in this environment too."
            ) from problem
    try:
        _train(ray, grid, todo, deliver, tick)
    finally:
        if started_here:
            ray.shutdown()


def _train(ray: Any, grid: Grid, todo: Sequence[int], deliver: Deliver, tick: Tick) -> None:
    gpus = int(ray.cluster_resources().get("GPU", 0))
    resources = {"num_gpus": 1} if gpus else {"num_cpus": 1}
    work = ray.remote(max_retries=RETRIES, **resources)(_work)
    wanted = set(todo)
    pieces = []
    for group in grid.groups:
        left = [index for index in group.members if index in wanted]
        pieces += [left] if gpus and left else [[index] for index in left]
    waiting = [work.remote(grid, piece) for piece in pieces]
    epochs = {index: member.get("epochs", 0) for index, member in enumerate(grid.members)}
    while waiting:
        ready, waiting = ray.wait(waiting, num_returns=1)
        for outcome in ray.get(ready[0]):
            deliver(outcome)
            tick(epochs[outcome.index] or outcome.config["settings"]["epochs"])


def _work(grid: Grid, members: list[int]) -> list[Outcome]:
    """What a worker does: the engine of its own machine, on its share of the members."""
    import jax

    outcomes: list[Outcome] = []
    tasks = TaskCache(grid.task)
    if jax.default_backend() == "cpu":
        threads.train_in_threads(grid, members, tasks, outcomes.append, lambda epochs: None, workers=1)
    else:
        one_program.train_as_one(grid, members, tasks, outcomes.append, lambda epochs: None)
    return outcomes


def _knock(address: str) -> None:
    """Whether anything listens at host:port. Ray itself would try for ten minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return  # "auto" and the like are Ray's to resolve
    try:
        socket.create_connection((host, int(port)), timeout=KNOCK_SECONDS).close()
    except OSError as problem:
        raise errors.GnodeError(
            f"nothing answers at {address} ({problem}); is the Ray cluster running there?"
        ) from problem


def _import_ray() -> Any:
    try:
        import ray
    except ImportError as problem:
        raise errors.GnodeError("the engine 'ray' needs the extra gnode[ray]: pip install 'gnode[ray]'.") from problem
    return ray
