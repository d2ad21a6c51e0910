"""Rollouts: the states of a cell under a sequence of inputs."""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked, real_array
from gnode.cells import Cell, DiagonalCell, Gated, Layers
from gnode.devices import cores_in_use
from gnode.solve._bin import State, moved, noise_of
from gnode.solve._chunks import in_chunks
from gnode.solve._cores import Integrate, over_cores
from gnode.solve._described_euler import described_euler, is_described
from gnode.solve._diagonal import all_bins_of_diagonal, is_diagonal
from gnode.solve._gated_euler import gated_euler, has_hand_written_derivative, pays
from gnode.solve._layers import Beside, found_by_loop, layer_by_layer
from gnode.solve._path import Bin, bins_of
from gnode.solve._shapes import bin_lengths, check_batch, check_trial, type_of_state
from gnode.solve._solver import Solver, as_solver
from gnode.solve._unroll import unroll
from gnode.solve.gpu.choice import is_one_euler_step, kernel_for
from gnode.solve.parallel import AtOnce, all_at_once, goes_at_once


@checked
def rollout(
    cell: Cell,
    xs: ArrayLike,
    h0: ArrayLike,
    *,
    dt: ArrayLike | None = None,
    ts: ArrayLike | None = None,
    method: str | Solver | None = None,
    **options: Any,
) -> Float[Array, "time state"]:
    """Integrates a cell over a sequence of inputs and returns the state at the end of each bin.

    Input x_t is present during bin t, and the state returned for bin t is the one at its end:

        h_t = h_(t-1) + integral over bin t of the vector field,      h_(-1) = h0.

    **Arguments:**

    - `cell`: the cell.
    - `xs`: the inputs of one trial, time x inputs. Use `jax.vmap` for a batch, also with different `ts`.
    - `h0`: the initial state.
    - `dt`: the length of the bins in seconds, one number or one per bin. A bin of length 0 leaves the state unchanged.
    - `ts`: instead of `dt`, the time + 1 edges of the bins, or their `time` starts; in the second case the last bin is as
      long as the one before it.
    - `method`: a name from `gnode.solve.METHODS` or a `Solver`; the cell's default method if None (forward Euler, and
      forward-backward Euler for LEM and oscillators, or the cell's own step).
    - `options`: further options of `Solver`.

    **Returns:** the states, time x state.

    **Raises:** `ArgumentError` if a shape does not fit, an input is not finite, or a length is negative.

    >>> from gnode import cells
    >>> rollout(cells.rnn(2, 3, key=0), jnp.ones((5, 2)), jnp.zeros(3), dt=1.0).shape
    (5, 3)
    """
    solver = as_solver(cell, method, options)
    xs, h0 = jnp.asarray(real_array("xs", xs)), jnp.asarray(real_array("h0", h0))
    check_trial(cell, xs, h0)
    h0 = h0.astype(type_of_state(cell, xs, h0))
    steps = bin_lengths(xs.shape[0], dt, ts).astype(h0.dtype)
    return _integrate(cell, xs, h0, steps, solver)


@checked
def rollout_at_once(
    cell: Cell,
    xs: ArrayLike,
    h0: ArrayLike,
    *,
    dt: ArrayLike | None = None,
    ts: ArrayLike | None = None,
    method: str | Solver | None = None,
    guess: ArrayLike | None = None,
    **options: Any,
) -> AtOnce:
    """Integrates a cell over a sequence of inputs, all bins at once, and says how that went.

    Newton's method improves a guess of all states until each follows from the one before it. The states equal those of
    `rollout` up to rounding, and so do all derivatives. A trajectory that is stable takes a few rounds however long it is;
    for one whose errors grow (chaos) the rounds do not converge, and the states are those of the loop.

    **Arguments:** those of `rollout`, and `guess`, states to begin with (time x state), such as those of a similar network;
    the initial state in every bin by default. `options` may set `bins_at_once`, `rounds` and `jacobian` of `Solver`.

    **Returns:** an `AtOnce`: the states (time x state), the number of rounds, and whether they converged.

    **Raises:** `ArgumentError` as `rollout`, and for a method that chooses its own steps.

    >>> from gnode import cells
    >>> rollout_at_once(cells.rnn(2, 3, tau=0.1, key=0), jnp.ones((1000, 2)), jnp.zeros(3), dt=0.01).converged
    Array(True, dtype=bool)
    """
    solver = as_solver(cell, method, options)
    solver = dataclasses.replace(solver, time="parallel")
    xs, h0 = jnp.asarray(real_array("xs", xs)), jnp.asarray(real_array("h0", h0))
    check_trial(cell, xs, h0)
    h0 = h0.astype(type_of_state(cell, xs, h0))
    steps = bin_lengths(xs.shape[0], dt, ts).astype(h0.dtype)
    if guess is not None:
        guess = jnp.asarray(real_array("guess", guess, finite=True)).astype(h0.dtype)
        if guess.shape != (xs.shape[0], cell.state_size):
            raise errors.ArgumentError(f"guess has shape {guess.shape}, but must be {(xs.shape[0], cell.state_size)}.")
    found = _integrate_at_once(cell, xs[None], h0[None], steps[None], solver, None if guess is None else guess[None])
    return found._replace(states=found.states[0])


