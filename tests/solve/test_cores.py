"""One network on two cores has the states and gradients of one core, in a process with two devices."""

import subprocess
import sys

import pytest

from gnode import errors, sweep, use_cores
from gnode.devices import available_cores, check_cores, cores_in_use
from gnode.solve import Solver

TWO_CORES = """
import gnode
gnode.use_cores(2)
import jax, jax.numpy as jnp, numpy as np
from gnode import cells
from gnode.solve import rollout_batch, Solver
assert jax.device_count() == 2
rng, given = np.random.default_rng(0), []
for cell, trials in ((cells.gnode(3, 6, widths=(6,), key=0), 7), (cells.gru(3, 6, key=0), 4)):
    shapes = (trials, 9, 3), (trials, 6)
    given.append((cell, *(jnp.asarray(rng.normal(size=shape), jnp.float32) for shape in shapes), jnp.full((trials, 9), 0.3)))
def loss(given, solver):
    return sum(jnp.sum(jnp.sin(rollout_batch(*case, solver, gradient_only=True))) for case in given)
def gradients(given):
    return [jax.value_and_grad(loss)(given, Solver(cores=n)) for n in (1, 2)]
one, two = jax.jit(gradients)(given)
for ours, theirs in zip(jax.tree.leaves(two), jax.tree.leaves(one), strict=True):
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)
task = gnode.tasks.make("flipflop-fixed", bits=2, trials=20, validation=10, bins=20)
curves = []
for cores in (1, 2):
    net = gnode.build("gnode", task.inputs, task.outputs, state=2, widths=(16,), tau=0.01, solver={"cores": cores}, key=0)
    curves.append(gnode.fit(net, task, epochs=2, batch_size=10, key=0, progress=False).curves["validation"])
np.testing.assert_allclose(curves[0], curves[1], rtol=1e-4)
print("same")
"""


def test_two_cores_compute_what_one_does():
    ended = subprocess.run([sys.executable, "-c", TWO_CORES], capture_output=True, text=True, timeout=300)
    assert ended.stdout.strip() == "same", ended.stderr[-2000:]


def test_cores_that_jax_was_not_given_are_refused_in_training_and_not_needed_after_it():
    with pytest.raises(errors.ArgumentError, match=r"call gnode.use_cores\(64\) first"):
        check_cores(64)
    assert cores_in_use(64) == 1
    with pytest.raises(errors.ArgumentError, match="before any array is made"):
        use_cores(64)


def test_the_number_of_cores_is_a_whole_number():
    assert available_cores() >= 1
    with pytest.raises(errors.ArgumentError, match="cores"):
        Solver(cores=0)


def test_a_sweep_needs_no_such_setting(tmp_path):
    with pytest.raises(errors.ArgumentError, match="leave cores out"):
        sweep("flipflop-fixed", tmp_path / "sweep", cores=2, epochs=1)
    assert not (tmp_path / "sweep").exists()
