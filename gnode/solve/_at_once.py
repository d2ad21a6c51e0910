"""All bins of a trajectory at once: Newton's method on the whole sequence of states, instead of a loop over bins.

The states h_1 ... h_T of the map h_t = f_t(h_(t-1)) are the zero of the residual r_t = f_t(h_(t-1)) - h_t. Linearised about
a guess, the correction d solves a linear recurrence, which `solve_recurrence` computes in log T rounds of products:

    d_t = J_t d_(t-1) + r_t,      J_t = df_t/dh at h_(t-1),      h <- h + d.

Plain Newton converges in a few rounds from a good guess. A network forgets where it began sooner or later, so the guess
comes from the loop itself, over sqrt(T) stretches of sqrt(T) bins side by side: each begins one stretch early, at the state
that was guessed there, and is right where it has forgotten that state. What is remembered for longer, Newton corrects.

Where a correction overflows, as products of growing Jacobians do, the state takes its own step instead,
h_t <- f_t(h_(t-1)), so every round makes at least one more state of the beginning exact. A trajectory whose errors grow
(chaos) would need about T rounds; after `rounds` of them the loop takes over.

Derivatives do not see the rounds: the states solve h_t = f_t(h_(t-1)), so that their tangents solve the same linear
recurrence, dh_t = J_t dh_(t-1) + (the tangent of f_t at a fixed state). Its transpose, the gradient, is one scan backwards.

With Jacobians reduced to their diagonal (`jacobian="diagonal"`, for wide states) a round costs far less and more rounds are
needed; the tangents are then corrected round by round in the same way, until they solve the full recurrence.

On a GPU the step must compute its products in full float32: with operands rounded to TF32 the residual never becomes small.
"""

import dataclasses
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from gnode.solve._recurrence import refined, shifted, solve_backwards, solve_recurrence
from gnode.solve._unroll import unroll

Step = Callable[[PyTree, Array, PyTree], Array]
"""The map of one bin: (trained values, state, bin) -> state at its end."""

ROUNDING = 4
"""States are accepted when no step misses the next state by more than this many units of rounding, relative to 1 + |h|."""


class Rounds(NamedTuple):
    """How a trajectory was found: the rounds of Newton's method, and whether they converged; if not, the loop found it."""

    number: Int[Array, ""]
    converged: Bool[Array, ""]


@dataclasses.dataclass(frozen=True)
class Newton:
    """The static choices: the map of one bin, the largest number of rounds, and whether Jacobians are diagonals."""

    step: Step
    rounds: int
    diagonal: bool = False


def at_once(
    newton: Newton, values: PyTree, h0: Float[Array, "trials state"], bins: PyTree, guess: Array | None = None
) -> tuple[Float[Array, "time trials state"], Rounds]:
    """Computes the states after every bin.

    **Arguments:** `newton`; `values`, what the step depends on and can be differentiated by; `h0`; `bins`, a tree of arrays
    that begin with time x trials, in which zeros must be a bin of length zero; `guess`, states to start from, such as those
    of the last epoch.

    **Returns:** the states, time first, and the `Rounds`.
    """
    time = jax.tree.leaves(bins)[0].shape[0]
    start = jnp.broadcast_to(h0, (time, *h0.shape))
    start = start if guess is None else jnp.where(jnp.isfinite(guess), guess, start)
    fixed = jax.lax.stop_gradient((values, h0, bins, start))
    states, number, converged = _states(newton, values, h0, bins, _side_by_side(newton, *fixed))
    return states, Rounds(number.astype(jnp.int32), converged > 0)


