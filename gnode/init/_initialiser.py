"""Initialisation of weights and biases.

The paper writes every scheme as W_ij ~ N(0, sigma_w^2 / N_in) (Kaiming scaling) or N(0, sigma_w^2 / (N_in + N_out))
(Glorot scaling). Standard Kaiming and Glorot initialisation have sigma_w = sqrt 2. Critical initialisation uses sigma_w*
of `gnode.theory`, which depends on the depth of the stack.
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
from gnode.arguments import checked, checked_class
from gnode.init._rules import RULES
from gnode.theory import critical_sigma_w
from gnode.types import Key, as_key

STANDARD_SIGMA_W = math.sqrt(2.0)
"""The weight scale of standard Kaiming and Glorot initialisation."""

LARGEST = 1e15
"""The largest scale of weights and biases: its square is well within float32."""

COPIES = 6
"""Of the weights in training: themselves, the gradient, two moments, the best weights, and the update being made."""


@checked_class
@dataclasses.dataclass(frozen=True)
class Initialiser:
    """A rule for drawing the weights and biases of one network.

    **Arguments:**

    - `scaling`: "kaiming" (variance sigma_w^2 / N_in) or "glorot" (variance sigma_w^2 / (N_in + N_out)).
    - `distribution`: "normal" or "uniform", both with that variance.
    - `sigma_w`: the scale of the weights. The default is sqrt 2.
    - `critical`: how the weights of F are made critical. "theory" draws them at sigma_w*, and "empirical" rescales them
        after drawing, as the public code does. All other weights keep `sigma_w`. The default "no" treats F like the rest.
    - `bias_std`: the standard deviation of the biases. With 0 they are exactly zero.

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
        for name in ("sigma_w", "bias_std"):
            value = float(errors.not_negative(name, getattr(self, name)))
            if value > LARGEST:
                raise errors.ArgumentError(f"{name} is {value!r}, but must be at most {LARGEST:g}.")
            object.__setattr__(self, name, value)

    @checked
    def weight(self, key: Key, shape: tuple[int, int]) -> Float[Array, "out in"]:
        """Draws a weight matrix of shape (out, in)."""
        rows, columns = errors.wholes("shape", shape)
        errors.affordable("shape", shape, 4 * rows * columns)
        _check_size(shape)
        # jax defines the Glorot variance as scale / mean(N_in, N_out), so the paper's sigma_w^2 is twice its scale.
        scale = self.sigma_w**2 if self.scaling == "kaiming" else self.sigma_w**2 / 2
        mode = "fan_in" if self.scaling == "kaiming" else "fan_avg"
        if scale == 0:
            return jnp.zeros((rows, columns))
        draw = jax.nn.initializers.variance_scaling(scale, mode, self.distribution, in_axis=-1, out_axis=-2)
        return draw(as_key(key), (rows, columns))

    @checked
    def bias(self, key: Key, size: int) -> Float[Array, " size"]:
        """Draws a bias vector."""
        size = errors.whole("size", size)
        errors.affordable("size", size, 4 * size)
        return self.bias_std * jax.random.normal(as_key(key), (size,))

    @checked
    def for_field(
        self,
        widths: Sequence[int],
        activation: str,
        final: str = "identity",
        activate_state: bool = False,
        input_variance: float = 0.0,
    ) -> "Initialiser":
        """Returns the rule for the weights W_h of F.

        If `critical` is "no", this is the rule itself. If it is "theory", `sigma_w` becomes sigma_w*. If it is "empirical",
        `sigma_w` becomes 1, and the caller rescales the drawn weights by `empirical_gain`.

        **Arguments:**

        - `widths`: the widths N_0, ..., N_L of the layers of F.
        - `activation`: the hidden activation.
        - `final`: the activation after the last layer.
        - `activate_state`: whether the activation also acts on the state.
        - `input_variance`: the variance of U x for which sigma_w* is meant; see `critical_sigma_w`.
        """
        widths = errors.wholes("widths", widths)
        if len(widths) < 2:
            raise errors.ArgumentError(
                f"widths is {errors.shown(widths)}, but must hold at least two widths, N_0 and N_L."
            )
        if self.critical == "no":
            return self
        if self.critical == "empirical":
            return dataclasses.replace(self, sigma_w=1.0)
        driven = float(errors.not_negative("input_variance", input_variance))
        sigma_w = _critical_scale(widths, activation, final, activate_state, self.scaling, self.bias_std, driven)
        return dataclasses.replace(self, sigma_w=sigma_w)


