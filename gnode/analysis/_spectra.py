"""Jacobian spectra of random cells at their steady state (Appendix B), with the mean-field radius.

Gates concentrate the spectrum near 0: such modes neither grow nor decay, and hold information for a long time.
"""

import dataclasses
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

from gnode import cells, errors, theory
from gnode.analysis._stability import stability
from gnode.analysis._system import bins_of
from gnode.arguments import checked
from gnode.cells import LEM, Cell, Gated
from gnode.init import Initialiser
from gnode.solve import rollout
from gnode.types import as_key

MODELS = ("mgru", "gnode", "lem")
DEPTHS = {"mgru": 1, "gnode": 3, "lem": 1}
NEAR_ZERO = 0.1
"""The largest |lambda| tau of a mode that counts as pinched."""

_AT_REST = 1e-3  # root mean square of tau dh/dt below which the state counts as a fixed point


@dataclasses.dataclass(frozen=True)
class SteadySpectrum:
    """The spectra of one random cell at the state that it has reached.

    | symbol | field              | meaning                                                                        |
    |--------|--------------------|--------------------------------------------------------------------------------|
    | lambda | `flow_eigenvalues` | eigenvalues of the flow's Jacobian d(dh/dt)/dh, per second                     |
    | mu     | `map_eigenvalues`  | eigenvalues of the Jacobian of one step                                        |
    | C_h    | `variance`         | mean square of the state                                                       |
    |        | `speed`            | root mean square of tau dh/dt: 0 at a fixed point, positive in chaos           |
    |        | `gate`             | the constant value of the gate; NaN if it varies                               |
    | rho    | `radius`           | mean-field spectral radius of dF/dh at that variance; NaN if the gate varies   |
    |        | `status`           | "at rest" or "moving"                                                          |

    `model`, `sigma_w`, `sigma_z`, `method`, `dt` and `tau` are the arguments of `steady_spectrum`.

    No example: made by `steady_spectrum`.
    """

    model: str
    sigma_w: float
    sigma_z: float | None
    method: str
    dt: float
    tau: float
    flow_eigenvalues: Complex[np.ndarray, " state"]
    map_eigenvalues: Complex[np.ndarray, " state"]
    variance: float
    speed: float
    gate: float
    radius: float
    status: str

    def __repr__(self) -> str:
        drawn = (
            f"{self.model}, {len(self.flow_eigenvalues)} dimensions, sigma_w={self.sigma_w:g}, sigma_z={self.sigma_z}"
        )
        return f"SteadySpectrum({drawn}, {self.status})"

    @property
    def map_generator(self) -> Complex[np.ndarray, " state"]:
        """(mu - 1) / dt: the eigenvalues of the flow for which an Euler step has the eigenvalues mu."""
        return (self.map_eigenvalues - 1) / self.dt

    @property
    def disc(self) -> tuple[float, float] | None:
        """The centre and the radius of the flow's mean-field disc, per second; None if the gate varies."""
        if math.isnan(self.radius):
            return None
        return -self.gate / self.tau, self.gate * self.radius / self.tau

    @checked
    def pinching(self, within: float = NEAR_ZERO) -> float:
        """Returns the fraction of the flow's modes with |lambda| tau <= `within`."""
        errors.positive("within", within)
        return float(np.mean(np.abs(self.flow_eigenvalues) * self.tau <= within))


@checked
def draw_cell(
    model: str,
    state: int,
    *,
    sigma_w: float = 1.5,
    sigma_z: float | None = 0.0,
    tau: float = 1.0,
    seed: int = 0,
) -> Gated | LEM:
    """Draws a cell of Appendix B: tanh, W^l ~ N(0, sigma_w^2 / N_l), W_z ~ N(0, sigma_z^2 / N), no biases.

    **Arguments:**

    - `model`: "mgru" (L_h = 1), "gnode" (L_h = 3, all widths N, identity after the last layer) or "lem".
    - `state`: N.
    - `sigma_w`: the scale of the weights.
    - `sigma_z`: the scale of the gate's weights. At 0 every gate is sigmoid(0) = 1/2, which only rescales time; None
      removes the gate.
    - `tau`: the time constant in seconds.
    - `seed`: the seed of the draw.

    **Returns:** the cell. LEM has N units in each of its two blocks.

    >>> draw_cell("gnode", 20, sigma_z=5.0).F.depth
    3
    """
    errors.one_of("model", model, MODELS)
    errors.affordable("state", state, 4.0 * errors.whole("state", state) ** 2)
    rule = Initialiser("kaiming", "normal", sigma_w=errors.positive("sigma_w", sigma_w))
    key = as_key(seed, "seed")
    if model == "lem":
        cell = cells.lem(1, state, gate=sigma_z is not None, tau=tau, init=rule, key=key)
    else:
        widths = (state,) * (DEPTHS[model] - 1)
        final = "tanh" if model == "mgru" else "identity"
        cell = cells.gated(
            1,
            state,
            widths=widths,
            gate=sigma_z is not None,
            hidden="tanh",
            final=final,
            tau=tau,
            init=rule,
            key=key,
        )
    if sigma_z is None:
        return cell
    # The gate was drawn with sigma_w like all other weights.
    factor = errors.not_negative("sigma_z", sigma_z) / sigma_w
    return eqx.tree_at(_gate_weights, cell, jax.tree.map(lambda weight: factor * weight, _gate_weights(cell)))