@checked
def rollout_batch_at_once(
    cell: Cell,
    xs: Float[Array, "trials time inputs"],
    h0: Float[Array, "trials state"],
    dt: Float[Array, "trials time"],
    solver: Solver,
    noise: Float[Array, "trials time state"] | None = None,
    guess: Float[Array, "trials time state"] | None = None,
) -> AtOnce:
    """Integrates a batch of trials, all bins at once; of its arguments only the shapes are checked.

    **Arguments:** those of `rollout_batch`, and `guess`, states to begin with, such as those of the same trials before the
    last update.

    **Returns:** an `AtOnce`, whose states are trials x time x state.

    >>> from gnode.cells import rnn
    >>> xs, h0, dt = jnp.ones((4, 5, 2)), jnp.zeros((4, 3)), jnp.ones((4, 5))
    >>> rollout_batch_at_once(rnn(2, 3, key=0), xs, h0, dt, Solver(time="parallel")).states.shape
    (4, 5, 3)
    """
    check_batch(cell, xs, h0, dt, noise, guess)
    return _at_once(cell, xs, h0, dt, solver, Beside(noise, guess))


@checked
def rollout_batch(
    cell: Cell,
    xs: Float[Array, "trials time inputs"],
    h0: Float[Array, "trials state"],
    dt: Float[Array, "trials time"],
    solver: Solver,
    gradient_only: bool = False,
    noise: Float[Array, "trials time state"] | None = None,
) -> Float[Array, "trials time state"]:
    """Integrates a cell over a batch of trials; of its arguments only the shapes are checked.

    It computes what `jax.vmap` of `rollout` does, but can choose an implementation for the size of the batch.

    **Arguments:**

    - `cell`: the cell.
    - `xs`: the inputs, trials x time x inputs.
    - `h0`: the initial states, trials x state.
    - `dt`: the length of every bin in seconds, trials x time.
    - `solver`: a `Solver`.
    - `gradient_only`: whether reverse-mode gradients are the only derivatives that will be taken. The GPU kernels, and on
      a CPU the faster gradient of the cells that gnode describes, are used only then.
    - `noise`: sigma times independent normal numbers. At the end of each bin it is added to the state, times sqrt(dt) / tau:
      with Euler steps this is the Euler-Maruyama method for tau dh = ... dt + sigma dW. The compiled loop runs it.

    **Returns:** the states, trials x time x state.

    >>> from gnode.cells import rnn
    >>> rollout_batch(rnn(2, 3, key=0), jnp.ones((4, 5, 2)), jnp.zeros((4, 3)), jnp.ones((4, 5)), Solver()).shape
    (4, 5, 3)
    """
    check_batch(cell, xs, h0, dt, noise)
    return _trials(cell, xs, h0, dt, solver, Beside(noise), gradient_only)


