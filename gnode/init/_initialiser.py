"""How weights and biases are drawn.

The paper writes every scheme as W_ij ~ N(0, sigma_w^2 / N_in) (Kaiming scaling) or N(0, sigma_w^2 / (N_in + N_out))
(Glorot scaling). What is usually called Kaiming or Glorot initialisation has sigma_w = sqrt 2; the critical one asks
theory for sigma_w*, which depends on the depth of the stack.
"""

import dataclasses
import math
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from gnode import errors
from gnode.init._rules import RULES
from gnode.theory import critical_sigma_w
from gnode.types import Key

STANDARD_SIGMA_W = math.sqrt(2.0)


@dataclasses.dataclass(frozen=True)
class Initialiser:
    """A rule for drawing the weights and biases of one network.

    **Arguments:** `scaling` "kaiming" (variance sigma_w^2 / N_in) or "glorot" (sigma_w^2 / (N_in + N_out));
    `distribution` "normal" or "uniform", of equal variance; `sigma_w` the scale, by default sqrt 2; `critical` sets the
    scale of F's weights instead, by "theory" or by rescaling what was drawn ("empirical", the public code's reading), and
    leaves all other weights at `sigma_w`; `bias_std` the standard deviation of the biases, 0 for exact zeros.

    >>> rule = Initialiser("kaiming", "normal")
    >>> rule.weight(jax.random.key(0), (3, 2)).shape
    (3, 2)
    """

    scaling: Literal["kaiming", "glorot"] = "glorot"
    distribution: Literal["normal", "uniform"] = "uniform"
    sigma_w: float = STANDARD_SIGMA_W
    critical: Literal["no", "theory", "empirical"] = "no"
    bias_std: float = 0.0

    def __post_init__(self):
        errors.one_of("scaling", self.scaling, ("kaiming", "glorot"))
        errors.one_of("distribution", self.distribution, ("normal", "uniform"))
        errors.one_of("critical", self.critical, ("no", "theory", "empirical"))
        errors.not_negative("sigma_w", self.sigma_w)
        errors.not_negative("bias_std", self.bias_std)

    def weight(self, key: Key, shape: tuple[int, int]) -> Float[Array, "out in"]:
        """One matrix of shape (out, in)."""
        # jax counts Glorot's variance as scale / mean(N_in, N_out), so the paper's sigma_w^2 is twice its scale.
        scale = self.sigma_w**2 if self.scaling == "kaiming" else self.sigma_w**2 / 2
        mode = "fan_in" if self.scaling == "kaiming" else "fan_avg"
        if scale == 0:
            return jnp.zeros(shape)
        draw = jax.nn.initializers.variance_scaling(scale, mode, self.distribution, in_axis=-1, out_axis=-2)
        return draw(key, shape)

    def bias(self, key: Key, size: int) -> Float[Array, " size"]:
        """One vector of biases."""
        return self.bias_std * jax.random.normal(key, (size,))

    def for_field(
        self, widths: Sequence[int], activation: str, final: str = "identity", activate_state: bool = False
    ) -> "Initialiser":
        """The rule for the weights W_h of F, whose layers have `widths` N_0, ..., N_L.

        Itself; or with sigma_w = sigma_w* of theory ("theory"); or with gain 1, to be rescaled once drawn ("empirical").
        """
        if self.critical == "no":
            return self
        if self.critical == "empirical":
            return dataclasses.replace(self, sigma_w=1.0)
        sigma_w = _critical_scale(tuple(widths), activation, final, activate_state, self.scaling, self.bias_std)
        return dataclasses.replace(self, sigma_w=sigma_w)


@lru_cache(maxsize=256)  # members of a grid ask for the same scale again and again
def _critical_scale(
    widths: tuple[int, ...], activation: str, final: str, activate_state: bool, scaling: str, sigma_b: float
) -> float:
    found = critical_sigma_w(len(widths) - 1, activation, scaling, sigma_b, widths, final, activate_state)
    if found.status == "runaway":
        warnings.warn(
            f"with {activation} and bias_std {sigma_b:g} the variance of the state runs away before any scale is critical "
            f"(spectral radius {found.radius:.2f} there); weights are drawn at that edge, sigma_w = {found.sigma_w:.4g}.",
            stacklevel=2,
        )
    return found.sigma_w


def empirical_gain(jacobian: Float[Array, "state state"], depth: int) -> Float[Array, ""]:
    """The factor for each of F's weight matrices that brings the abscissa of -I + dF/dh to zero:

        (1 / (eta + 1))^(1 / L),      eta the measured spectral abscissa of -I + dF/dh.

    Where no eigenvalue of dF/dh has a positive real part (very small networks) its spectral radius takes the place of
    eta + 1.
    """

    def rightmost(J: np.ndarray) -> np.ndarray:
        eigenvalues = np.linalg.eigvals(np.asarray(J, np.float64))
        right = eigenvalues.real.max()
        return np.asarray(right if right > 1e-6 else max(np.abs(eigenvalues).max(), 1e-6), J.dtype)

    if not isinstance(jacobian, Tracer) and not np.any(jacobian):
        raise errors.ArgumentError(
            "init is empirical_critical, but dF/dh of this draw is zero, which no scale makes critical; choose an "
            "activation with a slope."
        )
    # On the host: accelerators have no good routine for eigenvalues of matrices that are not symmetric.
    reach = jax.pure_callback(rightmost, jax.ShapeDtypeStruct((), jacobian.dtype), jacobian)
    return (1.0 / reach) ** (1.0 / depth)


INITIALISERS: dict[str, Initialiser] = {name: Initialiser(**settings) for name, settings in RULES.items()}
"""Every named initialiser."""


def initialiser(rule: str | Initialiser, bias_std: float | None = None) -> Initialiser:
    """An initialiser by name, or one made by hand; `bias_std` replaces its own if given.

    >>> initialiser("glorot_normal", bias_std=1e-3).bias_std
    0.001
    """
    if not isinstance(rule, Initialiser):
        rule = INITIALISERS[errors.one_of("init", rule, INITIALISERS)]
    return rule if bias_std is None else dataclasses.replace(rule, bias_std=bias_std)
