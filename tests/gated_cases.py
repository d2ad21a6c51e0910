"""Random cells of the gated family, and the plain loop with which faster implementations are compared."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gnode import cells
from gnode._activation_functions import SLOPES


def plain_loop(cell, xs, h0, dt):
    """The reference: the cell's vector field in a `lax.scan`, differentiated by JAX."""
    field = jax.vmap(cell.vector_field)

    def step(h, bin):
        x, length = bin
        h = h + length[:, None] * field(h, x)
        return h, h

    return jnp.swapaxes(jax.lax.scan(step, h0, (jnp.swapaxes(xs, 0, 1), dt.T))[1], 0, 1)


def random_case(seed, dtype=float):
    """A cell of the gated family of random size, depth and options, with a batch for it."""
    rng = np.random.default_rng(seed)
    inputs, state, trials, time = (int(rng.integers(1, most)) for most in (4, 6, 5, 13))
    depth, gate_depth = int(rng.integers(0, 4)), int(rng.integers(0, 3))
    cell = cells.gated(
        inputs,
        state,
        widths=tuple(int(width) for width in rng.integers(1, 9, depth)),
        gate_widths=tuple(int(width) for width in rng.integers(1, 9, gate_depth)),
        gate=bool(rng.integers(2)),
        leak=bool(rng.integers(4)),
        hidden=str(rng.choice(sorted(SLOPES))),
        final=str(rng.choice(sorted(SLOPES))),
        learn_tau=str(rng.choice(["no", "shared", "per_unit"])),
        tau=float(rng.uniform(0.3, 2)),
        bias_std=0.3,
        key=seed,
    )
    xs, h0 = rng.normal(size=(trials, time, inputs)), rng.normal(size=(trials, state))
    dt = rng.uniform(0.05, 0.3, (trials, time))
    return cell, *(jnp.asarray(part, dtype) for part in (xs, h0, dt))


def states_and_gradients(run, case):
    """The states and the gradient of a loss of them, computed by one compiled program."""

    def loss(case):
        states = run(*case)
        return jnp.sum(jnp.sin(states + jnp.arange(case[2].shape[-1]))), states

    gradient, states = eqx.filter_jit(eqx.filter_grad(loss, has_aux=True))(case)
    return states, gradient


def gradients(run, case):
    return states_and_gradients(run, case)[1]


def assert_close(ours, theirs, tolerance):
    pairs = list(zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True))
    assert len(pairs) >= 6
    for mine, reference in pairs:
        assert mine.shape == reference.shape
        assert float(jnp.linalg.norm(mine - reference)) <= tolerance * (1e-3 + float(jnp.linalg.norm(reference)))


def kernels_for_a_gpu(euler, cell, xs, h0, dt, *options):
    """Counts the kernels of the gradient through `euler` in code that is lowered for a GPU, which needs no GPU."""
    values, structure = eqx.partition(cell, eqx.is_inexact_array)

    def loss(values, xs, h0, dt):
        time_first = jnp.swapaxes(xs, 0, 1), dt.T
        return jnp.sum(euler(eqx.combine(values, structure), h0, *time_first, *options))

    # Newer versions of jax want to know which GPU, where there is none.
    device = jax.sharding.AbstractDevice(device_kind="NVIDIA H200", num_cores=None, platform="gpu")
    with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((1,), ("x",), abstract_device=device)):
        text = jax.jit(jax.grad(loss)).trace(values, xs, h0, dt).lower(lowering_platforms=("cuda",)).as_text()
    return text.count("__gpu$xla.gpu.triton")
