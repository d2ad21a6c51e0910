"""Regularised neural ODEs: random lengths of bins, and penalties on the flow dh/dt = f(h, x), for any cell.

Random end times (STEER, Ghosh et al. 2020). In every update the length of each bin of each trial is

    t + uniform(-b, b),     b = `steer` * t.

Penalties. Each is its weight times the mean over trials of an integral over the real bins of the trial,

    R = mean over trials of  sum over bins  t_k q(h_k, x_k),

where h_k is the state at the start of bin k, from the rollout that training makes anyway, x_k the input there, held for the
bin, and t_k the length of the bin. |v|^2 is the mean of v_i^2 over the n components of the state, so that a weight means the
same for any number of units:

    `kinetic`             q = |f|^2                                   (RNODE, Finlay et al. 2020)
    `jacobian_norm`       q = |eps^T df/dh|^2                         (RNODE), whose mean over eps is the sum of all squared
                              elements of df/dh, divided by n; eps are signs, drawn once for each trial of an update
    `higher_derivatives`  q = |d^K h/dt^K|^2,  K = `derivative_order`  (TayNODE, Kelly et al. 2020), the total derivative
                              along the solution: dh/dt = f, d^2 h/dt^2 = (df/dh) f, ...
    `solver_cost`         q = |e|,    e = s/2 (k_2 - k_1)             ("Opening the blackbox", Pal et al. 2021), the error
                              of a Euler step as Heun's method sees it; k_1 = f(h), k_2 = f(h + s k_1)
    `stiffness`           q = |k_2 - k_1| / |s k_1|                   (Pal et al.), how fast f changes along the step; where
                              f is zero, 0

The step is s = t_k / `substeps`. The K-th derivative is computed in Taylor mode (`jax.experimental.jet`), or, for cells with
an operation that Taylor mode does not know (relu and softplus are two), by K - 1 nested derivatives along f; both are exact.

Cells with more than a field: of a neural CDE and of a neural SDE f is the drift alone. Where samples make the state jump,
h_k is the state after the jump. A cell that is a map of one bin and no flow (CfC) has nothing to penalise, and is refused.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode import errors
from gnode.cells import Cell, Layers
from gnode.network import AbstractNetwork, Network
from gnode.train.batch import Batch, real_bins
from gnode.train.settings import PENALTIES, Settings
from gnode.types import Key

if TYPE_CHECKING:
    from gnode.train.perturbation import Perturbation

State = Float[Array, " state"]
Field = Callable[[Array], Array]
Hyper = dict[str, Float[Array, "..."]]

_LENGTHS, _PROBES = 1_000_001, 1_000_002
"""What a key is folded with: far above the numbers with which it is split for other noise, which would give equal keys."""


def check_flow(net: AbstractNetwork, settings: Settings) -> None:
    """Raises an `ArgumentError` if a penalty on the flow has no meaning for this network."""
    wanted = next((name for name in PENALTIES if getattr(settings, name)), None)
    if wanted is None:
        return
    given = f"{wanted} is {getattr(settings, wanted):g}, but"
    if not isinstance(net, Network):
        raise errors.ArgumentError(
            f"{given} penalties on the flow need a gnode.Network, and net is a {type(net).__name__}."
        )
    if no_flow := _without_flow(net.cell):
        raise errors.ArgumentError(
            f"{given} {type(no_flow).__name__} is a map of one bin and not a flow, so it has no dh/dt to penalise; leave "
            f"{wanted} out."
        )


def with_random_lengths(batch: Batch, steer: Float[Array, ""], key: Key) -> Batch:
    """Draws the lengths of all bins anew, each between 1 - `steer` and 1 + `steer` of what it is; zero stays zero."""
    drawn = jax.random.uniform(
        jax.random.fold_in(key, _LENGTHS), batch.dt.shape, batch.dt.dtype, minval=-1.0, maxval=1.0
    )
    return batch._replace(dt=batch.dt * (1 + steer * drawn))


def flow_penalty(
    net: AbstractNetwork,
    given: "Perturbation",
    states: Float[Array, "trials time state"],
    choices: Settings,
    hyper: Hyper,
    key: Key,
    whole: Batch | None = None,
) -> Float[Array, ""]:
    """Computes the sum of all penalties on the flow, each times its weight.

    **Arguments:** `net`; `given`, the batch as training sees it; `states`, those of its rollout, at the ends of bins;
    `choices`, which say which penalties there are; `hyper`, which has their weights; `key`, of the update; `whole`, the
    batch that this one is a piece of, over whose trials means are taken.
    """
    cell, batch = net.cell, given.batch
    starts = jax.vmap(net.initial)(batch.inputs[:, 0]) if given.starts is None else given.starts
    weight = real_bins(batch)
    # After the end of a trial anything may stand, infinity included, whose derivatives zero would not silence.
    is_real = (weight > 0)[..., None]
    h = jnp.where(is_real, jnp.concatenate([starts[:, None], states[:, :-1]], axis=1), 0.0)
    x = jnp.where(is_real, batch.inputs, 0.0)
    probes = jax.random.rademacher(jax.random.fold_in(key, _PROBES), starts.shape, starts.dtype)
    substeps = net.solver.substeps if isinstance(net, Network) else 1
    is_by_taylor = bool(choices.higher_derivatives) and taylor_mode_knows(cell, choices.derivative_order)

    def integrand(h: State, x: Float[Array, " inputs"], step: Float[Array, ""], probe: State) -> Float[Array, ""]:
        h, total = arrived(cell, h, x), jnp.zeros((), h.dtype)
        field = lambda h: cell.vector_field(h, x)  # noqa: E731
        if choices.kinetic:
            total += hyper["kinetic"] * _mean_square(field(h))
        if choices.jacobian_norm:
            total += hyper["jacobian_norm"] * jacobian_norm(field, h, probe)
        if choices.higher_derivatives:
            found = derivative(field, h, choices.derivative_order, is_by_taylor)
            total += hyper["higher_derivatives"] * _mean_square(found)
        if choices.solver_cost:
            total += hyper["solver_cost"] * euler_error(field, h, step)
        if choices.stiffness:
            total += hyper["stiffness"] * stiffness(field, h, step)
        return total

    each_bin = jax.vmap(integrand, in_axes=(0, 0, 0, None))
    found = jax.vmap(each_bin)(h, x, batch.dt / substeps, probes)
    trials = jnp.sum((batch if whole is None else whole).weight)
    return jnp.sum(found * batch.dt * weight) / jnp.maximum(trials, 1e-9)


def jacobian_norm(field: Field, h: State, probe: State) -> Float[Array, ""]:
    """Computes |eps^T df/dh|^2, Hutchinson's estimate of the mean over rows of the squared norms of the Jacobian."""
    return _mean_square(jax.vjp(field, h)[1](probe)[0])