def _gate_weights(cell: Gated | LEM) -> tuple[Array | None, ...]:
    if isinstance(cell, LEM):
        return (cell.W_gate,)
    assert cell.G is not None
    return cell.G.W


@checked
def steady_spectrum(
    model: str,
    state: int = 1000,
    *,
    sigma_w: float = 1.5,
    sigma_z: float | None = 0.0,
    method: str | None = None,
    duration: float = 1000.0,
    dt: float = 1.0,
    tau: float = 1.0,
    seed: int = 0,
) -> SteadySpectrum:
    """Integrates a random cell to its steady state without input, and computes the spectra of its flow and map there.

    Above criticality the steady state is chaotic, and the spectra are those at one point of the trajectory.

    **Arguments:**

    - `model`, `state`, `sigma_w`, `sigma_z`, `tau`, `seed`: as in `draw_cell`.
    - `method`: an integrator of `gnode.solve.METHODS`; by default the cell's own.
    - `duration`, `dt`: the length of the trajectory and of one step, in seconds.

    **Returns:** a `SteadySpectrum`.

    >>> steady_spectrum("mgru", 30, sigma_w=0.5, duration=50.0).status
    'at rest'
    """
    steps = max(1, bins_of("duration", errors.positive("duration", duration), errors.positive("dt", dt)))
    errors.affordable("state", state, 4.0 * errors.whole("state", state) * (state + steps))
    cell = draw_cell(model, state, sigma_w=sigma_w, sigma_z=sigma_z, tau=tau, seed=seed)
    method = cell.default_method if method is None else method
    start = jax.random.normal(as_key(seed + 1, "seed"), (cell.state_size,))
    h = np.asarray(_run(cell, start, steps, dt, method), dtype=np.float64)
    if not np.all(np.isfinite(h)):
        raise errors.ArgumentError(
            f"dt is {dt!r}, but with method {method!r} the state of {model!r} overflows within {duration!r} s: choose a "
            f"shorter step or a smaller sigma_w."
        )
    spectrum = stability(cell, h[None], dt=dt, method=method)
    assert spectrum.map_eigenvalues is not None
    velocity = np.asarray(cell.vector_field(jnp.asarray(h, dtype=float), jnp.zeros(cell.inputs)))
    speed = tau * float(np.sqrt(np.mean(velocity**2)))
    variance = float(np.mean(h**2))
    gate = {None: 1.0, 0.0: 0.5}.get(sigma_z, math.nan)
    return SteadySpectrum(
        model=model,
        sigma_w=sigma_w,
        sigma_z=sigma_z,
        method=method,
        dt=dt,
        tau=tau,
        flow_eigenvalues=spectrum.flow_eigenvalues[0],
        map_eigenvalues=spectrum.map_eigenvalues[0],
        variance=variance,
        speed=speed,
        gate=gate,
        radius=math.nan if math.isnan(gate) else mean_field_radius(model, sigma_w, variance),
        status="at rest" if speed < _AT_REST else "moving",
    )


def mean_field_radius(model: str, sigma_w: float, variance: float) -> float:
    """Returns rho of dF/dh for a state of that variance: sqrt(chi_L) of `gnode.theory`.

    The two blocks of LEM feed each other through one layer each, so its radius equals that of the mGRU.

    >>> round(mean_field_radius("mgru", 1.5, 0.0), 6)
    1.5
    """
    final = "identity" if model == "gnode" else "tanh"
    stack = theory.RandomStack(DEPTHS[errors.one_of("model", model, MODELS)], sigma_w, "tanh", final=final)
    return math.sqrt(theory.recursion(stack, variance).susceptibility)


@eqx.filter_jit
def _run(cell: Cell, start: Float[Array, " state"], steps: int, dt: float, method: str) -> Float[Array, " state"]:
    return rollout(cell, jnp.zeros((steps, cell.inputs)), start, dt=dt, method=method)[-1]