def _check_size(shape: tuple[int, int]) -> None:
    """Refuses a matrix that is too large to train, before any of it is allocated: jax would abort the process."""
    values = math.prod(shape)
    if values > errors.LARGEST_COUNT:
        raise errors.ArgumentError(
            f"a weight matrix of {shape[0]} x {shape[1]} has more values than an array holds ({errors.LARGEST_COUNT}); "
            f"make state or widths smaller."
        )
    errors.affordable("the shape of a weight matrix", shape, COPIES * 4 * values)


@lru_cache(maxsize=256)  # the members of a grid need the same scale many times
def _critical_scale(
    widths: tuple[int, ...],
    activation: str,
    final: str,
    activate_state: bool,
    scaling: str,
    sigma_b: float,
    input_variance: float,
) -> float:
    """Computes sigma_w*, and warns if the variance diverges below it."""
    found = critical_sigma_w(
        len(widths) - 1,
        activation,
        scaling,
        sigma_b=sigma_b,
        aspect=widths,
        final=final,
        activate_state=activate_state,
        input_variance=input_variance,
    )
    if found.status == "runaway":
        driven = f" and inputs add {input_variance:g} to the variance of the first layer" if input_variance else ""
        warnings.warn(
            f"bias_std is {sigma_b:g}{driven}, but with {activation} the state variance diverges before any scale is "
            f"critical (at spectral radius {found.radius:.2f}); the weights are drawn at that edge, sigma_w = "
            f"{found.sigma_w:.4g}.",
            stacklevel=2,
        )
    return found.sigma_w


@checked
def empirical_gain(jacobian: Float[Array, "state state"], depth: int) -> Float[Array, ""]:
    """Computes the factor for each weight matrix of F that brings the spectral abscissa of -I + dF/dh to zero.

        (1 / (eta + 1))^(1 / L),      eta = the spectral abscissa of -I + dF/dh

    If no eigenvalue of dF/dh has a positive real part (in very small networks), its spectral radius replaces eta + 1.

    **Arguments:**

    - `jacobian`: dF/dh.
    - `depth`: L, the number of weight matrices.

    **Returns:** the factor, a scalar.

    **Raises:** `ArgumentError` if the Jacobian is zero, unless it is traced.

    >>> float(empirical_gain(4.0 * jnp.eye(3), depth=2))
    0.5
    """

    def rightmost(J: np.ndarray) -> np.ndarray:
        eigenvalues = np.linalg.eigvals(np.asarray(J, np.float64))
        right = eigenvalues.real.max()
        return np.asarray(right if right > 1e-6 else max(np.abs(eigenvalues).max(), 1e-6), J.dtype)

    depth = errors.whole("depth", depth)
    if jacobian.ndim != 2 or jacobian.shape[0] != jacobian.shape[1] or jacobian.size == 0:
        raise errors.ArgumentError(f"jacobian has shape {jacobian.shape}, but must be a square matrix.")
    jacobian = jnp.asarray(jacobian, dtype=jnp.result_type(float, jacobian))
    if not isinstance(jacobian, Tracer) and not np.all(np.isfinite(jacobian)):
        raise errors.ArgumentError("jacobian holds values that are not finite, which no scale makes critical.")
    if not isinstance(jacobian, Tracer) and not np.any(jacobian):
        raise errors.ArgumentError(
            "init is 'empirical_critical', but dF/dh of the drawn field is zero, which no scale makes critical; choose an "
            "activation with a nonzero derivative."
        )
    # Computed on the host, because accelerators do not support eigenvalues of nonsymmetric matrices.
    reach = jax.pure_callback(rightmost, jax.ShapeDtypeStruct((), jacobian.dtype), jacobian)
    return (1.0 / reach) ** (1.0 / depth)


INITIALISERS: dict[str, Initialiser] = {name: Initialiser(**settings) for name, settings in RULES.items()}
"""The named initialisers."""


@checked
def initialiser(rule: str | Initialiser, bias_std: float | None = None) -> Initialiser:
    """Returns an initialiser by name.

    **Arguments:**

    - `rule`: a name of `INITIALISERS`, or an `Initialiser`, which is returned as it is.
    - `bias_std`: replaces the initialiser's own `bias_std` if given.

    **Returns:** an `Initialiser`.

    >>> initialiser("glorot_normal", bias_std=1e-3).bias_std
    0.001
    """
    if not isinstance(rule, Initialiser):
        rule = INITIALISERS[errors.one_of("init", rule, INITIALISERS)]
    return rule if bias_std is None else dataclasses.replace(rule, bias_std=bias_std)
