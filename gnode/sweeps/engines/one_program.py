"""On an accelerator: a whole group as one program along a leading axis of members, spread over all devices."""

import time
from collections.abc import Iterator, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from gnode import errors, interrupts
from gnode.solve.gpu.side_by_side import side_by_side
from gnode.sweeps._member import pose, result_of
from gnode.sweeps._member_checkpoints import MemberCheckpoints, SavePace
from gnode.sweeps.engines.base import Work
from gnode.sweeps.engines.memory import member_bytes
from gnode.sweeps.grid import Group
from gnode.tasks import Task
from gnode.train import loop, program
from gnode.train.checkpoint import Checkpoint
from gnode.train.loop import Data, Problem
from gnode.train.metrics import Curves
from gnode.train.program import Constants

AXIS = "members"
"""The mesh axis over which members are spread."""
MEMORY_SHARE = 0.6
"""How much of a device's memory a group may be planned to fill: compilers need room of their own."""


class OneProgram:
    """Trains each group as one program along a leading axis of members, over all devices.

    `workers` is accepted and ignored: there is one program at a time.
    """

    name = "one_program"

    def __init__(self, workers: int | None = None):
        pass

    def train(self, work: Work) -> None:
        wanted, checkpoints = set(work.todo), MemberCheckpoints(work.folder)
        due = {*work.todo, *work.due}
        for group in work.grid.groups:
            by_epoch: dict[int, list[int]] = {}
            for index in wanted.intersection(group.members):
                by_epoch.setdefault(checkpoints.epoch(index), []).append(index)
            for left in by_epoch.values():
                size = self.members_at_once(group, work.tasks(group.settings), len(due.intersection(group.members)))
                for chunk in Group(tuple(sorted(left)), group.settings).chunks(size):
                    _Chunk(work, chunk, size, checkpoints).train()

    def members_at_once(self, group: Group, task: Task, members: int) -> int:
        """As many as fit into the devices' memory, in equal pieces and a multiple of the number of devices."""
        devices = jax.device_count()
        limits = [(device.memory_stats() or {}).get("bytes_limit") for device in jax.devices()]
        most = members
        if all(limits):
            fitting = int(MEMORY_SHARE * min(limits) / member_bytes(group, task)) * devices  # type: ignore[type-var]
            if fitting < 1:
                raise errors.ArgumentError(
                    "one member alone needs more memory than a device has; use memory='checkpoint'."
                )
            most = min(members, fitting)
        pieces = -(-members // most)
        size = -(-members // pieces)
        return -(-size // devices) * devices if size >= devices else size

    def compilations(self, rounds: Sequence[int]) -> int:
        return len({size for size in rounds if size})  # the number of members is part of the shape


class _Chunk:
    """Members that have been trained for the same number of epochs, from there on."""

    def __init__(self, work: Work, chunk: tuple[int, ...], size: int, checkpoints: MemberCheckpoints):
        self.work, self.chunk, self.size, self.checkpoints = work, chunk, size, checkpoints
        self.began, self.pace = time.monotonic(), SavePace()
        members = work.grid.members
        self.settings = [members[index] for index in chunk]
        self.task = work.tasks(self.settings[0])
        self.data = loop.on_device(self.task)
        with side_by_side(size):  # which decides how they go through time
            self.problems = [pose(settings, self.task, self.data) for settings in self.settings]
        if len({jax.tree.structure(problem.frozen) for problem in self.problems}) > 1:
            raise errors.ArgumentError(
                "members of one group have cells that differ in a static field, such as tau, so they are not one program; "
                "make that field an array, or use engine 'threads'."
            )
        self.begun = [checkpoints.load(index, loop.begin(own)) for index, own in zip(chunk, self.problems)]
        self.epoch = self.begun[0].epoch
        self.delivered: set[int] = set()
        padding = size - len(chunk)  # the last piece of a group is padded: one shape, one compilation
        problems, started = self.problems + self.problems[:1] * padding, self.begun + self.begun[:1] * padding
        constants = _stack([Constants(problem.hyper, problem.key, problem.frozen) for problem in problems])
        state = _stack([checkpoint.state for checkpoint in started])
        self.names = tuple(loop.begin(problems[0]).curves)
        nothing = np.full(self.epoch, np.nan)  # of a metric that an earlier version did not have
        self.curves = list(np.array([[one.curves.get(name, nothing) for name in self.names] for one in started]).T)
        self.state, self.constants = _over_devices((state, constants), size)

    def train(self) -> None:
        """Trains to the end and delivers; after Ctrl-C, or any other error, what was learned is saved."""
        self.work.tick(self.epoch * len(self.chunk))
        settings = self.problems[0].settings
        try:
            while self.epoch < settings.epochs and not _all_idle(self.state, len(self.chunk)):
                self._next_epoch()
                self.work.tick(len(self.chunk))
                interrupts.check()
                if self.pace.is_due():
                    self.save()
            self.work.tick((settings.epochs - self.epoch) * len(self.chunk))
            self._deliver()
        except BaseException:
            self.save()
            raise

    def save(self) -> None:
        """Saves the checkpoints of all members that have not been delivered."""
        with self.pace:
            for index, checkpoint in zip(self.chunk, self._checkpoints()):
                if index not in self.delivered:
                    self.checkpoints.save(index, checkpoint)

    def _next_epoch(self) -> None:
        first = self.problems[0]
        bins = first.settings.stage_bins(self.epoch, first.bins)
        after, metrics = _run_group_epoch(
            self.state, self.constants, jnp.int32(self.epoch + 1), self.data, first.plan, bins
        )
        self.curves[self.epoch :] = [np.stack([np.asarray(metrics[name], np.float64) for name in self.names])]
        self.state, self.epoch = after, self.epoch + 1

    def _checkpoints(self) -> Iterator[Checkpoint]:
        own_seconds = (time.monotonic() - self.began) / len(self.chunk)
        known = np.array(self.curves[: self.epoch]).reshape(self.epoch, len(self.names), self.size)
        here = jax.tree.map(np.asarray, self.state)  # once for all members
        for position, (problem, before) in enumerate(zip(self.problems, self.begun)):
            curves = dict(zip(self.names, known[..., position].T))
            yield _checkpoint_of(position, here, curves, problem)._replace(seconds=before.seconds + own_seconds)

    def _deliver(self) -> None:
        for index, settings, problem, done in zip(self.chunk, self.settings, self.problems, self._checkpoints()):
            done = done._replace(state=jax.tree.map(jnp.asarray, done.state))
            self.work.deliver(result_of(index, settings, self.task, problem, done))
            self.delivered.add(index)


@eqx.filter_jit
def _run_group_epoch(
    state: PyTree, constants: Constants, epoch: Array, data: Data, plan: program.Plan, bins: int
) -> tuple[PyTree, program.Metrics]:
    """One epoch of a group: `state` and `constants` have a leading axis of members."""
    program.count_trace()

    def some(state: PyTree, constants: Constants, shared: tuple) -> tuple[PyTree, program.Metrics]:
        epoch, data = shared

        def one(state: PyTree, constants: Constants) -> tuple[PyTree, program.Metrics]:
            return program.run_epoch(state, constants, epoch, data, plan, bins)

        with side_by_side(constants.key.shape[0]):
            return jax.vmap(one)(state, constants)

    mesh = _mesh_for(constants.key.shape[0])
    if mesh is not None:
        # Said outright: left to itself the compiler may bring all members to every device for a kernel it can't look into.
        own, all_of_it = jax.sharding.PartitionSpec(AXIS), jax.sharding.PartitionSpec()
        some = jax.shard_map(some, mesh=mesh, in_specs=(own, own, all_of_it), out_specs=own, check_vma=False)
    return some(state, constants, (epoch, data))


def _checkpoint_of(position: int, state: PyTree, curves: Curves, problem: Problem) -> Checkpoint:
    """One member's share of a group. Its curves end where it stopped or diverged, as they do when it is trained alone."""
    own = jax.tree.map(lambda leaf: leaf[position], state)
    epochs = len(curves["train"])
    updates = problem.plan.updates
    if int(own.diverged_at) > 0:
        epochs = (int(own.diverged_at) - 1) // updates + 1
    elif bool(own.stopped):
        patience = int(problem.settings.patience or 0)
        epochs = int(own.best_epoch) + patience
    return Checkpoint(own, {name: values[:epochs] for name, values in curves.items()}, epochs)


def _all_idle(state: PyTree, real: int) -> bool:
    idle = np.asarray(state.stopped) | (np.asarray(state.diverged_at) > 0)
    return bool(idle[:real].all())


def _stack(trees: Sequence[PyTree]) -> PyTree:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def _over_devices(trees: PyTree, size: int) -> PyTree:
    """The leading axis spread over all devices, if it can be."""
    mesh = _mesh_for(size)
    if mesh is None:
        return trees
    placement = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(AXIS))
    return jax.tree.map(lambda leaf: jax.device_put(leaf, placement), trees)


def _mesh_for(size: int) -> jax.sharding.Mesh | None:
    """All devices, if there are several and they can have equal shares of so many members."""
    devices = jax.devices()
    return None if len(devices) == 1 or size % len(devices) else jax.sharding.Mesh(np.array(devices), (AXIS,))
