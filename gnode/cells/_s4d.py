"""S4D: diagonal structured state spaces (Gu et al. 2022), with a gate or without."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Complex, Float, Int

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import check_sizes
from gnode.cells._diagonal import DiagonalCell, Mixing, drawn_parts
from gnode.cells._stack import Stack
from gnode.cells._timescale import Timescale, timescale
from gnode.init import Initialiser, initialiser
from gnode.types import Key, as_key

SHORTEST, LONGEST = 0.001, 0.1
"""The range of the first step sizes Delta, in units of dt / tau."""


def _legs(count: int) -> np.ndarray:
    n = np.arange(2 * count)
    H = np.where(n[:, None] > n, -np.sqrt((2 * n[:, None] + 1) * (2 * n + 1)), 0.0) - np.diag(n + 1)
    p = np.sqrt(n + 0.5)
    S = H + np.outer(p, p)
    imaginary = np.linalg.eigvalsh((S + 0.5 * np.eye(2 * count)) * -1j)
    return -0.5 - 1j * np.sort(imaginary[imaginary > 0])[::-1]


SPECTRA = {
    "lin": lambda count: -0.5 - 1j * np.pi * np.arange(count),
    "inv": lambda count: -0.5 - 1j * (2 * count / np.pi) * (2 * count / (2 * np.arange(count) + 1) - 1),
    "real": lambda count: -1.0 - np.arange(count) + 0j,
    "legs": _legs,
}
"""The eigenvalues A of a feature with so many pairs of modes, by the names of the authors."""


@checked_class
class S4D(DiagonalCell):
    """The diagonal state space of Gu et al. Each of the N features u_f has K complex modes, one of each conjugate pair:

        tau ds_fk/dt = g_f Delta_f (A_fk s_fk + B_fk u_f),     y_f = 2 Re(sum_k C_fk s_fk) + D_f u_f,     u = E x,

    A = -exp(a) - i omega. With dt = tau and without a gate its own step is the authors' recurrence ("zoh").

    | symbol        | field              | shape |
    |---------------|--------------------|-------|
    | a, omega      | `a`, `omega`       | N x K |
    | log Delta     | `log_step`         | N     |
    | B, C          | `B`, `C`           | N x K x 2, real and imaginary parts |
    | D             | `D`                | N     |
    | E             | `E`                | N x inputs; None, the identity, for as many inputs as features |
    | g             | `gate`             | a `Stack` from the features and inputs to N, final sigmoid; or None |
    | W, c          | `mixing`           | what follows: a * sigmoid(b), (a, b) = W gelu(y) + c; or None |

    >>> s4d(2, 5, modes=4, key=0)
    S4D(2 inputs, 5 units, tau=1, 200 parameters)
    """

    a: Float[Array, "units modes"]
    omega: Float[Array, "units modes"]
    log_step: Float[Array, " units"]
    B: Float[Array, "units modes 2"]
    C: Float[Array, "units modes 2"]
    D: Float[Array, " units"]
    E: Float[Array, "units inputs"] | None
    mixing: Mixing | None
    gate: Stack | None
    timescale: Timescale
    gating: str = eqx.field(static=True)
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    @property
    def modes(self) -> int:
        return self.a.shape[-1] * self.units

    @property
    def unit_of_state(self) -> Int[np.ndarray, " state"]:
        return np.tile(np.repeat(np.arange(self.units), self.a.shape[-1]), 2)  # real parts, then imaginary ones

    def rates(self) -> Complex[Array, " modes"]:
        A = -jnp.exp(self.a) - 1j * self.omega
        return (jnp.exp(self.log_step)[:, None] * A).ravel()

    def driven(self, u: Float[Array, "*time features"]) -> Complex[Array, "*time modes"]:
        B = jnp.exp(self.log_step)[:, None] * (self.B[..., 0] + 1j * self.B[..., 1])
        return (B * u[..., None]).reshape(*u.shape[:-1], -1)

    def features(self, s: Complex[Array, "*time modes"]) -> Float[Array, "*time features"]:
        C = self.C[..., 0] + 1j * self.C[..., 1]
        return 2 * jnp.sum((C * s.reshape(*s.shape[:-1], *C.shape)).real, axis=-1)

    def of_modes(self, g: Float[Array, "*time gates"]) -> Float[Array, "*time modes"]:
        return jnp.repeat(g, self.a.shape[-1], axis=-1)


@checked
def s4d(
    inputs: int,
    state: int,
    *,
    modes: int = 16,
    spectrum: str = "legs",
    gating: str = "no",
    mix: bool = True,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "pytorch",
    bias_std: float | None = None,
    key: Key | int,
) -> S4D:
    """Draws a diagonal state space of N = `state` features at random.

    **Arguments:** `init` and others as in `gated`;

    - `modes`: K, the number of complex modes of each feature, so that the state has 2 N K variables.
    - `spectrum`: the first eigenvalues: "legs", "lin", "inv" or "real".
    - `gating`: the gate of each feature: "no", "input" or "state".
    - `mix`: whether the features are mixed by a gated linear unit, which is the only part that is not linear.

    B begins at 1, C is standard normal, and Delta is spread from 0.001 to 0.1.

    **Returns:** an `S4D` cell.

    >>> s4d(2, 5, modes=4, key=0).state_size
    40
    """
    inputs, state = check_sizes(inputs, state)
    modes = errors.whole("modes", modes)
    errors.one_of("spectrum", spectrum, SPECTRA)
    errors.affordable("modes", modes, 40.0 * modes * state + 64.0 * modes**2)
    key_C, key_D, key_step, key_parts = jax.random.split(as_key(key), 4)
    A = np.broadcast_to(SPECTRA[spectrum](modes), (state, modes))
    E, mixing, gate = drawn_parts(inputs, state, state, mix, gating, initialiser(init, bias_std), key_parts)
    return S4D(
        a=jnp.asarray(np.log(-np.real(A)), dtype=float),
        omega=jnp.asarray(-np.imag(A), dtype=float),
        log_step=jax.random.uniform(key_step, (state,), minval=np.log(SHORTEST), maxval=np.log(LONGEST)),
        B=jnp.stack([jnp.ones((state, modes)), jnp.zeros((state, modes))], axis=-1),
        C=jnp.sqrt(0.5) * jax.random.normal(key_C, (state, modes, 2)),
        D=jax.random.normal(key_D, (state,)),
        E=E,
        mixing=mixing,
        gate=gate,
        timescale=timescale(tau, learn_tau, state),
        gating=gating,
        inputs=inputs,
        units=state,
    )
