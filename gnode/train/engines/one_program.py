"""On an accelerator: a whole group as one program along a leading axis of members, spread over all devices."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from gnode import errors, stopping
from gnode.tasks import Task
from gnode.train import loop, member, program
from gnode.train.engines.threads import Deliver, Tick
from gnode.train.grid import Grid, Group, TaskCache
from gnode.train.loop import Data, Problem, Progress
from gnode.train.loss import losses
from gnode.train.store import METRIC_NAMES
from gnode.train.unfinished import Pace, Unfinished

AXIS = "members"
"""Of the devices' mesh."""
MEMORY_SHARE = 0.6
"""How much of a device's memory a group may be planned to fill: compilers need room of their own."""


def train_as_one(
    grid: Grid,
    todo: Sequence[int],
    tasks: TaskCache,
    deliver: Deliver,
    tick: Tick,
    folder: Path | None = None,
) -> None:
    """Trains each group as one program along a leading axis of members, over all devices."""
    wanted, unfinished = set(todo), Unfinished(folder)
    for group in grid.groups:
        alike: dict[int, list[int]] = {}
        for index in wanted.intersection(group.members):
            alike.setdefault(unfinished.epoch(index), []).append(index)
        for left in alike.values():
            size = chunk_size(group, tasks(group.settings), len(left))
            for chunk in Group(tuple(sorted(left)), group.settings).chunks(size):
                _train_chunk(grid, chunk, size, tasks, deliver, tick, unfinished)


