"""Evidence with a delay: an own task with new trials in every update, and an own cell of low rank.

python examples/evidence.py                                             # all of it from Python
gnode train examples/evidence.py:evidence --model examples/evidence.py:LowRank --set rank=2 --fresh update
"""

import equinox as eqx
import jax
import jax.numpy as jnp

import gnode


def evidence(key, dt=0.02, stimulus=25, delay=15):
    """One trial: noisy evidence, a delay, then a cue to say its sign. The answer counts in the last ten bins."""
    key_mean, key_noise = jax.random.split(key)
    mean = jax.random.choice(key_mean, jnp.array([-0.4, -0.2, -0.1, 0.1, 0.2, 0.4]))
    time = jnp.arange(stimulus + delay + 10)
    seen = (mean + 0.5 * jax.random.normal(key_noise, time.shape)) * (time < stimulus)
    answering = (time >= stimulus + delay).astype(float)
    return jnp.stack([seen, answering], 1), jnp.sign(mean) * answering[:, None], answering


class LowRank(gnode.cells.Cell):
    """tau dh/dt = -h + m n^T tanh(h) / N + U x, with vectors m and n of rank R; U is not trained."""

    m: jax.Array
    n: jax.Array
    U: jax.Array = gnode.untrained()
    tau: float = eqx.field(static=True)
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def __init__(self, inputs, state, *, rank=1, tau=0.1, key):
        key_m, key_n, key_U = jax.random.split(key, 3)
        self.m, self.n = jax.random.normal(key_m, (state, rank)), jax.random.normal(key_n, (state, rank))
        self.U, self.tau, self.inputs, self.units = jax.random.normal(key_U, (state, inputs)), tau, inputs, state

    def vector_field(self, h, x):
        return (-h + self.m @ (self.n.T @ jnp.tanh(h)) / self.units + self.U @ x) / self.tau


def stop_when_good(moment):
    """A callback: is told of every epoch, and may end the run."""
    if moment.best_loss < 0.2:
        moment.stop("the validation loss is below 0.2")


if __name__ == "__main__":  # killed at any moment, it goes on where it was when it is run again
    how = {"state": 64, "tau": 0.1, "fresh": "update", "state_noise": 0.01, "epochs": 60}
    how |= {"lr": 5e-3, "lr_schedule": "cosine", "clip": 1.0}
    spec = gnode.train.RunSpec.of(f"{__file__}:evidence", {"model": f"{__file__}:LowRank", **how})
    run = gnode.train.train_or_resume(spec, "runs/evidence", callbacks=[stop_when_good])
    print(run.summary())
    gnode.write_report(gnode.load("runs/evidence", trust=True))
    grid = {"model": LowRank, "rank": [1, 2], "seed": [0, 1], **how}
    for engine in ("threads", "one_program"):
        done = gnode.sweeps.sweep_or_resume(evidence, f"runs/evidence-{engine}", engine=engine, **grid)
        print(done.markdown(by="rank"))
