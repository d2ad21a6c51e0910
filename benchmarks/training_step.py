"""Times one training step (gnODE, N = 6, three hidden layers of 100, T = 100) by gnode and by other implementations.

    python benchmarks/training_step.py

All implementations use the same optimiser and are measured in turn in one run. `gnode bench` times gradients alone, for more
shapes.
"""

import dataclasses
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from timing import report

from gnode.bench import RIVALS, SHAPES, compare
from gnode.bench._rivals import Outputs
from gnode.bench._shapes import Data
from gnode.network import Network
from gnode.train import Settings, _parameters, program
from gnode.train.batch import Batch

SHAPE = SHAPES["flip-flop N=6 B=10"]


@cache
def trained_and_frozen() -> tuple[Network, Network]:
    """Returns the parts of the network that are trained and that are not."""
    return _parameters.split(SHAPE.network())


def training_step(outputs: Outputs):
    """Returns a step of AdamW with the gradient by an implementation."""
    params, frozen = trained_and_frozen()
    optimiser = optax.adamw(1e-3, weight_decay=1e-3)

    @jax.jit
    def step(params, state, data: Data):
        def loss(params):
            return jnp.mean((outputs(eqx.combine(params, frozen), data) - data.targets) ** 2)

        value, gradient = jax.value_and_grad(loss)(params)
        updates, state = optimiser.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, value

    state = optimiser.init(params)
    return lambda data: step(params, state, data)


def whole_update(data: Data):
    """Returns the whole update of `gnode.fit`, with clipping, penalties and the detection of divergence."""
    params, frozen = trained_and_frozen()
    trials, bins = data.dt.shape
    batch = Batch(*data, jnp.ones((trials, bins)), jnp.full(trials, bins), jnp.ones(trials))
    plan = program.Plan(Settings().choices(), trials, "mse", "every", trials)
    update = eqx.filter_jit(program._update)
    state, hyper = program.start(params, plan), program.hyper_of(Settings(), plan)
    return lambda: update(state, hyper, batch, frozen, plan, jax.random.key(0))[:2]


def main() -> None:
    rows = []
    steps = {name: training_step(outputs) for name, outputs in RIVALS.items()}
    for size in (10, 100):
        data = dataclasses.replace(SHAPE, trials=size).data()
        values = [float(step(data)[2]) for step in steps.values()]
        assert max(values) - min(values) < 1e-4, f"the implementations compute different losses: {values}"
        calls = {name: (lambda step=step, data=data: step(data)) for name, step in steps.items()}
        times = compare(calls | {"gnode.fit's whole update": whole_update(data)})
        ours = times["gnode"]
        rows += [{"batch": size, "step": name, "ms": time, "times gnode": time / ours} for name, time in times.items()]
    report("One training step: gnODE, N = 6, 3 x 100 hidden, T = 100", rows, "training_step")


if __name__ == "__main__":
    main()
