"""Heavy-ball neural ODEs, plain and generalised (Xia et al. 2021)."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import SecondOrderCell, check_shapes, check_sizes
from gnode.cells._stack import Stack, draw_stack
from gnode.cells._timescale import Timescale, check_timescale, timescale
from gnode.init import Initialiser, initialiser
from gnode.types import Key, as_key

FIRST_DAMPING = -3.0
"""Where the logit of the damping begins for its authors: sigmoid(-3) is about 0.05."""


@checked_class
class HeavyBall(SecondOrderCell):
    """The heavy-ball neural ODEs of Xia et al., y'' + damping y' = F(y, x), with a state (y, z) of size 2 N:

        tau dy/dt = a(z)
        tau dz/dt = F(y, x) - sigmoid(d) z - softplus(k) y.

    The plain one (`hbnode`) has a(z) = z and no last term; in the generalised one (`ghbnode`) a is tanh, which bounds y, and
    the last term pulls it back. The damping and the pull are trained. Its authors' code keeps -z and -F for z and F.

    | symbol | field     | shape |
    |--------|-----------|-------|
    | F      | `F`       | a `Stack` from R^N to R^N |
    | d      | `damping` | the logit of the damping, a number |
    | k      | `pull`    | a number; None in the plain one |
    | a      | `bounded` | whether a is tanh |

    >>> hbnode(2, 5, tau=0.5, key=0)
    HeavyBall(2 inputs, 5 units, F=5-100-5, tau=0.5, 1306 parameters)
    """

    F: Stack
    damping: Float[Array, ""]
    pull: Float[Array, ""] | None
    timescale: Timescale
    bounded: bool = eqx.field(static=True)
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def __check_init__(self):
        N, D = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        check_shapes(U=(self.F.U, (self.F.U.shape[0], D)), b=(self.F.b[-1], (N,)))
        check_timescale(self.timescale, N)

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    def fields_of_blocks(
        self, h: Float[Array, " state"], x: Float[Array, " inputs"]
    ) -> tuple[Array, Callable[[Array], Array]]:
        y, z = jnp.split(h, 2)
        force = self.F(y, x) - jax.nn.sigmoid(self.damping) * z
        if self.pull is not None:
            force = force - jax.nn.softplus(self.pull) * y
        return force / self.timescale(), lambda z: (jnp.tanh(z) if self.bounded else z) / self.timescale()


@checked
def hbnode(
    inputs: int,
    state: int,
    *,
    widths: Sequence[int] = (100,),
    hidden: str = "relu",
    final: str = "identity",
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "pytorch",
    bias_std: float | None = None,
    key: Key | int,
) -> HeavyBall:
    """Draws a heavy-ball neural ODE of N = `state` units, a flow of (y, z) in 2 N dimensions, at random.

    Arguments as in `gated`. The default rule is that of its authors. The damping begins at sigmoid(-3), about 0.05.

    **Returns:** a `HeavyBall` cell.

    >>> hbnode(2, 5, key=0).state_size
    10
    """
    return _heavy_ball(inputs, state, widths, (hidden, final), (tau, learn_tau), (init, bias_std), key)


@checked
def ghbnode(
    inputs: int,
    state: int,
    *,
    widths: Sequence[int] = (100,),
    hidden: str = "relu",
    final: str = "identity",
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "pytorch",
    bias_std: float | None = None,
    key: Key | int,
) -> HeavyBall:
    """Draws a generalised heavy-ball neural ODE of N = `state` units, a flow of (y, z) in 2 N dimensions, at random.

    Arguments as in `hbnode`. The pull begins at softplus(0), about 0.69.

    **Returns:** a `HeavyBall` cell.

    >>> ghbnode(2, 5, key=0).pull
    Array(0., dtype=float32)
    """
    return _heavy_ball(
        inputs, state, widths, (hidden, final), (tau, learn_tau), (init, bias_std), key, generalised=True
    )


def _heavy_ball(
    inputs: int,
    state: int,
    widths: Sequence[int],
    activations: tuple[str, str],
    tau: tuple[ArrayLike | Sequence[float], str],
    init: tuple[str | Initialiser, float | None],
    key: Key | int,
    *,
    generalised: bool = False,
) -> HeavyBall:
    widths = errors.wholes("widths", widths)
    inputs, state = check_sizes(inputs, state, widths)
    rule, (hidden, final) = initialiser(*init), activations
    if rule.critical != "no":
        raise errors.ArgumentError(
            "init is critical, but that scale is known for F of the gated family only (gnODE, nODE, mGRU, RNN); for a "
            "heavy ball choose another rule, such as init='pytorch'."
        )
    return HeavyBall(
        F=draw_stack(as_key(key), inputs, state, widths, rule, rule, hidden=hidden, final=final),
        damping=jnp.asarray(FIRST_DAMPING, float),
        pull=jnp.zeros(()) if generalised else None,
        timescale=timescale(*tau, state),
        bounded=generalised,
        inputs=inputs,
        units=state,
    )
