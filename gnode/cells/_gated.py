"""The gated family: gnODE, nODE, mGRU and the vanilla RNN are one object at different depths, with or without a gate.

tau dh/dt = G(h, x) * (-h + F(h, x))                                                     (equation gnODE of the paper)
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode import errors
from gnode.cells._base import GatedCell, check_sizes
from gnode.cells._stack import Stack, draw_stack
from gnode.cells._timescale import Timescale, timescale
from gnode.init import Initialiser, empirical_gain, initialiser
from gnode.types import Key, as_key


class Gated(GatedCell):
    """tau dh/dt = G(h, x) * (-h + F(h, x)).

    | paper     | field       | meaning                                                    |
    |-----------|-------------|------------------------------------------------------------|
    | F_theta   | `F`         | a `Stack` of depth L_h, final activation phi_h             |
    | G_varphi  | `G`         | a `Stack` of depth L_z, final sigmoid; None means G = 1    |
    | tau       | `timescale` | one number, or one per unit                                |
    | -h        | `leak`      | False drops the leak: tau dh/dt = G * F                    |
    """

    F: Stack
    G: Stack | None
    timescale: Timescale
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)
    leak: bool = eqx.field(static=True, default=True)

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    def drift(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """-h + F(h, x): zero at an equilibrium, whatever the gate does."""
        F = self.F(h, x)
        return F - h if self.leak else F

    def gate(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """G(h, x), each component between 0 (closed) and 1 (open)."""
        return jnp.ones_like(h) if self.G is None else self.G(h, x)

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        drift = self.drift(h, x)
        if self.G is not None:
            drift = self.G(h, x) * drift
        return drift / self.timescale()


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
    tau: float = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "glorot_uniform",
    bias_std: float | None = None,
    key: Key | int,
) -> Gated:
    """Any member of the gated family, drawn at random.

    **Arguments:** `inputs` D; `state` N; `widths` the hidden layers of F, so L_h = len(widths) + 1; `gate` and
    `gate_widths` the same for G; `leak` whether -h is there; `hidden` phi_a; `final` phi_h, of F alone (G ends in a
    sigmoid); `activate_state` sends h through phi_a before W^0; `tau`, in seconds; `learn_tau` "no", "shared" or
    "per_unit"; `init` a name (see `gnode list`) or an `Initialiser`; `bias_std` of the biases; `key`.

    **Returns:** a `Gated` cell.

    >>> gated(2, 3, widths=(10, 10), key=0).F.depth
    3
    """
    inputs, state = check_sizes(inputs, state)
    widths = errors.wholes("widths", widths)
    gate_widths = errors.wholes("gate_widths", gate_widths)
    rule = initialiser(init, bias_std)
    key_F, key_G = jax.random.split(as_key(key))
    acts = bool(widths) or activate_state  # whether phi_a occurs in F at all
    for_F = rule.for_field((state, *widths, state), hidden if acts else final, final, activate_state)
    F = draw_stack(
        key_F,
        inputs,
        state,
        widths,
        for_F,
        rule,
        hidden=hidden,
        final=final,
        activate_state=activate_state,
    )
    if rule.critical == "empirical":
        F = _rescaled(F, jax.random.fold_in(key_F, 1))
    G = draw_stack(key_G, inputs, state, gate_widths, rule, rule, hidden=hidden, final="sigmoid") if gate else None
    return Gated(F=F, G=G, timescale=timescale(tau, learn_tau, state), inputs=inputs, units=state, leak=leak)


def _rescaled(F: Stack, key: Key) -> Stack:
    """F with its weights W scaled so that -I + dF/dh is critical at a state drawn from N(0, 2 / (N + 1)), without input."""
    size, inputs = F.W[0].shape[1], F.U.shape[1]
    h = jnp.sqrt(2 / (size + 1)) * jax.random.normal(key, (size,))
    gain = empirical_gain(jax.jacfwd(F)(h, jnp.zeros(inputs)), F.depth)
    return eqx.tree_at(lambda F: F.W, F, tuple(gain * W for W in F.W))


def gnode(inputs: int, state: int, *, widths: Sequence[int] = (100, 100, 100), key: Key | int, **options) -> Gated:
    """The gated neural ODE: tau dh/dt = G * (-h + F), F with hidden layers. Options as in `gated`.

    >>> gnode(2, 2, widths=(316, 316), tau=0.01, key=0).F.W[1].shape
    (316, 316)
    """
    return gated(inputs, state, widths=widths, key=key, **options)


def node(inputs: int, state: int, *, widths: Sequence[int] = (100, 100, 100), key: Key | int, **options) -> Gated:
    """The neural ODE with leak and without gate: tau dh/dt = -h + F. Options as in `gated`."""
    return gated(inputs, state, widths=widths, gate=False, key=key, **options)


TANH: dict[str, Any] = {"final": "tanh", "hidden": "tanh"}
"""What the networks of depth one use where the paper's deeper ones use ReLU and the identity."""


def mgru(inputs: int, state: int, *, key: Key | int, **options) -> Gated:
    """The minimal gated unit, L_h = L_z = 1: tau dh/dt = sigmoid(W_z h + U_z x + b_z) * (-h + tanh(W_h h + U_h x + b_h))."""
    return gated(inputs, state, key=key, **TANH | options)


def rnn(inputs: int, state: int, *, key: Key | int, **options) -> Gated:
    """The vanilla (Elman) network: tau dh/dt = -h + tanh(W h + U x + b). Options as in `gated`."""
    return gated(inputs, state, gate=False, key=key, **TANH | options)


def rate_rnn(inputs: int, state: int, *, key: Key | int, **options) -> Gated:
    """The form common in neuroscience: tau dh/dt = -h + W tanh(h) + U x + b, h a voltage and tanh(h) a firing rate."""
    return gated(inputs, state, gate=False, activate_state=True, key=key, **{**TANH, "final": "identity", **options})
