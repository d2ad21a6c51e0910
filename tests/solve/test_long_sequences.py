"""Long sequences fit into memory: the backward pass keeps little besides the states."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from gnode import build
from gnode.solve import Solver, rollout_batch

TRIALS, STATE = 16, 32


def bytes_needed(model: str, bins: int) -> int:
    """The memory of a gradient with checkpointing, according to the compiler."""
    cell = build(model, 3, 3, state=STATE, tau=0.01, key=0).cell
    values, structure = eqx.partition(cell, eqx.is_inexact_array)

    def loss(values, xs):
        h0, dt = jnp.zeros((TRIALS, cell.state_size)), jnp.full((TRIALS, bins), 0.01)
        cell_again = eqx.combine(values, structure)
        return jnp.mean(rollout_batch(cell_again, xs, h0, dt, Solver("euler", memory="checkpoint")) ** 2)

    compiled = jax.jit(jax.grad(loss)).lower(values, jnp.zeros((TRIALS, bins, 3))).compile()
    found = compiled.memory_analysis()
    return found.temp_size_in_bytes + found.argument_size_in_bytes + found.output_size_in_bytes


@pytest.mark.parametrize("model", ["gnode", pytest.param("gru", marks=pytest.mark.slow)])
def test_twenty_thousand_bins_in_less_than_two_gibibytes(model):
    assert bytes_needed(model, 20_000) < 2 * 2**30


def test_memory_beyond_states_and_inputs_grows_slower_than_time():
    """Sixteen times the bins need less than eight times the memory, not counting states, their cotangents and inputs."""

    def detail(bins):
        per_bin = TRIALS * (2 * STATE + 3 + 1) * 4  # states and their cotangents, inputs, lengths of bins
        return bytes_needed("gnode", bins) - bins * per_bin

    assert detail(16_000) < 8 * max(detail(1_000), 1)
