"""A neural controlled differential equation (neural CDE), the usual baseline for irregular time series.

dh = F(h) dX,   h(0) = A X(0) + a,   y = C h(T) + d                                              (Kidger et al., 2020)

X is the path of the inputs, the time stamp among them, so the cell is `gnode.cells.ncde` without a column for time. The
state follows the changes of the inputs. A reparametrisation of the path gives the same h(T), so the length of the bins,
which is the same for all, does not matter.

**The path** is the natural cubic spline through the inputs of all bins, as in the paper that introduced these networks.
`characters` fills its gaps from the natural spline through the observations alone. That curve is twice differentiable,
cubic between bins, and has no curvature at its ends, so it is also the natural spline through the filled values. The path
is therefore the spline through the observations (except for bins before the first and after the last observation, which
the fill holds constant). Backward Hermite splines, diffrax's default, would bend at every filled bin; their advantage, that
they do not use later samples, is lost with the fill already.

**The method** is Heun's with one step per bin. `solver_errors` compares it with an adaptive Tsit5 on trained weights.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gnode import precision
from gnode.arguments import checked
from gnode.cells import ncde
from gnode.network import Network
from gnode.tasks import Trials
from gnode.types import Key, as_key

METHODS = ("euler", "heun", "midpoint", "rk4")
"""The integration methods with fixed steps that `solver_errors` compares."""

REFERENCE_TOLERANCE = 1e-7
"""The tolerance of the adaptive Tsit5 in double precision that fixed steps are compared with."""


@checked
def neural_cde(
    inputs: int, outputs: int, *, state: int = 32, widths: Sequence[int] = (32, 32, 32), key: Key | int
) -> Network:
    """Draws a neural CDE with every weight and bias uniform between -1 / sqrt(N_in) and 1 / sqrt(N_in).

    **Arguments:**

    - `inputs`, `outputs`: the numbers of input and output channels.
    - `state`: N.
    - `widths`: the widths of the hidden layers of F.
    - `key`: a key, or a seed.

    **Returns:** a `Network` of the cell `ncde`, whose initial state and readout are affine.

    >>> neural_cde(4, 20, state=8, widths=(16,), key=0).cell
    NeuralCDE(4 inputs, 8 units, F=8-16-32, tau=1, 688 parameters)
    """
    key = as_key(key)
    cell = ncde(inputs, state, widths=widths, time_channel=False, key=key)
    net = Network(cell, outputs, initial="affine", method="heun", interpolation="natural", key=key)
    # Every layer is drawn again: the initialiser "pytorch" draws these weights, but has biases of zero.
    key_initial, key_readout, *keys = jax.random.split(key, cell.F.depth + 2)
    keys = key_initial, *keys, key_readout
    drawn = [_affine(key, weight.shape) for key, weight in zip(keys, _weights(net))]
    return eqx.tree_at(
        lambda net: (*_weights(net), *_biases(net)), net, [weight for weight, _ in drawn] + [bias for _, bias in drawn]
    )


def _weights(net: Any) -> list[Array]:
    """The matrices of the initial state, of the layers of F, and of the readout."""
    return [net.initial.A, *net.cell.F.W, *net.readout.C]


def _biases(net: Any) -> list[Array]:
    return [net.initial.a, *net.cell.F.b, *net.readout.d]


def _affine(key: Key, shape: tuple[int, ...]) -> tuple[Float[Array, "rows columns"], Float[Array, " rows"]]:
    key_weight, key_bias = jax.random.split(key)
    bound = shape[1] ** -0.5
    return (
        jax.random.uniform(key_weight, shape, minval=-bound, maxval=bound),
        jax.random.uniform(key_bias, shape[:1], minval=-bound, maxval=bound),
    )


@checked
def solver_errors(net: Network, trials: Trials) -> dict[str, dict[str, float]]:
    """Compares fixed steps with an adaptive Tsit5 in double precision by the outputs at the last bin.

    **Arguments:**

    - `net`: the network.
    - `trials`: trials with a class at the last bin.

    **Returns:** a row for each method with one step per bin, for Heun's with two, and for the reference: the `largest` and
    the `median` difference of an output, the fraction of trials with the `same` predicted class, and the `accuracy`.

    No example: it compiles six solvers, which takes seconds.
    """
    with precision.double():
        accurate = with_method(net, "tsit5", rtol=REFERENCE_TOLERANCE, atol=REFERENCE_TOLERANCE)
        reference = last_outputs(precision.to_dtype(accurate, jnp.float64), trials)
    classes = trials.end_classes()

    def row(outputs: np.ndarray) -> dict[str, float]:
        difference, guess = np.abs(outputs - reference), outputs.argmax(axis=1)
        return {
            "largest": float(difference.max()),
            "median": float(np.median(difference)),
            "same": float(np.mean(guess == reference.argmax(axis=1))),
            "accuracy": float(np.mean(guess == classes)),
        }

    steps = [(method, 1) for method in METHODS] + [("heun", 2)]
    rows = {
        f"{method}, {substeps} per bin": row(last_outputs(with_method(net, method, substeps=substeps), trials))
        for method, substeps in steps
    }
    return rows | {f"tsit5, tolerance {REFERENCE_TOLERANCE:g}": row(reference)}


def with_method(net: Network, method: str, **options: Any) -> Network:
    """Returns a network with the same weights and another integration method; the input between samples stays."""
    options = {"interpolation": net.solver.interpolation} | options
    made = Network(net.cell, net.outputs, initial=net.initial, method=method, key=0, **options)
    return eqx.tree_at(lambda net: net.readout, made, net.readout)


def last_outputs(net: Network, trials: Trials) -> Float[np.ndarray, "trials outputs"]:
    """Returns the outputs at the last bin of each trial."""
    dtype = net.readout.d[0].dtype
    xs, dt = jnp.asarray(trials.inputs, dtype), np.broadcast_to(trials.dt, trials.inputs.shape[:2])
    outputs = np.asarray(_run(net, xs, jnp.asarray(dt, dtype)))
    return outputs[np.arange(len(trials)), trials.lengths - 1]


_run = eqx.filter_jit(lambda net, xs, dt: net.batch(xs, dt).outputs)
