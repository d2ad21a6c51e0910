"""The networks and batches of the benchmarks, with sizes of the paper."""

import dataclasses
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells.registry import cell_entry
from gnode.models import build
from gnode.network import Network


class Data(NamedTuple):
    """The batch of one training step."""

    inputs: Float[Array, "trials time inputs"]
    targets: Float[Array, "trials time outputs"]
    dt: Float[Array, "trials time"]


@checked_class
@dataclasses.dataclass(frozen=True)
class BenchShape:
    """The sizes of a network and of a batch. `widths` and `gate_widths` are those of the gated family.

    >>> BenchShape(2, 2, 3, (8,), (), bins=6, trials=4).data().inputs.shape
    (4, 6, 2)
    """

    inputs: int
    outputs: int
    state: int
    widths: tuple[int, ...]
    gate_widths: tuple[int, ...]
    bins: int
    trials: int
    dt: float = 0.01
    heavy: bool = False
    """Whether it takes too long on a CPU to be measured by default."""
    networks: int = 1
    """The number of networks that are trained together as one program."""
    model: str = "gnode"
    """The name of the cell."""

    def __post_init__(self):
        for name in ("inputs", "outputs", "state", "bins", "trials", "networks"):
            object.__setattr__(self, name, errors.whole(name, getattr(self, name)))
        for name in ("widths", "gate_widths"):
            object.__setattr__(self, name, errors.wholes(name, getattr(self, name)))
        errors.positive("dt", self.dt)
        cell_entry(self.model)  # which says what models there are if there is no such model

    @checked
    def network(self, seed: int = 0) -> Network:
        """Draws a network at random."""
        has = cell_entry(self.model).options
        options: dict[str, Any] = {name: getattr(self, name) for name in ("widths", "gate_widths") if name in has}
        return build(self.model, self.inputs, self.outputs, state=self.state, tau=self.dt, key=seed, **options)

    def data(self) -> Data:
        """Draws inputs and targets from the standard normal distribution."""
        errors.affordable("trials", self.trials, 4.0 * self.trials * self.bins * (self.inputs + self.outputs))
        keys, shape = jax.random.split(jax.random.key(1)), (self.trials, self.bins)
        return Data(
            jax.random.normal(keys[0], (*shape, self.inputs)),
            jax.random.normal(keys[1], (*shape, self.outputs)),
            jnp.full(shape, self.dt),
        )

    @property
    def operations(self) -> float:
        """The operations of the matrix products of one gradient: per weight 2 in the forward and 4 in the backward pass."""
        drawn = jax.tree.leaves(eqx.filter_eval_shape(self.network))
        weights = sum(array.size for array in drawn if getattr(array, "ndim", 0) == 2)
        return 6.0 * weights * self.bins * self.trials * self.networks


FLIP_FLOP = BenchShape(3, 3, 6, (100, 100, 100), (), 100, 10)
WALKER = BenchShape(18, 17, 32, (316, 316), (), 84, 256, dt=1.0)
SPEECH = BenchShape(20, 10, 100, (1000,), (1000,), 161, 256, dt=1 / 161, heavy=True)

UNITS = {"GRU": "gru", "LSTM": "lstm", "LEM": "lem"}
"""The models of recurrent units that PyTorch has, or that are trained in a loop of it, by the name of their shapes."""

SHAPES: dict[str, BenchShape] = {
    "flip-flop N=6 B=10": FLIP_FLOP,
    "flip-flop N=6 B=50": dataclasses.replace(FLIP_FLOP, trials=50),
    "flip-flop N=6 B=100": dataclasses.replace(FLIP_FLOP, trials=100),
    "flip-flop N=100 B=50": dataclasses.replace(FLIP_FLOP, state=100, trials=50),
    **{
        f"{name} N={state} B={trials}": BenchShape(3, 3, state, (), (), 100, trials, model=model)
        for name, model in UNITS.items()
        for state, trials in ((6, 100), (100, 50))
    },
    "27 networks N=6 B=10": dataclasses.replace(FLIP_FLOP, networks=27, heavy=True),
    "27 networks N=6 B=100": dataclasses.replace(FLIP_FLOP, networks=27, trials=100, heavy=True),
    "27 networks N=100 B=50": dataclasses.replace(FLIP_FLOP, networks=27, state=100, trials=50, heavy=True),
    "OU N=10 H=100 B=1": BenchShape(1, 10, 10, (100,), (), 200, 1),
    "walker2d N=32 H=316": WALKER,
    "walker2d N=32 H=1000": dataclasses.replace(WALKER, widths=(1000, 1000), heavy=True),
    "walker2d N=316 H=316": dataclasses.replace(WALKER, state=316, heavy=True),
    "5 networks walker2d N=316 H=316": dataclasses.replace(WALKER, state=316, networks=5, heavy=True),
    "27 networks walker2d N=316 H=316": dataclasses.replace(WALKER, state=316, networks=27, heavy=True),
    "speech N=100 H=1000": SPEECH,
    "9 networks speech N=100 H=1000": dataclasses.replace(SPEECH, networks=9),
}
"""The shapes by name, with the sizes of the paper's tasks; the noise fit (OU) is narrower and longer here."""
