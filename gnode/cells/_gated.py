"""The gated family: gnODE, nODE, mGRU and the vanilla RNN are one class with different depths, with or without a gate.

tau dh/dt = G(h, x) * (-h + F(h, x))                                                     (equation gnODE of the paper)
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import GatedCell, check_sizes
from gnode.cells._stack import Stack, draw_stack
from gnode.cells._timescale import Timescale, check_timescale, timescale
from gnode.init import Initialiser, empirical_gain, initialiser
from gnode.init.parts import driven_variance, rule_of_part
from gnode.types import Key, as_key


@checked_class
class Gated(GatedCell):
    """A cell of the gated family, tau dh/dt = G(h, x) * (-h + F(h, x)).

    | paper     | field       | meaning                                                    |
    |-----------|-------------|------------------------------------------------------------|
    | F_theta   | `F`         | a `Stack` of depth L_h, final activation phi_h             |
    | G_varphi  | `G`         | a `Stack` of depth L_z, final sigmoid; None means G = 1    |
    | tau       | `timescale` | one number, or one per unit                                |
    | -h        | `leak`      | False removes the leak: tau dh/dt = G * F                  |

    >>> gated(2, 3, widths=(10,), tau=0.5, key=0)
    Gated(2 inputs, 3 units, F=3-10-3, G=3-3, tau=0.5, 111 parameters)
    """

    F: Stack
    G: Stack | None
    timescale: Timescale
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)
    leak: bool = eqx.field(static=True, default=True)

    def __check_init__(self):
        N, D = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        for name, stack in (("F", self.F), ("G", self.G)):
            if stack is not None and (stack.W[0].shape[1], stack.W[-1].shape[0], stack.U.shape[1]) != (N, N, D):
                raise errors.ArgumentError(f"{name} is {stack}, but must map {N} units and {D} inputs to {N} units.")
        check_timescale(self.timescale, N)

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    def drift(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Computes -h + F(h, x), which is zero at a fixed point for any value of the gate."""
        F = self.F(h, x)
        return F - h if self.leak else F

    def gate(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Computes G(h, x); each component is between 0 (closed) and 1 (open)."""
        return jnp.ones_like(h) if self.G is None else self.G(h, x)

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        drift = self.drift(h, x)
        if self.G is not None:
            drift = self.G(h, x) * drift
        return drift / self.timescale()


@checked
def gated(
    inputs: int,
    state: int,
    *,
    widths: Sequence[int] = (),
    gate: bool = True,
    gate_widths: Sequence[int] = (),
    leak: bool = True,
    hidden: str = "relu",
    final: str = "identity",
    activate_state: bool = False,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "glorot_uniform",
    init_input: str | Initialiser | None = None,
    init_gate: str | Initialiser | None = None,
    drive: float = 0.0,
    bias_std: float | None = None,
    key: Key | int,
) -> Gated:
    """Draws a cell of the gated family, tau dh/dt = G * (-h + F), at random.

    **Arguments:**

    - `inputs`: D, the number of input channels.
    - `state`: N, the number of units.
    - `widths`: the widths of the hidden layers of F, so that L_h = len(widths) + 1.
    - `gate`: whether there is a gate G.
    - `gate_widths`: the widths of the hidden layers of G.
    - `leak`: whether the term -h is present.
    - `hidden`: the activation phi_a of hidden layers.
    - `final`: the final activation phi_h of F (that of G is a sigmoid).
    - `activate_state`: whether phi_a is applied to h before W^0.
    - `tau`: the time constant in seconds, one number or one per unit.
    - `learn_tau`: "no", "shared" or "per_unit".
    - `init`: the name of an initialiser (see `gnode list`) or an `Initialiser`.
    - `init_input`, `init_gate`: the initialisers of U of F and of G; that of `init` by default.
    - `drive`: C_x, the mean square of the inputs for which init="critical" is meant: sigma_w* is that at a constant input,
        where U x has the variance sigma_u^2 C_x (Kaiming) or sigma_u^2 C_x D / (D + N_1) (Glorot), as `init_input` draws U.
    - `bias_std`: the standard deviation of the initial biases; the initialiser's own by default.
    - `key`: a seed or a jax key.

    **Returns:** a `Gated` cell.

    >>> gated(2, 3, widths=(10, 10), key=0).F.depth
    3
    """
    widths, gate_widths = errors.wholes("widths", widths), errors.wholes("gate_widths", gate_widths)
    inputs, state = check_sizes(inputs, state, (*widths, *gate_widths))
    rule = initialiser(init, bias_std)
    for_U, for_G = rule_of_part("init_input", init_input, rule), rule_of_part("init_gate", init_gate, rule)
    key_F, key_G = jax.random.split(as_key(key))
    acts = bool(widths) or activate_state  # whether phi_a occurs in F
    driven = driven_variance(drive, rule, for_U, inputs, (*widths, state)[0])
    for_F = rule.for_field((state, *widths, state), hidden if acts else final, final, activate_state, driven)
    names: dict[str, Any] = {"hidden": hidden, "final": final, "activate_state": activate_state}
    F = draw_stack(key_F, inputs, state, widths, for_F, for_U, **names)
    if rule.critical == "empirical":
        F = _rescaled(F, jax.random.fold_in(key_F, 1))
    G = draw_stack(key_G, inputs, state, gate_widths, for_G, for_G, hidden=hidden, final="sigmoid") if gate else None
    return Gated(F=F, G=G, timescale=timescale(tau, learn_tau, state), inputs=inputs, units=state, leak=leak)


def _rescaled(F: Stack, key: Key) -> Stack:
    """Scales the weights W of F so that -I + dF/dh is critical at a state drawn from N(0, 2 / (N + 1)) without input."""
    size, inputs = F.W[0].shape[1], F.U.shape[1]
    h = jnp.sqrt(2 / (size + 1)) * jax.random.normal(key, (size,))
    gain = empirical_gain(jax.jacfwd(F)(h, jnp.zeros(inputs)), F.depth)
    return eqx.tree_at(lambda F: F.W, F, tuple(gain * W for W in F.W))


@checked
def gnode(inputs: int, state: int, *, widths: Sequence[int] = (100, 100, 100), key: Key | int, **options: Any) -> Gated:
    """Draws a gated neural ODE: tau dh/dt = G * (-h + F), where F has hidden layers. Options as in `gated`.

    >>> gnode(2, 2, widths=(316, 316), tau=0.01, key=0).F.W[1].shape
    (316, 316)
    """
    return gated(inputs, state, widths=widths, key=key, **options)


@checked
def node(inputs: int, state: int, *, widths: Sequence[int] = (100, 100, 100), key: Key | int, **options: Any) -> Gated:
    """Draws a neural ODE with a leak and without a gate: tau dh/dt = -h + F. Options as in `gated`.

    >>> node(2, 3, widths=(10,), key=0).G is None
    True
    """
    return gated(inputs, state, widths=widths, gate=False, key=key, **options)


TANH: dict[str, Any] = {"final": "tanh", "hidden": "tanh"}
"""The activations of the cells of depth one; deeper cells of the paper use ReLU and the identity."""

RATE: dict[str, Any] = {"final": "identity", "hidden": "tanh"}
"""The activations of the rate network: of the state, and of the sum of its inputs."""


@checked
def mgru(inputs: int, state: int, *, key: Key | int, **options: Any) -> Gated:
    """Draws a minimal gated unit, L_h = L_z = 1. Options as in `gated`.

        tau dh/dt = sigmoid(W_z h + U_z x + b_z) * (-h + tanh(W_h h + U_h x + b_h))

    >>> mgru(2, 3, key=0).F.final
    'tanh'
    """
    return gated(inputs, state, key=key, **TANH | options)


@checked
def rnn(inputs: int, state: int, *, key: Key | int, **options: Any) -> Gated:
    """Draws a vanilla (Elman) network: tau dh/dt = -h + tanh(W h + U x + b). Options as in `gated`.

    >>> rnn(2, 3, tau=0.5, key=0)
    Gated(2 inputs, 3 units, F=3-3, tau=0.5, 18 parameters)
    """
    return gated(inputs, state, gate=False, key=key, **TANH | options)


@checked
def rate_rnn(inputs: int, state: int, *, key: Key | int, **options: Any) -> Gated:
    """Draws a rate network: tau dh/dt = -h + W tanh(h) + U x + b. Options as in `gated`.

    This form is common in neuroscience, where h is a voltage and tanh(h) a firing rate.

    >>> rate_rnn(2, 3, key=0).F.activate_state
    True
    """
    return gated(inputs, state, gate=False, activate_state=True, key=key, **RATE | options)
