"""One training step (gnODE, N = 6, three hidden layers of 100, T = 100) by gnode's Euler path and by its rivals.

    python benchmarks/training_step.py

Each row is measured in one run, the rivals in turn, with the same optimiser. `gnode bench` has more shapes, gradients alone.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from timing import report

from gnode.bench import RIVALS, SHAPES, compare
from gnode.bench._rivals import Outputs
from gnode.bench._shapes import Data
from gnode.train import Settings, _parameters, program
from gnode.train.batch import Batch

SHAPE = SHAPES["flip-flop N=6 B=10"]
PARAMS, FROZEN = _parameters.split(SHAPE.network())


def training_step(outputs: Outputs):
    """A step of AdamW; the optimiser is the same for all rivals."""
    optimiser = optax.adamw(1e-3, weight_decay=1e-3)

    @jax.jit
    def step(params, state, data: Data):
        def loss(params):
            return jnp.mean((outputs(eqx.combine(params, FROZEN), data) - data.targets) ** 2)

        value, gradient = jax.value_and_grad(loss)(params)
        updates, state = optimiser.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, value

    state = optimiser.init(PARAMS)
    return lambda data: step(PARAMS, state, data)


def whole_update(data: Data):
    """The update that `gnode.fit` really makes: with clipping, penalties, the watch for divergence."""
    trials, bins = data.dt.shape
    batch = Batch(*data, jnp.ones((trials, bins)), jnp.full(trials, bins), jnp.ones(trials))
    plan = program.Plan(trials, True, "epoch", "scaled", "mse", "every")
    update = eqx.filter_jit(program._update)
    state, hyper = program.start(PARAMS), program.hyper_of(Settings())
    return lambda: update(state, hyper, batch, FROZEN, plan)


def main() -> None:
    rows = []
    steps = {name: training_step(outputs) for name, outputs in RIVALS.items()}
    for size in (10, 100):
        data = dataclasses.replace(SHAPE, trials=size).data()
        values = [float(step(data)[2]) for step in steps.values()]
        assert max(values) - min(values) < 1e-4, f"the rivals compute different losses: {values}"
        calls = {name: (lambda step=step, data=data: step(data)) for name, step in steps.items()}
        times = compare(calls | {"gnode.fit's whole update": whole_update(data)})
        ours = times["gnode"]
        rows += [{"batch": size, "step": name, "ms": time, "times gnode": time / ours} for name, time in times.items()]
    report("One training step: gnODE, N = 6, 3 x 100 hidden, T = 100", rows, "training_step")


if __name__ == "__main__":
    main()