def derivative(field: Field, h: State, order: int, is_by_taylor: bool) -> State:
    """Computes d^K h/dt^K along the solution of dh/dt = field(h), in Taylor mode or by nested derivatives."""
    if is_by_taylor:
        from jax.experimental.jet import jet  # which nothing else needs

        series = [field(h)]
        for _ in range(order - 1):
            series = [series[0], *jet(field, (h,), (series,))[1]]
        return series[-1]
    found = field
    for _ in range(order - 1):
        found = partial(_along, field, found)
    return found(h)


def euler_error(field: Field, h: State, step: Float[Array, ""]) -> Float[Array, ""]:
    """Computes the size of s/2 (k_2 - k_1), the difference between a step of Heun's method and one of Euler's."""
    first = field(h)
    return _root(_mean_square(step / 2 * (field(h + step * first) - first)))


def stiffness(field: Field, h: State, step: Float[Array, ""]) -> Float[Array, ""]:
    """Computes |k_2 - k_1| / |s k_1|: by how much the field changes along a step, for the length of the way."""
    first = field(h)
    way, change = _mean_square(step * first), _mean_square(field(h + step * first) - first)
    moves = way > 0
    return _root(jnp.where(moves, change / jnp.where(moves, way, 1.0), 0.0))


def taylor_mode_knows(cell: Cell, order: int) -> bool:
    """Whether Taylor mode can differentiate the field of a cell. Nothing is computed."""

    def tried(h: Array, x: Array) -> Array:
        return derivative(lambda h: cell.vector_field(h, x), h, order, is_by_taylor=True)

    try:
        jax.eval_shape(tried, *(jax.ShapeDtypeStruct((size,), float) for size in (cell.state_size, cell.inputs)))
    except Exception:  # jax raises several kinds here, and the other way raises those of the cell itself again
        return False
    return True


def arrived(cell: Cell, h: State, x: Float[Array, " inputs"]) -> State:
    """Computes the state after a sample has arrived: layers jump one after the other, each under the one below."""
    if isinstance(cell, Layers):
        after: list[Array] = []
        for layer, part in zip(cell.layers, cell.parts(h)):
            after.append(arrived(layer, part, x))
            x = layer.seen(after[-1], x)
        return jnp.concatenate(after)
    return cell.jump(h, x) if cell.has("jump") else h


def _along(field: Field, function: Field, h: State) -> State:
    """The derivative of a function of the state by time."""
    return jax.jvp(function, (h,), (field(h),))[1]


def _mean_square(values: State) -> Float[Array, ""]:
    return jnp.mean(values**2)


def _root(value: Float[Array, ""]) -> Float[Array, ""]:
    """The square root, whose derivative at zero is zero here and not infinite."""
    is_positive = value > 0
    return jnp.where(is_positive, jnp.sqrt(jnp.where(is_positive, value, 1.0)), 0.0)


def _without_flow(cell: Cell) -> Cell | None:
    """The cell, or that among its layers, that is a map of one bin without being a jump and a flow."""
    if isinstance(cell, Layers):
        return next(filter(None, map(_without_flow, cell.layers)), None)
    return None if cell.is_flow or cell.has("jump") else cell
