"""Linear memories whose modes do not see each other: what S4D and LRU have in common."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float, Int

from gnode import errors
from gnode.arguments import checked_class
from gnode.cells._base import Cell, check_shapes
from gnode.cells._options import GATINGS
from gnode.cells._stack import Stack
from gnode.cells._timescale import Timescale
from gnode.init import Initialiser
from gnode.types import Key, module_repr
from gnode.wording import plural


@checked_class
class Mixing(eqx.Module):
    """What follows the memory: y -> a * sigmoid(b) with (a, b) = W gelu(y) + c, of twice as many rows as y has units.

    >>> Mixing(jnp.ones((6, 3)), jnp.zeros(6))
    Mixing(3 units, 24 parameters)
    """

    W: Float[Array, "rows units"]
    c: Float[Array, " rows"]

    def __check_init__(self):
        units = self.W.shape[-1]
        check_shapes(W=(self.W, (2 * units, units)), c=(self.c, (2 * units,)))

    def __repr__(self) -> str:
        return module_repr(self, plural(self.W.shape[-1], "unit"))

    def __call__(self, y: Float[Array, "*time units"]) -> Float[Array, "*time units"]:
        return jax.nn.glu(jax.nn.gelu(y, approximate=False) @ self.W.T + self.c, axis=-1)


class DiagonalCell(Cell):
    """Abstract base class of linear memories whose complex modes s_k do not see each other:

        tau ds/dt = g * (A s + B u),     u = E x,     y = Re(C s) + D * u,

    with a gate g (see `GATINGS`) or g = 1. Their own step is exact for an input and a gate that are held. Without a gate of
    the state all bins are one associative scan. The state is (Re s, Im s); the readout sees y, or more of it by `mixing`.

    No example: see `s4d` and `lru`.
    """

    E: eqx.AbstractVar[Float[Array, "features inputs"] | None]
    D: eqx.AbstractVar[Float[Array, " features"]]
    mixing: eqx.AbstractVar[Mixing | None]
    gate: eqx.AbstractVar[Stack | None]
    gating: eqx.AbstractVar[str]
    timescale: eqx.AbstractVar[Timescale]

    @property
    @abc.abstractmethod
    def modes(self) -> int:
        """The number of complex modes."""

    @abc.abstractmethod
    def rates(self) -> Complex[Array, " modes"]:
        """Returns A, in units of 1 / tau; its real part is negative."""

    @abc.abstractmethod
    def driven(self, u: Float[Array, "*time features"]) -> Complex[Array, "*time modes"]:
        """Returns B u."""

    @abc.abstractmethod
    def features(self, s: Complex[Array, "*time modes"]) -> Float[Array, "*time features"]:
        """Returns Re(C s)."""

    @abc.abstractmethod
    def of_modes(self, g: Float[Array, "*time gates"]) -> Float[Array, "*time modes"]:
        """Returns the gate of every mode."""

    def as_modes(self, h: Float[Array, "*time state"]) -> Complex[Array, "*time modes"]:
        """Returns the complex modes whose real and imaginary parts a state holds."""
        re, im = jnp.split(h, 2, axis=-1)
        return re + 1j * im

    def as_state(self, s: Complex[Array, "*time modes"]) -> Float[Array, "*time state"]:
        """Returns the state that holds complex modes."""
        return jnp.concatenate([s.real, s.imag], axis=-1)

    @property
    def default_method(self) -> str:
        return "own"

    @property
    def state_size(self) -> int:
        return 2 * self.modes

    @property
    def unit_of_state(self) -> Int[np.ndarray, " state"]:
        return np.full(self.state_size, -1)  # modes belong to all features, unless a subclass says otherwise

    @property
    def time_constant(self) -> Float[Array, "..."]:
        """tau, one number or one for each mode."""
        tau = self.timescale()
        return tau if tau.ndim == 0 else self.of_modes(tau)

    @property
    def is_linear(self) -> bool:
        """Whether the state of a bin is an affine function of the one before it."""
        return self.gating != "state"

    def encoded(self, x: Float[Array, "*time inputs"]) -> Float[Array, "*time features"]:
        """Returns E x, or x itself where there are as many features as inputs."""
        return x if self.E is None else x @ self.E.T

    def maps(
        self,
        x: Float[Array, "*time inputs"],
        dt: Float[Array, "*time"],
        y: Float[Array, "*time features"] | None = None,
    ) -> tuple[Complex[Array, "*time modes"], Complex[Array, "*time modes"]]:
        """Returns L and b of the exact maps s <- L s + b of bins; `y` is what a gate of the state sees."""
        A, share = self.rates(), dt[..., None] / self.time_constant
        if self.gate is not None:
            share = share * self.of_modes(self._gate(x, y))
        turned = jnp.exp(A * share)
        return turned, (turned - 1) / A * self.driven(self.encoded(x))

    def own_step(
        self, h: Float[Array, " state"], x: Float[Array, " inputs"], dt: Float[Array, ""] | float
    ) -> Float[Array, " state"]:
        s = self.as_modes(h)
        turned, added = self.maps(x, jnp.asarray(dt, h.dtype), self.features(s))
        return self.as_state(turned * s + added)

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        s = self.as_modes(h)
        ds = self.rates() * s + self.driven(self.encoded(x))
        if self.gate is not None:
            ds = ds * self.of_modes(self._gate(x, self.features(s)))
        return self.as_state(ds / self.time_constant)

    def visible(self, h: Float[Array, "*time state"]) -> Float[Array, "*time units"]:
        return self._read(self.features(self.as_modes(h)))

    def seen(self, h: Float[Array, "*time state"], x: Float[Array, "*time inputs"]) -> Float[Array, "*time units"]:
        return self._read(self.features(self.as_modes(h)) + self.D * self.encoded(x))

    def _read(self, y: Array) -> Array:
        return y if self.mixing is None else self.mixing(y)

    def _gate(self, x: Array, y: Array | None) -> Array:
        assert self.gate is not None
        if self.gating == "input" or y is None:
            y = jnp.zeros((*x.shape[:-1], self.units), x.dtype)
        flat = jax.vmap(self.gate)(y.reshape(-1, y.shape[-1]), x.reshape(-1, x.shape[-1]))
        return flat.reshape(*x.shape[:-1], -1)


def drawn_parts(
    inputs: int, units: int, gates: int, mix: bool, gating: str, rule: Initialiser, key: Key
) -> tuple[Array | None, Mixing | None, Stack | None]:
    """Draws E, the mixing and the gate."""
    errors.one_of("gating", gating, GATINGS)
    key_E, key_W, key_G, key_U = jax.random.split(key, 4)
    E = None if inputs == units else rule.weight(key_E, (units, inputs))
    mixing = Mixing(rule.weight(key_W, (2 * units, units)), jnp.zeros(2 * units)) if mix else None
    if gating == "no":
        return E, mixing, None
    W = jnp.zeros((gates, units)) if gating == "input" else rule.weight(key_G, (gates, units))
    U = rule.weight(key_U, (gates, inputs))
    return E, mixing, Stack((W,), U, (jnp.zeros(gates),), "relu", "sigmoid")
