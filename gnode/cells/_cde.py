"""Neural controlled differential equations (Kidger et al. 2020), and gated ones."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import Cell, GatedCell, check_sizes
from gnode.cells._stack import Stack, draw_stack
from gnode.cells._timescale import Timescale, check_timescale, timescale
from gnode.init import Initialiser, initialiser
from gnode.types import Key, as_key


@checked_class
class NeuralCDE(Cell):
    """A neural controlled differential equation, driven by changes of its input:

        dh = F_0(h) dt / tau + F_1(h) dX,

    where the matrix F(h) = (F_0, F_1), N x (1 + D), is the output of a `Stack`. With time as the first channel of the path
    this is its authors' dh = F(h) d(t, X). tau divides dt alone: a change of the input is no rate, and without the first
    column the state depends on the path of the input and not on how fast it is run through.

    With `time_channel=False` there is no first column: F(h) is N x D and dh = F(h) dX, as where time is one of the channels
    of the input already. The vector field is then zero, so that every state is a fixed point at a constant input, tau scales
    state noise alone, and bins may have any length, as long as it is the same for all (a cubic bends by their ratios).

    Between samples the path is that of the solver's `interpolation`. With "hold" an arriving sample moves the state along
    the straight line from the sample before it, and then time passes: the path that is called rectilinear, which is causal.
    At a constant input what is left is the flow tau dh/dt = F_0(h), which the analyses look at.

    | symbol | field       | shape                                                           |
    |--------|-------------|-----------------------------------------------------------------|
    | F      | `F`         | a `Stack` from R^N to R^(N (1 + D)), or without time to R^(N D) |
    | tau    | `timescale` | one number, or one per unit                                     |

    >>> ncde(2, 5, widths=(20,), tau=0.5, key=0)
    NeuralCDE(2 inputs, 5 units, F=5-20-15, tau=0.5, 435 parameters)
    """

    F: Stack
    timescale: Timescale
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)
    time_channel: bool = eqx.field(static=True, default=True)

    def __check_init__(self):
        _check(self.F, self.timescale, self.inputs, self.units, self.time_channel)

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return _matrix(self.F, h)[:, 0] / self.timescale() if self.time_channel else jnp.zeros_like(h)

    def control(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, "state inputs"]:
        F = _matrix(self.F, h)
        return F[:, 1:] if self.time_channel else F


@checked_class
class GatedNeuralCDE(GatedCell):
    """A gated neural controlled differential equation:

        dh = G(h, x) * ((-h + F_0(h)) dt / tau + F_1(h) dX).

    The gate multiplies everything that moves the state, so that a unit whose gate is closed holds its value whatever the
    input does; with the gate on dh alone it would still drift under changes of the input. Where the input is constant this
    is a gnODE, tau dh/dt = G(h, x) * (-h + F_0(h)), with its continua of fixed points.

    | symbol | field       | shape                                  |
    |--------|-------------|----------------------------------------|
    | F      | `F`         | a `Stack` from R^N to R^(N (1 + D))    |
    | G      | `G`         | a `Stack` from R^N x R^D to R^N, final sigmoid |
    | tau    | `timescale` | one number, or one per unit            |

    >>> gated_ncde(2, 5, widths=(20,), key=0)
    GatedNeuralCDE(2 inputs, 5 units, F=5-20-15, G=5-5, tau=1, 475 parameters)
    """

    F: Stack
    G: Stack
    timescale: Timescale
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def __check_init__(self):
        _check(self.F, self.timescale, self.inputs, self.units)

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    def drift(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Computes -h + F_0(h), which is zero at a fixed point for any value of the gate."""
        return _matrix(self.F, h)[:, 0] - h

    def gate(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Computes G(h, x); each component is between 0 (closed) and 1 (open)."""
        return self.G(h, x)

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return self.G(h, x) * self.drift(h, x) / self.timescale()

    def control(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, "state inputs"]:
        return self.G(h, x)[:, None] * _matrix(self.F, h)[:, 1:]


@checked
def ncde(
    inputs: int,
    state: int,
    *,
    widths: Sequence[int] = (100, 100),
    hidden: str = "relu",
    final: str = "tanh",
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    time_channel: bool = True,
    init: str | Initialiser = "pytorch",
    bias_std: float | None = None,
    key: Key | int,
) -> NeuralCDE:
    """Draws a neural controlled differential equation at random, dh = F(h) d(t / tau, X).

    Arguments as in `gated`. The default rule and the final tanh are those of its authors. `time_channel` is whether F has a
    column for time; without it dh = F(h) dX.

    **Returns:** a `NeuralCDE` cell.

    >>> ncde(2, 5, key=0).control(jnp.ones(5), jnp.zeros(2)).shape
    (5, 2)
    >>> ncde(2, 5, time_channel=False, key=0).vector_field(jnp.ones(5), jnp.zeros(2)).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0]
    """
    activations, rule = (hidden, final), (init, bias_std)
    F, common = _drawn(inputs, state, widths, activations, (tau, learn_tau), rule, key, time_channel=time_channel)
    return NeuralCDE(F=F, time_channel=time_channel, **common)


@checked
def gated_ncde(
    inputs: int,
    state: int,
    *,
    widths: Sequence[int] = (100, 100),
    gate_widths: Sequence[int] = (),
    hidden: str = "relu",
    final: str = "tanh",
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "pytorch",
    bias_std: float | None = None,
    key: Key | int,
) -> GatedNeuralCDE:
    """Draws a gated neural controlled differential equation at random.

    Arguments as in `gated`.

    **Returns:** a `GatedNeuralCDE` cell.

    >>> gated_ncde(2, 5, gate_widths=(10,), key=0).G.depth
    2
    """
    F, common = _drawn(inputs, state, widths, (hidden, final), (tau, learn_tau), (init, bias_std), key)
    rule, gate_widths = initialiser(init, bias_std), errors.wholes("gate_widths", gate_widths)
    key_G = jax.random.fold_in(as_key(key), 1)
    G = draw_stack(key_G, inputs, state, gate_widths, rule, rule, hidden=hidden, final="sigmoid")
    return GatedNeuralCDE(F=F, G=G, **common)


def _drawn(
    inputs: int,
    state: int,
    widths: Sequence[int],
    activations: tuple[str, str],
    tau: tuple[ArrayLike | Sequence[float], str],
    init: tuple[str | Initialiser, float | None],
    key: Key | int,
    *,
    time_channel: bool = True,
) -> tuple[Stack, dict[str, Any]]:
    widths = errors.wholes("widths", widths)
    inputs, state = check_sizes(inputs, state, widths)
    outputs = state * (inputs + time_channel)
    errors.affordable("inputs", inputs, 4 * outputs * (*widths, state)[-1 if not widths else len(widths) - 1])
    rule, (hidden, final) = initialiser(*init), activations
    if rule.critical != "no":
        raise errors.ArgumentError(
            "init is critical, but that scale is known for F of the gated family only (gnODE, nODE, mGRU, RNN); for a "
            "neural CDE choose another rule, such as init='pytorch'."
        )
    F = draw_stack(as_key(key), 0, state, widths, rule, rule, hidden=hidden, final=final, outputs=outputs)
    return F, {"timescale": timescale(*tau, state), "inputs": inputs, "units": state}


def _matrix(F: Stack, h: Array) -> Float[Array, "state columns"]:
    """F(h), one row for each unit; the first column is that of time, if it has one."""
    return F(h, jnp.zeros(0, h.dtype)).reshape(h.shape[-1], -1)


def _check(F: Stack, tau: Timescale, inputs: int, units: int, time_channel: bool = True) -> None:
    N, columns = errors.whole("units", units), errors.whole("inputs", inputs) + time_channel
    if (F.W[0].shape[1], F.W[-1].shape[0], F.U.shape[1]) != (N, N * columns, 0):
        raise errors.ArgumentError(f"F is {F}, but must map {N} units, and no inputs, to {N} x {columns} values.")
    check_timescale(tau, N)
