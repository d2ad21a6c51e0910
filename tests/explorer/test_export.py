"""Programs compute what the network computes: every cell and option at 100 states, by an interpreter without jax."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from interpreter import OPERATIONS, evaluate
from variants import DT, NOTES, REFUSED, SHOWN, STATES, VARIANTS, drawn, reference

from gnode import cells, programs
from gnode.analysis import system
from gnode.errors import ArgumentError
from gnode.explorer._document import Subject, network_document
from gnode.explorer._functions import exported
from gnode.network import Network
from gnode.precision import double, to_dtype
from gnode.solve import Solver

TOLERANCE = 1e-12


@pytest.mark.parametrize(("name", "options", "of_network"), VARIANTS, ids=lambda value: str(value)[:60])
def test_programs_compute_what_the_network_computes(name, options, of_network):
    net = drawn(name, options, of_network)
    found = exported(net, net.solver)
    assert [note[: len(NOTES.get(name, note))] for note in found.notes] == ([NOTES[name]] if name in NOTES else [])
    generator = np.random.default_rng(1)
    hs, xs = generator.normal(size=(STATES, net.cell.state_size)), generator.normal(size=(STATES, 2))
    with double():
        expected = reference(to_dtype(net, jnp.float64), "gate" in found.programs)(jnp.asarray(hs), jnp.asarray(xs))
    for function, values in expected.items():
        given = {"readout": lambda h, x: (h,), "initial": lambda h, x: (x,)}.get(function, lambda h, x: (h, x))
        more = (DT,) if "step" in function else ()
        got = [evaluate(found.programs[function], found.arrays, *given(h, x), *more)[0] for h, x in zip(hs, xs)]
        np.testing.assert_allclose(np.stack(got), values, rtol=TOLERANCE, atol=TOLERANCE, err_msg=function)
    for function in {"field", "field_open_gate"} & found.programs.keys():
        many = found.programs[f"{function}_batch"]
        count = many["inputs"][0][0]
        batch = evaluate(many, found.arrays, hs[:count], xs[0])[0]
        single = [evaluate(found.programs[function], found.arrays, h, xs[0])[0] for h in hs[:count]]
        np.testing.assert_allclose(batch, np.stack(single), rtol=TOLERANCE, atol=TOLERANCE)
    for h, x in zip(hs[:10], xs) if "step" in expected else ():
        got = evaluate(found.programs["jacobian_step"], found.arrays, h, x, DT)[0]
        np.testing.assert_allclose(got, _differences(found, h, x), rtol=1e-7, atol=1e-7)
    if "gate" in found.programs and net.solver.method == "euler":
        open_step = evaluate(found.programs["step_open_gate"], found.arrays, hs[0], xs[0], DT)[0]
        euler = hs[0] + DT * np.asarray(expected["field_open_gate"])[0]
        np.testing.assert_allclose(open_step, euler, rtol=TOLERANCE)
    others = {name for name in found.programs if name.endswith("_batch") or name in ("jacobian_step", "step_open_gate")}
    assert expected.keys() | others == found.programs.keys()


def _differences(found, h, x, width=1e-6):
    """The Jacobian of the map by central differences."""
    columns = []
    for direction in np.eye(len(h)):
        ends = [
            evaluate(found.programs["step"], found.arrays, h + way * width * direction, x, DT)[0] for way in (1, -1)
        ]
        columns.append((ends[0] - ends[1]) / (2 * width))
    return np.stack(columns, axis=1)


def test_the_gate_is_exported_where_there_is_one():
    gated = {"mgru", "gru", "gru_ode", "gated_ncde", "gated_nsde", "gnode"}
    for name in SHOWN:
        net = drawn(name, {}, {})
        assert ("gate" in exported(net, net.solver).programs) == (name in gated), name


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_cells_that_the_page_does_not_show_are_refused_in_a_sentence(name):
    net = drawn(name, {}, {})
    with pytest.raises(ArgumentError, match=r"^the .* of \w+ cannot be shown in the explorer: ") as said:
        exported(net, net.solver)
    assert str(said.value).endswith(
        "which the page does not know." if net.cell.is_flow else "see the figures of its report (gnode analyse)."
    )
    assert "\n" not in str(said.value)


class Passing(cells.Cell):
    """A flow whose readout sees h + x."""

    inputs: int = 2
    units: int = 2

    def vector_field(self, h, x):
        return -h

    def seen(self, h, x):
        return h + x


def test_a_readout_that_sees_the_input_is_left_out_with_a_sentence():
    net = Network(Passing(), 1, key=0)
    found = exported(net, net.solver)
    assert "readout" not in found.programs
    assert found.notes == [
        "The readout of Passing sees the input beside the state, which the page does not know, so it shows no outputs."
    ]
    stacked = Network(cells.layers("gru", 2, 3, count=2, key=0), 1, key=0)
    assert "readout" in exported(stacked, stacked.solver).programs


def test_layers_and_relatives_are_called_by_their_names():
    words = {
        "HBNODE": cells.hbnode(1, 2, key=0),
        "GHBNODE": cells.ghbnode(1, 2, key=0),
        "NSDE": cells.nsde(1, 2, widths=(4,), key=0),
        "gated NSDE": cells.gated_nsde(1, 2, widths=(4,), key=0),
        "2 layers of GRU": cells.layers("gru", 1, 2, count=2, key=0),
    }
    assert [Subject(cell, "", DT, Solver()).words[0] for cell in words.values()] == list(words)


def test_trials_are_not_played_where_changes_of_the_input_move_the_state():
    trials = {name: np.zeros((1, 5, 1)) for name in ("inputs", "targets", "outputs")} | {"lengths": np.array([5])}
    for name in ("ncde", "node"):
        net = Network(cells.CELLS[name](1, 2, widths=(4,), key=0), 1, key=0)
        document = network_document(Subject(net, name, DT, net.solver, trials=trials))
        assert (document["trials"] is None) == ("without_trials" in document) == (name == "ncde")


def test_two_networks_of_one_kind_share_their_programs():
    """So that a film of training differs in its weights alone."""
    one, other = (Network(cells.gnode(2, 3, widths=(5,), key=key), 2, key=key) for key in (0, 1))
    first, second = exported(one, one.solver), exported(other, other.solver)
    assert first.programs == second.programs
    assert first.arrays.keys() == second.arrays.keys()
    assert set(first.programs["field"]["constants"]) <= {f"cell.{part}" for part in _parts()}


def _parts():
    stack = [f"{name}.{rest}" for name in "FG" for rest in ("W.0", "W.1", "U", "b.0", "b.1")]
    return [*stack, "timescale.tau"]


def test_a_solver_without_fixed_steps_is_named():
    net = drawn("rnn", {}, {"method": "tsit5"})
    found = exported(net, net.solver)
    assert "step" not in found.programs
    assert "tsit5 chooses its own steps" in found.notes[0]


A = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
ORDER = np.array([2, 0, 3, 1])


def scanned(h, x):
    def turn(carry, row):
        return jnp.tanh(carry + row), carry.sum()

    return jax.lax.scan(turn, h, A, reverse=True)[0]


FUNCTIONS = {
    "indexing": lambda h, x: h[ORDER] + h[::-1] - h[-1] + jnp.roll(h, 1) + h.at[ORDER[:2]].set(0.5 * h[:2]),
    "repeated places": lambda h, x: h.at[np.array([1, 1, 3])].add(h[:3]) + jnp.pad(h[1:3], 1),
    "dynamic slices": lambda h, x: jax.lax.dynamic_update_slice(h, jax.lax.dynamic_slice(h, (1,), (2,)), (2,)),
    "reductions": lambda h, x: h * jnp.max(h) - jnp.min(h) + jnp.prod(h) + jnp.mean(h) + jnp.linalg.norm(h),
    "running": lambda h, x: jnp.cumsum(h) + jnp.cumprod(h) + jax.lax.cummax(h, reverse=True) - jax.lax.cummin(h),
    "softmax": lambda h, x: jax.nn.softmax(h) + jax.nn.logsumexp(h) - jax.nn.relu6(h),
    "selection": lambda h, x: jnp.where(h > 0.2, jnp.where(jnp.isfinite(h), h, -1.0), jnp.clip(h, -0.5, 0.3) ** 3),
    "logic": lambda h, x: ((h > 0) & ~(h > 1) | (h < -1) ^ (h == 0)).astype(h.dtype) + jnp.any(h > 2) + jnp.all(h < 3),
    "powers": lambda h, x: jnp.abs(h) ** 1.7 + h**-2 + jnp.exp2(h) + jnp.cbrt(h) + jax.lax.rsqrt(1 + h * h),
    "rounding": lambda h, x: jnp.floor(3 * h) + jnp.ceil(h) + jnp.round(5 * h) + (4 * h).astype(int) + jnp.fmod(h, 0.3),
    "angles": lambda h, x: jnp.arctan2(h, 0.3 + h) + jnp.arcsin(jnp.tanh(h)) + jnp.sinh(h) + jnp.arccosh(1 + h * h),
    "more angles": lambda h, x: jnp.tan(h) + jnp.arccos(jnp.sin(h)) + jnp.arctan(h) + jnp.arcsinh(h) + jnp.cosh(h),
    "error function": lambda h, x: jax.scipy.special.erfc(h) + jax.nn.gelu(h, approximate=False) + jnp.arctanh(h / 9),
    "matrices": lambda h, x: jnp.einsum("ij,j,ik->k", A, h, A) + (A.reshape(2, 2, 4) @ h).ravel(),
    "batched products": lambda h, x: jnp.einsum("bij,bj->bi", A.reshape(2, 2, 4)[:, :, :2], h.reshape(2, 2)).ravel(),
    "a loop": scanned,
    "a choice": lambda h, x: jax.lax.cond(h[0] > 0, lambda h: h * 2, lambda h: -h, h),
    "a memory": lambda h, x: jax.checkpoint(lambda h: jnp.tanh(A @ h))(h),
    "infinite numbers": lambda h, x: jnp.minimum(h, jnp.inf) + jnp.where(h > 9, jnp.nan, h) + jnp.maximum(h, -jnp.inf),
    "concatenation": lambda h, x: jnp.concatenate([jnp.stack([h, -h])[1, 2:], x]) + jnp.arange(4) * jnp.tile(x, 2),
    "rows": lambda h, x: sum(jnp.unstack(jnp.outer(h, h), axis=1)) + jnp.stack([h, h * h], axis=1).sum(1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_a_user(name):
    cell = system(FUNCTIONS[name], state=4, x=np.zeros(2)).cell
    found = exported(cell, Solver())
    generator = np.random.default_rng(2)
    hs, xs = generator.normal(size=(20, 4)), generator.normal(size=(20, 2))
    with double():
        both = jax.jit(jax.vmap(lambda h, x: (cell.vector_field(h, x), jax.jacfwd(cell.vector_field)(h, x))))
        expected = both(jnp.asarray(hs), jnp.asarray(xs))
    for function, values in zip(("field", "jacobian"), expected):
        got = [evaluate(found.programs[function], found.arrays, h, x)[0] for h, x in zip(hs, xs)]
        np.testing.assert_allclose(np.stack(got), values, rtol=1e-11, atol=1e-11, err_msg=function)
    used = {equation["op"] for program in found.programs.values() for equation in program["equations"]}
    assert used <= programs.OPERATIONS


def test_the_operations_are_those_of_the_interpreter():
    assert programs.OPERATIONS == OPERATIONS


@pytest.mark.parametrize(
    ("function", "word"),
    [
        (lambda h, x: jnp.sort(h), "'sort'"),
        (lambda h, x: jnp.linalg.solve(jnp.eye(4) + jnp.outer(h, h), h), "'lu'"),
        (lambda h, x: jax.lax.while_loop(lambda h: jnp.sum(h) > 1, lambda h: h / 2, h), "'while'"),
        (lambda h, x: h[jnp.argmax(h)] * h, "operation '"),
        (lambda h, x: jnp.fft.ifft(jnp.fft.fft(h)).real, "complex"),
        (lambda h, x: h + jax.random.normal(jax.random.key(0), (4,)), "operation '"),
        (lambda h, x: jax.lax.scan(lambda c, _: (c + 1, None), h, None, length=10_000)[0], "'scan'"),
    ],
)
def test_what_the_page_does_not_know_is_one_sentence(function, word):
    cell = system(function, state=4, x=np.zeros(2)).cell
    with pytest.raises(ArgumentError, match=word) as said:
        exported(cell, Solver())
    assert str(said.value).endswith("which the page does not know.")
    assert "\n" not in str(said.value)


def test_what_nothing_depends_on_may_be_unknown():
    cell = system(lambda h, x: (jnp.sort(h), -h)[1], state=4).cell
    assert evaluate(exported(cell, Solver()).programs["field"], {}, np.ones(4), np.ones(0))[0].tolist() == [-1] * 4