def chunk_size(group: Group, task: Task, members: int) -> int:
    """How many members fit into the devices' memory, in equal pieces and a multiple of the number of devices."""
    devices = jax.device_count()
    limits = [(device.memory_stats() or {}).get("bytes_limit") for device in jax.devices()]
    most = members
    if all(limits):
        fitting = int(MEMORY_SHARE * min(limits) / member_bytes(group, task)) * devices  # type: ignore[type-var]
        if fitting < 1:
            raise errors.ArgumentError("one member alone needs more memory than a device has; use memory='checkpoint'.")
        most = min(members, fitting)
    pieces = -(-members // most)
    size = -(-members // pieces)
    return -(-size // devices) * devices if size >= devices else size


def member_bytes(group: Group, task: Task) -> int:
    """What training one member of the group keeps in memory: its values, the optimiser's, and the backward pass's."""
    problem = eqx.filter_eval_shape(_posed_arrays, group.settings, task)
    values, residuals = (sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(part)) for part in problem)
    copies = 6  # weights, gradient, two moments, best weights, and the update being made
    return copies * values + residuals


def _posed_arrays(settings: dict[str, Any], task: Task) -> tuple[PyTree, PyTree]:
    """A member's trained values, and what its backward pass keeps for one minibatch. Only ever traced."""
    problem = member.pose(settings, task, Data(*(loop.to_device(part) for part in (task.train, task.validation))))
    size = problem.plan.batch_size
    batch = problem.data.train._replace(
        **{name: getattr(problem.data.train, name)[:size] for name in problem.data.train._fields}
    )

    def loss(params: PyTree) -> Array:
        return losses(problem.network(params), batch, problem.plan.loss, problem.plan.when).loss

    return problem.params, jax.vjp(loss, problem.params)[1]


@eqx.filter_jit
def _run_group_epoch(
    state: PyTree,
    hyper: PyTree,
    keys: Array,
    epoch: Array,
    data: Data,
    frozen: PyTree,
    plan: program.Plan,
    bins: int,
) -> tuple[PyTree, program.Metrics]:
    program.count_trace()

    def some(
        state: PyTree, hyper: PyTree, keys: Array, frozen: PyTree, shared: tuple
    ) -> tuple[PyTree, program.Metrics]:
        epoch, data = shared

        def one(state: PyTree, hyper: PyTree, key: Array, frozen: PyTree) -> tuple[PyTree, program.Metrics]:
            return program.run_epoch(state, hyper, key, epoch, data.train, data.validation, frozen, plan, bins)

        return jax.vmap(one)(state, hyper, keys, frozen)

    mesh = _mesh_for(keys.shape[0])
    if mesh is not None:
        # Said outright: left to itself the compiler may bring all members to every device for a kernel it can't look into.
        own, all_of_it = jax.sharding.PartitionSpec(AXIS), jax.sharding.PartitionSpec()
        specs = (own, own, own, own, all_of_it)
        some = jax.shard_map(some, mesh=mesh, in_specs=specs, out_specs=own, check_vma=False)
    return some(state, hyper, keys, frozen, (epoch, data))


def _train_chunk(
    grid: Grid,
    chunk: tuple[int, ...],
    size: int,
    tasks: TaskCache,
    deliver: Deliver,
    tick: Tick,
    unfinished: Unfinished,
) -> None:
    """Trains members that have come equally far, from there on."""
    began, pace = time.monotonic(), Pace()
    members = grid.members
    task = tasks(members[chunk[0]])
    data = loop.on_device(task)
    problems = [member.pose(members[index], task, data) for index in chunk]
    first = problems[0]
    begun = [unfinished.load(index, loop.begin(problem)) for index, problem in zip(chunk, problems)]
    filling = size - len(chunk)  # the last piece of a group is filled up: one shape, one compilation
    padded, started = problems + [first] * filling, begun + [begun[0]] * filling
    hyper, keys, frozen = (_stack([getattr(p, part) for p in padded]) for part in ("hyper", "key", "frozen"))
    state, epoch = _stack([one.progress.state for one in started]), begun[0].progress.epoch
    curves = list(np.array([[one.progress.curves[name] for name in METRIC_NAMES] for one in started]).T)
    tick(epoch * len(chunk))
    state, hyper, keys, frozen = _over_devices((state, hyper, keys, frozen), size)

    def each() -> Iterator[tuple[int, Problem, Progress, float]]:
        """The members, each as far as it has come."""
        own_seconds = (time.monotonic() - began) / len(chunk)
        known = np.array(curves[:epoch]).reshape(epoch, len(METRIC_NAMES), size)
        here = jax.tree.map(np.asarray, state)  # once for all
        for position, (index, problem, before) in enumerate(zip(chunk, problems, begun)):
            yield index, problem, _progress_of(position, here, known, problem), before.seconds + own_seconds

    delivered: set[int] = set()

    def save() -> None:
        with pace:
            for index, _, now, seconds in each():
                if index not in delivered:
                    unfinished.save(index, now, seconds)

    try:
        while epoch < first.settings.epochs and not _all_idle(state, len(chunk)):
            bins = first.settings.stage_bins(epoch, first.bins)
            after, metrics = _run_group_epoch(state, hyper, keys, jnp.int32(epoch + 1), data, frozen, first.plan, bins)
            curves[epoch:] = [np.stack([np.asarray(values, np.float64) for values in metrics])]
            state, epoch = after, epoch + 1
            tick(len(chunk))
            stopping.check()
            if pace.is_due():
                save()
        tick((first.settings.epochs - epoch) * len(chunk))
        for index, problem, done, seconds in each():
            done = done._replace(state=jax.tree.map(jnp.asarray, done.state))
            deliver(member.outcome(index, members[index], task, problem, done, seconds))
            delivered.add(index)
    except BaseException:  # also Ctrl-C: what was learned is kept
        save()
        raise


def _progress_of(position: int, state: PyTree, curves: np.ndarray, problem: Problem) -> Progress:
    """One member's share of a group. Its curves end where it stopped or diverged, as they do when it runs alone."""
    own = jax.tree.map(lambda leaf: leaf[position], state)
    epochs = len(curves)
    updates = -(-problem.data.train.inputs.shape[0] // problem.plan.batch_size)
    if int(own.diverged_at) > 0:
        epochs = (int(own.diverged_at) - 1) // updates + 1
    elif bool(own.stopped):
        patience = int(problem.settings.patience or 0)
        epochs = int(own.best_epoch) + patience
    return Progress(own, {name: curves[:epochs, i, position] for i, name in enumerate(METRIC_NAMES)}, epochs)


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
