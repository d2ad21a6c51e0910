"""One training step (gnODE, N = 6, three hidden layers of 100, T = 100) by gnode's Euler path and by diffrax's Euler.

    python benchmarks/training_step.py

Each row is measured in one run, the rivals in turn. diffrax is used as its documentation does: `diffeqsolve` with
`Euler`, a constant step, states saved at the end of every bin, the input held, the batch by `vmap`.
"""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from timing import compare, report

from gnode import build
from gnode.train import Settings, parameters, program
from gnode.train.loss import Batch, losses

BINS, INPUTS, DT = 100, 3, 0.01
ADJOINTS = {
    "recursive checkpointing": diffrax.RecursiveCheckpointAdjoint,
    "direct adjoint": diffrax.DirectAdjoint,
}


def make_batch(size: int) -> Batch:
    keys = jax.random.split(jax.random.key(1))
    shape = (size, BINS)
    return Batch(
        inputs=jax.random.normal(keys[0], (*shape, INPUTS)),
        targets=jax.random.normal(keys[1], (*shape, INPUTS)),
        dt=jnp.full(shape, DT),
        mask=jnp.ones(shape),
        lengths=jnp.full(size, BINS),
        weight=jnp.ones(size),
    )


def gnode_loss(net, batch):
    return losses(net, batch, "mse", "every").loss


def diffrax_loss(adjoint):
    def one_trial(net, xs):
        def field(t, h, args):
            bin = jnp.clip(jnp.floor(t / DT + 1e-3).astype(int), 0, BINS - 1)
            return net.cell.vector_field(h, xs[bin])

        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Euler(),
            t0=0.0,
            t1=BINS * DT,
            dt0=DT,
            y0=net.initial(xs[0]),
            saveat=diffrax.SaveAt(ts=jnp.arange(1, BINS + 1) * DT),
            adjoint=adjoint(),
            max_steps=BINS + 1,
        )
        return net.read(solution.ys)

    def loss(net, batch):
        outputs = jax.vmap(one_trial, in_axes=(None, 0))(net, batch.inputs)
        return jnp.mean((outputs - batch.targets) ** 2)

    return loss


def training_step(loss):
    """A step of AdamW; the optimiser is the same for all rivals."""
    optimiser = optax.adamw(1e-3, weight_decay=1e-3)

    @jax.jit
    def step(params, state, batch):
        value, gradient = jax.value_and_grad(lambda params: loss(eqx.combine(params, FROZEN), batch))(params)
        updates, state = optimiser.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, value

    state = optimiser.init(PARAMS)
    return lambda batch: step(PARAMS, state, batch)


PARAMS, FROZEN = parameters.split(build("gnode", INPUTS, INPUTS, state=6, tau=DT, key=0))


def gnode_program(batch: Batch):
    """The update that `gnode.fit` really makes: with clipping, penalties, the watch for divergence."""
    plan = program.Plan(batch.inputs.shape[0], True, "epoch", "scaled", "mse", "every")
    update = eqx.filter_jit(program._update)
    state, hyper = program.start(PARAMS), program.hyper_of(Settings())
    return lambda: update(state, hyper, batch, FROZEN, plan)


def main() -> None:
    rows = []
    steps = {"gnode": training_step(gnode_loss)}
    steps |= {f"diffrax, {name}": training_step(diffrax_loss(adjoint)) for name, adjoint in ADJOINTS.items()}
    for size in (10, 100):
        batch = make_batch(size)
        values = [float(step(batch)[2]) for step in steps.values()]
        assert max(values) - min(values) < 1e-4, f"the rivals compute different losses: {values}"
        calls = {name: (lambda step=step, batch=batch: step(batch)) for name, step in steps.items()}
        times = compare(calls | {"gnode.fit's whole update": gnode_program(batch)})
        ours = times["gnode"]
        rows += [{"batch": size, "step": name, "ms": time, "times gnode": time / ours} for name, time in times.items()]
    report("One training step: gnODE, N = 6, 3 x 100 hidden, T = 100", rows, "training_step")


if __name__ == "__main__":
    main()
