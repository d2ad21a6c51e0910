"""The page computes what Python computes: fields, Jacobians, steps and fixed points, run by node."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from interpreter import OPERATIONS, evaluate
from page_engine import as_array, computed
from variants import DT, SHOWN, STATES, VARIANTS, drawn, reference

from gnode.analysis import fixed_points, system
from gnode.cells import CELLS, GatedCell
from gnode.explorer._document import Subject, network_document
from gnode.explorer._functions import exported
from gnode.network import Network
from gnode.precision import double, to_dtype

TOLERANCE = 1e-11


def document_of(nets):
    networks = [network_document(Subject(net, f"network {k}", DT, net.solver)) for k, net in enumerate(nets)]
    return {"format": 1, "title": "", "verdict": None, "networks": networks}


def test_every_cell_at_a_hundred_states(tmp_path):
    nets = [drawn(*variant) for variant in VARIANTS]
    generator = np.random.default_rng(1)
    requests, expected = [], []
    for place, net in enumerate(nets):
        programs = exported(net, net.solver)
        hs, xs = generator.normal(size=(STATES, net.cell.state_size)), generator.normal(size=(STATES, 2))
        with double():
            values = reference(to_dtype(net, jnp.float64), "gate" in programs.programs)(
                jnp.asarray(hs), jnp.asarray(xs)
            )
        given = {"network": place, "states": hs.tolist(), "x": xs.tolist(), "dt": DT}
        whole = {
            "field",
            "jacobian",
            "step",
            "readout",
            "gate",
        } & programs.programs.keys()
        for name in whole & values.keys():
            expected.append((VARIANTS[place], name, values[name]))
            requests.append({"what": name, **given})
        if "step" in whole:
            many = [evaluate(programs.programs["jacobian_step"], programs.arrays, h, xs[0], DT)[0] for h in hs[:5]]
            expected.append((VARIANTS[place], "mapJacobian", np.stack(many)))
            requests.append({"what": "mapJacobian", **given, "states": hs[:5].tolist(), "x": xs[0].tolist()})
        single = [evaluate(programs.programs["field"], programs.arrays, h, xs[0])[0] for h in hs]
        expected.append((VARIANTS[place], "fieldMany", np.stack(single)))
        requests.append({"what": "fieldMany", **given, "x": xs[0].tolist()})
    for (variant, what, values), got in zip(expected, computed(document_of(nets), requests, tmp_path)):
        np.testing.assert_allclose(as_array(got), values, rtol=TOLERANCE, atol=TOLERANCE, err_msg=f"{variant} {what}")


def test_the_page_knows_the_operations_of_programs_and_no_others(tmp_path):
    (found,) = computed(None, [{"what": "operations"}], tmp_path)
    assert set(found) == OPERATIONS


def runge_kutta(field, hs, dt):
    k1 = field(hs)
    k2 = field(hs + dt / 2 * k1)
    k3 = field(hs + dt / 2 * k2)
    return hs + dt / 6 * (k1 + 2 * k2 + 2 * k3 + field(hs + dt * k3))


@pytest.mark.parametrize("gate", ["as it is", "open"])
def test_the_steps_of_the_page_for_every_cell(tmp_path, gate):
    """Its own Euler and Runge-Kutta steps; with an open gate, where there is one, the functions of that flow, too."""
    names = [name for name in SHOWN if gate == "as it is" or isinstance(drawn(name, {}, {}).cell, GatedCell)]
    assert names
    nets = [drawn(name, {"tau": 0.3}, {}) for name in names]
    generator = np.random.default_rng(2)
    requests, expected = [], []
    for place, net in enumerate(nets):
        hs, x = generator.normal(size=(STATES, net.cell.state_size)), generator.normal(size=2)
        with double():
            cell = to_dtype(net, jnp.float64).cell
            one = cell.vector_field if gate == "as it is" else lambda h, x: cell.drift(h, x) / cell.time_constant  # noqa: B023
            field = jax.jit(jax.vmap(lambda h: one(h, jnp.asarray(x))))  # noqa: B023
            values = {
                "euler": hs + DT * np.asarray(field(hs)),
                "rk4": np.asarray(runge_kutta(field, hs, DT)),
            }
            if gate == "open":
                jacobian = jax.jit(jax.vmap(jax.jacfwd(lambda h: one(h, jnp.asarray(x)))))  # noqa: B023
                values |= {
                    "field": np.asarray(field(hs)),
                    "jacobian": np.asarray(jacobian(hs)),
                    "step": values["euler"],
                }
        options = {"openGate": gate == "open"}
        given = {"network": place, "states": hs.tolist(), "x": x.tolist(), "dt": DT, "options": options}
        for what, value in values.items():
            requests.append({"what": what, **given})
            expected.append((names[place], what, value))
    for (name, what, values), got in zip(expected, computed(document_of(nets), requests, tmp_path)):
        np.testing.assert_allclose(as_array(got), values, rtol=TOLERANCE, atol=TOLERANCE, err_msg=f"{name} {what}")


LARGE = {
    "rnn": (5, 4, 4.0, ["F.W.0"]),
    "rate_rnn": (5, 4, 3.0, ["F.W.0"]),
    "mgru": (5, 4, 4.0, ["F.W.0"]),
    "gru": (4, 0, 3.0, ["W"]),
    "lstm": (2, 4, 5.0, ["W"]),
    "lem": (2, 2, 20.0, ["W"]),
    "node": (4, 3, 6.0, ["F.W.3"]),
    "dale": (5, 1, 6.0, ["A"]),
    "lowrank": (5, 3, 3.0, ["M", "N"]),
    "gru_ode": (4, 3, 3.0, ["W"]),
    "cornn": (4, 3, 4.0, ["W"]),
    "gnode": (4, 3, 6.0, ["F.W.3"]),
    "ncde": (3, 1, -8.0, ["F.W.2"]),
    "gated_ncde": (2, 3, 6.0, ["F.W.2"]),
    "nsde": (4, 0, 12.0, ["F.W.3"]),
    "gated_nsde": (4, 0, 12.0, ["F.W.3"]),
    "lmu": (2, 2, -4.0, ["R"]),
}
"""Of each cell the number of units, the seed, and how many times larger which weights are: it has several fixed points."""
SMOOTH = ("ncde", "gated_ncde")
"""Cells that have no bias as they are drawn, so that the kink of a ReLU would lie at their fixed point 0."""
ONE = "ltc"
"""A cell that as it is drawn has one fixed point."""
UNDAMPED = "unicornn"
"""A cell whose one fixed point is marginal: it oscillates and hardly decays."""


def part_of(tree, place):
    for name in place.split("."):
        tree = tree[int(name)] if name.isdigit() else getattr(tree, name)
    return tree


def double_wells(name):
    """A heavy ball in one double well for each of two units: the force 2 tanh(2 y) - 3 tanh(y / 2)."""
    cell = CELLS[name](1, 2, widths=(4,), hidden="tanh", key=0, tau=0.5)
    one = jnp.eye(2)
    W = jnp.concatenate([2 * one, one / 2]), jnp.concatenate([2 * one, -3 * one], axis=1)
    b = jnp.zeros(4), jnp.array([0.0, 0.1])
    cell = eqx.tree_at(lambda cell: (cell.F.W, cell.F.U, cell.F.b), cell, (W, jnp.zeros((4, 1)), b))
    return Network(cell, 1, key=1)


def many_points(name):
    """A network with large weights, or with a double well; of other cells one as it is drawn."""
    if name.endswith("hbnode"):
        return double_wells(name)
    units, seed, gain, places = LARGE.get(name, (3, 0, 1.0, []))
    cell = CELLS[name](1, units, key=seed, tau=0.5, **({"hidden": "tanh"} if name in SMOOTH else {}))
    for place in places:
        cell = eqx.tree_at(lambda cell: part_of(cell, place), cell, gain * part_of(cell, place))  # noqa: B023
    return Network(cell, 1, key=1)


@pytest.mark.parametrize("name", SHOWN)
def test_fixed_points_are_those_of_python(tmp_path, name):
    """Isolated ones: of a continuum, such as the GRU has one far out, both find samples of their own."""
    net, x = many_points(name), [0.2]
    starts = np.random.default_rng(5).normal(size=(100, net.cell.state_size))
    found = fixed_points(system(net, dt=0.05, x=x), starts).select(status="equilibrium")
    isolated = found if name == UNDAMPED else found[np.flatnonzero(~found.on_continuum)]
    request = {"what": "fixedPoints", "states": starts.tolist(), "x": x, "dt": 0.05}
    (got,) = computed(document_of([net]), [request], tmp_path)
    # By rounded coordinates: those that are equal differ by rounding errors.
    got = [point for point in got if (point["kind"] == "marginal") == (name == UNDAMPED)]
    got.sort(key=lambda point: as_array(point["h"]).round(5).tolist())
    order = np.lexsort(isolated.points.round(5).T[::-1])
    if name in (ONE, UNDAMPED):
        assert len(isolated) == 1
    else:
        assert "stable" in isolated.stability.flow_class
        assert len(isolated) > 1
    np.testing.assert_allclose(as_array([point["h"] for point in got]), isolated.points[order], atol=1e-6)
    assert [point["kind"] for point in got] == isolated.stability.flow_class[order].tolist()
