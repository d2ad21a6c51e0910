"""On a Ray cluster (the extra `gnode[ray]`): a group is a task where workers have GPUs, else every member is one.

Ray replaces a worker that dies and runs its task again; training is a pure function of its settings, so the result is the
same. Workers need gnode installed.
"""

import contextlib
import dataclasses
import socket
from collections.abc import Generator, Sequence
from typing import Any

from gnode import errors, own_code
from gnode.sweeps._member import MemberResult
from gnode.sweeps.engines.auto import auto
from gnode.sweeps.engines.base import Work
from gnode.sweeps.grid import Grid, Group, TaskCache
from gnode.tasks import Task
from gnode.tasks.stored_task import with_function
from gnode.train import run_folder
from gnode.train.settings import Settings
from gnode.train.stored_code import names_in

KNOCK_SECONDS = 5.0

RETRIES = -1
"""As often as it takes: a dead worker is the cluster's trouble, not the sweep's."""


class RayCluster:
    """Trains members on the Ray cluster at `address`, or on a local one that is started and stopped here.

    `workers` is the number of members that a plan of the cost counts as trained at once.
    """

    name = "ray"

    def __init__(self, address: str | None = None, workers: int | None = None):
        self.address, self.workers = address, workers

    def train(self, work: Work) -> None:
        ray = _import_ray()
        started_here = not ray.is_initialized()
        if started_here:
            self._join(ray)
        try:
            _train(ray, work)
        finally:
            if started_here:
                ray.shutdown()

    def members_at_once(self, group: Group, task: Task, members: int) -> int:
        return auto(self.workers).members_at_once(group, task, members)

    def compilations(self, rounds: Sequence[int]) -> int:
        return auto(self.workers).compilations(rounds)

    def _join(self, ray: Any) -> None:
        if self.address is not None:
            _knock(self.address)
        try:
            ray.init(address=self.address, log_to_driver=False, include_dashboard=False, logging_level="ERROR")
        except (ConnectionError, ValueError, RuntimeError) as problem:
            where = f"at {self.address}" if self.address else "on this machine"
            raise errors.GnodeError(
                f"no Ray cluster could be joined {where} ({problem}). A cluster with token authentication wants "
                f"RAY_AUTH_MODE=token and its RAY_AUTH_TOKEN in this environment too."
            ) from problem


def _train(ray: Any, work: Work) -> None:
    gpus = int(ray.cluster_resources().get("GPU", 0))
    resources = {"num_gpus": 1} if gpus else {"num_cpus": 1}
    remote = ray.remote(max_retries=RETRIES, **resources)(_train_on_worker)
    wanted, pieces = set(work.todo), []
    for group in work.grid.groups:
        left = [index for index in group.members if index in wanted]
        pieces += [left] if gpus and left else [[index] for index in left]
    own = ray.put(OwnParts.of(work))
    waiting = [remote.remote(work.grid, piece, own) for piece in pieces]
    while waiting:
        ready, waiting = ray.wait(waiting, num_returns=1)
        for trained in ray.get(ready[0]):
            work.deliver(trained)
            work.tick(work.grid.members[trained.index].get("epochs", Settings.epochs))


@dataclasses.dataclass(frozen=True)
class OwnParts:
    """What a worker cannot find by a name: the user's own code, objects and task."""

    codes: dict[str, own_code.Code]
    objects: dict[str, Any]
    task: Task | None
    generator: str | None

    @classmethod
    def of(cls, work: Work) -> "OwnParts":
        """Collects the parts of a sweep that its workers need."""
        given = work.tasks.given
        generator = None if given is None else run_folder.generator_name(given)
        named = [work.grid.task, generator, *(name for member in work.grid.members for name in names_in(member))]
        objects = own_code.objects_in_memory([str(name) for name in named if own_code.is_own(name)])
        # A function of the user's own file is found by its name in the code, which a pickled one would not be.
        bare = None if given is None else dataclasses.replace(given, generator=None)
        return cls(own_code.in_use(), objects, bare, generator)

    @contextlib.contextmanager
    def in_use(self) -> Generator[Task | None, None, None]:
        """Makes the parts known here and yields the task, if there is one."""
        own_code.remember(self.objects)
        with own_code.provided(self.codes):
            if self.task is None or self.generator is None:
                yield self.task
            else:
                yield with_function(self.task, own_code.resolve(self.generator))


def _train_on_worker(grid: Grid, members: list[int], own: OwnParts) -> list[MemberResult]:
    """What a worker does: it trains its share of the members with the engine of its own machine."""
    trained: list[MemberResult] = []
    with own.in_use() as given:
        auto(workers=1).train(Work(grid, members, TaskCache(grid.task, given), trained.append))
    return trained


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
