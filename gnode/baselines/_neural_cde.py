"""A neural controlled differential equation (neural CDE), the usual baseline for irregular time series.

dh/dt = f(h) dX/dt,   h(0) = A X(0) + a,   y = C h(T) + d                                        (Kidger et al., 2020)

X is the path of the inputs, the time stamp among them. The state follows the changes of the inputs. A reparametrisation of
the path gives the same h(T), so the length of a bin does not matter, and time is counted in bins here.

**The path** is the natural cubic spline through the inputs of all bins, as in the paper that introduced these networks.
`characters` fills its gaps from the natural spline through the observations alone. That curve is twice differentiable,
cubic between bins, and has no curvature at its ends, so it is also the natural spline through the filled values. The path
is therefore the spline through the observations (except for bins before the first and after the last observation, which
the fill holds constant). Backward Hermite splines, diffrax's default, would bend at every filled bin; their advantage, that
they do not use later samples, is lost with the fill already.

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
from gnode.arguments import checked
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
"""The integration methods by name."""

REFERENCE_TOLERANCE = 1e-7
"""The tolerance of the adaptive Tsit5 in double precision that fixed steps are compared with."""
MOST_STEPS_PER_BIN = 64
"""The largest number of adaptive steps per bin, on average over a trial."""


class Controlled(Cell):
    """The controlled vector field dh/dt = f(h) x with x = dX/dt.

    f(h) = tanh(W_L relu(... relu(W_0 h + b_0)) + b_L) is a matrix. The tanh bounds the speed of the state:
    |dh_i/dt| <= sum_j |dX_j/dt|.
    """

    W: tuple[Float[Array, "_ _"], ...]
    b: tuple[Float[Array, " _"], ...]
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def matrix(self, h: Float[Array, " state"]) -> Float[Array, "state inputs"]:
        """Returns the matrix f(h)."""
        for W, b in zip(self.W[:-1], self.b[:-1]):
            h = jax.nn.relu(W @ h + b)
        return jnp.tanh(self.W[-1] @ h + self.b[-1]).reshape(self.units, self.inputs)

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return self.matrix(h) @ x


class NeuralCDE(AbstractNetwork):
    """A neural CDE: an initial state, a controlled vector field and a readout.

    **Arguments:**

    - `cell`, `initial`, `readout`: the vector field, the affine map of the first input to h(0), and the affine readout.
    - `method`: one of "euler", "heun", "midpoint" and "tsit5".
    - `substeps`: the number of steps per bin.
    - `tolerance`: the relative and absolute tolerance of adaptive steps, which replace the fixed steps if it is given.

    >>> neural_cde(4, 20, state=8, widths=(16,), key=0).method
    'heun'
    """

    # A module is frozen, so a field may have a narrower type than the abstract one.
    cell: Controlled  # pyright: ignore[reportIncompatibleVariableOverride]
    initial: AffineState  # pyright: ignore[reportIncompatibleVariableOverride]
    readout: Readout
    method: str = eqx.field(static=True, default="heun")
    substeps: int = eqx.field(static=True, default=1)
    tolerance: float | None = eqx.field(static=True, default=None)

    def states(self, xs: Float[Array, "time inputs"]) -> Float[Array, "time state"]:
        """Returns h at every bin of one trial, beginning with h(0)."""
        times = jnp.arange(xs.shape[0], dtype=xs.dtype)
        end = xs.shape[0] - 1

        def field(time: Any, h: Float[Array, " state"], args: tuple[Controlled, diffrax.CubicInterpolation]) -> Array:
            cell, path = args
            return cell.vector_field(h, path.derivative(time))

        if self.tolerance is None:  # one more step, in case the steps do not add up to whole bins exactly
            stepping, most = diffrax.ConstantStepSize(), end * self.substeps + 1
        else:
            adaptive = diffrax.PIDController(rtol=self.tolerance, atol=self.tolerance)
            # The path's third derivative jumps at every bin; a step across a jump would underestimate its error.
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
            adjoint=diffrax.DirectAdjoint(),  # there are few steps, and storing them is faster than recomputing some
            max_steps=most,
            throw=False,  # a failed solve gives NaN, which training reports as divergence
        )
        assert solution.ys is not None
        return jnp.where(solution.result == diffrax.RESULTS.successful, solution.ys, jnp.nan)

    def batch(
        self,
        xs: Float[Array, "trials time inputs"],
        dt: Array | None = None,
        h0: Array | None = None,
        gradient_only: bool = False,
        noise: Array | None = None,
    ) -> Trajectory:
        """Runs a batch of trials.

        **Arguments:**

        - `xs`: the inputs.
        - `dt`: ignored, since the outputs do not depend on the speed along the path.
        - `noise`: must be None; the equation has none.
        - `h0`: must be None; the first input determines the initial state.
        - `gradient_only`: ignored, since there is one way to compute the states.

        **Returns:** outputs and states.
        """
        if h0 is not None:
            raise errors.ArgumentError(
                "h0 must be None for a neural CDE, whose first input determines the initial state."
            )
        states = jax.vmap(self.states)(xs)
        return Trajectory(jax.vmap(jax.vmap(self.readout))(states), states)


@checked
def neural_cde(
    inputs: int, outputs: int, *, state: int = 32, widths: Sequence[int] = (32, 32, 32), key: Key | int
) -> NeuralCDE:
    """Draws a neural CDE with every weight and bias uniform between -1 / sqrt(N_in) and 1 / sqrt(N_in).

    **Arguments:**

    - `inputs`, `outputs`: the numbers of input and output channels.
    - `state`: N.
    - `widths`: the widths of the hidden layers of f.
    - `key`: a key, or a seed.

    **Returns:** a `NeuralCDE`.

    >>> neural_cde(4, 20, state=8, widths=(16,), key=0).cell.matrix(jnp.zeros(8)).shape
    (8, 4)
    """
    inputs, outputs = errors.whole("inputs", inputs), errors.whole("outputs", outputs)
    state = errors.whole("state", state)
    sizes = (state, *errors.wholes("widths", widths), state * inputs)
    values = sum(
        float(rows) * columns for rows, columns in zip((*sizes[1:], outputs, state), (*sizes[:-1], state, inputs))
    )
    errors.affordable("widths", widths, 12.0 * values)  # drawing them takes three times their size
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


@checked
def natural_spline(values: Float[Array, "time channels"]) -> diffrax.CubicInterpolation:
    """Returns the natural cubic spline S through `values`, one per bin: S' and S'' are continuous, and S'' = 0 at both ends.

    The second derivatives M at the bins solve M_(t-1) + 4 M_t + M_(t+1) = 6 (x_(t-1) - 2 x_t + x_(t+1)) with M = 0 at the
    ends. Between bin t and the next, S = a + b s + c s^2 + d s^3 for s from 0 to 1.

    **Raises:** `ArgumentError` if there are fewer than 2 bins.

    >>> natural_spline(jnp.array([[0.0], [1.0], [2.0]])).evaluate(1.5).tolist()
    [1.5]
    """
    bins = values.shape[0]
    if bins < 2:
        raise errors.ArgumentError(f"values has {bins} bin, but must have at least 2.")
    M = jnp.asarray(_second_derivatives(bins), values.dtype) @ values
    now, after, M_now, M_after = values[:-1], values[1:], M[:-1], M[1:]
    coefficients = ((M_after - M_now) / 6, M_now / 2, after - now - (2 * M_now + M_after) / 6, now)
    return diffrax.CubicInterpolation(jnp.arange(bins, dtype=values.dtype), coefficients)


@cache
def _second_derivatives(bins: int) -> Float[np.ndarray, "time time"]:
    """Returns the matrix that maps the values to M."""
    inside = np.arange(1, bins - 1)
    left, right = np.eye(bins), np.zeros((bins, bins))
    for offset, weight, difference in ((-1, 1, 6), (0, 4, -12), (1, 1, 6)):
        left[inside, inside + offset] = weight
        right[inside, inside + offset] = difference
    return np.linalg.solve(left, right)


@checked
def solver_errors(net: NeuralCDE, trials: Trials) -> dict[str, dict[str, float]]:
    """Compares fixed steps with an adaptive Tsit5 in double precision by the outputs at the last bin.

    **Arguments:**

    - `net`: the network.
    - `trials`: trials with a class at the last bin.

    **Returns:** a row for each method with one step per bin, for Heun's with two, and for the reference: the `largest` and
    the `median` difference of an output, the fraction of trials with the `same` predicted class, and the `accuracy`.

    No example: it compiles six solvers, which takes seconds.
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
    """Returns a network with the same weights and another integration method."""
    return NeuralCDE(
        cell=net.cell,
        initial=net.initial,
        readout=net.readout,
        method=errors.one_of("method", method, METHODS),
        substeps=errors.whole("substeps", substeps),
        tolerance=tolerance,
    )


def last_outputs(net: NeuralCDE, trials: Trials) -> Float[np.ndarray, "trials outputs"]:
    """Returns the outputs at the last bin of each trial."""
    outputs = np.asarray(_run(net, jnp.asarray(trials.inputs, net.readout.d[0].dtype)))
    return outputs[np.arange(len(trials)), trials.lengths - 1]


_run = eqx.filter_jit(lambda net, xs: net.batch(xs).outputs)
