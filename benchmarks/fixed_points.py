"""Times the fixed-point engine against minimising the speed by Adam, on the same network and the same starts.

    python benchmarks/fixed_points.py                    10,000 starts, N = 100, gnODE, 3 x 100 hidden units
    python benchmarks/fixed_points.py --starts 1000      a smaller job
    python benchmarks/fixed_points.py --run FOLDER       a trained network, from its run folder

The network is first trained on the variable-amplitude 3-bit flip-flop, which is not timed, so that the starts are states of
a network that solves a task. Adam minimises q = |F(h) - h|^2 / 2 over all starts at once, in float32, with a learning rate
that halves every 1000 steps. It stops when every start has q < 1e-12, or after 5000 steps, which are common defaults in
the field. gnode uses its own defaults, whose tolerance is lower, and also computes eigenvalues. For both, a start counts if
it has q < 1e-12, and points within 1e-3 of each other count once. Both are compiled and run once before they are timed.
gnode's time is the median of runs before and after Adam's.
"""

import argparse
import dataclasses
import time
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from timing import report

import gnode
from gnode.analysis import fixed_points, system
from gnode.analysis._fixed_points.merging import merge
from gnode.train import RunSpec, train_spec

TARGET_Q = 1e-12
TARGET_RESIDUAL = float(np.sqrt(2 * TARGET_Q))
SAME_POINT = 1e-3
MOST_STEPS = 5000
STEPS_AT_ONCE = 100
LONGEST_SECONDS = 60.0
SMALLEST_RATIO = 10.0


@dataclasses.dataclass
class Search:
    """The result of a search: seconds, mean number of steps, starts within the tolerance, distinct points."""

    seconds: float
    steps: float
    reached: int
    points: int


def main() -> None:
    options = _options()
    net, states, dt = _trained(options) if options.run is None else _loaded(options.run)
    chosen = np.random.default_rng(options.seed).permutation(len(states))[: options.starts]
    starts = states[chosen]
    half = starts[: len(starts) // 2]
    print(f"{len(starts)} starts, N = {net.cell.state_size}, {jax.devices()[0].device_kind}", flush=True)
    _gnode(net, starts, dt)  # compiles
    before = [(_gnode(net, starts, dt), _gnode(net, half, dt)) for _ in range(2)]
    adam = _adam(net, starts, options.adam_lr)
    runs = [*before, (_gnode(net, starts, dt), _gnode(net, half, dt))]
    ours, ours_of_half = (sorted(searches, key=lambda search: search.seconds)[1] for searches in zip(*runs))
    named = {
        "gnode, eigenvalues included": ours,
        f"Adam, {adam.steps:.0f} steps": adam,
        "gnode, half of the starts": ours_of_half,
    }
    rows = [
        {
            "search": name,
            "seconds": search.seconds,
            "times gnode": search.seconds / ours.seconds,
            "steps": search.steps,
            "starts at the tolerance": search.reached,
            "points": search.points,
        }
        for name, search in named.items()
    ]
    report(f"Fixed points of a gnODE: {len(starts)} starts, N = {net.cell.state_size}, q < 1e-12", rows, "fixed_points")
    print(f"seconds of gnode's runs: {', '.join(f'{full.seconds:.2f} ({part.seconds:.2f})' for full, part in runs)}")
    verdicts = {
        f"at most {LONGEST_SECONDS:g} s": ours.seconds <= LONGEST_SECONDS,
        f"at least {SMALLEST_RATIO:g} times faster than Adam": adam.seconds >= SMALLEST_RATIO * ours.seconds,
        "at least as many points": ours.points >= adam.points,
        "at least as many starts": ours.reached >= adam.reached,
    }
    print("; ".join(f"{name}: {'yes' if holds else 'NO'}" for name, holds in verdicts.items()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=10_000)
    parser.add_argument("--state", type=int, default=100, help="number of units N")
    parser.add_argument("--epochs", type=int, default=60, help="epochs of the training")
    parser.add_argument("--adam-lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run", help="run folder of a trained network")
    return parser.parse_args()


def _trained(options: argparse.Namespace) -> tuple[gnode.Network, np.ndarray, float]:
    settings = {"state": options.state, "epochs": options.epochs, "lr": 1e-3, "weight_decay": 1e-3, "batch_size": 50}
    run = train_spec(RunSpec.of("flipflop-variable", settings))
    print(f"trained for {options.epochs} epochs, validation loss {run.best_loss:.4f}")
    return run.net, _flat(run.states), run.dt


def _loaded(folder: str) -> tuple[gnode.Network, np.ndarray, float]:
    run = gnode.load(folder)
    return run.net, _flat(run.states), run.dt


def _flat(states: Any) -> np.ndarray:
    return np.asarray(states).reshape(-1, np.shape(states)[-1])


def _gnode(net: gnode.Network, starts: np.ndarray, dt: float) -> Search:
    begin = time.perf_counter()
    found = fixed_points(net, starts, dt=dt)
    seconds = time.perf_counter() - begin
    exact = found.select(status="equilibrium")
    reached = int(np.sum(found.outcomes == "equilibrium"))
    return Search(seconds, float(found.iterations.mean()), reached, _count(exact.points, exact.residual))


def _count(points: np.ndarray, residuals: np.ndarray) -> int:
    """Counts the distinct points within the tolerance."""
    good = residuals <= TARGET_RESIDUAL
    return len(merge(np.asarray(points, float)[good], residuals[good], SAME_POINT)[0])


def _adam(net: gnode.Network, starts: np.ndarray, lr: float) -> Search:
    """Minimises q of all starts at once."""
    of = system(net)
    optimiser = optax.adam(optax.exponential_decay(lr, 1000, 0.5))

    def q(h: jax.Array) -> jax.Array:
        return jnp.sum(of.residual(h) ** 2) / 2

    @eqx.filter_jit
    def many_steps(points: jax.Array, state: Any) -> tuple[jax.Array, Any, jax.Array]:
        def step(carried: tuple[jax.Array, Any], _: None) -> tuple[tuple[jax.Array, Any], None]:
            points, state = carried
            updates, state = optimiser.update(jax.vmap(jax.grad(q))(points), state)
            return (optax.apply_updates(points, updates), state), None  # pyright: ignore

        (points, state), _ = jax.lax.scan(step, (points, state), length=STEPS_AT_ONCE)
        return points, state, jax.vmap(q)(points)

    points = jnp.asarray(starts, dtype=jnp.float32)
    state = optimiser.init(points)
    jax.block_until_ready(many_steps(points, state))  # compiles
    begin, steps, values = time.perf_counter(), 0, np.full(len(starts), np.inf)
    while steps < MOST_STEPS and np.any(values > TARGET_Q):
        points, state, latest = many_steps(points, state)
        values, steps = np.asarray(latest), steps + STEPS_AT_ONCE
    seconds = time.perf_counter() - begin
    return Search(seconds, steps, int(np.sum(values <= TARGET_Q)), _count(np.asarray(points), np.sqrt(2 * values)))


if __name__ == "__main__":
    main()