def _side_by_side(newton: Newton, values: PyTree, h0: Array, bins: PyTree, guess: Array) -> Array:
    """Improves a guess by the loop over stretches of bins side by side, each begun one stretch early."""
    time = guess.shape[0]
    stretch = math.ceil(math.sqrt(time))
    stretches = -(-time // stretch)

    def cut(values: Array) -> Array:
        padding = [(0, stretches * stretch - time)] + [(0, 0)] * (values.ndim - 1)
        return jnp.pad(values, padding).reshape(stretches, stretch, *values.shape[1:])

    def doubled(values: Array) -> Array:
        """Each stretch behind the one before it (the first one behind itself): time x stretches x trials."""
        own = cut(values)
        both = jnp.concatenate([jnp.concatenate([own[:1], own[:-1]]), own], axis=1)
        return jnp.swapaxes(both, 0, 1)

    ends = cut(guess)[:, -1]
    # Where the lead-in of each begins: two stretches before its end. That of the first stretch is of no use.
    starts = jnp.concatenate([h0[None], h0[None], ends[:-2]])[:stretches]
    is_first = (jnp.arange(stretches) == 0)[:, None, None]
    step = jax.vmap(jax.vmap(newton.step, (None, 0, 0)), (None, 0, 0))

    def advance(h: Array, now: tuple[PyTree, Array]) -> tuple[Array, Array]:
        bin, is_own = now
        h = step(values, jnp.where(is_own & is_first, h0[None], h), bin)
        return h, h

    begins = jnp.arange(2 * stretch) == stretch
    _, states = jax.lax.scan(advance, starts, (jax.tree.map(doubled, bins), begins), unroll=unroll(stretch))
    return jnp.swapaxes(states[stretch:], 0, 1).reshape(-1, *guess.shape[1:])[:time]


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _states(newton: Newton, values: PyTree, h0: Array, bins: PyTree, guess: Array) -> tuple[Array, Array, Array]:
    """The numbers of rounds and of convergence are floating-point, so that their tangents are ordinary zeros."""
    found = _newton(newton, values, h0, bins, guess)

    # A loop of at most one iteration, rather than a condition: along an axis of networks both branches of a condition
    # would always run.
    def is_missing(now: tuple[Array, Array]) -> Array:
        return ~now[1]

    def by_loop(now: tuple[Array, Array]) -> tuple[Array, Array]:
        return _by_loop(newton, values, h0, bins), jnp.bool_(True)

    states, _ = jax.lax.while_loop(is_missing, by_loop, (found.states, found.converged))
    return states, found.rounds.astype(states.dtype), found.converged.astype(states.dtype)


@_states.defjvp
def _states_jvp(newton: Newton, primals: tuple, tangents: tuple) -> tuple[tuple, tuple]:
    values, h0, bins, guess = primals
    dvalues, dh0, dbins, _ = tangents
    states, number, converged = _states(newton, values, h0, bins, guess)
    before = _before(h0, states)
    every = _every(newton.step)
    _, source = jax.jvp(lambda values, bins: every(values, before, bins), (values, bins), (dvalues, dbins))
    _, first = jax.jvp(lambda h: jax.vmap(newton.step, (None, 0, 0))(values, h, _bin(bins, 0)), (h0,), (dh0,))
    source = source.at[0].add(first)
    if newton.diagonal:
        dstates = _tangents_round_by_round(newton, values, before, bins, source)
    else:
        dstates = solve_recurrence(_linearised(newton, values, before, bins)[1], source)
    nothing = jnp.zeros_like(number)
    return (states, number, converged), (dstates, nothing, nothing)


class _Guess(NamedTuple):
    states: Array
    rounds: Array
    converged: Array


def _newton(newton: Newton, values: PyTree, h0: Array, bins: PyTree, guess: Array) -> _Guess:
    eps = float(jnp.finfo(guess.dtype).eps)
    # A correction that is no larger leaves an error of about its square, which is rounding. In chaos, where errors grow, a
    # residual of rounding asks for a large one, and nothing is known about the states that it leads to.
    tolerance, small = ROUNDING * eps, math.sqrt(eps)

    def goes_on(now: _Guess) -> Array:
        return ~now.converged & (now.rounds < newton.rounds)

    def improve(now: _Guess) -> _Guess:
        ends, J = _linearised(newton, values, _before(h0, now.states), bins)
        residual = ends - now.states
        size = 1 + jnp.abs(now.states)
        correction = solve_recurrence(J, residual)
        # Compared one by one, because what is not a number is not small, and a maximum may overlook it.
        is_near = (jnp.abs(residual) <= tolerance * size) & (jnp.abs(correction) <= small * size)
        is_finite = jnp.all(jnp.isfinite(correction), axis=-1, keepdims=True)
        new = jnp.where(is_finite, now.states + correction, ends)
        return _Guess(new, now.rounds + 1, jnp.all(is_near))

    return jax.lax.while_loop(goes_on, improve, _Guess(guess, jnp.int32(0), jnp.bool_(False)))


def _linearised(newton: Newton, values: PyTree, before: Array, bins: PyTree) -> tuple[Array, Array]:
    """Computes the end of every bin from the state before it, and its Jacobian (or the diagonal of it)."""

    def with_value(h: Array, bin: PyTree) -> tuple[Array, Array]:
        end = newton.step(values, h, bin)
        return end, end

    J, ends = jax.vmap(jax.vmap(jax.jacfwd(with_value, has_aux=True)))(before, bins)
    return ends, jnp.diagonal(J, axis1=-2, axis2=-1) if newton.diagonal else J


def _tangents_round_by_round(newton: Newton, values: PyTree, before: Array, bins: PyTree, source: Array) -> Array:
    """Solves d_t = J_t d_(t-1) + s_t with full Jacobians by rounds that use their diagonals; the loop if that fails.

    The rounds end after at most as many as there are bins, but values can grow so much meanwhile that digits are lost.
    """
    D = _linearised(newton, values, before, bins)[1]
    every = _every(newton.step)
    _, product = jax.linearize(lambda h: every(values, h, bins), before)

    def linear_step(h: Array, bin: PyTree, d: Array) -> Array:
        return jax.jvp(lambda h: jax.vmap(newton.step, (None, 0, 0))(values, h, bin), (h,), (d,))[1]

    def forwards(d: Array, now: tuple) -> tuple[Array, Array]:
        h, bin, s = now
        d = linear_step(h, bin, d) + s
        return d, d

    def backwards(later: Array, now: tuple) -> tuple[Array, Array]:
        h, bin, c = now
        adjoint = later + c
        return jax.linear_transpose(partial(linear_step, h, bin), adjoint)(adjoint)[0], adjoint

    def loop(step: Callable[..., tuple[Array, Array]], reverse: bool, b: Array) -> Array:
        return jax.lax.scan(step, jnp.zeros_like(b[0]), (before, bins, b), reverse=reverse)[1]

    most = min(newton.rounds, source.shape[0])
    return jax.lax.custom_linear_solve(
        lambda d: d - product(shifted(d)),
        source,
        lambda apply, b: refined(apply, partial(solve_recurrence, D), b, most, partial(loop, forwards, False)),
        lambda apply, c: refined(apply, partial(solve_backwards, D), c, most, partial(loop, backwards, True)),
    )


def _by_loop(newton: Newton, values: PyTree, h0: Array, bins: PyTree) -> Array:
    def step(h: Array, bin: PyTree) -> tuple[Array, Array]:
        h = jax.vmap(newton.step, (None, 0, 0))(values, h, bin)
        return h, h

    return jax.lax.scan(step, h0, bins, unroll=unroll(jax.tree.leaves(bins)[0].shape[0]))[1]


def _every(step: Step) -> Step:
    """The step of every bin of every trial."""
    return jax.vmap(jax.vmap(step, (None, 0, 0)), (None, 0, 0))


def _before(h0: Array, states: Array) -> Array:
    return jnp.concatenate([h0[None], states[:-1]])


def _bin(bins: PyTree, index: int) -> PyTree:
    return jax.tree.map(lambda values: values[index], bins)