def _trials(
    cell: Cell,
    xs: Array,
    h0: Array,
    dt: Array,
    solver: Solver,
    beside: Beside,
    gradient_only: bool = False,
) -> Float[Array, "trials time state"]:
    """Integrates a batch by the implementation that suits it."""
    if isinstance(cell, Layers):

        def of_layer(layer: Cell, xs: Array, h0: Array, solver: Solver, beside: Beside) -> AtOnce:
            return found_by_loop(_trials(layer, xs, h0, dt, solver, beside, gradient_only))

        return layer_by_layer(of_layer, cell, xs, h0, solver, beside).states
    if goes_at_once(cell, solver, *xs.shape[:2]):
        return _at_once(cell, xs, h0, dt, solver, beside).states
    noise, _, first = beside
    if not cell.has("control"):
        first = None  # what no other cell feels
    kicks = _kicks(cell, dt, noise)
    if isinstance(cell, DiagonalCell) and is_diagonal(cell, solver):
        return all_bins_of_diagonal(cell, xs, h0, dt, solver, kicks)
    if kicks is not None or first is not None:
        each = lambda x, h, steps, kick, first: _by_steps(cell, x, h, steps, solver, kick, first)  # noqa: E731
        return jax.vmap(each)(xs, h0, dt, kicks, first)
    parts = cores_in_use(solver.cores)
    trials = -(-xs.shape[0] // parts)
    kernel = kernel_for(cell, solver, h0.dtype, xs.shape[0]) if gradient_only else None
    if kernel is not None:
        run_of = partial(_by_kernel, solver=solver, kernel=kernel)
    elif gradient_only and _is_by_description(cell, solver, trials):
        run_of = partial(_by_description, solver=solver)
    elif _is_by_hand(cell, solver, trials):
        run_of = partial(_by_hand, solver=solver)
    else:
        run_of = partial(_each_by_steps, solver=solver)
    run = run_of(cell) if parts == 1 else over_cores(run_of, cell, parts)
    return jnp.swapaxes(run(h0, (jnp.swapaxes(xs, 0, 1), jnp.swapaxes(dt, 0, 1))), 0, 1)


@eqx.filter_jit  # so that repeated calls of rollout outside a compiled function share one compilation
def _integrate(
    cell: Cell, xs: Array, h0: State, steps: Float[Array, " time"], solver: Solver
) -> Float[Array, "time state"]:
    if isinstance(cell, Layers | DiagonalCell) or goes_at_once(cell, solver, 1, xs.shape[0]):
        return _trials(cell, xs[None], h0[None], steps[None], solver, Beside())[0]
    if _is_by_hand(cell, solver, trials=1):
        return _by_hand(cell, solver)(h0[None], (xs[:, None], steps[:, None]))[:, 0]
    return _by_steps(cell, xs, h0, steps, solver)


@eqx.filter_jit
def _integrate_at_once(cell: Cell, xs: Array, h0: Array, steps: Array, solver: Solver, guess: Array | None) -> AtOnce:
    return _at_once(cell, xs, h0, steps, solver, Beside(guess=guess))


def _at_once(cell: Cell, xs: Array, h0: Array, dt: Array, solver: Solver, beside: Beside) -> AtOnce:
    """Integrates a batch, all bins at once; layers one after the other."""
    if isinstance(cell, Layers):

        def run(layer: Cell, xs: Array, h0: Array, solver: Solver, beside: Beside) -> AtOnce:
            return _at_once(layer, xs, h0, dt, solver, beside)

        return layer_by_layer(run, cell, xs, h0, solver, beside)
    noise, guess, first = beside
    kicks = _kicks(cell, dt, noise)
    if isinstance(cell, DiagonalCell) and is_diagonal(cell, solver):
        states = all_bins_of_diagonal(cell, xs, h0, dt, solver, kicks)
        return AtOnce(states, jnp.int32(1), jnp.bool_(True))
    return all_at_once(cell, xs, h0, dt, solver, kicks=kicks, guess=guess, first=first)


def _by_steps(
    cell: Cell,
    xs: Array,
    h0: State,
    steps: Float[Array, " time"],
    solver: Solver,
    kicks: Float[Array, "time state"] | None = None,
    first: Float[Array, " inputs"] | None = None,
) -> Array:
    """Integrates one trial bin by bin with any method. `kicks` are what noise adds to the state in each bin."""

    def step(h: State, now: tuple[Bin, Array | None]) -> tuple[State, State]:
        bin, kick = now
        end = moved(cell, h, bin, solver)
        end = end if kick is None else end + noise_of(cell, h, bin, kick)
        return end, end

    def run(h: State, bins: tuple[Bin, Array | None]) -> Float[Array, "time state"]:
        return jax.lax.scan(step, h, bins, unroll=unroll(xs.shape[0]))[1]

    return _with_memory(solver.memory, run)(h0, (bins_of(cell, xs, steps, solver, first), kicks))


def _kicks(cell: Cell, dt: Array, noise: Array | None) -> Array | None:
    """What noise adds to the state at the end of each bin."""
    return None if noise is None else noise * jnp.sqrt(dt)[..., None] / _per_state(cell)


def _per_state(cell: Cell) -> Array:
    """tau for every component of the state: a cell with two variables per unit has it twice."""
    tau = jnp.asarray(cell.time_constant)
    return jnp.tile(tau, cell.state_size // tau.size) if tau.ndim else tau


def _is_by_hand(cell: Any, solver: Solver, trials: int) -> bool:
    return is_one_euler_step(solver) and has_hand_written_derivative(cell) and pays(cell, trials)


def _by_hand(cell: Any, solver: Solver) -> Integrate:
    return _with_memory(solver.memory, lambda h, bins: gated_euler(cell, h, *bins))


def _is_by_description(cell: Any, solver: Solver, trials: int) -> bool:
    return is_described(cell, solver) and (type(cell) is not Gated or pays(cell, trials))


def _by_description(cell: Any, solver: Solver) -> Integrate:
    return _with_memory(solver.memory, lambda h, bins: described_euler(cell, solver.method, h, *bins))


def _each_by_steps(cell: Any, solver: Solver) -> Integrate:
    def run(h0: Array, bins: Any) -> Array:
        return jax.vmap(lambda h, x, dt: _by_steps(cell, x, h, dt, solver), (0, 1, 1), 1)(h0, *bins)

    return run


def _by_kernel(cell: Any, solver: Solver, kernel: Callable[[Any], Integrate]) -> Integrate:
    return _with_memory(solver.memory, kernel(cell))


def _with_memory(memory: str, run: Integrate) -> Integrate:
    """Wraps `run` so that its backward pass stores intermediate results or recomputes them from checkpoints."""
    return run if memory == "store" else lambda h0, bins: in_chunks(lambda *now: (run(*now), None), h0, bins)[0]
