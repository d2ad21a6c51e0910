"""Times the fixed-point engine against minimising the speed by Adam, on the same network and the same starts.

    python benchmarks/fixed_points.py                    10,000 starts, N = 100, gnODE, 3 x 100 hidden units
    python benchmarks/fixed_points.py --starts 1000      a smaller job
    python benchmarks/fixed_points.py --run FOLDER       a network of yours, from the folder of its run

The network is trained on the variable-amplitude 3-bit flip-flop first (its time is not counted), so that
the starts are states of a network that computes. Adam minimises q = |F(h) - h|^2 / 2 over all starts at
once, with one learning rate for all, which halves every 1000 steps. The tolerance is q < 1e-12 for both,
that of the tool that the field uses; the tool stops after 5000 steps, and the table shows how far Adam is by
then. To compare times to the same tolerance Adam goes on until as many starts have reached it as gnode's
did, or until it has had `--patience` times as long. Points within 1e-3 of each other count once. Both are
compiled beforehand.
"""

import argparse
import dataclasses
import time
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from timing import report

import gnode
from gnode.analysis import fixed_points, system
from gnode.analysis.duplicates import merge

TARGET_Q = 1e-12
TARGET_RESIDUAL = float(np.sqrt(2 * TARGET_Q))
SAME_POINT = 1e-3
TOOL_STEPS = 5000
STEPS_AT_ONCE = 100
LONGEST_SECONDS = 60.0
SMALLEST_RATIO = 10.0


@dataclasses.dataclass
class Descent:
    """How far Adam is: its points, steps and seconds, and how many starts have reached the tolerance."""

    points: np.ndarray
    steps: int
    seconds: float
    reached: int


def main() -> None:
    options = _options()
    net, states, dt = _trained(options) if options.run is None else _loaded(options.run)
    chosen = np.random.default_rng(options.seed).permutation(len(states))[: options.starts]
    starts = states[chosen]
    print(f"{len(starts)} starts, N = {net.cell.state_size}, {jax.devices()[0].device_kind}", flush=True)
    few = starts[: min(len(starts), 500)]
    fixed_points(net, few, dt=dt)
    half_seconds, _ = _timed(lambda: fixed_points(net, starts[: len(starts) // 2], dt=dt))
    seconds, found = _timed(lambda: fixed_points(net, starts, dt=dt))
    exact = found.select(status="equilibrium")
    reached = int(np.sum(found.outcomes == "equilibrium"))
    default, last = _adam(net, starts, reached, options.patience * seconds, options.adam_lr)
    counts = [_count(exact.points, exact.residual)] + [_count_of(net, one) for one in (default, last)]
    names = ("gnode, eigenvalues included", f"Adam, {default.steps} steps", "Adam, goes on")
    times = (seconds, default.seconds, last.seconds)
    steps = (float(found.iterations.mean()), float(default.steps), float(last.steps))
    rows = [
        {
            "search": name,
            "seconds": took,
            "times gnode": took / seconds,
            "steps": made,
            "starts at the tolerance": at,
            "points": points,
        }
        for name, took, made, at, points in zip(names, times, steps, (reached, default.reached, last.reached), counts)
    ]
    report(f"Fixed points of a gnODE: {len(starts)} starts, N = {net.cell.state_size}, q < 1e-12", rows, "fixed_points")
    print(f"Adam's {default.steps} steps alone take {default.seconds / seconds:.1f} times as long")
    _verdict(seconds, half_seconds, last, reached, counts)


def _verdict(seconds: float, half_seconds: float, last: Descent, reached: int, counts: list[int]) -> None:
    ratio = last.seconds / seconds
    at_least = "" if last.reached >= reached else "more than "
    print(f"time to the same tolerance: Adam takes {at_least}{ratio:.1f} times as long")
    print(f"half of the starts took {half_seconds:.1f} s ({half_seconds / seconds:.0%})")
    verdicts = {
        f"at most {LONGEST_SECONDS:g} s": seconds <= LONGEST_SECONDS,
        f"at least {SMALLEST_RATIO:g} times faster to the same tolerance on as many starts": ratio >= SMALLEST_RATIO,
        "at least as many points": counts[0] >= max(counts[1:]),
    }
    print("; ".join(f"{name}: {'yes' if holds else 'NO'}" for name, holds in verdicts.items()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=10_000)
    parser.add_argument("--state", type=int, default=100, help="N")
    parser.add_argument("--epochs", type=int, default=60, help="of the training beforehand")
    parser.add_argument("--patience", type=float, default=12.0, help="how many times as long Adam may take")
    parser.add_argument("--adam-lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run", help="the folder of a trained network")
    return parser.parse_args()


def _trained(options: argparse.Namespace) -> tuple[gnode.Network, np.ndarray, float]:
    task = gnode.tasks.flip_flop("variable", key=0)
    cell = gnode.cells.gnode(task.inputs, options.state, widths=(100, 100, 100), tau=0.01, key=0)
    net = gnode.Network(cell, outputs=task.outputs, initial="random", key=1)
    run = gnode.fit(net, task, epochs=options.epochs, lr=1e-3, weight_decay=1e-3, batch_size=50)
    print(f"trained for {options.epochs} epochs, validation loss {run.best_loss:.4f}")
    return run.net, _flat(run.states), run.dt


def _loaded(folder: str) -> tuple[gnode.Network, np.ndarray, float]:
    run = gnode.load(folder)
    return run.net, _flat(run.states), run.dt


def _flat(states: Any) -> np.ndarray:
    return np.asarray(states).reshape(-1, np.shape(states)[-1])


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the whole call, compilation included: that is what a user waits for."""
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def _count(points: np.ndarray, residuals: np.ndarray) -> int:
    """Different points that meet the tolerance."""
    good = residuals <= TARGET_RESIDUAL
    if not good.any():
        return 0
    return len(merge(np.asarray(points, float)[good], residuals[good], SAME_POINT)[0])


def _count_of(net: gnode.Network, descent: Descent) -> int:
    of = system(net)
    residuals = np.asarray(jax.vmap(of.residual)(jnp.asarray(descent.points)))
    return _count(descent.points, np.linalg.norm(residuals, axis=1))


def _adam(net: gnode.Network, starts: np.ndarray, enough: int, longest: float, lr: float) -> tuple[Descent, Descent]:
    """Minimises q of all starts at once: how far it is after the tool's number of steps, and at the end."""
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
    jax.block_until_ready(many_steps(points, state))  # compiled before the clock starts
    begin, now, default = time.perf_counter(), Descent(starts, 0, 0.0, 0), None
    while now.steps < TOOL_STEPS or (now.reached < enough and now.seconds < longest):
        points, state, values = many_steps(points, state)
        reached = int(np.sum(np.asarray(values) <= TARGET_Q))
        now = Descent(np.asarray(points), now.steps + STEPS_AT_ONCE, time.perf_counter() - begin, reached)
        default = now if now.steps <= TOOL_STEPS else default
    assert default is not None
    return default, now


if __name__ == "__main__":
    main()
