"""A neural controlled differential equation: the network that users of irregular series compare with.

dh/dt = f(h) dX/dt,   h(0) = A X(0) + a,   y = C h(T) + d                                        (Kidger et al., 2020)

X is the path of the inputs, the time stamp among them: what moves the state is how the inputs change. The same curve
walked at another pace gives the same h(T), so the length of a bin does not matter, and time is counted in bins here.

**The path** is the natural cubic spline through the inputs of all bins, as in the paper that introduced these networks.
`characters` fills its gaps from the natural spline through the observations alone; that curve is twice differentiable,
cubic between bins, and has no curvature at its ends, so it is also the natural spline through the filled values. The
filled bins thus change nothing, and the path is the one through the observations (but for bins before the first one and
after the last, which the fill holds constant). Backward Hermite splines, diffrax's own, would bend at every filled bin;
what they are for, not to look ahead, is lost to the fill already.

**The method** is Heun's with one step per bin. `solver_errors` compares it with an adaptive Tsit5 on trained weights.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gnode import errors, precision
from gnode.cells import Cell
from gnode.network import AbstractNetwork, AffineState, Readout, Trajectory
from gnode.tasks import Trials
from gnode.types import Key, as_key

METHODS: dict[str, Callable[[], diffrax.AbstractSolver]] = {
    "euler": diffrax.Euler,
    "heun": diffrax.Heun,
    "midpoint": diffrax.Midpoint,
    "tsit5": diffrax.Tsit5,
}
REFERENCE_TOLERANCE = 1e-7
"""Of the adaptive Tsit5, in double precision, that the fixed steps are compared with."""
MOST_STEPS_PER_BIN = 64
"""Of an adaptive solve, on average over a trial."""


class Controlled(Cell):
    """dh/dt = f(h) x, where x is dX/dt and f(h) = tanh(W_L relu(... relu(W_0 h + b_0)) + b_L) is a matrix.

    The tanh bounds how fast the state can move: |dh_i/dt| <= sum_j |dX_j/dt|.
    """

    W: tuple[Float[Array, "_ _"], ...]
    b: tuple[Float[Array, " _"], ...]
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def matrix(self, h: Float[Array, " state"]) -> Float[Array, "state inputs"]:
        """f(h)."""
        for W, b in zip(self.W[:-1], self.b[:-1]):
            h = jax.nn.relu(W @ h + b)
        return jnp.tanh(self.W[-1] @ h + self.b[-1]).reshape(self.units, self.inputs)

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return self.matrix(h) @ x


class NeuralCDE(AbstractNetwork):
    """Initial state, controlled field and readout; `batch` follows the path, as `gnode.Network.batch` follows bins.

    `method` is one of `METHODS`, with `substeps` steps per bin; with a `tolerance` (relative and absolute) it chooses its
    own steps instead.
    """

    cell: Controlled
    initial: AffineState
    readout: Readout
    method: str = eqx.field(static=True, default="heun")
    substeps: int = eqx.field(static=True, default=1)
    tolerance: float | None = eqx.field(static=True, default=None)

    def states(self, xs: Float[Array, "time inputs"]) -> Float[Array, "time state"]:
        """h at every bin of one trial, h(0) first."""
        times = jnp.arange(xs.shape[0], dtype=xs.dtype)
        end = xs.shape[0] - 1

        def field(time: Any, h: Float[Array, " state"], args: tuple[Controlled, diffrax.CubicInterpolation]) -> Array:
            cell, path = args
            return cell.vector_field(h, path.derivative(time))

        if self.tolerance is None:  # one step to spare, should the steps not add up to whole bins exactly
            stepping, most = diffrax.ConstantStepSize(), end * self.substeps + 1
        else:
            adaptive = diffrax.PIDController(rtol=self.tolerance, atol=self.tolerance)
            # The path's third derivative jumps at every bin. A step over it would have a larger error than it believes.
            stepping = diffrax.ClipStepSizeController(adaptive, step_ts=times)
            most = end * MOST_STEPS_PER_BIN
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            METHODS[self.method](),
            t0=0.0,
            t1=float(end),
            dt0=1.0 / self.substeps,
            y0=self.initial(xs[0]),
            args=(self.cell, natural_spline(xs)),
            saveat=diffrax.SaveAt(ts=times),
            stepsize_controller=stepping,
            adjoint=diffrax.DirectAdjoint(),  # the steps are few: to store them all is quicker than to repeat some
            max_steps=most,
            throw=False,  # a field that cannot be followed gives NaN, which training reports as divergence
        )
        assert solution.ys is not None
        return jnp.where(solution.result == diffrax.RESULTS.successful, solution.ys, jnp.nan)

    def batch(
        self,
        xs: Float[Array, "trials time inputs"],
        dt: Array | None = None,
        h0: Array | None = None,
        gradient_only: bool = False,
    ) -> Trajectory:
        """Runs a batch of trials. `dt` changes nothing, since the pace along the path does not matter, nor does
        `gradient_only`: there is one way to compute the states. `h0` must be None.
        """
        if h0 is not None:
            raise errors.ArgumentError("h0 cannot be given: a neural CDE starts where its first input puts it.")
        states = jax.vmap(self.states)(xs)
        return Trajectory(jax.vmap(jax.vmap(self.readout))(states), states)


def neural_cde(
    inputs: int, outputs: int, *, state: int = 32, widths: Sequence[int] = (32, 32, 32), key: Key | int
) -> NeuralCDE:
    """A neural CDE drawn at random: every weight and bias uniform within 1 / sqrt(N_in), as its users know it.

    **Arguments:** `inputs` and `outputs`, the numbers of channels; `state` N; `widths` the hidden layers of f; `key`.

    >>> neural_cde(4, 20, state=8, widths=(16,), key=0).cell.matrix(jnp.zeros(8)).shape
    (8, 4)
    """
    inputs, outputs = errors.whole("inputs", inputs), errors.whole("outputs", outputs)
    sizes = (errors.whole("state", state), *(errors.whole("widths", width) for width in widths), state * inputs)
    key_initial, key_readout, *keys = jax.random.split(as_key(key), len(sizes) + 1)
    layers = [_affine(key, *shape) for key, shape in zip(keys, zip(sizes[1:], sizes))]
    readout = _affine(key_readout, outputs, state)
    return NeuralCDE(
        cell=Controlled(W=tuple(W for W, _ in layers), b=tuple(b for _, b in layers), inputs=inputs, units=state),
        initial=AffineState(*_affine(key_initial, state, inputs)),
        readout=Readout(C=(readout[0],), d=(readout[1],)),
    )


def _affine(key: Key, rows: int, columns: int) -> tuple[Float[Array, "rows columns"], Float[Array, " rows"]]:
    key_weight, key_bias = jax.random.split(key)
    bound = columns**-0.5
    return (
        jax.random.uniform(key_weight, (rows, columns), minval=-bound, maxval=bound),
        jax.random.uniform(key_bias, (rows,), minval=-bound, maxval=bound),
    )


def natural_spline(values: Float[Array, "time channels"]) -> diffrax.CubicInterpolation:
    """The path through `values`, one per bin, of the least curvature: S'' = 0 at both ends, S' and S'' continuous.

    With M the second derivatives at the bins, M_(t-1) + 4 M_t + M_(t+1) = 6 (x_(t-1) - 2 x_t + x_(t+1)) and M = 0 at the
    ends. From bin t on, S = a + b s + c s^2 + d s^3 for s from 0 to 1.

    >>> natural_spline(jnp.array([[0.0], [1.0], [2.0]])).evaluate(1.5).tolist()
    [1.5]
    """
    bins = values.shape[0]
    if bins < 2:
        raise errors.ArgumentError(f"values hold {bins} bin, but a path needs at least 2.")
    M = jnp.asarray(_second_derivatives(bins), values.dtype) @ values
    now, after, M_now, M_after = values[:-1], values[1:], M[:-1], M[1:]
    coefficients = ((M_after - M_now) / 6, M_now / 2, after - now - (2 * M_now + M_after) / 6, now)
    return diffrax.CubicInterpolation(jnp.arange(bins, dtype=values.dtype), coefficients)


@cache
def _second_derivatives(bins: int) -> Float[np.ndarray, "time time"]:
    """The matrix that makes M out of the values."""
    inside = np.arange(1, bins - 1)
    left, right = np.eye(bins), np.zeros((bins, bins))
    for offset, weight, difference in ((-1, 1, 6), (0, 4, -12), (1, 1, 6)):
        left[inside, inside + offset] = weight
        right[inside, inside + offset] = difference
    return np.linalg.solve(left, right)


def solver_errors(net: NeuralCDE, trials: Trials) -> dict[str, dict[str, float]]:
    """What fixed steps do to the outputs at the last bin, against an adaptive Tsit5 of tolerance `REFERENCE_TOLERANCE`.

    **Returns:** for each method of one step per bin, and Heun's with two: the `largest` and the `median` difference of
    an output, the share of trials with the `same` guess, and the `accuracy`. The last row is the reference itself.
    """
    with precision.double():
        exact = precision.to_dtype(with_method(net, "tsit5", tolerance=REFERENCE_TOLERANCE), jnp.float64)
        reference = last_outputs(exact, trials)

    def row(outputs: np.ndarray) -> dict[str, float]:
        difference, guess = np.abs(outputs - reference), outputs.argmax(axis=1)
        return {
            "largest": float(difference.max()),
            "median": float(np.median(difference)),
            "same": float(np.mean(guess == reference.argmax(axis=1))),
            "accuracy": float(np.mean(guess == trials.targets)),
        }

    steps = [(method, 1) for method in METHODS] + [("heun", 2)]
    rows = {
        f"{method}, {substeps} per bin": row(last_outputs(with_method(net, method, substeps), trials))
        for method, substeps in steps
    }
    return rows | {f"tsit5, tolerance {REFERENCE_TOLERANCE:g}": row(reference)}


def with_method(net: NeuralCDE, method: str, substeps: int = 1, tolerance: float | None = None) -> NeuralCDE:
    """The same weights, followed in another way."""
    return NeuralCDE(
        cell=net.cell,
        initial=net.initial,
        readout=net.readout,
        method=errors.one_of("method", method, METHODS),
        substeps=errors.whole("substeps", substeps),
        tolerance=tolerance,
    )


def last_outputs(net: NeuralCDE, trials: Trials) -> Float[np.ndarray, "trials outputs"]:
    """The outputs at the last bin of each trial."""
    outputs = np.asarray(_run(net, jnp.asarray(trials.inputs, net.readout.d[0].dtype)))
    return outputs[np.arange(len(trials)), trials.lengths - 1]


_run = eqx.filter_jit(lambda net, xs: net.batch(xs).outputs)
