"""One recording of 100,000 bins, and a network of eight units trained on it from its first bin to its last, not in pieces.

python examples/long_recording.py                           # on a GPU, in minutes
python examples/long_recording.py --bins 1000 --updates 5   # anywhere, to see that it runs

The recording is made up, but of the kind that is cut into pieces for want of a way to train on the whole. Three channels
have rare events. The first sets a slow trace, with a memory of 2,000 bins; the second charges a fast one, of 50; and the
slow trace decides with which sign the fast one is read out. No piece of a few hundred bins shows what decides.
"""

import argparse
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import gnode
from gnode import files, provenance

SLOW, FAST = 2000, 50
RATES = (1 / 1000, 1 / 60, 1 / 60)
"""Events per bin of each channel; the third one has no effect."""


def recording(bins, seed):
    """Inputs (events of either sign) and targets (the slow trace, and the fast one with its sign) of one recording."""
    rng = np.random.default_rng(seed)
    events = (rng.random((bins, 3)) < RATES) * rng.choice([-1.0, 1.0], (bins, 3))
    slow, fast, targets = 0.0, 0.0, np.empty((bins, 2))
    for t, (first, second, _) in enumerate(events):
        slow = first if first else slow * (1 - 1 / SLOW)
        fast += second - fast / FAST
        targets[t] = slow, np.tanh(4 * slow) * fast
    return events, targets


def task_of(bins):
    """One recording to train on, and another one to validate."""
    events, targets = (np.stack(both) for both in zip(recording(bins, 0), recording(bins, 1)))
    return gnode.tasks.arrays(events, targets, dt=1.0, split=["train", "validation"], name="long recording")


def network(task, way):
    """A gated neural ODE whose units begin with time constants from 10 to 3,000 bins."""
    taus = np.geomspace(10, 3000, 8).tolist()
    cell = gnode.cells.gnode(task.inputs, 8, widths=(64, 64), tau=taus, learn_tau="per_unit", key=0)
    return gnode.Network(cell, outputs=task.outputs, time=way, key=1)


def train(way, task, updates, **how):
    """Trains with an update for each pass over the recording; returns the run and the times at which each was done."""
    done = []
    how |= {"lr": 3e-3, "lr_schedule": "cosine", "clip": 1.0, "batch_size": 1}

    def note(moment):
        done.append(time.monotonic())
        if len(done) in (1, 2) or len(done) % 100 == 0:
            print(
                f"{way}: update {len(done)} after {done[-1] - began:.0f} s, validation MSE {moment.best_loss:.3g}",
                flush=True,
            )

    began = time.monotonic()
    return gnode.fit(network(task, way), task, epochs=updates, callbacks=[note], progress=False, **how), done


def outputs_of(run):
    """What the best network says in every bin of the validation recording."""
    return np.asarray(run.net.run(run.task.validation.inputs, dt=run.dt).outputs[0])


def picture(run, task, out, shown=4000):
    """The last bins of the validation recording and what the network says of them."""
    targets, said = task.validation.targets[0, -shown:], outputs_of(run)[-shown:]
    figure, axes = plt.subplots(2, 1, figsize=(8, 4), sharex=True, layout="constrained")
    for axis, name, target, output in zip(axes, ("slow trace", "fast trace with its sign"), targets.T, said.T):
        axis.plot(target, color="0.7", lw=3, label="target")
        axis.plot(output, color="C0", lw=1, label="network")
        axis.set_ylabel(name)
    axes[0].legend(loc="upper right", frameon=False)
    axes[1].set_xlabel(f"bin (the last {len(targets)})")
    figure.savefig(out, dpi=150)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--bins", type=int, default=100_000)
    options.add_argument("--updates", type=int, default=2000)
    options.add_argument("--out", type=Path, default=Path("runs/long-recording"))
    given = options.parse_args()
    task = task_of(given.bins)
    began = time.monotonic()
    run, done = train("parallel", task, given.updates)
    seconds = time.monotonic() - began
    _, by_loop = train("loop", task, 4)
    given.out.mkdir(parents=True, exist_ok=True)
    picture(run, task, given.out / "long-recording.png")
    found = {"bins": given.bins, "updates": given.updates, "seconds": seconds, "best_loss": run.best_loss}
    targets = task.validation.targets[0]
    errors = np.mean((outputs_of(run) - targets) ** 2, axis=0)
    found |= {"variances": np.var(targets, axis=0).tolist(), "errors": errors.tolist()}
    found |= {"update_seconds": float(np.median(np.diff(done))), "loop_seconds": float(np.median(np.diff(by_loop)))}
    found |= {"by_loop": int(np.sum(run.curves["by_loop"])), "rounds": float(np.median(run.curves["rounds"]))}
    files.write_json(given.out / "long-recording.json", found | provenance.environment())
    print(found)


if __name__ == "__main__":
    main()
