"""LRU: linear recurrent units (Orvieto et al. 2023), with a gate or without."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Complex, Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import check_sizes
from gnode.cells._diagonal import DiagonalCell, Mixing, drawn_parts
from gnode.cells._stack import Stack
from gnode.cells._timescale import Timescale, timescale
from gnode.init import Initialiser, initialiser
from gnode.types import Key, as_key

LARGEST_PHASE = 6.28


@checked_class
class LRU(DiagonalCell):
    """The linear recurrent unit of Orvieto et al., K complex modes for all of the N features:

        tau ds/dt = g * (log(lambda) s + b),     y = Re(C s) + D * u,     u = E x,
        lambda = exp(-exp(nu) + i exp(theta)),   b = log(lambda) / (lambda - 1) exp(gamma) B u,

    so that with dt = tau and without a gate its own step is the authors' s <- lambda s + exp(gamma) B u.

    | symbol           | field                  | shape |
    |------------------|------------------------|-------|
    | nu, theta, gamma | `nu`, `theta`, `gamma` | K     |
    | B                | `B`                    | K x N x 2, real and imaginary parts |
    | C                | `C`                    | N x K x 2 |
    | D                | `D`                    | N     |
    | E                | `E`                    | N x inputs; None, the identity, for as many inputs as features |
    | g                | `gate`                 | a `Stack` from the features and inputs to K, final sigmoid; or None |
    | W, c             | `mixing`               | what follows: a * sigmoid(b), (a, b) = W gelu(y) + c; or None |

    >>> lru(2, 5, modes=4, key=0)
    LRU(2 inputs, 5 units, tau=1, 167 parameters)
    """

    nu: Float[Array, " modes"]
    theta: Float[Array, " modes"]
    gamma: Float[Array, " modes"]
    B: Float[Array, "modes units 2"]
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
        return self.nu.shape[-1]

    def rates(self) -> Complex[Array, " modes"]:
        phase = jnp.exp(
            self.theta
        )  # it begins below a whole turn; of all flows with this step the one that turns least
        return -jnp.exp(self.nu) + 1j * jnp.where(phase > jnp.pi, phase - 2 * jnp.pi, phase)

    def driven(self, u: Float[Array, "*time features"]) -> Complex[Array, "*time modes"]:
        A = self.rates()
        scale = A / (jnp.exp(A) - 1) * jnp.exp(self.gamma)
        return (u @ self.B[..., 0].T + 1j * (u @ self.B[..., 1].T)) * scale

    def features(self, s: Complex[Array, "*time modes"]) -> Float[Array, "*time features"]:
        return s.real @ self.C[..., 0].T - s.imag @ self.C[..., 1].T

    def of_modes(self, g: Float[Array, "*time gates"]) -> Float[Array, "*time modes"]:
        return g


@checked
def lru(
    inputs: int,
    state: int,
    *,
    modes: int | None = None,
    gating: str = "no",
    mix: bool = True,
    slowest: float = 1.0,
    fastest: float = 0.0,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "pytorch",
    bias_std: float | None = None,
    key: Key | int,
) -> LRU:
    """Draws a linear recurrent unit of N = `state` features at random, as its authors do.

    **Arguments:** `init` and others as in `gated`; `gating` and `mix` as in `s4d`;

    - `modes`: K, the number of complex modes; as many as features by default.
    - `slowest`, `fastest`: the largest and smallest first |lambda|, between which they are spread evenly over a ring.

    **Returns:** an `LRU` cell.

    >>> lru(2, 5, key=0).state_size
    10
    """
    inputs, state = check_sizes(inputs, state)
    modes = errors.whole("modes", state if modes is None else modes)
    errors.affordable("modes", modes, 16.0 * modes * state)
    largest, smallest = errors.share("slowest", slowest), errors.share("fastest", fastest)
    if smallest >= largest:
        raise errors.ArgumentError(f"fastest is {fastest:g}, but must be less than slowest ({slowest:g}).")
    key_nu, key_theta, key_B, key_C, key_D, key_parts = jax.random.split(as_key(key), 6)
    tiny = jnp.finfo(float).tiny
    squared = jax.random.uniform(key_nu, (modes,)) * (largest**2 - smallest**2) + smallest**2
    nu = jnp.log(-0.5 * jnp.log(jnp.clip(squared, tiny, 1 - 1e-7)))
    theta = jnp.log(jnp.maximum(LARGEST_PHASE * jax.random.uniform(key_theta, (modes,)), tiny))
    E, mixing, gate = drawn_parts(inputs, state, modes, mix, gating, initialiser(init, bias_std), key_parts)
    return LRU(
        nu=nu,
        theta=theta,
        gamma=0.5 * jnp.log1p(-jnp.exp(-2 * jnp.exp(nu))),
        B=jax.random.normal(key_B, (modes, state, 2)) / jnp.sqrt(2 * state),
        C=jax.random.normal(key_C, (state, modes, 2)) / jnp.sqrt(modes),
        D=jax.random.normal(key_D, (state,)),
        E=E,
        mixing=mixing,
        gate=gate,
        timescale=timescale(tau, learn_tau, modes),
        gating=gating,
        inputs=inputs,
        units=state,
    )
