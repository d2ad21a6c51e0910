"""One test over every cell: shapes, finite gradients, vmap, jit, serialisation, and an equation that obeys tau."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gnode import cells
from gnode.errors import ArgumentError
from gnode.train import serialisation

SMALL = {
    **{name: {} for name in cells.CELLS},
    "gnode": {"widths": (7, 8), "gate_widths": (5,)},
    "node": {"widths": (7,)},
}
VARIANTS = [
    *((name, options) for name, options in SMALL.items()),
    ("gnode", {"widths": (7,), "hidden": "tanh", "final": "tanh", "activate_state": True, "leak": False}),
    ("lem", {"gate": False}),
    ("gru", {"learn_tau": "per_unit"}),
    ("mgru", {"learn_tau": "shared"}),
]


@pytest.fixture(params=VARIANTS, ids=lambda variant: variant[0] + "-" + "-".join(variant[1]))
def cell(request):
    name, options = request.param
    return cells.CELLS[name](3, 4, tau=0.2, key=jax.random.key(7), **options)


def test_interface(cell):
    h, x = jax.random.normal(jax.random.key(1), (cell.state_size,)), jnp.array([0.3, -0.2, 1.0])
    speed = cell.vector_field(h, x)
    assert speed.shape == (cell.state_size,)
    assert cell.visible(h).shape == (cell.units,)
    np.testing.assert_allclose(eqx.filter_jit(cell.vector_field)(h, x), speed, rtol=1e-5, atol=1e-6)
    many = jax.vmap(cell.vector_field, in_axes=(0, None))(jnp.stack([h, 2 * h]), x)
    np.testing.assert_allclose(many[0], speed, rtol=1e-5, atol=1e-5)
    gradient = eqx.filter_grad(lambda cell: jnp.sum(cell.vector_field(h, x) ** 2))(cell)
    leaves = jax.tree.leaves(gradient)
    assert leaves
    assert all(bool(jnp.all(jnp.isfinite(leaf))) for leaf in leaves)


def test_a_description_and_arrays_give_the_cell_back(cell):
    again = serialisation.from_arrays(
        serialisation.rebuild(serialisation.describe(cell)), serialisation.to_arrays(cell), "memory"
    )
    assert eqx.tree_equal(cell, again)


def test_speed_is_inverse_to_tau():
    for name, options in SMALL.items():
        slow, fast = (cells.CELLS[name](3, 4, tau=tau, key=0, **options) for tau in (0.5, 0.1))
        h, x = jnp.linspace(-1, 1, slow.state_size), jnp.ones(3)
        np.testing.assert_allclose(5 * slow.vector_field(h, x), fast.vector_field(h, x), rtol=1e-5)


@pytest.mark.parametrize("name", cells.CELLS)
@pytest.mark.parametrize("tau", [0.0, -1.0, float("nan")])
def test_bad_tau(name, tau):
    with pytest.raises(ArgumentError, match="tau is"):
        cells.CELLS[name](3, 4, tau=tau, key=0)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"inputs": 0}, "inputs is 0"),
        ({"state": 2.5}, "state is 2.5"),
        ({"hidden": "rleu"}, "Did you mean 'relu'"),
        ({"init": "glorot"}, "Did you mean 'glorot_"),
        ({"learn_tau": "yes"}, "learn_tau is 'yes'"),
        ({"widths": (0,)}, "widths is 0"),
        ({"key": None}, "key is missing"),
        ({"key": 1.5}, "key is 1.5"),
    ],
)
def test_bad_arguments_are_one_sentence(options, word):
    with pytest.raises(ArgumentError, match=word):
        cells.gated(**{"inputs": 2, "state": 3, "key": 0} | options)
